"""The incremental engine: a tick computes the change of each view and commits it."""
