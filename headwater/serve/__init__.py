"""Readers of the lake that need no JVM: SQL, the check of the law, the state of the views."""
