"""The CREATE statements: their clauses become definitions."""
