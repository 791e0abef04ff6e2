"""The JVM side: which jars Spark loads, and where they are cached.

In: ``ivy.xml`` (coordinates) and ``jars.lock`` (sha256 and size). Out: paths of verified jars.
"""
