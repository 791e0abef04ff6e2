"""Row patterns against Trino: the cases, what Trino answers to them, and a fuzz of random ones."""
