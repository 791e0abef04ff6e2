"""The relation ``commits`` for the embedded engine: what :mod:`headwater.lake.commits` is in Trino.

In: the tables of a project. Out: a row per commit that is kept, as Arrow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import accumulate
from typing import TYPE_CHECKING

from headwater.lake.commits import COLUMNS
from headwater.lake.layout import QUARANTINE, SIDE_TABLES
from headwater.serve.lake import Commit, LakeReader, commits

if TYPE_CHECKING:
    import pyarrow as pa

Places = Mapping[str, Mapping[int, tuple[int, datetime]]]
"""By table and snapshot, how many rows had been changed up to it, and when it was committed."""


def commits_table(lake: LakeReader) -> pa.Table:
    """Return every commit of a project's tables.

    Args:
        lake: the tables.

    Raises:
        ServiceError: ``CATALOG_UNREADABLE``.
    """
    import pyarrow as pa

    kinds = {
        "string": pa.string(),
        "long": pa.int64(),
        "double": pa.float64(),
        "timestamptz": pa.timestamp("us", "UTC"),
    }
    schema = pa.schema([(name, kinds[kind]) for name, kind, _ in COLUMNS])
    return pa.Table.from_pylist(list(_rows(lake)), schema=schema)


def _rows(lake: LakeReader) -> Iterator[dict[str, object]]:
    tables = {name: lake.table(name) for name in lake.names()}
    # those of a side table have the name of the table that it belongs to
    made = {
        name: list(commits(table, view=name.removesuffix(QUARANTINE)))[::-1]
        for name, table in tables.items()
        if table is not None
    }
    places = {name: _places(found) for name, found in made.items()}
    for name, found in made.items():
        if name.endswith(SIDE_TABLES):
            continue
        refused = {each.marker.epoch: each.added for each in made.get(name + QUARANTINE, ())}
        for commit in found:
            yield _row(commit, places, refused)


def _places(found: list[Commit]) -> dict[int, tuple[int, datetime]]:
    changed = accumulate(each.added + each.removed for each in found)
    return {each.snapshot_id: (rows, each.at) for each, rows in zip(found, changed, strict=True)}


def _row(commit: Commit, places: Places, refused: Mapping[int, int]) -> dict[str, object]:
    marker, bad = commit.marker, refused.get(commit.marker.epoch)
    read = [
        (places[name][int(end)], places[name].get(int(marker.cut_from.get(name, -1)), (0, None)))
        for name, end in marker.cut_to.items()
        if name != marker.view and end.isdigit() and int(end) in places.get(name, {})
    ]
    newest = max((at for (_, at), _ in read), default=None)
    return {
        "view": marker.view,
        "epoch": marker.epoch,
        "watermark": marker.watermark,
        "committed_at": commit.at,
        "freshness": (commit.at - newest).total_seconds() if newest else None,
        "rows_in": sum(end - begin for (end, _), (begin, _) in read)
        if read
        else commit.added + (bad or 0),
        "rows_out": commit.added,
        "rows_removed": commit.removed,
        "rows_total": commit.total,
        "rows_late": marker.counts.get("late"),
        "rows_quarantined": bad,
        "snapshot_id": commit.snapshot_id,
    }
