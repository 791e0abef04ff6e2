"""Sinks: the changes of a view, commit by commit, to where others read them."""
