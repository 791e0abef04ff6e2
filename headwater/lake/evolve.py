"""How the columns of a table differ from its definition, and what of that the table can follow.

In: the columns that a table has and those that it should have, as Spark types. Out: a
:class:`ColumnDifference`, and the refusal of what cannot be followed.

Columns are added (NULL in the rows before), dropped and widened: INT to BIGINT, FLOAT to DOUBLE,
DECIMAL to more digits before the point. A renamed column is one dropped and one added. Iceberg
knows columns by number, so that a name that comes again holds none of the old values; but older
snapshots do, and views were computed from them. So a name that was dropped is not added again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from headwater.analyze.definitions import View
from headwater.errors import TerminalError
from headwater.lake.protocol.marker import Marker

if TYPE_CHECKING:
    from headwater.plan.view_plan import ViewPlan

_WIDER = frozenset({("INT", "BIGINT"), ("FLOAT", "DOUBLE")})
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")


@dataclass(frozen=True, slots=True)
class ColumnDifference:
    """How the columns that a table should have differ from those it has.

    Attributes:
        added: column → its type, in the order of the definition.
        dropped: columns that are not defined any more.
        widened: column → type before and after.
        retyped: column → type before and after, where that is no widening.
        moved: whether the columns on both sides stand in another order.
    """

    added: Mapping[str, str]
    dropped: tuple[str, ...]
    widened: Mapping[str, tuple[str, str]]
    retyped: Mapping[str, tuple[str, str]]
    moved: bool = False

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.added or self.dropped or self.widened or self.retyped or self.moved)

    def changes(self) -> dict[str, str]:
        """Return what happens to each column, as the history of the table says it."""
        return {
            **{column: f"added as {kind}" for column, kind in self.added.items()},
            **dict.fromkeys(self.dropped, "dropped"),
            **{c: f"widened from {old} to {new}" for c, (old, new) in self.widened.items()},
        }


def difference(found: Mapping[str, str], wanted: Mapping[str, str]) -> ColumnDifference:
    """Compare the columns of a table with those it should have.

    Args:
        found: column → Spark type, as the table has them.
        wanted: the same, as it should have them.
    """
    both = {c: (found[c], kind) for c, kind in wanted.items() if c in found}
    changed = {c: kinds for c, kinds in both.items() if kinds[0] != kinds[1]}
    return ColumnDifference(
        {c: kind for c, kind in wanted.items() if c not in found},
        tuple(c for c in found if c not in wanted),
        {c: kinds for c, kinds in changed.items() if _is_wider(*kinds)},
        {c: kinds for c, kinds in changed.items() if not _is_wider(*kinds)},
        [c for c in found if c in wanted] != list(both),
    )


@dataclass(frozen=True, slots=True)
class Evolved:
    """What the next commit of a table says of its columns.

    Attributes:
        changes: what became of columns since the newest commit.
        since: column → the first epoch that has it.
    """

    changes: Mapping[str, str] = field(default_factory=dict)
    since: Mapping[str, int] = field(default_factory=dict)


def evolved(change: ColumnDifference, last: Marker) -> Evolved:
    """Return what the next commit says of a change of columns.

    Args:
        change: from the columns at the newest commit to those of the table.
    """
    since = {**last.since, **dict.fromkeys(change.added, last.epoch + 1)}
    kept = {column: epoch for column, epoch in since.items() if column not in change.dropped}
    return Evolved(change.changes(), kept)


class EvolvingTable(Protocol):
    """A table whose columns change, and are known for each snapshot that is kept."""

    def columns(self, snapshot_id: int | None = None) -> dict[str, str]:
        """Return the columns with their types, of a snapshot or of now."""


def other_meaning(
    plan: ViewPlan, read: Callable[[str], tuple[EvolvingTable, int | None] | None]
) -> str:
    """Return what of a view has another meaning since a table that it reads has evolved.

    Args:
        read: gives an input and the snapshot of it that the view has read last, if there is one.

    Returns:
        A clause; empty if the view can go on.
    """
    for name in (each.name for each in plan.inputs if each.evolves):
        table, position = read(name) or (None, None)
        if table is not None and position is not None:
            change = difference(table.columns(position), table.columns())
            if meaning := means_otherwise(plan.view, name, change):
                return meaning
    return ""


def means_otherwise(view: View, table: str, change: ColumnDifference) -> str:
    """Return what of a view has another meaning since the columns of a table have changed.

    Args:
        view: the view, by the definitions that are now.
        table: a table that it reads.
        change: the difference since the view has read it last.

    Returns:
        A clause; empty if the view can go on.
    """
    read = {column.name for column in view.query.find_all(exp.Column)}
    for column, (old, new) in (*change.widened.items(), *change.retyped.items()):
        if column in read:
            return f'it reads column "{column}" of "{table}", which was {old} and is {new}'
    for column in change.added:
        if column in read:
            return (
                f'it reads column "{column}" of "{table}", which was added, by * or to order rows'
            )
    if view.reads_all and change.dropped:
        gone = f'column "{change.dropped[0]}" of "{table}", which was dropped'
        return f"it may have read {gone}, by * or to order rows"
    if view.reads_all and change.moved:
        return (
            f'the columns of "{table}" stand in another order, and it reads them by * or in order'
        )
    return ""


def _is_wider(old: str, new: str) -> bool:
    before, after = _DECIMAL.fullmatch(old), _DECIMAL.fullmatch(new)
    if before and after:
        return before[2] == after[2] and int(before[1]) < int(after[1])
    return (old, new) in _WIDER


def check_evolution(
    table: str,
    change: ColumnDifference,
    *,
    system: Collection[str],
    earlier: Collection[str],
    never_null: Collection[str],
    event_times: Collection[str],
) -> None:
    """Refuse what a landed table with rows in it cannot follow.

    Args:
        table: its name.
        system: the columns that are not the definition's own.
        earlier: names of all columns that the table ever had.
        never_null: the columns that the definition says hold no NULL.
        event_times: the columns that are its event time.

    Raises:
        TerminalError: ``SCHEMA_CHANGED``.
    """
    refused = list(
        refusals(
            change,
            system=system,
            earlier=earlier,
            never_null=never_null,
            event_times=event_times,
        )
    )
    if refused:
        raise TerminalError(
            "SCHEMA_CHANGED",
            f'table "{table}" cannot follow its definition: ' + "; ".join(refused),
            hint="undo the change, or give the new definition a new name, which reads its input "
            "from the start",
        )


def refusals(
    change: ColumnDifference,
    *,
    system: Collection[str],
    earlier: Collection[str],
    never_null: Collection[str],
    event_times: Collection[str],
) -> Iterator[str]:
    """Yield what of a change a landed table cannot follow; see :func:`check_evolution`."""
    for column, (old, new) in change.retyped.items():
        yield f'column "{column}" is {old}, and {new} does not hold all of its values'
    for column in (*change.added, *change.dropped, *change.widened):
        if column in system:
            yield f'column "{column}" follows from how rows are read and when they are late'
        elif column in event_times:
            yield f'column "{column}" is the event time, which landed rows lack'
    for column in change.added:
        if column in earlier:
            yield f'column "{column}" was dropped before, and older snapshots hold other values'
        elif column in never_null and column not in system:
            yield f'column "{column}" is NOT NULL, but landed rows lack it'


def schema_changed(table: str, change: ColumnDifference, hint: str = "") -> TerminalError:
    """Return the error that a table has other columns than it should have.

    Args:
        table: its name.
        hint: what can be done beside undoing the change.
    """
    retyped = {**change.widened, **change.retyped}
    differences = [
        *(f'column "{column}" is missing' for column in change.added),
        *(f'column "{column}" is no longer defined' for column in change.dropped),
        *(f'column "{c}" is {old}, defined as {new}' for c, (old, new) in retyped.items()),
    ]
    return TerminalError(
        "SCHEMA_CHANGED",
        f'table "{table}" does not have the defined columns: '
        + ("; ".join(differences) or "their order differs"),
        hint=f"undo the change, {hint}or give the new definition a new name",
    )
