"""The relation ``"name$snapshots"`` of a table: what Trino has, and what the markers say.

In: a table. Out: a row per snapshot that is kept, as Arrow, oldest first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from headwater.lake.protocol.history import History, Snapshot

SNAPSHOTS = "$snapshots"
"""How the names of such relations end."""

_TEXTS, _NUMBERS = "map(varchar, varchar)", "map(varchar, bigint)"
COLUMNS: Sequence[tuple[str, str, str]] = (
    ("committed_at", "timestamp(6) with time zone", "time of the commit"),
    ("snapshot_id", "bigint", "for FOR VERSION AS OF"),
    ("parent_id", "bigint", "the snapshot before"),
    ("operation", "varchar", "what was done: append, overwrite, delete or replace"),
    ("view", "varchar", "view or table that wrote it"),
    ("version", "bigint", "version of the view"),
    ("epoch", "bigint", "number of the commit, from 0"),
    ("watermark", "timestamp(6) with time zone", "below it no more rows were expected"),
    ("cut_from", _TEXTS, "by input, where the commit before had read to"),
    ("cut_to", _TEXTS, "by input, where this commit has read to"),
    ("counts", _NUMBERS, "what was counted, as late rows"),
    ("evolved", _TEXTS, "columns that came with it"),
    ("summary", _TEXTS, "all that the table format says"),
)
"""Name, type in Trino's words, and meaning of each column."""


def snapshots_table(table: History) -> pa.Table:
    """Return the snapshots of a table."""
    import pyarrow as pa

    kinds = {
        "timestamp(6) with time zone": pa.timestamp("us", "UTC"),
        "bigint": pa.int64(),
        "varchar": pa.string(),
        _TEXTS: pa.map_(pa.string(), pa.string()),
        _NUMBERS: pa.map_(pa.string(), pa.int64()),
    }
    schema = pa.schema([(name, kinds[kind]) for name, kind, _ in COLUMNS])
    rows = [_row(each) for each in table.ancestors()][::-1]
    return pa.Table.from_pylist(rows, schema=schema)


def _row(snapshot: Snapshot) -> Mapping[str, object]:
    row: dict[str, object] = {
        "committed_at": snapshot.at * 1000,
        "snapshot_id": snapshot.id,
        "parent_id": snapshot.parent,
        "operation": snapshot.operation or None,
        "summary": list(snapshot.summary.items()),
    }
    marker = snapshot.marker
    if marker is not None:
        row |= {
            "view": marker.view,
            "version": marker.version,
            "epoch": marker.epoch,
            "watermark": marker.watermark,
            "cut_from": list(marker.cut_from.items()),
            "cut_to": list(marker.cut_to.items()),
            "counts": list(marker.counts.items()),
            "evolved": list(marker.evolved.items()),
        }
    return row
