"""Materialize."""
