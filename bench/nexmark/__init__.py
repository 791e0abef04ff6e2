"""The NEXMark benchmark: an auction site's events, 23 queries, and what DuckDB answers to them."""
