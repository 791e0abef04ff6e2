"""The JVM side: which Java runs, which jars it loads, and where they are kept.

In: ``ivy.xml`` (coordinates) and ``jars.lock`` (sha256 and size). Out: paths of verified jars.
"""
