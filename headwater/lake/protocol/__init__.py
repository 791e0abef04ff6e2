"""The commit protocol: markers, tables as it sees them, the points where it can be killed."""
