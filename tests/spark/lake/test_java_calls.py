"""Calls into the JVM."""

from __future__ import annotations

from headwater.lake.java import java_class


def test_static_methods_are_found_beside_methods_of_objects(spark):
    """``get()`` is static, ``get(key)`` is of objects; py4j may take the second for the answer."""
    cache = java_class(spark, "org.apache.iceberg.spark.SparkTableCache")
    assert cache.get().size() >= 0
    assert cache.get().get("nothing") is None


def test_members_that_are_no_methods_are_still_found(spark):
    level = java_class(spark, "org.apache.iceberg.ExpireSnapshots$CleanupLevel")
    assert level.ALL.toString() == "ALL"
    assert java_class(spark, "java.util.ArrayList")().size() == 0
