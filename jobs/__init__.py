"""Entry points for `make`, and the demo of changes out of PostgreSQL (``jobs.cdc``)."""
