"""Trino and Superset as processes of this machine, for the tables of a project.

In: a folder for data, logs and records. Out: servers that answer, and none left in the end.
"""
