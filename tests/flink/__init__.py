"""The constructs of Flink's SQL pages on windows, joins, deduplication, Top-N and patterns."""
