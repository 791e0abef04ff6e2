"""What an engine needs to keep one view: Spark SQL over named inputs, and what to do with its rows.

The planner writes these, ``explain --sql`` shows them, the engines run them. All SQL is Spark's,
printed by sqlglot. A program reads temporary views that the engine registers first:

- ``<input>``: the whole input: the stream, or the table at the pinned snapshot
- ``<input>__change``: the rows appended since the last cut (incremental; late rows of both
  engines); of an input whose rows are corrected, those removed and those added, with their sign
- ``<input>__before``, ``<input>__any``: the table at the last cut; what it holds at either cut
- ``<input>__heartbeat``: one column ``ts``; its rows move Spark's watermark (streaming)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import Enum
from typing import ClassVar

from headwater.patterns import MatchClause
from headwater.plan.unit_name import UnitName


class Reads(Enum):
    """What a program of the incremental engine reads of each input."""

    PINNED = "<input>"
    CHANGE = "<input>__change of inputs that only gain rows"
    STATES = "<input>__change, <input>__before and <input>__any of any input"


READS_PINNED = frozenset({Reads.PINNED})
READS_CHANGE = frozenset({Reads.CHANGE})
READS_STATES = frozenset({Reads.PINNED, Reads.STATES})

STATE = "_state_"
"""Beginning of the names of hidden columns."""


@dataclass(frozen=True, slots=True)
class PatternStep:
    """A table with the matches of one ``MATCH_RECOGNIZE``, which an engine fills for a query.

    Attributes:
        name: its name.
        sql: the rows that the clause reads, with its input columns; a partition's stand together,
            in order.
        clause: finds the matches in them.
        columns: name and Spark SQL type of the table's columns.
        recent: what suffices for most partitions, if a part of the rows does.
    """

    name: str
    sql: str
    clause: MatchClause
    columns: tuple[tuple[str, str], ...]
    recent: RecentStep | None = None

    def between(self, after: int | None, upto: int | None) -> PatternStep:
        """Return the step of one tick; see :meth:`Program.between`."""
        recent = self.recent.between(after, upto) if self.recent and after is not None else None
        return replace(self, sql=_filled(self.sql, after, upto), recent=recent)


@dataclass(frozen=True, slots=True)
class RecentStep:
    """How a table of matches is filled from recent rows.

    Attributes:
        sql: the rows of a range of event time.
        rest_sql: all rows of the partitions named in ``<name>__unsure``.
        since: how far before the watermark of the view's newest commit the range begins, in
            microseconds; in a tick, that time itself.
        until: likewise, before which no row can be part of a match that becomes final.
    """

    sql: str
    rest_sql: str
    since: int
    until: int

    def between(self, after: int, upto: int | None) -> RecentStep:
        """Return the step of one tick; see :meth:`Program.between`."""
        return RecentStep(
            _filled(self.sql, after, upto),
            _filled(self.rest_sql, after, upto),
            after - self.since,
            after - self.until,
        )


def _filled(sql: str, after: int | None, upto: int | None) -> str:
    """Return a text with the watermarks of a tick."""
    start, end = (str(BEGINNING if each is None else each) for each in (after, upto))
    return sql.replace(AFTER, start).replace(UPTO, end)


class Program(ABC):
    """What every program says of itself; the defaults hold for most.

    Attributes:
        recomputes: whether every tick computes the whole view, whatever changed.
        moves: whether the watermark alone can change the view.
    """

    __slots__ = ()
    recomputes: ClassVar[bool] = False
    moves: ClassVar[bool] = False

    def between(self, after: int | None, upto: int | None) -> Program | None:
        """Return the program of one tick.

        Args:
            after: the watermark of the view's newest commit, microseconds since 1970 UTC; None for
                the whole view.
            upto: the watermark of its inputs now.

        Returns:
            The program with these times filled in; None if they say that it adds nothing.
        """
        return self

    @property
    def late(self) -> Mapping[str, str]:
        """Per input, a query over ``<input>__change`` for the whole rows that are too late."""
        return {}

    @property
    def patterns(self) -> tuple[PatternStep, ...]:
        """The tables of matches that its queries read."""
        return ()

    @property
    def whole_patterns(self) -> tuple[PatternStep, ...]:
        """The tables of matches that the query of all rows reads."""
        return self.patterns

    @property
    def hidden(self) -> tuple[tuple[str, str], ...]:
        """Name and Spark SQL type of the state columns, which stand after the view's own."""
        return ()

    @property
    def holds(self) -> Mapping[str, str]:
        """What each state column holds, in the words of the query."""
        return {}

    @property
    def restart_when(self) -> str:
        """Condition over the rows of a change that makes the state void; empty for never."""
        return ""

    @property
    def reads(self) -> frozenset[Reads]:
        """What a change of the view is computed from."""
        return READS_PINNED

    @property
    def whole_reads(self) -> frozenset[Reads]:
        """What all rows of the view are computed from."""
        return READS_PINNED

    @abstractmethod
    def texts(self) -> dict[str, str]:
        """Return its Spark SQL by the step that it is for, as ``explain --sql`` shows it."""


