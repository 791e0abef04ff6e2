"""Commands over the files of the tables."""
