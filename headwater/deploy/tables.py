"""What becomes of tables whose definition has changed: landed ones, and keyed ones.

In: the tables of a project, as defined and as the lake, or another state of the files, has them.
Out: one :class:`TableChange` for each that differs, with the reason.

Rows that are landed stay as they are: an input need not have its history any more. So a changed
clause holds for the rows from now on, and views over the table stay equal to their SELECT. A
watermark goes on from where it is. What would need rows that are gone, or another meaning of those
that are there, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.analyze.definitions import CHANGES, Source
from headwater.lake.evolve import ColumnDifference, refusals
from headwater.lake.reserved_names import landed_by
from headwater.plan.table_parts import (
    CONNECTOR,
    FORMAT,
    START,
    WATERMARK,
    WORDS,
    event_time,
    parts_of,
    shown,
)
from headwater.serve.forecast import column_difference, field_difference
from headwater.serve.iceberg import StoredIcebergTable
from headwater.serve.stored_table import StoredTable

if TYPE_CHECKING:
    from headwater.plan.view_plan import ViewPlan

NEW_NAME = "undo the change, or give the new definition a new name, which reads its input anew"
_FIXED = (CONNECTOR, FORMAT)
"""Parts on which the position in the input and the columns of the connector depend."""
_ANOTHER = "rows of changes and rows of a table are not kept alike"
_KEY = "its key or its order differs, and deletions that are landed have the old key"


@dataclass(frozen=True, slots=True)
class TableChange:
    """What becomes of one table.

    Attributes:
        name: the table.
        refused: whether it cannot follow its definition.
        reason: why, in a few words.
        old: the part that differs, as it was.
        new: the same part, as it is now.
    """

    name: str
    refused: bool
    reason: str
    old: str = ""
    new: str = ""


def table_changes(
    sources: Mapping[str, Source],
    plans: Mapping[str, ViewPlan],
    table: Callable[[str], StoredTable | None],
) -> Iterator[TableChange]:
    """Yield what becomes of each table that differs from its definition.

    Args:
        sources: the tables and SOURCEs of a project.
        plans: of its views, keyed tables among them.
        table: gives a table as the lake has it.
    """
    for name, source in sources.items():
        found = table(name) if source.landed else None
        newest = next(found.commits(), None) if found else None
        if isinstance(found, StoredIcebergTable) and newest is not None:
            shows = name.removesuffix(CHANGES)
            if newest.marker.fingerprint:
                yield TableChange(shows, True, _ANOTHER)
                continue
            columns = column_difference(found, None, source.fields)
            held = landed_by(found.properties)
            if change := _change(shows, source, held, columns, found.ever()):
                yield change
    for name, plan in plans.items():
        keyed = table(name) if plan.view.changes else None
        newest = next(keyed.commits(), None) if keyed else None
        if keyed and landed_by(keyed.properties):
            yield TableChange(name, True, _ANOTHER)
        elif newest and not plan.is_of(newest.marker.fingerprint):
            yield TableChange(name, True, _KEY)


def definition_changes(
    was: tuple[Mapping[str, Source], Mapping[str, ViewPlan]],
    now: tuple[Mapping[str, Source], Mapping[str, ViewPlan]],
) -> Iterator[TableChange]:
    """Yield what becomes of each table whose definition differs from an earlier one.

    Args:
        was: the tables and SOURCEs as they were, and the plans.
        now: those of now.
    """
    (sources_before, plans_before), (sources, plans) = was, now
    for name, source in sources.items():
        before, shows = sources_before.get(name), name.removesuffix(CHANGES)
        if source.landed and name in plans_before:
            yield TableChange(name, True, _ANOTHER)
        elif source.landed and before is not None and before.landed:
            columns = field_difference(before.fields, source.fields)
            had = {each.name for each in before.fields}
            if change := _change(shows, source, parts_of(before), columns, had):
                yield change
    for name, plan in plans.items():
        keyed, landed = plans_before.get(name), sources_before.get(name)
        if plan.view.changes and landed and landed.landed:
            yield TableChange(name, True, _ANOTHER)
        elif plan.view.changes and keyed and keyed.fingerprint != plan.fingerprint:
            yield TableChange(name, True, _KEY)


def _change(
    name: str,
    source: Source,
    held: Mapping[str, str],
    columns: ColumnDifference,
    earlier: Collection[str],
) -> TableChange | None:
    parts = parts_of(source)
    differs = [word for word in WORDS if held and held.get(word) != parts.get(word)]
    if event_time(held) != event_time(parts) and held:
        reason = (
            "its event time differs, and rows that are landed have the watermark of the old one"
        )
        return _refused(name, reason, WATERMARK, held, parts)
    for word in (each for each in _FIXED if each in differs):
        return _refused(name, f"{word} differs", word, held, parts)
    if refused := next(_refusals(source, columns, earlier), ""):
        return TableChange(name, True, refused)
    if said := _in_words(columns):
        return TableChange(name, False, said)
    for word in differs:
        reason = f"{word} differs, for rows that are landed from now on"
        if word == START:
            reason = f"{START} differs, but the first reading is done"
        return TableChange(name, False, reason, shown(word, held), shown(word, parts))
    return None


def _refused(
    name: str, reason: str, word: str, held: Mapping[str, str], parts: Mapping[str, str]
) -> TableChange:
    return TableChange(name, True, reason, shown(word, held), shown(word, parts))


def _refusals(source: Source, change: ColumnDifference, earlier: Collection[str]) -> Iterator[str]:
    """What of the columns cannot be followed, as :mod:`headwater.intake.evolve` says it."""
    times = (source.watermark.column,) if source.watermark else ()
    return refusals(
        change,
        system=(),
        earlier=earlier,
        never_null={each.name for each in (*source.fields, *source.columns) if not each.nullable},
        event_times=times,
    )


def _in_words(change: ColumnDifference) -> str:
    said = [
        *(f"column {name} is new, NULL in rows that are landed" for name in change.added),
        *(f"column {name} goes, with its values" for name in change.dropped),
        *(f"column {name} was {old}, is {new}" for name, (old, new) in change.widened.items()),
    ]
    return "; ".join(said) or ("its columns stand in another order" if change.moved else "")
