"""The watermark of a landed table: from what is committed, so that a replay decides the same.

In: a landed table and its source. Out: the watermark that the next epoch's rows are stamped with,
and what the lanes of a backlog had reached by then.

A *lane* is a part of the input within which order is true, such as a partition of a topic. What
waits together is not late because of one another: a lane with rows waiting holds the watermark back
to where its own rows have come, and a lane that was never read holds it where it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.analyze.definitions import Source, Watermark
from headwater.analyze.typing.types import spark_type
from headwater.lake.protocol.history import Commit
from headwater.lake.protocol.marker import Marker
from headwater.lake.reserved_names import LANE
from headwater.plan.sql.spark_text import micros

if TYPE_CHECKING:
    from headwater.lake.iceberg.table import LakeTable

MILLISECOND = 1_000

REST = ""
"""What a marker calls all lanes that it does not name."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One part of an input within which order is true.

    Attributes:
        newest: newest event time that was read of it, None if none was.
        waiting: whether it holds the watermark back: rows of it are there to be read, or have come
            within the IDLE TIMEOUT.
    """

    newest: int | None
    waiting: bool


@dataclass(frozen=True, slots=True)
class Reached:
    """How far a landed table has come.

    Attributes:
        watermark: the stamp of the rows that come next, None before the first event time.
        lanes: newest event time by lane, while lanes hold the watermark back; :data:`REST` is the
            newest of all others.
        newest: the event time that the watermark followed at its furthest, None before the first.
    """

    watermark: int | None
    lanes: Mapping[str, int]
    newest: int | None = None


def reach(lanes: Iterable[Lane]) -> int | None:
    """Return the event time that the watermark follows; None if a lane holds it where it is.

    Args:
        lanes: every lane that holds it back, and every lane that was read.
    """
    known = list(lanes)
    behind = [lane.newest for lane in known if lane.waiting]
    if None in behind:
        return None
    read = [lane.newest for lane in known if lane.newest is not None]
    return min((each for each in behind if each is not None), default=max(read, default=None))


def watermark(lanes: Iterable[Lane], before: int | None, delay: int) -> int | None:
    """Return the watermark after rows were read; it never goes back.

    Args:
        lanes: every lane that holds it back, and every lane that was read.
        before: the watermark until now.
        delay: how far it stays behind, in microseconds.

    Returns:
        A whole number of milliseconds, or None before the first event time.
    """
    followed = reach(lanes)
    if followed is None:
        return before
    reached = floor_to_ms(followed - delay)
    return reached if before is None else max(before, reached)


def reached_by(table: LakeTable, source: Source, commit: Commit) -> Reached:
    """Return how far a landed table had come with one of its commits.

    The commit's stamp and the lanes before it are in its marker. The newest event times are in the
    metrics of its data files; no data is read.

    Args:
        table: the landed table, as of a refresh that knows the commit.
        source: its definition, with a WATERMARK.
    """
    assert source.watermark is not None
    found = _found(table, source.watermark.column, commit)
    return reached_with(commit.marker, source.watermark, found)


def reached_with(marker: Marker, rule: Watermark, found: Mapping[str, int]) -> Reached:
    """Return how far a landed table has come with an epoch.

    Args:
        marker: the marker of the epoch.
        rule: the table's watermark.
        found: newest event time of the epoch's rows, by lane.
    """
    lanes = dict(marker.reached)
    for lane, newest in found.items():
        lanes[lane] = max(newest, lanes.get(lane, newest))
    known = [Lane(newest, lane in marker.waiting) for lane, newest in lanes.items()]
    known += [Lane(None, waiting=True) for lane in marker.waiting if lane not in lanes]
    now = watermark(known, marker.watermark, _delay(rule, marker))
    followed = [each for each in (reach(known), marker.newest) if each is not None]
    return Reached(now, lanes if marker.waiting else {}, max(followed, default=None))


def _delay(rule: Watermark, marker: Marker) -> int:
    """How far the watermark stays behind after a commit, in microseconds."""
    if rule.adaptive is None or marker.delay is None:
        return micros(rule.delay)
    return min(marker.delay, micros(rule.delay))


def _found(table: LakeTable, column: str, commit: Commit) -> dict[str, int]:
    """The newest event times in a commit's files, by lane while a backlog is being read."""
    marker = commit.marker
    named = {*marker.waiting, *marker.reached} - {REST}
    if not named:
        newest = table.upper_bound(column, commit.snapshot_id)
        return {} if newest is None else {REST: newest}
    found: dict[str, int] = {}
    for part, newest in table.bounds.by_part(LANE, column, commit.snapshot_id):
        lane = part if part is not None and part in named else REST
        found[lane] = max(newest, found.get(lane, newest))
    return found


def reached(table: LakeTable, source: Source) -> Reached:
    """Return how far a landed table has come, by its newest commit as of the last refresh."""
    commit = table.newest(source.name) if source.watermark else None
    return reached_by(table, source, commit) if commit else Reached(None, {})


def watermark_after(table: LakeTable, source: Source) -> int | None:
    """Return the watermark that holds after the newest commit of a landed table.

    Args:
        table: the landed table; its last refresh is what counts.

    Returns:
        Microseconds since 1970 UTC, a whole number of milliseconds; None without a WATERMARK or
        before the first event time.
    """
    return reached(table, source).watermark


def floor_to_ms(time: int) -> int:
    """Return a time cut to whole milliseconds.

    Args:
        time: microseconds since 1970 UTC; may be negative.
    """
    return time // MILLISECOND * MILLISECOND


def watermark_type(source: Source) -> str:
    """Return the Spark type of ``_watermark``: that of the event-time column.

    Args:
        source: a source with a WATERMARK.
    """
    assert source.watermark is not None
    types = {column.name: spark_type(column.type) for column in source.columns}
    return types[source.watermark.column]
