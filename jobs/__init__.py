"""Entry points: for spark-submit and schedulers here, for the demos in ``jobs.demos``."""
