"""The watermarks that the new versions of views have at the cuts of the old ones.

In: the inputs of a view at what its newest commit has read. Out: the least of their watermarks, as
the engine would have it: another definition may wait for other inputs than the old one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from headwater.analyze.definitions import Source
from headwater.deploy.changes import ProjectChanges
from headwater.lake.reserved_names import LANE
from headwater.lake.watermark import REST, reached_with
from headwater.plan.query_shape import MICROSECOND
from headwater.plan.rules.contract import Engine
from headwater.plan.view_plan import ViewPlan
from headwater.serve.connection import literal, quoted
from headwater.serve.stored_table import StoredTable
from headwater.serve.verify import NO_SNAPSHOT

if TYPE_CHECKING:
    import duckdb

    from headwater.lake.protocol.marker import Marker


def cut_of(marker: Marker, name: str, table: StoredTable) -> int | None:
    """Return the snapshot of an input that a new version reads: of a new input, the newest.

    Args:
        marker: of the newest commit of the view, in the names of now.
        name: the input, as it is named now.
        table: the input.
    """
    newest = table.newest()
    position = marker.cut_to.get(name, str(newest.snapshot_id) if newest else "")
    return int(position) if position not in ("", NO_SNAPSHOT) else None


class NewWatermarks:
    """The watermarks of new versions, each after those that it reads.

    Args:
        connection: where the inputs can be read.
        changes: the project held against the lake.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, changes: ProjectChanges) -> None:
        self._connection, self._changes = connection, changes
        self._read: dict[str, tuple[ViewPlan, Marker, Mapping[str, str]]] = {}
        self._known: dict[str, int | None] = {}

    def of(self, plan: ViewPlan, marker: Marker, read: Mapping[str, str]) -> int | None:
        """Return the watermark of a view, in microseconds since 1970 UTC; None if it needs none.

        Args:
            plan: of its new version.
            marker: of its newest commit, in the names of now.
            read: by input, the relation that holds its rows.
        """
        self._read[plan.view.name] = (plan, marker, read)
        streams = plan.decision.engine is Engine.STREAMING
        waits = plan.final or streams or plan.moves
        return self._of_view(plan.view.name) if waits else None

    def _of_view(self, name: str) -> int | None:
        if name not in self._known:
            plan, marker, read = self._read[name]
            timed = {item.name for item in plan.inputs if item.timed}
            known = [self._of_input(each, marker, read[each]) for each in read if each in timed]
            least = [each for each in known if each is not None]
            found = min(least) if known and least == known else None
            streams = plan.decision.engine is Engine.STREAMING
            if found is not None and streams and not plan.late.accept:
                found -= plan.late.allowed // MICROSECOND
            self._known[name] = found
        return self._known[name]

    def _of_input(self, name: str, marker: Marker, relation: str) -> int | None:
        if name in self._read:
            return self._of_view(name)
        table = self._changes.table(name)
        position = cut_of(marker, name, table) if table is not None else None
        commit = table.newest(before=position) if table is not None and position else None
        if commit is None:
            return None
        source = self._changes.project.catalog.sources.get(name)
        if source is None or source.watermark is None:
            return commit.marker.watermark
        found = self._newest(source, commit.marker, relation)
        return reached_with(commit.marker, source.watermark, found).watermark

    def _newest(self, source: Source, marker: Marker, relation: str) -> dict[str, int]:
        """The newest event time of each lane that a marker names, and of all others together."""
        assert source.watermark is not None
        lanes = sorted({*marker.waiting, *marker.reached} - {REST})
        lane = literal(REST)
        if lanes:
            named = ", ".join(map(literal, lanes))
            lane = f"CASE WHEN {quoted(LANE)} IN ({named}) THEN {quoted(LANE)} ELSE {lane} END"
        newest = f"CAST(epoch_us(max({quoted(source.watermark.column)})) AS BIGINT)"
        rows = self._connection.sql(
            f"SELECT {lane} AS lane, {newest} FROM {quoted(relation)} GROUP BY lane"
        )
        return {name: time for name, time in rows.fetchall() if time is not None}
