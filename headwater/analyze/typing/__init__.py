"""The type of every expression, and which functions and casts there are."""
