"""Relational algebra: one tree of frozen nodes for every query, which all readers fold over."""
