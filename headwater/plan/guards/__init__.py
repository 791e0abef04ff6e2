"""Rows that are left out since something fails on them, and the reasons that quarantines give."""
