"""The inputs of a view in the lake: pins, cuts, changes and watermarks at a snapshot.

In: the tables a view reads and the cut of its last commit.
Out: DataFrames registered under the names that programs use (``<input>``, ``<input>__change``), and
the watermark that holds after a snapshot. Both engines use it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own convention

from headwater.algebra.ages import Age, Ages
from headwater.algebra.change import SIGN
from headwater.algebra.nodes import RowsRead
from headwater.analyze.definitions import Catalog, Field, Source
from headwater.analyze.typing.types import spark_type
from headwater.lake.catalog import Lake
from headwater.lake.iceberg.changed_rows import changed_rows, rows_that_differ
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.java import cached
from headwater.lake.protocol.table import Table
from headwater.lake.watermark import reached_by
from headwater.plan.rules.contract import Input, InputKind
from headwater.plan.sql.spark_text import at
from headwater.plan.sql.spark_text import name as quoted
from headwater.plan.view_plan import ViewPlan

Cut = Mapping[str, str]
"""Per input the position up to which it was read; for a table of the lake its snapshot id as
text."""

ONE_TASK = 10_000
"""Rows that one task reads sooner than several are started."""

CHANGE, BEFORE, ANY = (state.value for state in (RowsRead.CHANGE, RowsRead.BEFORE, RowsRead.ANY))


@dataclass(frozen=True, slots=True)
class SnapshotRange:
    """A piece of an input's history.

    Attributes:
        after: snapshot already read, or None for the beginning.
        upto: last snapshot to read.
    """

    after: int | None
    upto: int


@dataclass(frozen=True, slots=True)
class InputTable:
    """One table or view that a view reads.

    Attributes:
        name: its name in the project.
        table: its table in the lake.
        source: its definition if it is a table, None for a view.
        corrected: the columns of an input whose rows are corrected, in order; empty for one that
            only gains rows.
        ages: which of its rows are read by the view's watermark, and what compares them with it.
        timed: whether it has a watermark, so that it holds back that of the view.
    """

    name: str
    table: Table
    source: Source | None
    corrected: tuple[str, ...] = ()
    ages: Ages = Ages()
    timed: bool = True
    _watermarks: dict[int, int | None] = field(default_factory=dict, repr=False, compare=False)

    @property
    def iceberg(self) -> LakeTable:
        """Its table where it must be one of Iceberg: a landed one, one that is read as a stream."""
        assert isinstance(self.table, LakeTable), f"{self.name} is a Delta table"
        return self.table

    @property
    def _is_external(self) -> bool:
        return self.source is not None and bool(self.source.external)

    def pin(self) -> int:
        """Return the id of its newest snapshot that changed rows, read anew from the catalog."""
        self.table.refresh()
        return self.table.last_change()

    def watermark_after(self, snapshot_id: int) -> int | None:
        """Return the watermark that holds once the rows up to a snapshot are known.

        For a landed table it is the stamp of the rows that come next; for a view the one in its
        marker.

        Returns:
            Microseconds since 1970 UTC, or None if there is none yet.
        """
        if snapshot_id not in self._watermarks:
            self._watermarks.clear()
            self._watermarks[snapshot_id] = self._watermark_after(snapshot_id)
        return self._watermarks[snapshot_id]

    def is_empty(self, snapshot_id: int) -> bool:
        """Return whether the table certainly holds no rows at a snapshot.

        Rows less deletions would not do: of a table that others write, a row may be deleted twice.
        """
        if self.rows(snapshot_id):
            return False
        snapshot = self.table.snapshot(snapshot_id)
        return snapshot is not None and snapshot.summary.get("total-records", "0") == "0"

    def rows(self, snapshot_id: int) -> int:
        """Return how many rows the table holds at a snapshot, about."""
        self.know(snapshot_id)
        return self.table.rows_at(snapshot_id)

    def reachable(self, span: SnapshotRange, read_at: int) -> SnapshotRange:
        """Return the readable part of a piece of history; all there is if the piece is gone.

        Others may expire snapshots of their tables, roll them back or replace them.

        Args:
            read_at: when its beginning was read, or later: milliseconds since 1970 UTC.

        Raises:
            TerminalError: ``SNAPSHOT_NOT_IN_HISTORY`` if a table of the project was replaced.
        """
        if span.after is None:
            return span
        replaced = not self.table.was_there(span.after, read_at)
        if self._is_external:
            known = span.after == span.upto or self.includes(span.upto, span.after)
            return span if known and not replaced else SnapshotRange(None, span.upto)
        if replaced:
            raise self.table.not_in_history(span.after, span.upto)
        return span

    def includes(self, snapshot_id: int, earlier: int) -> bool:
        """Return whether a snapshot is another one, or was built on it, both being kept."""
        self.know(snapshot_id)
        return self.table.includes(snapshot_id, earlier)

    def rows_to_read(self, span: SnapshotRange) -> int:
        """Return how many rows must be read for what a piece of history changed.

        Raises:
            TerminalError: ``SNAPSHOT_NOT_IN_HISTORY`` if it does not reach back to ``after``.
        """
        if self.corrected and span.after is not None:
            self.know(span.upto)
            return rows_that_differ(self.table, span.after, span.upto)
        return self.rows_added(span)

    def know(self, snapshot_id: int) -> None:
        """Make sure that the table's metadata is recent enough to hold a snapshot."""
        if self.table.snapshot(snapshot_id) is None:
            self.table.refresh()

    def _watermark_after(self, snapshot_id: int) -> int | None:
        if self._is_external:
            return None
        self.know(snapshot_id)
        commit = self.table.newest(before=snapshot_id)
        if commit is None:
            return None
        if self.source is None or self.source.watermark is None:
            return commit.marker.watermark
        return reached_by(self.iceberg, self.source, commit).watermark

    def rows_added(self, span: SnapshotRange) -> int:
        """Return how many rows a piece of history added, without reading any.

        Of an input whose rows are corrected, those removed count too.

        Raises:
            TerminalError: ``SNAPSHOT_NOT_IN_HISTORY`` if it does not reach back to ``after``.
        """
        self.know(span.upto)
        return self.table.rows_changed(span.after, span.upto, corrected=bool(self.corrected))


