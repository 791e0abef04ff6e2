"""One module per program of the incremental engine: how its change is written."""
