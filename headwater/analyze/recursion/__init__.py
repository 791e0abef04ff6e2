"""Common table expressions that read themselves: ``WITH RECURSIVE``."""
