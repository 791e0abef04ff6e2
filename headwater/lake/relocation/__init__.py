"""Metadata of tables for the place where they lie now: Iceberg stores absolute addresses."""