@dataclass(frozen=True, slots=True)
class StreamingProgram(Program):
    """One Structured Streaming query in append mode.

    Attributes:
        sql: the query; columns in the order of the view's fields.
        delays: per input with a watermark in the query, how far Spark's watermark stays behind; a
            heartbeat at ``watermark + delay`` tells the query that the input's watermark is
            ``watermark``. Of a SOURCE it is the delay that it declares; of a table it is so large
            that only heartbeats count.
        allowed: allowed lateness; Spark's own watermark is the least source watermark minus this,
            and it is the watermark in the view's marker: a row is final iff its close is at or
            below it.
        stateful: whether Spark keeps state, so that a watermark without rows still yields rows.
    """

    sql: str
    delays: Mapping[str, timedelta] = field(default_factory=dict)
    allowed: timedelta = timedelta(0)
    stateful: bool = False
    late: Mapping[str, str] = field(default_factory=dict)

    def texts(self) -> dict[str, str]:
        """Return the query that Spark runs as a stream."""
        return {"stream": self.sql}


@dataclass(frozen=True, slots=True)
class AppendProgram(Program):
    """Append: the change of the view is the query over the change of its inputs.

    Attributes:
        sql: one query over the ``<input>__change`` of all inputs (empty where an input did not
            change); its rows are appended.
    """

    sql: str
    late: Mapping[str, str] = field(default_factory=dict)
    reads: frozenset[Reads] = READS_CHANGE
    patterns: tuple[PatternStep, ...] = ()

    @property
    def whole_reads(self) -> frozenset[Reads]:
        """The same as for a change: then the change is the whole input."""
        return self.reads

    def texts(self) -> dict[str, str]:
        """Return the query over the change."""
        return {"change": self.sql}


AFTER, UPTO = ":after", ":upto"
"""Stand for the watermarks before and after a tick, in microseconds since 1970 UTC."""

NOW = ":headwater_watermark"
"""Stands for the watermark of a tick as a timestamp, in the text of whole views."""

BEGINNING = -62_000_000_000_000_000
"""A watermark before all others, in the year 5."""


