"""Subqueries that read columns of the query around them, as queries that do not."""
