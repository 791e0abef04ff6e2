"""Why a row is in a view, and why another one is not."""
