"""One meaning in three engines: what translation alone would leave different."""
