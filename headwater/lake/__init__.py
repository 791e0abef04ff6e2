"""Tables of the lake, the commit marker and the commit protocol."""
