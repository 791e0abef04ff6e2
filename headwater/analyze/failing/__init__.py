"""Which expressions can fail on a row, and the condition under which they do."""
