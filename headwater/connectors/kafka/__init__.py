"""Kafka: topics as tables, streams and sinks."""
