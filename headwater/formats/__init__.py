"""Bytes to columns and back: what each format's records mean, as Spark SQL."""
