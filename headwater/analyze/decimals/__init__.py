"""Decimals with the digits that Trino gives them."""