def open_inputs(lake: Lake, plan: ViewPlan, catalog: Catalog) -> dict[str, InputTable]:
    """Return the inputs of a view that are kept in the lake, in order of first use.

    Args:
        lake: the lake seen through the session that will read them.

    Raises:
        TerminalError: ``TABLE_NOT_FOUND``, ``SCHEMA_CHANGED`` of a table that others write.
        ServiceError: ``TABLE_NOT_FOUND``, ``TABLE_EMPTY`` of such a table.
    """
    return {
        item.name: _open(lake, item, catalog)
        for item in plan.inputs
        if item.kind is not InputKind.SOURCE
    }


def _open(lake: Lake, item: Input, catalog: Catalog) -> InputTable:
    source = catalog.sources.get(item.name)
    table: Table
    if source and source.external:
        table = lake.external(item.name, {each.name: _declared(each) for each in source.fields})
    else:
        table = lake.readable(item.name)
    only_gains = item.appends or (item.ages.moves and source and not source.external)
    fields = () if only_gains else (source or catalog.views[item.name]).fields
    names = tuple(each.name for each in fields)
    return InputTable(item.name, table, source, names, item.ages, item.timed)


def _declared(field: Field) -> str:
    return spark_type(field.type) + ("" if field.nullable else " NOT NULL")


def ranges(
    inputs: Mapping[str, InputTable], cut: Cut, pins: Mapping[str, int], read_at: int
) -> dict[str, SnapshotRange]:
    """Return what is new per input.

    Args:
        cut: the cut of the last commit.
        pins: the snapshot up to which each input is read now.
        read_at: when the last commit was made, milliseconds since 1970 UTC.

    Returns:
        The new piece of every input that has one.

    Raises:
        TerminalError: ``SNAPSHOT_NOT_IN_HISTORY``.
    """
    spans = {
        name: inputs[name].reachable(
            SnapshotRange(int(cut[name]) if name in cut else None, upto), read_at
        )
        for name, upto in pins.items()
    }
    return {name: span for name, span in spans.items() if span.after != span.upto}


def least_watermark(inputs: Iterable[InputTable], pins: Mapping[str, int]) -> int | None:
    """Return the least watermark of the inputs at their pinned snapshots.

    Inputs without event times do not hold it back.

    Returns:
        Microseconds since 1970 UTC, or None while an input with event times has no watermark.
    """
    known: list[int] = []
    for item in inputs:
        if not item.timed:
            continue
        watermark = item.watermark_after(pins[item.name])
        if watermark is None:
            return None
        known.append(watermark)
    return min(known, default=None)


@dataclass(frozen=True, slots=True)
class Clock:
    """The watermark of a view before and after a tick, microseconds since 1970 UTC."""

    before: int | None
    now: int | None


def register_pinned(
    inputs: Mapping[str, InputTable], pins: Mapping[str, int], clock: Clock
) -> None:
    """Register each input at its pinned snapshot as temporary view ``<input>``.

    Args:
        inputs: the inputs, seen through the session that gets the views.
    """
    for name, item in inputs.items():
        rows = item.table.read(pins[name])
        _left(rows, item, clock.now).createOrReplaceTempView(name)


def _left(rows: DataFrame, item: InputTable, watermark: int | None) -> DataFrame:
    """The rows of an input that a watermark leaves in the view, compared with it."""
    if item.ages.recent is not None:
        rows = rows.where(_within(item.ages.recent, watermark))
    for age in item.ages.dated:
        rows = rows.withColumn(age.flag, F.expr(_within(age, watermark)))
    return rows


