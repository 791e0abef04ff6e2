"""Trino over the tables of a project: its catalog, queries, and the law checked by it."""
