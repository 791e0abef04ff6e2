"""How long a row takes from its arrival until a reader sees it, per kind of view and rate."""
