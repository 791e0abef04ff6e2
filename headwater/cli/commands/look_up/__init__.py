"""Commands that answer a question about the language."""
