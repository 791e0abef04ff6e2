"""Names and shape: a parsed query becomes a bound query in canonical form."""
