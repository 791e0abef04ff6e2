"""Tables follow definitions: a keyed one its own, after its log has, any view's the rule of it.

In: a table whose columns are not those of its definition. Out: the table altered, and what its next
commit says of that.

Of a keyed table (ON SCHEMA CHANGE EVOLVE), rows that are there are NULL in an added column, as
their changes are in the log: nothing has to be computed. But a column that changes may leave out
remembers, hidden, where its value was said; that is known from the log alone, so the next commit
computes the table from it. As with a log (``headwater.intake.evolve``), what is still to be said of
the columns follows from those of the newest commit's snapshot, whatever crashed in between.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from headwater.dialect.vocabulary import is_system_column
from headwater.errors import TerminalError
from headwater.lake.catalog import Lake
from headwater.lake.evolve import ColumnDifference, Evolved, difference, evolved, schema_changed
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.protocol.commit import Fence
from headwater.lake.protocol.crash_points import crash_point
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import Table
from headwater.lake.spec import TableSpec, columns_ddl
from headwater.plan.program import STATE
from headwater.plan.view_plan import ViewPlan


@dataclass(frozen=True, slots=True)
class Followed:
    """What is still to be done and said of columns that were changed.

    Attributes:
        evolved: what the next commit says of them.
        anew: whether it has to compute the whole table.
    """

    evolved: Evolved = field(default_factory=Evolved)
    anew: bool = False


def follow(
    lake: Lake, plan: ViewPlan, fence: Fence | None, table: LakeTable, spec: TableSpec
) -> None:
    """Give a keyed table that exists the columns of its definition.

    Args:
        fence: asked before anything is changed.

    Raises:
        TerminalError: ``SCHEMA_CHANGED`` if its log does not have the columns; ``FENCED``.
    """
    ddl = columns_ddl(spec)
    wanted = table.stored_columns(ddl)
    change, marker = difference(table.columns(), wanted), table.marker()
    if not change or (marker and not plan.is_of(marker.fingerprint)):
        return  # of another definition the table keeps what it has
    held = lake.table(plan.follows).columns()
    shown = {each.name for each in plan.view.fields}
    lacking = [column for column in shown if held.get(column) != wanted[column]]
    if lacking or any(column in held for column in change.dropped):
        raise TerminalError(
            "SCHEMA_CHANGED",
            f'table "{table.name}" cannot follow its definition until its log table '
            f'"{plan.follows}" does',
            hint=f'correct the error of "{plan.follows}"',
        )
    if fence:
        fence.check()
    _alter(table, change, ddl)
    crash_point("altered", table.name)


def follow_input(table: LakeTable, spec: TableSpec) -> None:
    """Give a table of late rows the columns of its input, which were checked there.

    Raises:
        TerminalError: ``SCHEMA_CHANGED`` if a column has another type that is no wider one.
    """
    ddl = columns_ddl(spec)
    if change := difference(table.columns(), table.stored_columns(ddl)):
        _alter(table, change, ddl)


def follow_rule(plan: ViewPlan, fence: Fence | None, table: LakeTable, spec: TableSpec) -> None:
    """Give a table the hidden columns of the rule that keeps its view now, and no others.

    Its rows are what they were. What hidden columns hold, the next commit computes anew.

    Raises:
        TerminalError: ``SCHEMA_CHANGED`` if anything else differs; ``FENCED``.
    """
    ddl = columns_ddl(spec)
    change = difference(table.columns(), table.stored_columns(ddl))
    if not change:
        return
    hidden = all(column.startswith(STATE) for column in (*change.added, *change.dropped))
    alone = hidden and not (change.widened or change.retyped or change.moved)
    marker = table.marker()
    if not (alone and marker and plan.is_of(marker.fingerprint)):
        raise schema_changed(spec.name, change)
    if fence:
        fence.check()
    table.alter(change, ddl)
    crash_point("altered", table.name)


def _alter(table: LakeTable, change: ColumnDifference, ddl: str) -> None:
    if change.retyped:
        raise schema_changed(table.name, change)
    table.alter(change, ddl)


def followed(plan: ViewPlan, table: Table, last: Marker | None) -> Followed:
    """Return what is still to be done and said of the columns of a view's table."""
    if last is None:
        return Followed()
    if not plan.follows:
        return Followed(Evolved(since=last.since), anew=_hides_other(plan, table, last))
    newest = table.newest(plan.view.name)
    if newest is None or not isinstance(table, LakeTable):  # it may have said so before
        return Followed(Evolved(since=last.since))
    change = difference(table.columns(newest.snapshot_id), table.columns())
    shown = {each.name for each in plan.view.fields}
    own = replace(
        change,
        added={column: kind for column, kind in change.added.items() if column in shown},
        dropped=tuple(column for column in change.dropped if not is_system_column(column)),
    )
    return Followed(evolved(own, last), anew=own.added.keys() != change.added.keys())


def _hides_other(plan: ViewPlan, table: Table, last: Marker) -> bool:
    """Return whether a view's table hides other than what its rule would have written.

    Programs of one rule may hide other columns, with counts or without. Those of the table may be
    the plan's already, altered before a crash: its newest commit tells what was written.
    """
    hidden = {column.name for column in plan.columns if column.hidden}
    if not hidden:
        return False
    rule = plan.decision.rule.name
    if (last.rule or plan.earlier_rule or rule) != rule:
        return True
    if not isinstance(table, LakeTable):  # one of Delta never gets other columns
        return False
    newest = table.newest(plan.view.name)
    written = table.columns(newest.snapshot_id) if newest else {}
    return hidden != {column for column in written if column.startswith(STATE)}
