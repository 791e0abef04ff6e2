"""What a dialect means otherwise than Trino by the same words."""
