"""Flink SQL."""
