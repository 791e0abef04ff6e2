"""The streaming engine: a Structured Streaming query for each view, whose batches are commits."""
