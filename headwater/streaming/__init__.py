"""The streaming engine: views kept by Structured Streaming queries."""
