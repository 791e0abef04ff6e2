"""One epoch of a view, whichever engine computes it: late rows, bad rows, marker, commit.

In: what the epoch reads, and what writes its rows.
Out: one commit of the view's table and its side tables, or none of them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from pyspark.sql import SparkSession

from headwater.engine.bad_rows import BadRowFilter
from headwater.engine.inputs import Cut, InputTable, SnapshotRange
from headwater.engine.late_rows import LateRowFinder
from headwater.engine.target import Committed, Writer, committed
from headwater.lake.catalog import Lake
from headwater.lake.evolve import Evolved
from headwater.lake.protocol.commit import Fence, commit
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import Table, Write
from headwater.plan.view_plan import ViewPlan


@dataclass(frozen=True, slots=True)
class ViewEpoch:
    """What one commit of a view stands for.

    Attributes:
        number: of the epoch, from 0.
        cut_from: what was read before it.
        cut_to: what is read with it.
        watermark: the watermark after it.
        spans: what is new per input.
        began: when the work on it began, by the monotonic clock.
        evolved: the columns that the view's table got before it.
    """

    number: int
    cut_from: Cut
    cut_to: Cut
    watermark: int | None
    spans: Mapping[str, SnapshotRange]
    began: float
    evolved: Evolved = field(default_factory=Evolved)


@dataclass(frozen=True, slots=True)
class Change:
    """What an epoch does to the table of a view.

    Attributes:
        write: writes the rows.
        counts: what was measured.
    """

    write: Write
    counts: Mapping[str, int] = field(default_factory=dict)


class ViewCommitter:
    """Commits the epochs of one view.

    Args:
        lake: where its side tables live.
        inputs: what it reads of the lake.
        bad_rows: finds the rows on which the view fails.
        fence: called before each commit, if given.

    Attributes:
        late: finds the rows that are too late.
    """

    def __init__(
        self,
        lake: Lake,
        plan: ViewPlan,
        target: Table,
        inputs: Mapping[str, InputTable],
        bad_rows: BadRowFilter,
        *,
        writer: Writer,
        fence: Fence | None,
    ) -> None:
        self._plan = plan
        self._target = target
        self._inputs = inputs
        self._bad_rows = bad_rows
        self._writer = writer
        self._fence = fence
        self.late = LateRowFinder(lake, plan, bad_rows.late, inputs)

    def commit(
        self, session: SparkSession, epoch: ViewEpoch, change: AbstractContextManager[Change]
    ) -> Committed:
        """Commit one epoch.

        Args:
            session: where ``<input>__change`` is registered.
            epoch: what the commit stands for.
            change: computes the rows; entered once late and bad rows are known.

        Raises:
            HeadwaterError: what the commit protocol raises.
        """
        with (
            self.late.of(session, epoch.spans) as late,
            self._bad_rows.of(session, self._inputs, epoch.spans, epoch.cut_to) as bad,
            change as own,
        ):
            marker = Marker(
                view=self._plan.view.name,
                version=self._writer.version,
                epoch=epoch.number,
                cut_from=epoch.cut_from,
                cut_to=epoch.cut_to,
                watermark=epoch.watermark,
                token=self._writer.token,
                fingerprint=self._plan.fingerprint,
                counts={**late.counts, **bad.counts, **own.counts},
                rule=self._plan.decision.rule.name,
                evolved=epoch.evolved.changes,
                since=epoch.evolved.since,
                began=round((time.time() - (time.monotonic() - epoch.began)) * 1000),
            )
            outcome = commit(
                self._target,
                marker,
                own.write,
                session=session,
                sides=(*late.sides, *bad.sides),
                fence=self._fence,
            )
        return replace(committed(self._target, marker, outcome, epoch.began), read=late.read)
