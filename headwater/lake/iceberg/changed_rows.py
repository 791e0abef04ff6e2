"""The rows that a table has gained and lost between two snapshots, from the files that differ.

In: a table whose rows are corrected. Out: a DataFrame, each row with its sign. Iceberg has no
incremental read of a table with delete files (1.12.0, apache/iceberg#14264), but both snapshots
know their files: only those that one of them has, or has with other deletes, are read, through the
same door as Iceberg's own compaction. Delta's change feed has to be turned on by who writes the
table; what every commit says of its files does not.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from py4j.java_gateway import JavaObject
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own convention

from headwater.algebra.change import SIGN
from headwater.lake.delta.changed_files import differing
from headwater.lake.delta.table import DeltaTable
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.java import elements, java_class, new_array
from headwater.lake.protocol.table import Table
from headwater.plan.sql.spark_text import name as quoted

_ICEBERG = "org.apache.iceberg"
_SPARK = f"{_ICEBERG}.spark"
_LEFT = "__left"


@contextmanager
def changed_rows(
    table: Table, after: int | None, upto: int, columns: Sequence[str]
) -> Iterator[DataFrame]:
    """Give the rows removed and added between two snapshots, each as often as it was, sign last.

    A row moved between files is neither.

    Args:
        after: snapshot already read; None for the beginning of the table.
        upto: last snapshot to read.
        columns: the columns to read. With a map among them, which cannot be compared, rows of the
            files that differ may be among the result although they did not change.

    Raises:
        TerminalError: ``SNAPSHOT_NOT_IN_HISTORY``.
    """
    columns = [*map(quoted, columns)]
    if after is None or after == upto:
        rows = table.read(upto).select(*columns).selectExpr("*", f"1 AS {SIGN}")
        yield rows if after is None else rows.where("false")
        return
    if not table.leads_to(after, upto):
        raise table.not_in_history(after, upto)
    with _sides(table, after, upto) as (gone, come):
        removed = gone.select(*columns).selectExpr("*", f"-1 AS {SIGN}")
        both = removed.unionAll(come.select(*columns).selectExpr("*", f"1 AS {SIGN}"))
        if any("map<" in kind for _, kind in both.dtypes):
            yield both
        else:
            left = both.groupBy(*columns).agg(F.sum(SIGN).cast("int").alias(_LEFT))
            sign = f"explode(array_repeat(CAST(sign({_LEFT}) AS INT), abs({_LEFT})))"
            yield left.where(f"{_LEFT} <> 0").select(*columns, F.expr(sign).alias(SIGN))


def rows_that_differ(table: Table, after: int, upto: int) -> int:
    """Return how many rows :func:`changed_rows` reads, removed ones included.

    Args:
        after: snapshot already read.
        upto: last snapshot to read.
    """
    if isinstance(table, DeltaTable):
        return differing(table.location, after, upto).rows
    assert isinstance(table, LakeTable)
    old, new = _tasks(table, after), _tasks(table, upto)
    tasks = [old.get(key) or new[key] for key in old.keys() ^ new.keys()]
    return sum(int(task.file().recordCount()) for task in tasks)


@contextmanager
def rows_written(table: LakeTable, snapshot_id: int) -> Iterator[DataFrame]:
    """Give the rows in the data files that a snapshot added, as long as the block lasts.

    Args:
        snapshot_id: the snapshot, as of the last refresh; it deletes no row of a file of its own.
    """
    spark, java = table.spark, table.java
    files = java.snapshot(snapshot_id).addedDataFiles(java.io())
    everything = java_class(spark, f"{_ICEBERG}.expressions.Expressions").alwaysTrue()
    residuals = java_class(spark, f"{_ICEBERG}.expressions.ResidualEvaluator")
    schema = java_class(spark, f"{_ICEBERG}.SchemaParser").toJson(java.schema())
    specs = java_class(spark, f"{_ICEBERG}.PartitionSpecParser")
    no_deletes = new_array(spark, f"{_ICEBERG}.DeleteFile")
    scanned = java_class(spark, f"{_ICEBERG}.BaseFileScanTask")
    tasks = [
        scanned(
            file,
            no_deletes,
            schema,
            specs.toJson(java.specs().get(file.specId())),
            residuals.unpartitioned(everything),
        )
        for file in elements(files)
    ]
    with _rows(table, tasks) as rows:
        yield rows


@contextmanager
def _sides(table: Table, after: int, upto: int) -> Iterator[tuple[DataFrame, DataFrame]]:
    """Give the rows of the files that went, and of those that came."""
    if isinstance(table, DeltaTable):
        files = differing(table.location, after, upto)
        come = table.read_files(files.come, upto)
        yield _with_columns_of(come, table.read_files(files.gone, after)), come
        return
    assert isinstance(table, LakeTable)
    old, new = _tasks(table, after), _tasks(table, upto)
    with (
        _rows(table, [old[key] for key in old.keys() - new.keys()]) as gone,
        _rows(table, [new[key] for key in new.keys() - old.keys()]) as come,
    ):
        yield gone, come


def _with_columns_of(now: DataFrame, rows: DataFrame) -> DataFrame:
    """Rows of an earlier version of a Delta table; a column of another type is another column."""
    had = dict(rows.dtypes)
    return rows.select(
        *(
            name if had.get(name) == kind else F.expr("NULL").cast(kind).alias(name)
            for name, kind in now.dtypes
        )
    )


def _tasks(table: LakeTable, snapshot_id: int) -> Mapping[str, JavaObject]:
    """The scan tasks of a snapshot by data file and the deletes that apply to it."""
    planned = table.java.newBatchScan().useSnapshot(snapshot_id).planFiles()
    try:
        found = {}
        for task in elements(planned):
            deletes = sorted(str(each.location()) for each in elements(task.deletes()))
            found["\n".join([str(task.file().location()), *deletes])] = task
        return found
    finally:
        planned.close()


@contextmanager
def _rows(table: LakeTable, tasks: Sequence[JavaObject]) -> Iterator[DataFrame]:
    """Give the rows of some files as long as the block lasts."""
    if not tasks:
        yield table.read().where("false")
        return
    manager = java_class(table.spark, f"{_SPARK}.ScanTaskSetManager").get()
    tables = java_class(table.spark, f"{_SPARK}.SparkTableCache").get()
    name = f"headwater-{uuid.uuid4().hex}"
    chosen = java_class(table.spark, "java.util.ArrayList")()
    for task in tasks:
        chosen.add(task)
    tables.add(name, table.java)
    manager.stageTasks(table.java, name, chosen)
    try:
        yield table.spark.read.format("iceberg").load(name)
    finally:
        manager.removeTasks(table.java, name)
        tables.remove(name)
