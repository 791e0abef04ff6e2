"""Bound views → what runs: operator tree, engine and reason, Spark SQL, and the SELECT at rest."""
