"""A landed table follows its definition (ON SCHEMA CHANGE EVOLVE): before it lands anything.

In: a definition whose columns are not those of its table. Out: the table altered, or a refusal; and
what the next commit says of it: its marker names what became of columns, and carries on from which
epoch on the table has those that were added.

The order: the lease is asked for, an epoch that was begun by the old definition is begun anew, the
table is altered. Nothing else needs to be remembered: until a commit has said so, the columns of
the newest commit's snapshot differ from those of the table, whatever crashed in between.
"""

from __future__ import annotations

from headwater.analyze.definitions import OnSchemaChange, Source
from headwater.errors import TerminalError
from headwater.lake.catalog import Lake
from headwater.lake.evolve import (
    Evolved,
    check_evolution,
    difference,
    evolved,
    schema_changed,
)
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.protocol.commit import Fence
from headwater.lake.protocol.crash_points import crash_point
from headwater.lake.protocol.marker import Marker
from headwater.lake.reserved_names import quarantine_of
from headwater.lake.spec import TableSpec, columns_ddl


def follow(
    lake: Lake, source: Source, table: LakeTable, spec: TableSpec, fence: Fence | None
) -> None:
    """Give a table that exists the columns of its definition.

    Args:
        fence: asked before anything is changed.

    Raises:
        TerminalError: ``SCHEMA_CHANGED`` if it cannot or must not be altered; ``FENCED``.
    """
    ddl = columns_ddl(spec)
    change = difference(table.columns(), table.stored_columns(ddl))
    if not change:
        return
    if source.on_schema_change != OnSchemaChange.EVOLVE:
        raise schema_changed(
            source.name, change, "write ON SCHEMA CHANGE EVOLVE, run `headwater apply` once, "
        )
    own = {column.name for column in source.columns}
    check_evolution(
        source.name,
        change,
        system={name for name in (*table.columns(), *change.added) if _is_system(name, own)},
        earlier=table.earlier_columns(),
        never_null=_never_null(source),
        event_times=spec.event_times,
    )
    if fence:
        fence.check()
    _begin_anew(lake, source, table)
    table.alter(change, ddl)
    crash_point("altered", source.name)


def _is_system(name: str, own: set[str]) -> bool:
    return name.startswith("_") and name not in own


def _never_null(source: Source) -> set[str]:
    # of a keyed table, what is defined; a deletion in its log has only the key
    return {each.name for each in (*source.fields, *source.columns) if not each.nullable}


def _begin_anew(lake: Lake, source: Source, table: LakeTable) -> None:
    """Take an epoch that is not in the table out of the quarantine.

    The definition that is now may find other rows bad.
    """
    name = quarantine_of(source.name)
    if not lake.exists(name):
        return
    quarantine, last = lake.table(name), table.marker()
    begun = quarantine.newest(source.name)
    if begun and begun.marker.epoch > (last.epoch if last else -1):
        snapshot = quarantine.snapshot(begun.snapshot_id)
        assert snapshot is not None and snapshot.parent is not None
        quarantine.take_back(snapshot.parent)


def evolution(source: Source, table: LakeTable, last: Marker) -> Evolved:
    """Return what the next commit says of the columns.

    Args:
        table: the table, which has its columns.

    Raises:
        TerminalError: ``SCHEMA_CHANGED`` if it says that a column is never NULL which is NULL in
            earlier rows.
    """
    newest = table.newest(source.name)
    if newest is None:
        return Evolved()
    found = evolved(difference(table.columns(newest.snapshot_id), table.columns()), last)
    lacking = sorted(_never_null(source).intersection(found.since))
    if lacking:
        raise TerminalError(
            "SCHEMA_CHANGED",
            f'column "{lacking[0]}" of table "{source.name}" is NOT NULL, but rows before epoch '
            f"{found.since[lacking[0]]} lack it",
            hint="remove NOT NULL",
            span=source.span,
        )
    return found
