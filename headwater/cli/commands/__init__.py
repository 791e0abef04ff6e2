"""One module per command: read the arguments, call one function, hand over the result."""
