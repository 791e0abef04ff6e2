"""SQL text of an engine: the query that runs, the SELECT at rest, late rows."""
