"""Streaming views for the lakehouse: a SELECT in a file, kept equal to its table.

Importing the package starts nothing and loads nothing heavy.
"""

__version__ = "0.1.0"
