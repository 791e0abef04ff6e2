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

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class StreamingProgram:
    """One Structured Streaming query in append mode.

    Attributes:
        sql: the query; columns in the order of the view's fields.
        delays: per input with a watermark in the query, the delay its source declares; a heartbeat
            at ``watermark + delay`` tells the query that the source's watermark is ``watermark``.
        allowed: allowed lateness; Spark's own watermark is the least source watermark minus this,
            and it is the watermark in the view's marker: a row is final iff its close is at or
            below it.
        stateful: whether Spark keeps state, so that a watermark without rows still yields rows.
        late: per input, a query over ``<input>__change`` that returns the whole rows that are too
            late.
    """

    sql: str
    delays: Mapping[str, timedelta] = field(default_factory=dict)
    allowed: timedelta = timedelta(0)
    stateful: bool = False
    late: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LinearProgram:
    """Incremental rule 1: the change of the view is the query over the change of its inputs.

    Attributes:
        sql: one query over the ``<input>__change`` of all inputs (empty where an input did not
            change); its rows are appended.
        late: as in :class:`StreamingProgram`.
    """

    sql: str
    late: Mapping[str, str] = field(default_factory=dict)


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
class AggregateProgram:
    """Incremental rule 2: aggregate the change, fold it into the state by MERGE.

    Attributes:
        change_sql: the aggregated change, one row per key, over the inputs.
        keys: names of the key columns, the same in the change and in the target; empty for one
            global row.
        columns: every column of the target: visible ones in the view's order, then hidden ones.
        delete_when: condition over ``t`` and ``s`` under which a row goes; empty for never.
        insert_when: condition over ``s`` under which a new key gets a row; empty for always.
        restart_when: condition over the rows of an input's change, any of which makes the state
            void: it is computed from the whole inputs; empty for never.
        late: as in :class:`StreamingProgram`.
    """

    change_sql: str
    keys: tuple[str, ...]
    columns: tuple[StateColumn, ...]
    delete_when: str = ""
    insert_when: str = ""
    restart_when: str = ""
    late: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AffectedKeysProgram:
    """Incremental rule 3: re-run the query for the keys that the change touches and replace them.

    Attributes:
        keys_sql: the distinct keys touched, over ``<input>__change``; registered as ``__keys``.
        query_sql: the view's rows for those keys, over the pinned inputs and ``__keys``.
        all_sql: all rows of the view, over the pinned inputs.
        keys: names of the key columns in both and in the target.
        complete: whether every key that FROM and WHERE give rows shows one.
        late: as in :class:`StreamingProgram`.
    """

    keys_sql: str
    query_sql: str
    all_sql: str
    keys: tuple[str, ...]
    complete: bool = False
    late: Mapping[str, str] = field(default_factory=dict)


SIGN = "__sign"
"""Column of a change: 1 in the rows that came, -1 in those that went."""

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
class UnitsProgram:
    """Incremental rule 4: re-run the query for the units of rows that the change touches.

    Every row belongs to a unit, named by a hash that its table holds in a hidden column.

    Attributes:
        steps: what the units are found by: changes of subqueries, innermost first.
        units_sql: the units touched, one BIGINT column ``unit``; registered as ``__units``.
        rows_sql: the view's rows of these units, unit last, over the pinned inputs and ``__units``.
        all_sql: all rows of the view, unit last, over the pinned inputs.
        one_unit: whether all rows are one unit, so that what touches any touches all.
        complete: whether every unit that FROM and WHERE give rows shows one of them.
        state: name and Spark SQL type of further hidden columns, which stand before the unit.
        reads_current: whether a step reads ``__current``.
        late: as in :class:`StreamingProgram`.
    """

    steps: tuple[Step, ...]
    units_sql: str
    rows_sql: str
    all_sql: str
    one_unit: bool = False
    complete: bool = False
    state: tuple[tuple[str, str], ...] = ()
    reads_current: bool = False
    late: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FullProgram:
    """Recompute: the query over the pinned inputs replaces the whole table.

    Attributes:
        sql: the query.
    """

    sql: str


Program = (
    StreamingProgram
    | LinearProgram
    | AggregateProgram
    | AffectedKeysProgram
    | UnitsProgram
    | FullProgram
)
