"""Commands about one view or several that stay as they are."""
