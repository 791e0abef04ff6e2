"""Statements become definitions: bound, typed, and refused if they are wrong; no JVM."""