def _within(age: Age, watermark: int | None) -> str:
    return f"{quoted(age.column)} >= {_least(age, watermark)}"


def _least(age: Age, watermark: int | None) -> str:
    """The least event time that is read; without a watermark nothing is."""
    return "NULL" if watermark is None else at(watermark - age.length, spark_type(age.type))


def register_change(session: SparkSession, item: InputTable, span: SnapshotRange) -> DataFrame:
    """Register what is new in one input as temporary view ``<input>__change``, and return it.

    Few rows are one task, whose aggregates and joins need no shuffle.
    """
    rows = item.table.using(session).changes(span.after, span.upto)
    new = item.rows(span.upto) if span.after is None else item.rows_added(span)
    if new <= ONE_TASK:
        rows = rows.coalesce(1)
    rows.createOrReplaceTempView(item.name + CHANGE)
    return rows


def register_changes(
    session: SparkSession,
    inputs: Mapping[str, InputTable],
    spans: Mapping[str, SnapshotRange],
    pins: Mapping[str, int],
) -> None:
    """Register what is new in each input as temporary view ``<input>__change``, possibly empty.

    Args:
        inputs: the inputs, which only gain rows.
        spans: what is new, from :func:`ranges`.
    """
    for name, item in inputs.items():
        register_change(session, item, spans.get(name) or SnapshotRange(pins[name], pins[name]))


def register_cached(rows: DataFrame, name: str, opened: ExitStack) -> int:
    """Compute rows at once and register them, so that Spark knows how few they are.

    Args:
        name: the temporary view to make of them.
        opened: forgets them when it ends.

    Returns:
        Their number.
    """
    held = cached(rows, opened)
    held.createOrReplaceTempView(name)
    return held.count()


@contextmanager
def register_states(
    session: SparkSession,
    inputs: Mapping[str, InputTable],
    spans: Mapping[str, SnapshotRange],
    pins: Mapping[str, int],
    clock: Clock,
) -> Iterator[None]:
    """Register what each input gained and lost, held before, and holds at either cut.

    The temporary views are ``<input>__change``, ``<input>__before`` and ``<input>__any``; they
    serve as long as the block lasts.

    Args:
        spans: what is new, from :func:`ranges`.
    """
    with ExitStack() as stack:
        for name, item in inputs.items():
            span = spans.get(name) or SnapshotRange(pins[name], pins[name])
            item.know(span.upto)
            now = _left(item.table.read(span.upto), item, clock.now)
            before = now.where("false") if span.after is None else item.table.read(span.after)
            before = _left(before, item, clock.before)
            before.createOrReplaceTempView(name + BEFORE)
            if item.corrected:
                change = stack.enter_context(
                    changed_rows(item.table, span.after, span.upto, item.corrected)
                )
            elif item.ages.moves:
                rows = item.table.using(session).changes(span.after, span.upto)
                change = rows.withColumn(SIGN, F.expr("1"))
            else:
                register_change(session, item, span)
                continue
            if item.ages.moves:
                change = _with_those_that_move(change, before, item, clock)
            if name in spans or item.ages.moves:
                change = cached(change, stack)
            change.createOrReplaceTempView(name + CHANGE)
            flags = [age.flag for age in item.ages.dated] if item.corrected else []
            columns = [*item.corrected, *flags] or now.columns
            shown = [*map(quoted, columns)]
            both = now.select(*shown).unionAll(change.select(*shown))
            both.createOrReplaceTempView(name + ANY)
        yield


def _with_those_that_move(
    change: DataFrame, before: DataFrame, item: InputTable, clock: Clock
) -> DataFrame:
    """The change of an input as the watermark now leaves it, and the rows that it has passed.

    Args:
        before: what the input held, compared with the watermark then.
    """
    change = _left(change, item, clock.now)
    columns = [*map(quoted, change.columns)]
    passed = [_passed(age, clock) for age in item.ages.dated]
    if item.ages.recent is not None:
        passed.append(f"{quoted(item.ages.recent.column)} < {_least(item.ages.recent, clock.now)}")
    moved = before.where(" OR ".join(f"({each})" for each in passed))
    gone = moved.withColumn(SIGN, F.expr("-1")).select(*columns)
    found = change.unionAll(gone)
    if not item.ages.dated:
        return found
    stays = _left(moved, item, clock.now).withColumn(SIGN, F.expr("1"))
    return found.unionAll(stays.select(*columns))


def _passed(age: Age, clock: Clock) -> str:
    """The condition that a time is compared otherwise than it was, as a range of times."""
    if clock.before is None or clock.now is None:
        return "false" if clock.before == clock.now else "true"
    ends = sorted((clock.before, clock.now))
    low, high = (_least(age, each) for each in ends)
    return f"{quoted(age.column)} >= {low} AND {quoted(age.column)} < {high}"
