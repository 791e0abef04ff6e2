"""The incremental rules as algebra: what each does with random changes, run by DuckDB."""
