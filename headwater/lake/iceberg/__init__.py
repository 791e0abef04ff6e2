"""Iceberg tables: staging branch, changed rows, merge, maintenance."""
