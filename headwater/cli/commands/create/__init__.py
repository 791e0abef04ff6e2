"""Commands that create a project."""
