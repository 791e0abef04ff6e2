"""Avro records by the schemas of a registry, read and written."""
