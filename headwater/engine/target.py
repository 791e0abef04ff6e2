"""The tables that a view writes: its own and that of its late rows; and the report on a commit.

In: a view's plan. Out: tables of the lake that have the planned columns.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial

from headwater.engine.follow_definition import follow, follow_input, follow_rule
from headwater.engine.inputs import InputTable
from headwater.errors import TerminalError
from headwater.lake.catalog import Lake
from headwater.lake.delta.table import DeltaTable
from headwater.lake.evolve import other_meaning
from headwater.lake.iceberg.comments import comments_of, set_comments
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.protocol.commit import Fence, Outcome
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import Table
from headwater.lake.reserved_names import DEFINITION
from headwater.lake.spec import TableSpec
from headwater.plan.view_plan import ViewPlan

_NOT_NULL = " NOT NULL"
_STATE = "state of the view, no part of its rows"


@dataclass(frozen=True, slots=True)
class Committed:
    """What became visible by one commit of a view.

    Attributes:
        view: name of the view.
        marker: its marker.
        rows: rows that the commit wrote; 0 if it was found committed.
        snapshot_id: the snapshot that it made.
        at: when it was made, milliseconds since 1970 UTC.
        seconds: how long it took, from the look at what changed until it was visible.
        outcome: whether this commit made it visible, or an earlier attempt had.
        read: if there were late rows, how many rows were read of the inputs that had them.
    """

    view: str
    marker: Marker
    rows: int
    snapshot_id: int
    at: int
    seconds: float
    outcome: Outcome = Outcome.COMMITTED
    read: int = 0


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes a view: what its markers carry and what guards its commits.

    Attributes:
        version: version of the view's definition.
        token: fence token of the lease.
    """

    version: int = 1
    token: int = 0


def ensure_target(lake: Lake, plan: ViewPlan, fence: Fence | None = None) -> Table:
    """Return the view's table in the view's format; create it if it is missing.

    A keyed table that says so gets the columns of its definition, once its log has them; any table
    of Iceberg gets the hidden columns of the rule that keeps its view now.

    Args:
        fence: asked before columns are changed.

    Raises:
        TerminalError: ``SCHEMA_CHANGED``, ``FORMAT_CHANGED``; ``DEFINITION_CHANGED`` if another
            definition of the view wrote it, or of the columns that it reads; ``TARGET_NOT_EMPTY``
            if rows are in it that no view wrote.
    """
    hidden = {column.name: _STATE for column in plan.columns if column.hidden}
    spec = TableSpec(
        plan.view.name,
        tuple((column.name, column.spark_type, True) for column in plan.columns),
        plan.partitioned_by,
        plan.view.comment,
        column_comments=hidden | {field.name: field.comment for field in plan.view.fields},
        definition=plan.view.definition,
    )
    table: Table
    if plan.view.is_delta:
        table = lake.ensure_delta(spec)
    elif plan.follows:
        table = lake.ensure(spec, partial(follow, lake, plan, fence))
    else:
        table = lake.ensure(spec, partial(follow_rule, plan, fence))
    marker = table.marker()
    if (
        marker
        and not plan.follows
        and (meaning := other_meaning(plan, partial(_last_read, lake, marker)))
    ):
        raise TerminalError(
            "DEFINITION_CHANGED",
            f'view "{plan.view.name}" has changed its meaning since its last commit: {meaning}',
            hint="undo the change or give the view a new name; "
            f"`headwater doctor {plan.view.name} --repair` can rebuild the view",
        )
    if marker and not plan.is_of(marker.fingerprint):
        raise TerminalError(
            "DEFINITION_CHANGED",
            f'the definition of view "{plan.view.name}" has changed since its last commit',
            hint="undo the change or give the new definition a new name; "
            f"`headwater doctor {plan.view.name} --repair` can rebuild the view",
        )
    if marker is None and table.total_rows() != 0:
        raise TerminalError(
            "TARGET_NOT_EMPTY",
            f'table "{table.name}" holds rows that view "{plan.view.name}" did not write',
            hint="rename or drop the table, then start again",
        )
    if isinstance(table, LakeTable):
        set_comments(table, spec)
    elif table.properties().get(DEFINITION) != spec.definition and isinstance(table, DeltaTable):
        table.set_properties({DEFINITION: spec.definition})
    return table


def _last_read(lake: Lake, marker: Marker, name: str) -> tuple[LakeTable, int] | None:
    """Return a table and the snapshot of it that a view has read last, if both are there."""
    position = marker.cut_to.get(name)
    if position is None or not lake.exists(name):
        return None
    table, read = lake.table(name), int(position)
    return None if table.snapshot(read) is None else (table, read)


def ensure_late_table(lake: Lake, plan: ViewPlan, origin: InputTable) -> LakeTable | None:
    """Return the table that keeps an input's rows too late for a view, None if not asked for.

    Args:
        origin: the input whose columns, system columns included, the table has.
    """
    if not plan.late.into:
        return None
    columns = tuple(
        (name, kind.removesuffix(_NOT_NULL), True) for name, kind in origin.table.columns().items()
    )
    spec = TableSpec(
        plan.late.into,
        columns,
        comment=f"rows too late for {plan.view.name}",
        column_comments=comments_of(origin.table) if isinstance(origin.table, LakeTable) else {},
    )
    table = lake.ensure(spec, follow_input)
    set_comments(table, spec)
    return table


def committed(table: Table, marker: Marker, outcome: Outcome, began: float) -> Committed:
    """Return the report on a commit that has just ended.

    Args:
        table: the view's table, as the commit left it.
        marker: the marker of the commit.
        began: when the work on it began, by the monotonic clock.
    """
    newest = table.snapshot_id()
    snapshot = table.snapshot(newest) if outcome is Outcome.COMMITTED else None
    rows = int(snapshot.summary.get("added-records", 0)) if snapshot else 0
    at = snapshot.at if snapshot else table.committed_at()
    seconds = time.monotonic() - began
    return Committed(marker.view, marker, rows, newest, at, seconds, outcome)
