"""The incremental engine: views kept by ticks, and what both engines read and write."""
