"""Event time: which columns carry it, how far apart events are, when results are final."""
