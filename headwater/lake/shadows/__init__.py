"""Tables that are made beside another one of the same view, whose place they take in one commit."""
