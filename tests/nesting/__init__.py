"""Calls within calls, and what is known of their texts and answers."""
