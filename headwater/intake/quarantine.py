"""The quarantine of a landed table: ``<name>__quarantine``, the rows that could not become rows.

In: the bad rows of an epoch. Out: rows ``_arrived_at, reason, raw`` and the connector's
coordinates, committed before the target of the same epoch is published. ``raw`` is the record as it
came (the first 64 KiB of an oversized one; of Parquet the row as JSON; NULL for a whole file, whose
``_row`` is NULL too).

Its markers count, since the beginning: ``quarantined`` rows kept here, ``dropped`` rows that ON
ERROR DROP let go.
"""

from __future__ import annotations

from collections.abc import Mapping

from headwater.intake.connectors.base import Connector
from headwater.lake.catalog import Lake, TableSpec
from headwater.lake.iceberg import LakeTable

SUFFIX = "__quarantine"


def quarantine_spec(table: str, connector: Connector | type[Connector]) -> TableSpec:
    """Return what the quarantine of a landed table or source looks like.

    Args:
        table: name of the landed table or source.
        connector: its connector.
    """
    columns = (
        *(
            ("_arrived_at", "TIMESTAMP", False),
            ("reason", "STRING", False),
            ("raw", "BINARY", True),
        ),
        *((column, kind, True) for column, kind in connector.coordinates),
    )
    return TableSpec(table + SUFFIX, columns, comment=f"rows of {table} that could not be decoded")


def open_quarantine(lake: Lake, table: str, connector: Connector) -> LakeTable:
    """Create the quarantine if it is missing.

    Args:
        lake: where.
        table: name of the landed table.
        connector: its connector.
    """
    return lake.ensure(quarantine_spec(table, connector))


def counts(quarantine: LakeTable, table: str) -> Mapping[str, int]:
    """Return how many rows were quarantined and dropped since the beginning.

    Args:
        quarantine: the quarantine, refreshed.
        table: name of the landed table.
    """
    commit = quarantine.newest(table)
    return {"quarantined": 0, "dropped": 0, **(commit.marker.counts if commit else {})}
