"""Tables of recursive rows in Spark: the anchor, then the step until a round adds nothing.

In: the steps of a program, whose inputs Spark can read. Out: temporary views. The rows of a round
stay where its tasks ran; the driver has their number. A plan reads rounds that are computed, so it
does not grow with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import reduce

from pyspark.sql import DataFrame, SparkSession

from headwater.errors import TerminalError
from headwater.lake.java import computed
from headwater.plan.full_program import RecursiveStep

SMALL = 20_000
"""Number of rows up to which Spark is told to send them to each task, as it knows no size."""
_PARTS = 8
"""From so many tables on, the rounds become one: each table of a union has tasks of its own."""


@contextmanager
def registered_recursion(
    session: SparkSession, view: str, steps: Sequence[RecursiveStep]
) -> Iterator[None]:
    """Compute and register the tables of recursive rows that a query reads in the block.

    Args:
        session: where what they read is registered.
        view: the view, for messages.
        steps: innermost first.

    Raises:
        TerminalError: ``RECURSION_LIMIT`` if a round after the last one would add rows.
    """
    with ExitStack() as opened:
        for step in steps:
            rows = _Rounds(session, step, opened).rows(view)
            rows.createOrReplaceTempView(step.name)
        yield


class _Rounds:
    """The rounds of one recursive query."""

    def __init__(self, session: SparkSession, step: RecursiveStep, opened: ExitStack) -> None:
        self._session, self._step, self._opened = session, step, opened
        self._found: list[DataFrame] = []
        self._count = 0

    def rows(self, view: str) -> DataFrame:
        """Return the rows of all rounds."""
        round_ = self._session.sql(self._step.anchor_sql)
        for _ in range(self._step.depth + 1):
            new, count = computed(self._new(round_), self._opened)
            if count == 0:
                return self._all()
            self._add(new, count)
            _sized(new, count).createOrReplaceTempView(self._step.working)
            round_ = self._session.sql(self._step.step_sql)
        if self._new(round_).isEmpty():
            return self._all()
        raise _too_deep(view, self._step, self._count)

    def _new(self, rows: DataFrame) -> DataFrame:
        """What a round adds."""
        if not self._step.distinct:
            return rows
        return rows.subtract(_sized(self._all(), self._count)) if self._found else rows.distinct()

    def _add(self, new: DataFrame, count: int) -> None:
        self._found.append(new)
        self._count += count
        if len(self._found) > _PARTS:
            whole, _ = computed(self._all(), self._opened)
            self._found = [whole]

    def _all(self) -> DataFrame:
        if not self._found:
            return self._session.sql(self._step.anchor_sql).limit(0)
        return reduce(DataFrame.unionAll, self._found)


def _sized(rows: DataFrame, count: int) -> DataFrame:
    return rows.hint("broadcast") if count <= SMALL else rows


def _too_deep(view: str, step: RecursiveStep, count: int) -> TerminalError:
    hint = f"write WITH (max_recursion_depth = {10 * step.depth}) behind the name of the view"
    if not step.distinct:
        hint = f"UNION ALL never ends where rows lead back to themselves: write UNION, or {hint}"
    has = f'"{step.alias}" has {count} rows after {step.depth} rounds'
    message = f'view "{view}": {has}, and more would come'
    return TerminalError("RECURSION_LIMIT", message, hint=hint)
