"""The ledger of a table landed from files: ``<name>__files``, which file was read in which epoch.

In: the files of an epoch. Out: rows of the side table, committed before the target is published,
and all of them read back at start. It makes the set of processed files recoverable from the lake
alone, and it is the log of an epoch that was begun: if its newest epoch is not in the target, that
epoch is done again with these files.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import SparkSession

from headwater.lake.catalog import Lake, check_columns
from headwater.lake.evolve import difference
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import Target
from headwater.lake.reserved_names import FILES
from headwater.lake.spec import TableSpec, columns_ddl
from headwater.plan.sql.spark_text import text

SUFFIX = FILES


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One file of one epoch.

    Attributes:
        file: path relative to the source's folder, with ``/``.
        size: bytes.
        modified: modification time, microseconds since 1970 UTC.
        fault: why the whole file went to quarantine, or None.
        version: what tells it apart from a later file of its name in an object store, its ETag.
    """

    file: str
    size: int
    modified: int
    fault: str | None = None
    version: str | None = None

    def is_still(self, now: LedgerEntry | None) -> bool:
        """Return whether a file is what it was.

        Args:
            now: the file as it is now; None if it is gone.
        """
        if now is None or now.size != self.size:
            return False
        if self.version and now.version:
            return self.version == now.version
        return self.modified == now.modified


@dataclass(frozen=True, slots=True)
class Planned:
    """An epoch that was begun but is not in the target.

    Attributes:
        epoch: its number.
        arrived_at: its arrival, microseconds since 1970 UTC.
        entries: its files.
        marker: that of the ledger's commit; it has the position that the epoch moves to, and
            whether files waited behind it. A later look may find others.
    """

    epoch: int
    arrived_at: int
    entries: tuple[LedgerEntry, ...]
    marker: Marker | None = None


def ledger_spec(table: str) -> TableSpec:
    """Return what the ledger of a landed table looks like."""
    columns = (
        *(
            ("epoch", "BIGINT", False),
            ("arrived_at", "TIMESTAMP", False),
            ("file", "STRING", False),
        ),
        *(("size", "BIGINT", False), ("modified", "TIMESTAMP", False), ("fault", "STRING", True)),
        ("version", "STRING", True),
    )
    return TableSpec(table + SUFFIX, columns, comment=f"files read into {table}, by epoch")


def open_ledger(lake: Lake, table: str) -> LakeTable:
    """Create the ledger if it is missing."""
    return lake.ensure(ledger_spec(table), _fit)


def _fit(ledger: LakeTable, spec: TableSpec) -> None:
    """Give the ledger of an earlier release the column that it lacks."""
    ddl = columns_ddl(spec)
    change = difference(ledger.columns(), ledger.stored_columns(ddl))
    if set(change.changes()) == {"version"}:
        ledger.alter(change, ddl)
    else:
        check_columns(ledger, spec)


def append(spark: SparkSession, target: Target, plan: Planned) -> None:
    """Write the files of an epoch."""
    # a local relation: no Python workers, one task
    rows = ",".join(
        f"({plan.epoch}L, timestamp_micros({plan.arrived_at}), {text(e.file)}, {e.size}L,"
        f" timestamp_micros({e.modified}), {_text(e.fault)}, {_text(e.version)})"
        for e in plan.entries
    )
    columns = "epoch, arrived_at, file, size, modified, fault, version"
    target.append(spark.sql(f"SELECT * FROM VALUES {rows} AS t({columns})"))


def _text(value: str | None) -> str:
    return "CAST(NULL AS STRING)" if value is None else text(value)


def read(ledger: LakeTable, committed: int) -> tuple[list[LedgerEntry], Planned | None]:
    """Return the files of all committed epochs, and the epoch that was begun, if there is one.

    Args:
        committed: newest epoch of the target, -1 if there is none.
    """
    columns = "epoch, unix_micros(arrived_at) AS arrived_at, file, size"
    frame = ledger.read().selectExpr(
        *columns.split(", "), "unix_micros(modified) AS modified", "fault", "version"
    )
    done: list[LedgerEntry] = []
    begun: list[LedgerEntry] = []
    epoch = arrived_at = -1
    for row in frame.orderBy("epoch", "file").toLocalIterator():
        entry = LedgerEntry(row.file, row.size, row.modified, row.fault, row.version)
        if row.epoch <= committed:
            done.append(entry)
        else:
            epoch, arrived_at = row.epoch, row.arrived_at
            begun.append(entry)
    return done, Planned(epoch, arrived_at, tuple(begun), ledger.marker()) if begun else None
