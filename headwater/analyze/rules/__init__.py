"""What a query may say: the allow-list of syntax, and the refusals with their reasons."""
