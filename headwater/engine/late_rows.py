"""Rows too late for a view: counted in the marker of their commit, and kept if asked for.

In: what is new in the inputs, and per input the program's query for its late rows.
Out: the count, and the side writes that keep the rows. File metrics decide whether a row can be
late at all, so that an epoch in order costs no pass over the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from headwater.engine.inputs import InputTable, SnapshotRange, register_change
from headwater.engine.target import ensure_late_table
from headwater.lake.catalog import Lake
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.java import cached
from headwater.lake.protocol.commit import SideWrite
from headwater.lake.protocol.table import Target, Write
from headwater.plan.query_shape import MICROSECOND
from headwater.plan.view_plan import ViewPlan


@dataclass(frozen=True, slots=True)
class Late:
    """The late rows of one epoch.

    Attributes:
        counts: ``late`` and how many, or empty if the view leaves nothing out.
        sides: the writes that keep them.
        read: how many rows are new in the inputs that have some.
    """

    counts: Mapping[str, int]
    sides: tuple[SideWrite, ...] = ()
    read: int = 0


class LateRowFinder:
    """Finds the late rows of a view.

    Args:
        lake: where the late table lives.
        queries: the program's ``late``.
    """

    def __init__(
        self,
        lake: Lake,
        plan: ViewPlan,
        queries: Mapping[str, str],
        inputs: Mapping[str, InputTable],
    ) -> None:
        self._plan = plan
        self._queries = queries
        self._inputs = inputs
        # inputs whose rows can be late have the same columns if the rows are kept
        first = next(iter(queries), None)
        self._table = ensure_late_table(lake, plan, inputs[first]) if first else None

    @property
    def table(self) -> LakeTable | None:
        """The table that keeps late rows, None if they are not kept."""
        return self._table

    @contextmanager
    def of(self, session: SparkSession, spans: Mapping[str, SnapshotRange]) -> Iterator[Late]:
        """Give the late rows of an epoch, cached as long as the block lasts.

        Args:
            session: where ``<input>__change`` is or will be registered.
        """
        if not self._queries:
            yield Late({})
            return
        found: list[DataFrame] = []
        count = read = 0
        with ExitStack() as opened:
            for name in self._queries:
                if name not in spans or not self._possible(name, spans[name]):
                    continue
                found.append(cached(self._rows(session, name, spans[name]), opened))
                if late := found[-1].count():
                    count += late
                    read += self._inputs[name].rows_added(spans[name])
            # one commit per epoch: a second one would be taken for a replay
            kept = self._table if count else None
            sides = (SideWrite(kept, _appending(found)),) if kept else ()
            yield Late({"late": count}, sides, read)

    def _rows(self, session: SparkSession, name: str, span: SnapshotRange) -> DataFrame:
        register_change(session, self._inputs[name], span)
        return session.sql(self._queries[name])

    def _possible(self, name: str, span: SnapshotRange) -> bool:
        """Return whether file metrics leave room for a late row."""
        self._inputs[name].know(span.upto)
        table = self._inputs[name].table
        allowed = self._plan.late.allowed // MICROSECOND
        for snapshot in table.ancestors(span.upto):
            if snapshot.id == span.after:
                return False
            if not isinstance(table, LakeTable) or table.is_expired(snapshot.parent):
                return True  # its epoch or its bounds are not known: the rows have to be looked at
            stamp = snapshot.marker.watermark if snapshot.marker else None
            if snapshot.operation != "append" or stamp is None:
                continue
            for relation in self._plan.shape.relations:
                if relation.name != name or relation.event_time is None:
                    continue
                earliest = table.lower_bound(relation.event_time, snapshot.id)
                if earliest is None:
                    continue
                window = relation.window
                close = window.first_end(earliest) if window else earliest
                if close + allowed <= stamp:
                    return True
        return False


def _appending(frames: Sequence[DataFrame]) -> Write:
    def write(target: Target) -> None:
        for rows in frames:
            target.append(rows)

    return write
