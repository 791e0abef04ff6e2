"""The delivery of one sink: what its view has gained and lost since the last one, then the marker.

In: a sink and its view's table. Out: changes at the connector, and a commit of ``<sink>__sink``
whose cut says up to which snapshot of the view they go. A delivery is an epoch of the commit
protocol (:mod:`headwater.lake.protocol.commit`):

- first ``<sink>__begun`` gets its marker, which binds the epoch to its range: after a crash the
  same range is delivered again with the same number, whatever the view has committed since
- then all changes are written and acknowledged
- then ``<sink>__sink`` gets the marker

So every change is delivered, in the order of the epochs. What was under way at a crash is delivered
again as the same epoch: its records are in a topic twice, while a table, which has the number of
the epoch beside the rows, has them once. Several commits of the view that wait are one delivery:
their net change. Both tables hold markers and no rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import DataFrame

from headwater.algebra.change import SIGN
from headwater.analyze.definitions import Sink
from headwater.connectors.registry import open_sink
from headwater.connectors.sink_contract import DeliveryEpoch
from headwater.errors import TerminalError
from headwater.lake.catalog import Lake
from headwater.lake.iceberg.changed_rows import changed_rows
from headwater.lake.protocol.commit import Fence, SideWrite, commit
from headwater.lake.protocol.marker import Marker
from headwater.lake.reserved_names import BEGUN, PLACE, SINK
from headwater.lake.spec import TableSpec
from headwater.plan.sql.spark_text import name as quoted

_COLUMNS = (("sink", "STRING", True),)  # a table has at least one


@dataclass(frozen=True, slots=True)
class Delivered:
    """What one delivery did.

    Attributes:
        marker: its marker.
        seconds: how long it took.
    """

    marker: Marker
    seconds: float


class Delivery:
    """Delivers one sink. Not for several threads.

    After an error it must be made anew: it reads from the lake how far it was.

    Args:
        lake: the lake, seen through a session that nothing else uses.
        fence: called before each delivery, if given.

    Attributes:
        sink: the definition.
        table: holds the markers of what was delivered.

    Raises:
        TerminalError: ``TABLE_NOT_FOUND`` if there is no view; ``DEFINITION_CHANGED`` if the sink
            was another one.
    """

    def __init__(
        self,
        lake: Lake,
        sink: Sink,
        directory: Path,
        *,
        version: int = 1,
        token: int = 0,
        fence: Fence | None = None,
    ) -> None:
        self.sink = sink
        self._lake = lake
        self._fence = fence
        self._view = lake.readable(sink.view)
        self.table, self._begun = (
            lake.ensure(TableSpec(sink.name + suffix, _COLUMNS, comment=words))
            for suffix, words in (
                (SINK, f"markers of what {sink.name} has delivered"),
                (BEGUN, f"markers of what {sink.name} has begun to deliver"),
            )
        )
        self._outlet = open_sink(sink, directory)
        self._outlet.open(lake)
        self._identity = Marker(
            sink.name, version, -1, {}, {}, token=token, fingerprint=sink.fingerprint
        )
        self._last = self.table.marker() or self._identity
        self._last_at = self.table.committed_at()
        begun = self._begun.marker() or self._last
        self._under_way = begun if begun.epoch > self._last.epoch else None
        if begun.fingerprint != sink.fingerprint:
            raise TerminalError(
                "DEFINITION_CHANGED",
                f'sink "{sink.name}" was changed since it delivered its first records',
                hint="undo the change, or give the new definition a new name and place",
                span=sink.span,
            )

    @property
    def delivered(self) -> int | None:
        """The snapshot of the view up to which everything is delivered; None before the first."""
        position = self._last.cut_to.get(self.sink.view)
        return int(position) if position else None

    def newest(self) -> int:
        """Return the snapshot of the view up to which there is something to deliver."""
        self._view.refresh()
        return self._view.last_change()

    def step(self) -> Delivered | None:
        """Deliver what waits.

        Returns:
            What was done, or None if there is nothing to do.

        Raises:
            TerminalError: ``VIEW_REBUILT``; what connector and commit protocol raise.
            ServiceError: connector, catalog or warehouse failed; trying again may help.
        """
        started, last, begun = time.monotonic(), self._last, self._under_way
        upto = int(begun.cut_to[self.sink.view]) if begun else self.newest()
        if begun is None and upto == self.delivered and self._view.was_there(upto, self._last_at):
            return None
        self._check_history(upto)
        place = self._outlet.place((begun or last).cut_to.get(PLACE))
        cut_to = {self.sink.view: str(upto), PLACE: place}
        marker = replace(
            self._identity,
            epoch=last.epoch + 1,
            cut_from=last.cut_to,
            cut_to=begun.cut_to if begun else cut_to,
        )
        commit(
            self.table,
            marker,
            lambda target: self._deliver(marker),
            session=self._lake.spark,
            sides=(SideWrite(self._begun, lambda target: None),),
            fence=self._fence,
        )
        self._last, self._last_at = marker, self.table.committed_at()
        self._under_way = None
        return Delivered(marker, time.monotonic() - started)

    def interrupt(self) -> None:
        """Ask a delivery that is under way to end soon; called from another thread."""
        self._outlet.interrupt()

    def _check_history(self, upto: int) -> None:
        """Refuse what is not the table of the last delivery: what it has lost is not known."""
        after = self.delivered
        reaches = after is None or (
            self._view.was_there(after, self._last_at)
            and (after == upto or self._view.leads_to(after, upto))
        )
        if not reaches or self._view.snapshot(upto) is None:
            raise TerminalError(
                "VIEW_REBUILT",
                f'table "{self.sink.view}" no longer holds the last commit that sink '
                f'"{self.sink.name}" delivered: the table was rebuilt, or another tool expired it',
                hint="give the sink another name and place; it then delivers the whole view",
                span=self.sink.span,
            )

    def _deliver(self, marker: Marker) -> None:
        upto = int(marker.cut_to[self.sink.view])
        snapshot = self._view.snapshot(upto)
        assert snapshot is not None, "its history was looked at"
        with self._changed(upto) as changed:
            self._outlet.deliver(changed, DeliveryEpoch(marker, snapshot.at, self._fence))

    @contextmanager
    def _changed(self, upto: int) -> Iterator[DataFrame]:
        """Give the rows that the view has gained and lost since the last delivery, with a sign."""
        columns = [field.name for field in self.sink.fields]
        if self.sink.appends:
            gained = self._view.changes(self.delivered, upto)
            yield gained.select(*map(quoted, columns)).selectExpr("*", f"1 AS {SIGN}")
        else:
            with changed_rows(self._view, self.delivered, upto, columns) as changed:
                yield changed
