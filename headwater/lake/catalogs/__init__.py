"""Where the catalog is kept: SQLite, PostgreSQL or REST, with the lease beside it."""
