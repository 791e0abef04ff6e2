"""Shapes of a query that are written as others before anything is bound: one rewrite, one file."""
