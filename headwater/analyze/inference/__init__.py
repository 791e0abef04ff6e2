"""Types of expressions from those of their columns; what does not fit is reported."""
