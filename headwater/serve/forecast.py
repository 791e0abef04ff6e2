"""What of a project will stop at its next start, because the lake holds what others defined.

In: a project that has run here, and its plans. Out: by name, why the next start will stop it. Only
the catalog is read; what cannot be read is no reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from headwater.analyze.definitions import Field, OnSchemaChange
from headwater.analyze.typing.types import iceberg_type
from headwater.dialect.vocabulary import is_system_column
from headwater.errors import HeadwaterError
from headwater.lake.evolve import ColumnDifference, difference, means_otherwise
from headwater.serve.iceberg import StoredIcebergTable
from headwater.serve.lake_reader import LakeReader
from headwater.serve.stored_table import reading

if TYPE_CHECKING:
    from headwater.analyze.definitions import Catalog
    from headwater.lake.protocol.marker import Marker
    from headwater.plan.view_plan import ViewPlan
    from headwater.project import Project
    from headwater.serve.stored_table import StoredTable


_NUMBERS = {"int": "INT", "long": "BIGINT", "float": "FLOAT", "double": "DOUBLE"}


def will_stop(project: Project, plans: Mapping[str, ViewPlan]) -> dict[str, str]:
    """Return the tables and views that the next start will stop, with the reason."""
    lake = LakeReader(project.config, project.catalog.external)
    found: dict[str, str] = {}
    for name, source in project.catalog.sources.items():
        table = _stored(lake, name) if source.landed else None
        if table is None:
            continue
        try:
            change = column_difference(table, None, source.fields)
        except HeadwaterError:
            continue  # a type that no reader here knows
        if change.retyped or (change and source.on_schema_change is not OnSchemaChange.EVOLVE):
            found[project.catalog.shown(name)] = f"SCHEMA_CHANGED: {in_words(change)}"
    for name, plan in plans.items():
        table = _stored(lake, name)
        try:
            reason = _reason(lake, project, plan, table) if table is not None else ""
        except HeadwaterError:
            continue
        if reason and name not in found:
            found[name] = reason
    return found


def _reason(
    lake: LakeReader,
    project: Project,
    plan: ViewPlan,
    table: StoredIcebergTable,
) -> str:
    newest = next(table.commits(), None)
    if newest is None:
        return ""
    marker = newest.marker
    means_the_same = plan.is_of(marker.fingerprint)
    if not means_the_same and table.definition not in ("", plan.view.definition):
        return ""  # a run goes on with what was applied
    if means_the_same and plan.follows:
        return ""
    own = column_difference(table, None, plan.view.fields)
    if own:
        return f"SCHEMA_CHANGED: {in_words(own)}"
    meaning = read_otherwise(project.catalog, plan, marker, lambda name: _stored(lake, name))
    if not meaning and not means_the_same:
        meaning = "its last commit is of another definition"
    return f"DEFINITION_CHANGED: {meaning}" if meaning else ""


def read_otherwise(
    catalog: Catalog,
    plan: ViewPlan,
    marker: Marker,
    table: Callable[[str], StoredTable | None],
) -> str:
    """Return what of a view has another meaning by the columns that its inputs will have.

    Args:
        catalog: the project's definitions.
        plan: of the view.
        marker: the newest of the view.
        table: gives a table as it is.

    Returns:
        A clause; empty if the view can go on.
    """
    for item in plan.inputs:
        position = marker.cut_to.get(item.name, "")
        read = table(item.name) if item.evolves and position.isdigit() else None
        if not isinstance(read, StoredIcebergTable) or not read.is_readable(int(position)):
            continue
        source = catalog.sources.get(item.name)
        fields = source.fields if source else catalog.views[item.name].fields
        change = column_difference(read, int(position), fields)
        if meaning := means_otherwise(plan.view, item.name, change):
            return meaning
    return ""


def _stored(lake: LakeReader, name: str) -> StoredIcebergTable | None:
    try:
        with reading(name):
            table = lake.table(name)
    except HeadwaterError:
        return None
    return table if isinstance(table, StoredIcebergTable) else None


def column_difference(
    table: StoredIcebergTable, snapshot_id: int | None, fields: tuple[Field, ...]
) -> ColumnDifference:
    """Return how the visible columns of a definition differ from those that a table has.

    Args:
        table: the table.
        fields: the columns of the definition.
        snapshot_id: the snapshot whose columns are meant; those of now by default.
    """
    return difference(_visible(table.columns(snapshot_id)), _visible(_types(fields)))


def field_difference(before: tuple[Field, ...], now: tuple[Field, ...]) -> ColumnDifference:
    """Return how the visible columns of a definition differ from those of an earlier one."""
    return difference(_visible(_types(before)), _visible(_types(now)))


def _types(fields: tuple[Field, ...]) -> dict[str, str]:
    return {each.name: iceberg_type(each.type) for each in fields}


def _visible(columns: Mapping[str, str]) -> dict[str, str]:
    return {name: _shown(kind) for name, kind in columns.items() if not is_system_column(name)}


def _shown(name: str) -> str:
    """A type as Spark names it, if it is one that can become wider."""
    return _NUMBERS.get(name, name.upper().replace(", ", ",") if name[:7] == "decimal" else name)


def in_words(change: ColumnDifference) -> str:
    """Return what a table has, and its definition says otherwise."""
    said = [
        *(f'column "{name}" is missing from its table' for name in change.added),
        *(f'column "{name}" is not defined any more' for name in change.dropped),
        *(
            f'column "{name}" is {old}, defined as {new}'
            for name, (old, new) in {**change.widened, **change.retyped}.items()
        ),
    ]
    return "; ".join(said) or "its columns stand in another order"
