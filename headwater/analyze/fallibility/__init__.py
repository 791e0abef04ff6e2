"""Which expressions can fail, between which bounds a number is, and which divisor is never 0."""
