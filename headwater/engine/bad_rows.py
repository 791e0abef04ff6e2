"""Rows on which a view's expressions fail: counted in the marker of their commit, and quarantined.

In: what is new in the inputs, and the plan's guard. Out: the count, and the side write into
``<view>__quarantine``: reason, the row as JSON, its input with the snapshot, and the row's own
coordinates if it has some.

An engine runs without the guard, so that good rows pay nothing for it. When Spark raises on a row,
nothing of the epoch is published, and the engine goes on with the guard: the epoch is computed
again without the bad rows, which are looked for from then on.

Rows of corrected inputs, combined rows, groups and rows of windows are looked for in the whole
inputs: quarantined is what the quarantine does not hold yet. If a sum leaves its type into which
changes are merged, the view's table cannot hold it: the view is computed as a whole from then on,
and its markers say so.

A view that waits for its rows to be final computes a row long after it came. When it has failed,
its first epoch with the guard looks for bad rows among all that it has read. From then on it keeps
the guard: its markers have the count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from headwater.analyze.definitions import OnError
from headwater.dialect.vocabulary import is_system_column
from headwater.engine.inputs import CHANGE, Cut, InputTable, SnapshotRange, register_change
from headwater.engine.recursion import registered_recursion
from headwater.lake.catalog import Lake
from headwater.lake.failures import data_error
from headwater.lake.iceberg.comments import SYSTEM_COMMENTS, set_comments
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.java import cached
from headwater.lake.protocol.commit import SideWrite
from headwater.lake.protocol.marker import Marker
from headwater.lake.reserved_names import quarantine_of
from headwater.lake.spec import TableSpec
from headwater.plan.guards.bad_rows import BadRows
from headwater.plan.guards.combined_rows import NOW
from headwater.plan.program import Program
from headwater.plan.sql.spark_text import name as quoted
from headwater.plan.sql.spark_text import text
from headwater.plan.view_plan import ViewPlan

_ARRIVED, _COORDINATES = "_arrived_at", {"_path": "STRING", "_row": "BIGINT"}
_COLUMNS = (
    *((_ARRIVED, "TIMESTAMP", True), ("reason", "STRING", False), ("raw", "BINARY", True)),
    *(("_input", "STRING", False), ("_snapshot", "BIGINT", True)),
    *((column, kind, True) for column, kind in _COORDINATES.items()),
)
QUARANTINED, DROPPED = "quarantined", "dropped"
"""Counts in the marker of an epoch in which bad rows were looked for."""
WHOLE = "whole"
"""Count in the marker of a view that is computed as a whole since a sum left its type."""
_HELD, _WITH_NULLS = "__held", "map('ignoreNullFields', 'false')"
_COMMENTS = {**SYSTEM_COMMENTS, "reason": "why it failed", "raw": "the row as JSON"}


@dataclass(frozen=True, slots=True)
class Bad:
    """The bad rows of one epoch.

    Attributes:
        counts: ``quarantined`` or ``dropped`` and how many; empty where none are looked for.
        sides: the write that keeps them.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    sides: tuple[SideWrite, ...] = ()


