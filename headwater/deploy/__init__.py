"""Changes of a project: what they are, and how they get into the lake."""
