"""Conformance: what Trino answers to every form of the allow-list, and what the product answers.

In: the allow-list, edge values of every type. Out: ``answers.jsonl``, Trino's answers, and the
verdict on each form: equal, refused, different on purpose, or wrong.
"""
