"""The relation ``commits`` for the embedded engine, as ``lake/protocol/commits`` has it in Trino.

In: the tables of a project. Out: a row per commit that is kept, as Arrow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import accumulate
from typing import TYPE_CHECKING

from headwater.errors import HeadwaterError
from headwater.lake.protocol.commits import COLUMNS
from headwater.lake.protocol.marker import Marker
from headwater.lake.reserved_names import QUARANTINE, SIDE_TABLES
from headwater.serve.lake_reader import NOTHING_IS_READABLE, LakeReader
from headwater.serve.stored_table import reading

if TYPE_CHECKING:
    import pyarrow as pa

    from headwater.lake.protocol.history import Commit, History

Places = Mapping[str, Mapping[int, tuple[int, datetime]]]
"""By table and snapshot, how many rows had been changed up to it, and when it was committed."""

BEFORE = -1
"""Stands for the snapshots before the first commit, if that is kept."""


def commits_table(lake: LakeReader, unread: dict[str, str] | None = None) -> pa.Table:
    """Return every commit of a project's tables.

    Args:
        unread: gets the tables that cannot be read, with the reason.

    Raises:
        ServiceError: the catalog cannot be read.
    """
    import pyarrow as pa

    kinds = {
        "string": pa.string(),
        "long": pa.int64(),
        "double": pa.float64(),
        "timestamptz": pa.timestamp("us", "UTC"),
    }
    schema = pa.schema([(name, kinds[kind]) for name, kind, _ in COLUMNS])
    unread = {} if unread is None else unread
    return pa.Table.from_pylist(list(_rows(lake, unread)), schema=schema)


def _rows(lake: LakeReader, unread: dict[str, str]) -> Iterator[dict[str, object]]:
    made: dict[str, list[Commit]] = {}
    for name in lake.names():
        try:
            with reading(name):
                table = lake.table(name)
                made |= {name: _commits(table)} if table is not None else {}
        except HeadwaterError as error:
            if error.condition in NOTHING_IS_READABLE:
                raise
            unread[name] = error.message
    places = {name: _places(found) for name, found in made.items()}
    for name, found in made.items():
        if name.endswith(SIDE_TABLES):
            continue
        refused = {each.marker.epoch: each.added for each in made.get(name + QUARANTINE, ())}
        for commit in found:
            row = {"view": name, **_row(commit, places, refused)}
            # rows that are kept because they were late: the view has read them
            yield row if commit.marker.view == name else {**row, "rows_in": None}


def _commits(table: History) -> list[Commit]:
    """The commits of a table, oldest first; a side table's bear the name of what it belongs to."""
    marker = next(filter(None, (each.marker for each in table.ancestors())), None)
    return list(table.commits(marker.view))[::-1] if marker else []


def _places(found: list[Commit]) -> dict[int, tuple[int, datetime]]:
    changed = accumulate(each.added + each.removed for each in found)
    places = {
        each.snapshot_id: (rows, each.committed_at)
        for each, rows in zip(found, changed, strict=True)
    }
    if found and found[0].marker.epoch == 0:  # what was before has held nothing
        places[BEFORE] = (0, found[0].committed_at)
    return places


def _row(commit: Commit, places: Places, refused: Mapping[int, int]) -> dict[str, object]:
    marker, bad = commit.marker, refused.get(commit.marker.epoch)
    read = [
        (places[name][int(end)], _before(marker, places[name], name))
        for name, end in marker.cut_to.items()
        if end.isdigit() and int(end) in places.get(name, {})
    ]
    newest = max((at for (_, at), _ in read), default=None)
    known = [end - begin for (end, _), begin in read if begin is not None]
    landed = marker.view in marker.cut_to  # by its connector's own position
    return {
        "epoch": marker.epoch,
        "watermark": marker.watermark,
        "committed_at": commit.committed_at,
        "freshness": (commit.committed_at - newest).total_seconds() if newest else None,
        "rows_in": commit.added + (bad or 0) if landed else sum(known) if known else None,
        "rows_out": commit.added,
        "rows_removed": commit.removed,
        "rows_total": commit.total,
        "rows_late": marker.counts.get("late"),
        "rows_quarantined": bad,
        "snapshot_id": commit.snapshot_id,
        "adaptive_delay": None if marker.delay is None else marker.delay / 1e6,
    }


def _before(marker: Marker, places: Mapping[int, tuple[int, datetime]], name: str) -> int | None:
    """The rows of an input that commits before this one have read; None if they are expired."""
    begin = marker.cut_from.get(name)
    if begin is None:
        return 0
    found = places.get(int(begin), places.get(BEFORE))
    return found[0] if found else None