@dataclass(frozen=True, slots=True)
class ClosedTimeProgram(Program):
    """Closed time: append the rows that have become final since the last tick.

    Attributes:
        sql: the query for what is final at ``:upto`` and was not at ``:after``.
        reads: the pinned inputs, and what has come where rows are final at once.
        grids: watermarks at which something can become final: one, and how far they are apart, in
            microseconds; empty if that is at any watermark.
        patterns: the tables of matches that the query reads.
    """

    sql: str
    late: Mapping[str, str] = field(default_factory=dict)
    reads: frozenset[Reads] = READS_PINNED
    grids: tuple[tuple[int, int], ...] = ()
    patterns: tuple[PatternStep, ...] = ()
    moves: ClassVar[bool] = True

    def between(self, after: int | None, upto: int | None) -> Program | None:
        """Return the query as one that is appended."""
        at_once = self.reads != READS_PINNED
        if not at_once and after is not None and not self._passes(after, upto):
            return None
        patterns = tuple(each.between(after, upto) for each in self.patterns)
        return AppendProgram(_filled(self.sql, after, upto), self.late, self.reads, patterns)

    def _passes(self, after: int, upto: int | None) -> bool:
        """Return whether something can have become final between two watermarks."""
        if upto is None or upto <= after:
            return False
        grids = self.grids or ((0, 1),)
        return any((upto - one) // apart > (after - one) // apart for one, apart in grids)

    def texts(self) -> dict[str, str]:
        """Return the rows that patterns read, and the query of what is final."""
        rows = {f"rows of {each.name}": each.sql for each in self.patterns}
        return rows | {"closed": self.sql}


@dataclass(frozen=True, slots=True)
class StateColumn:
    """One column of an aggregate's table and how a change is folded into it.

    Attributes:
        name: column name; hidden state starts with ``_state_``.
        type: Spark SQL type.
        insert: Spark SQL expression over ``s`` (the aggregated change) for a new key.
        update: Spark SQL expression over ``t`` (the target's row) and ``s``; equal to ``insert``
            for keys.
    """

    name: str
    type: str
    insert: str
    update: str


@dataclass(frozen=True, slots=True)
class ExactChangeProgram(Program):
    """Exact change: the rows that come and go, by the key of the view.

    Attributes:
        change_sql: for each key that changes, its row now and the sign 1; or the row that it had,
            with the sign -1.
        all_sql: all rows of the view, over the pinned inputs.
        keys: names of the key columns.
    """

    change_sql: str
    all_sql: str
    keys: tuple[str, ...]
    late: Mapping[str, str] = field(default_factory=dict)

    @property
    def reads(self) -> frozenset[Reads]:
        """The change of one input is joined with what the others were, and are."""
        return READS_STATES

    def texts(self) -> dict[str, str]:
        """Return the query of the change."""
        return {"change": self.change_sql}


@dataclass(frozen=True, slots=True)
class FoldProgram(Program):
    """Fold: aggregate the change, fold it into the state by MERGE.

    Attributes:
        change_sql: the aggregated change, one row per key, over the inputs.
        keys: names of the key columns, the same in the change and in the target; empty for one
            global row.
        columns: every column of the target: visible ones in the view's order, then hidden ones.
        delete_when: condition over ``t`` and ``s`` under which a row goes; empty for never.
        insert_when: condition over ``s`` under which a new key gets a row; empty for always.
        restart_when: condition over the rows of an input's change, any of which makes the state
            void: it is computed from the whole inputs; empty for never.
        holds: what each column of keys and aggregates holds.
        whole_sql: the aggregated change by which all pinned rows come; empty if it is that of
            inputs all of whose rows came.
    """

    change_sql: str
    keys: tuple[str, ...]
    columns: tuple[StateColumn, ...]
    delete_when: str = ""
    insert_when: str = ""
    restart_when: str = ""
    holds: Mapping[str, str] = field(default_factory=dict)
    late: Mapping[str, str] = field(default_factory=dict)
    reads: frozenset[Reads] = READS_CHANGE
    whole_sql: str = ""

    @property
    def hidden(self) -> tuple[tuple[str, str], ...]:
        """The columns with state that the view does not show."""
        return tuple((c.name, c.type) for c in self.columns if c.name.startswith(STATE))

    @property
    def whole_reads(self) -> frozenset[Reads]:
        """What a change is computed from, unless all rows have a query of their own."""
        return READS_PINNED if self.whole_sql else self.reads

    def texts(self) -> dict[str, str]:
        """Return the aggregated change, and the MERGE as a person reads it."""
        return {"change": self.change_sql, "merge": self._merge()}

    def _merge(self) -> str:
        on = " AND ".join(f"t.{key} <=> s.{key}" for key in self.keys) or "TRUE"
        lines = [f"MERGE INTO the view AS t USING change AS s ON {on}"]
        if self.delete_when:
            lines.append(f"WHEN MATCHED AND {self.delete_when} THEN DELETE")
        lines.append("WHEN MATCHED THEN UPDATE SET")
        values = [c for c in self.columns if c.name not in self.keys]
        lines.append(",\n".join(f"  {column.name} = {column.update}" for column in values))
        new = f" AND {self.insert_when}" if self.insert_when else ""
        lines.append(f"WHEN NOT MATCHED{new} THEN INSERT VALUES")
        lines.append(",\n".join(f"  {column.name} = {column.insert}" for column in self.columns))
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class AffectedKeysProgram(Program):
    """Affected keys: re-run the query for the keys that the change touches and replace them.

    Attributes:
        keys_sql: the distinct keys touched, over ``<input>__change``; registered as ``__keys``.
        query_sql: the view's rows for those keys, over the pinned inputs and ``__keys``.
        all_sql: all rows of the view, over the pinned inputs.
        keys: names of the key columns in both and in the target.
        complete: whether every key that FROM and WHERE give rows shows one.
    """

    keys_sql: str
    query_sql: str
    all_sql: str
    keys: tuple[str, ...]
    complete: bool = False
    late: Mapping[str, str] = field(default_factory=dict)

    @property
    def reads(self) -> frozenset[Reads]:
        """The changes say which keys, the pinned inputs their rows."""
        return READS_PINNED | READS_CHANGE

    def texts(self) -> dict[str, str]:
        """Return the two queries of a change."""
        return {"keys touched": self.keys_sql, "rows of those keys": self.query_sql}


UNIT = "_state_unit"
"""Hidden column with the name of a row's unit."""

CURRENT = "__current"
"""Temporary view of the table as it is before the change, hidden columns included."""

UNITS = "__units"
"""Temporary view with the units that a change touches."""


@dataclass(frozen=True, slots=True)
class Step:
    """One temporary view that a program makes for itself.

    Attributes:
        name: its name.
        sql: its query, over the inputs and the steps before it; computed once.
    """

    name: str
    sql: str


@dataclass(frozen=True, slots=True)
class AffectedGroupsProgram(Program):
    """Affected groups: re-run the query for the units of rows that the change touches.

    Every row belongs to a unit, named by a hash that its table holds in a hidden column.

    Attributes:
        steps: what the units are found by: changes of subqueries, innermost first.
        units_sql: the units touched, one BIGINT column ``unit``; registered as ``__units``.
        rows_sql: the view's rows of these units, unit last, over the pinned inputs and ``__units``.
        all_sql: all rows of the view, unit last, over the pinned inputs.
        one_unit: whether all rows are one unit, so that what touches any touches all.
        complete: whether every unit that FROM and WHERE give rows shows one of them.
        names: how units are named, per branch of the query.
        state: name, Spark SQL type and content of further hidden columns, before the unit.
        reads_current: whether a step reads ``__current``.
        patterns: the tables of matches of ``rows_sql`` and of ``all_sql``.
        whole_patterns: those of ``all_sql``.
    """

    steps: tuple[Step, ...]
    units_sql: str
    rows_sql: str
    all_sql: str
    names: tuple[UnitName, ...]
    one_unit: bool = False
    complete: bool = False
    state: tuple[tuple[str, str, str], ...] = ()
    reads_current: bool = False
    late: Mapping[str, str] = field(default_factory=dict)
    patterns: tuple[PatternStep, ...] = ()
    whole_patterns: tuple[PatternStep, ...] = ()

    @property
    def hidden(self) -> tuple[tuple[str, str], ...]:
        """Its state, and last the unit of the row."""
        return (*((name, kind) for name, kind, _ in self.state), (UNIT, "BIGINT"))

    @property
    def holds(self) -> Mapping[str, str]:
        """The text of each state column, and of the unit in each branch."""
        units = "; ".join(dict.fromkeys(each.sql for each in self.names))
        return {name: text for name, _, text in self.state} | {UNIT: units}

    @property
    def reads(self) -> frozenset[Reads]:
        """A row can change by what its input was before."""
        return READS_STATES

    def texts(self) -> dict[str, str]:
        """Return the queries of a change in the order in which they run."""
        steps = {f"step {step.name}": step.sql for step in self.steps}
        touched = [each for each in self.patterns if each not in self.whole_patterns]
        steps |= {f"rows of {each.name}": each.sql for each in touched}
        return steps | {"units touched": self.units_sql, "rows of those units": self.rows_sql}
