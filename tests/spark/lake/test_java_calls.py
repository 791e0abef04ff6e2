"""Calls into the JVM."""

from __future__ import annotations

from contextlib import ExitStack

from pyspark.sql import functions as F  # noqa: N812 - Spark's own convention

from headwater.lake.iceberg.changed_rows import changed_rows
from headwater.lake.java import cached, java_class
from headwater.lake.spec import TableSpec


def test_static_methods_are_found_beside_methods_of_objects(spark):
    """``get()`` is static, ``get(key)`` is of objects; py4j may take the second for the answer."""
    cache = java_class(spark, "org.apache.iceberg.spark.SparkTableCache")
    assert cache.get().size() >= 0
    assert cache.get().get("nothing") is None


def test_members_that_are_no_methods_are_still_found(spark):
    level = java_class(spark, "org.apache.iceberg.ExpireSnapshots$CleanupLevel")
    assert level.ALL.toString() == "ALL"
    assert java_class(spark, "java.util.ArrayList")().size() == 0


def test_a_write_leaves_what_others_keep_of_the_table_alone(spark, lake):
    """One thread reads what changed of a table while another writes to it."""
    after = lake.ensure(TableSpec("t", (("id", "BIGINT", False),))).snapshot_id()
    table = lake.table("t")
    spark.sql(f"INSERT INTO {table.identifier} VALUES (2), (3)")
    table.refresh()
    with ExitStack() as kept:
        with changed_rows(table, after, table.snapshot_id(), ["id"]) as changed:
            rows = cached(changed, kept)
            assert rows.count() == 2
        # the tasks that read the files are gone; planned again, the rows could not be computed
        spark.sql(f"INSERT INTO {table.identifier} VALUES (4)")
        assert sorted(row.id for row in rows.select("id").collect()) == [2, 3]
        again = rows.withColumnRenamed("id", "other")
        assert rows.join(again, on=F.expr("id = other")).count() == 2
        held = {*spark.sparkContext._jsc.getPersistentRDDs()}
    assert {*spark.sparkContext._jsc.getPersistentRDDs()} < held
