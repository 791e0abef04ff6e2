"""Checkpoints of streaming queries: read, copied, held against the markers."""
