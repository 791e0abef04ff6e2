"""Data files of an Iceberg table, written by Spark and committed by Iceberg's own API.

In: a table and rows. Out: files that no snapshot has yet; one commit of metadata that takes them
in. Spark's own write commits by itself, on a branch at best, which is then moved: three times the
metadata. Iceberg's compaction has the way that is used here: what it writes is handed over, and
committed with whatever belongs to it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from py4j.java_gateway import JavaObject
from pyspark.sql import DataFrame, SparkSession

from headwater.lake.java import elements, java_class
from headwater.lake.protocol.table import Conflict

_ICEBERG = "org.apache.iceberg"
CATALOG = "headwater_files"
SETTINGS = {f"spark.sql.catalog.{CATALOG}": f"{_ICEBERG}.spark.SparkRewriteTableCatalog"}
"""What a session needs for :func:`write_files`: the catalog of tables that are being written."""


class HasJavaTable(Protocol):
    """What is needed of a table."""

    spark: SparkSession

    @property
    def java(self) -> JavaObject:
        """Iceberg's own table object."""


def write_files(table: HasJavaTable, rows: DataFrame) -> list[JavaObject]:
    """Write rows as data files of a table, which has them only when they are committed.

    Args:
        table: the table, refreshed.
        rows: with its columns, in any order.

    Returns:
        Iceberg's descriptions of the files.
    """
    written = uuid.uuid4().hex
    tables = java_class(table.spark, f"{_ICEBERG}.spark.SparkTableCache").get()
    files = java_class(table.spark, f"{_ICEBERG}.spark.FileRewriteCoordinator").get()
    tables.add(written, table.java)
    try:
        writer = rows.writeTo(f"{CATALOG}.`{written}`")
        writer.option("check-nullability", "false").append()
        return list(elements(files.fetchNewFiles(table.java, written)))
    finally:
        tables.remove(written)
        files.clearRewrite(table.java, written)


def update_of(
    table: HasJavaTable,
    files: Sequence[JavaObject],
    summary: Mapping[str, str],
    *,
    replace: bool = False,
) -> JavaObject:
    """Return the update that takes files into a table; nothing is committed yet.

    Args:
        files: from :func:`write_files`; without any the snapshot says only its summary.
        summary: properties of the snapshot.
        replace: whether all rows before it go.
    """
    if replace:
        expressions = java_class(table.spark, f"{_ICEBERG}.expressions.Expressions")
        update = table.java.newOverwrite().overwriteByRowFilter(expressions.alwaysTrue())
        for file in files:
            update = update.addFile(file)
    else:
        update = table.java.newAppend() if files else table.java.newFastAppend()
        for file in files:
            update = update.appendFile(file)
    for key, value in summary.items():
        update = update.set(key, value)
    return update


def commit_to_main(
    table: HasJavaTable, base: int, update: JavaObject, tag: str, gone: Iterable[str]
) -> None:
    """Commit an update to ``main`` and move a tag with it, in one metadata commit.

    A compare-and-swap: Iceberg's own commit would apply the update to whatever ``main`` is by then.

    Args:
        base: the snapshot at which ``main`` must still be.
        update: from :func:`update_of`.
        tag: points at the new snapshot afterwards.
        gone: branches that are removed.

    Raises:
        Conflict: ``main`` has moved.
        py4j.protocol.Py4JError: the metadata moved, or the catalog failed.
    """
    operations = table.java.operations()
    snapshot = update.apply()
    now = operations.current()
    if not snapshot.parentId() == now.currentSnapshot().snapshotId() == base:
        raise Conflict
    references = java_class(table.spark, f"{_ICEBERG}.SnapshotRef")
    tagged = references.tagBuilder(snapshot.snapshotId()).build()
    changed = java_class(table.spark, f"{_ICEBERG}.TableMetadata").buildFrom(now)
    changed = changed.setBranchSnapshot(snapshot, "main").setRef(tag, tagged)
    for branch in gone:
        changed = changed.removeRef(branch)
    operations.commit(now, changed.build())
