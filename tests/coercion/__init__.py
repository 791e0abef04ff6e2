"""Implicit casts: pairs of types in every place where they meet, with Trino's answers.

``python -m tests.coercion http://trino:8080`` records the answers anew.
"""