class BadRowFilter:
    """Whether a view runs with its guard, and the bad rows if it does.

    Attributes:
        on: whether it does.
    """

    def __init__(self, lake: Lake, plan: ViewPlan, last: Marker | None = None) -> None:
        self._lake = lake
        self._plan = plan
        self._whole = plan.whole is not None and last is not None and WHOLE in last.counts
        self._looks_back = False
        counts = last.counts if last else {}
        goes_on = plan.program.moves and (QUARANTINED in counts or DROPPED in counts)
        always = plan.guard is not None and (plan.guard.always or goes_on)
        self.on = self._whole or always

    @property
    def program(self) -> Program:
        """The program to run."""
        if self._whole and self._plan.whole is not None:
            return self._plan.whole
        return self._of_rows

    @property
    def late(self) -> Mapping[str, str]:
        """Per input, the query of the rows that are too late."""
        return self._of_rows.late

    @property
    def _of_rows(self) -> Program:
        return self._plan.guarded_program if self.on else self._plan.program

    def turn_on(self, error: BaseException | None) -> bool:
        """Go on with the guard, if that helps.

        Args:
            error: what the epoch failed with.

        Returns:
            Whether the epoch is worth another attempt.
        """
        if self._plan.guard is None or data_error(error) is None:
            return False
        if not self.on:
            self.on, self._looks_back = True, self._plan.program.moves
            return True
        if self._plan.whole is None or self._whole:
            return False
        self._whole = True
        return True

    def table(self) -> LakeTable | None:
        """Return the view's quarantine if there is one."""
        name = quarantine_of(self._plan.view.name)
        return self._lake.table(name) if self._lake.exists(name) else None

    @contextmanager
    def of(
        self,
        session: SparkSession,
        inputs: Mapping[str, InputTable],
        spans: Mapping[str, SnapshotRange],
        cut: Cut,
    ) -> Iterator[Bad]:
        """Give the bad rows of an epoch, cached as long as the block lasts.

        Args:
            session: where ``<input>__change`` is or will be registered.
            cut: up to where the epoch reads its inputs.
        """
        guard = self._plan.guard if self.on else None
        if guard is None:
            yield Bad()
            return
        kind = DROPPED if self._plan.view.on_error == OnError.DROP else QUARANTINED
        whole = {WHOLE: 1} if self._whole else {}
        if self._looks_back:
            spans = {name: SnapshotRange(None, int(upto)) for name, upto in cut.items()}
        queries = [
            _query(session, bad, inputs[bad.input], spans[bad.input])
            for bad in guard.bad
            if bad.input in spans and not inputs[bad.input].corrected
            if inputs[bad.input].rows_added(spans[bad.input])
        ]
        if (spans or not inputs) and kind == QUARANTINED:
            queries += self._new(session, inputs, cut)
        if not queries:
            yield Bad({kind: 0, **whole} if self._plan.program.moves else whole)
            self._looks_back = False
            return
        recursions = guard.recursions if kind == QUARANTINED else ()
        with ExitStack() as opened:
            opened.enter_context(registered_recursion(session, self._plan.view.name, recursions))
            rows = cached(session.sql("\nUNION ALL\n".join(queries)), opened)
            count = rows.count()
            keeps = count and kind == QUARANTINED
            yield Bad({kind: count, **whole}, (self._side(rows),) if keeps else ())
            self._looks_back = False

    def _new(
        self, session: SparkSession, inputs: Mapping[str, InputTable], cut: Cut
    ) -> Iterator[str]:
        """Yield queries of what fails in the whole inputs, and is not in the quarantine yet."""
        guard, view = self._plan.guard, self._plan.view.name
        assert guard is not None
        corrected = [bad for bad in guard.bad if inputs[bad.input].corrected]
        found = {view: guard.combined} if guard.combined else {}
        for bad in corrected:
            found[bad.input] = (*found.get(bad.input, ()), _failing(bad, inputs[bad.input]))
        if not found:
            return
        for name, item in inputs.items():
            item.know(int(cut[name]))
            rows = item.table.using(session).read(int(cut[name]))
            rows.createOrReplaceTempView(name + NOW)
        if (held := self.table()) is not None:
            held.using(session).read().createOrReplaceTempView(view + _HELD)
        for name, queries in found.items():
            bad_now = "\nUNION ALL\n".join(queries)
            if held is not None:
                own = f"SELECT reason, raw FROM {quoted(view + _HELD)} WHERE _input = {text(name)}"
                bad_now = f"({bad_now})\nEXCEPT ALL\n{own}"
            yield (
                f"SELECT current_timestamp() AS {_ARRIVED}, reason, raw, {text(name)} AS _input,"
                " CAST(NULL AS BIGINT) AS _snapshot, CAST(NULL AS STRING) AS _path,"
                f" CAST(NULL AS BIGINT) AS _row\nFROM (\n{bad_now}\n)"
            )

    def _side(self, rows: DataFrame) -> SideWrite:
        view = self._plan.view.name
        spec = TableSpec(
            quarantine_of(view),
            _COLUMNS,
            comment=f"rows on which {view} fails",
            column_comments=_COMMENTS,
        )
        kept = self._lake.ensure(spec)
        set_comments(kept, spec)

        return SideWrite(kept, lambda target: target.append(rows))


def _failing(bad: BadRows, origin: InputTable) -> str:
    """The rows of a corrected input on which a view fails."""
    raw = f"to_json(struct({', '.join(map(quoted, origin.corrected))}), {_WITH_NULLS})"
    return (
        f"SELECT * FROM (SELECT CASE {_reasons(bad)} END AS reason, CAST({raw} AS BINARY) AS raw"
        f" FROM {quoted(bad.input + NOW)}) WHERE reason IS NOT NULL"
    )


def _reasons(bad: BadRows) -> str:
    return "\n".join(f"WHEN {condition} THEN {text(why)}" for condition, why in bad.causes)


def _query(session: SparkSession, bad: BadRows, origin: InputTable, span: SnapshotRange) -> str:
    origin.know(span.upto)
    rows = register_change(session, origin, span)
    places = [
        quoted(column) if column in rows.columns else f"CAST(NULL AS {kind}) AS {column}"
        for column, kind in _COORDINATES.items()
    ]
    arrived = _ARRIVED if _ARRIVED in rows.columns else "current_timestamp()"
    own = ", ".join(quoted(column) for column in rows.columns if not is_system_column(column))
    raw = f"CAST(to_json(struct({own}), {_WITH_NULLS}) AS BINARY)"
    return (
        f"SELECT * FROM (SELECT {arrived} AS {_ARRIVED}, CASE {_reasons(bad)} END AS reason,"
        f" {raw} AS raw, {text(bad.input)} AS _input,"
        f" CAST({span.upto} AS BIGINT) AS _snapshot, {', '.join(places)}"
        f"\nFROM {quoted(bad.input + CHANGE)}) WHERE reason IS NOT NULL"
    )


def begun(view: str, committed: int, sides: Sequence[LakeTable]) -> Mapping[str, int] | None:
    """Return the cut of an epoch whose side tables are written and whose view is not.

    It has to be done again with that cut, since side tables keep what they have.

    Args:
        committed: its newest epoch, -1 before the first.
    """
    for table in sides:
        table.refresh()
        newest = table.newest(view)
        if newest and newest.marker.epoch > committed:
            return {name: int(upto) for name, upto in newest.marker.cut_to.items()}
    return None
