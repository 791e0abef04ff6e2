"""The threads of a running project: one per table, streaming view and sink, one for the ticks."""
