"""The schema ``information_schema``: which tables and views a project has, and their columns.

In: a project and its lake. Out: the relations ``tables``, ``columns``, ``views`` and ``schemata``
as Trino has them, with a comment beside. Columns of Headwater's own are not among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.analyze.definitions import CHANGES, Field
from headwater.analyze.typing import types as t
from headwater.dialect.vocabulary import is_system_column
from headwater.errors import ConfigError, HeadwaterError
from headwater.errors.nearest import did_you_mean
from headwater.lake.catalogs.backend import CATALOG
from headwater.lake.protocol import commits
from headwater.lake.reserved_names import QUARANTINE
from headwater.serve.snapshots import COLUMNS, SNAPSHOTS

if TYPE_CHECKING:
    import pyarrow as pa

    from headwater.project import Project
    from headwater.serve.lake_reader import LakeReader

INFORMATION_SCHEMA = "information_schema"
TABLE, VIEW = "BASE TABLE", "VIEW"

_RELATIONS: Mapping[str, Sequence[str]] = {
    "tables": ("table_catalog", "table_schema", "table_name", "table_type", "comment"),
    "columns": (
        *("table_catalog", "table_schema", "table_name", "column_name", "ordinal_position"),
        *("column_default", "is_nullable", "data_type", "comment"),
    ),
    "views": ("table_catalog", "table_schema", "table_name", "view_definition", "comment"),
    "schemata": ("catalog_name", "schema_name"),
}
RELATIONS = tuple(_RELATIONS)
_TYPES_OF_ICEBERG = {each.iceberg: each.trino for each in reversed(t.NAMES.values())}
_ICEBERG_WORD = re.compile(r"\b(list|map|struct)<|[a-z]+(?=$|[,>(])|>|: ")


@dataclass(frozen=True, slots=True)
class ReadableTable:
    """A table or view that a query can read.

    Attributes:
        name: its name.
        kind: :data:`TABLE` or :data:`VIEW`.
        comment: free text.
        definition: the SELECT of a view.
        fields: its columns as the project defines them; None if it does not.
    """

    name: str
    kind: str
    comment: str = ""
    definition: str = ""
    fields: Sequence[Field] | None = None


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A column as readers see it.

    Attributes:
        name: its name.
        type: Trino's name of its type, lower case.
        nullable: whether it can hold NULL.
        comment: free text.
    """

    name: str
    type: str
    nullable: bool = True
    comment: str = ""


class InformationSchema:
    """What a project's tables are called, and what is in them.

    Args:
        project: its definitions are what there is.
        lake: says which side tables there are, and which columns a table has now.
    """

    def __init__(self, project: Project, lake: LakeReader) -> None:
        self._project, self._lake = project, lake

    def relations(self) -> dict[str, ReadableTable]:
        """Return what can be read, by name in alphabetical order.

        Raises:
            ServiceError: ``CATALOG_UNREADABLE``.
        """
        found = {each.name: each for each in defined(self._project)}
        sides = {
            **{name + QUARANTINE: f"quarantined rows of {name}" for name in found},
            **{name + CHANGES: f"changes of {name}" for name in found},
            **{
                view.late.into: f"late rows of {view.name}"
                for view in self._project.catalog.views.values()
                if view.late is not None and view.late.into
            },
        }
        for name in self._lake.names():
            if name in sides:
                found.setdefault(name, ReadableTable(name, TABLE, sides[name]))
        found.setdefault(
            commits.COMMITS, ReadableTable(commits.COMMITS, VIEW, "commits of all tables")
        )
        return dict(sorted(found.items()))

    def readable(self, name: str) -> ReadableTable:
        """Return the relation or source of a name.

        Raises:
            ConfigError: ``UNKNOWN_TABLE``, ``DEFINITION_BROKEN``.
            ServiceError: ``CATALOG_UNREADABLE``.
        """
        source = self._project.catalog.sources.get(name)
        if source is not None and not source.kept:
            return ReadableTable(name, TABLE, source.comment, fields=source.fields)
        if name.endswith(SNAPSHOTS):
            table = self.readable(name.removesuffix(SNAPSHOTS))
            return ReadableTable(name, VIEW, f"snapshots of {table.name}")
        if found := self.relations().get(name):
            return found
        raise self.missing(name)

    def missing(self, name: str) -> HeadwaterError:
        """Return why there is no table of a name."""
        catalog = self._project.catalog
        if left_out := self._project.broken.get(name):
            message = f'{left_out.kind} "{name}" is {left_out.said}'
            hint = "correct the file, then: headwater check"
            return ConfigError("DEFINITION_BROKEN", message, hint=hint)
        if name in catalog.sources and not catalog.sources[name].kept:
            hint = "read a view over it, or land its rows with CREATE TABLE"
            return ConfigError("NOT_KEPT", f'source "{name}" has no table in the lake', hint=hint)
        if name in catalog.sources or name in catalog.views:
            first = "correct the errors, then " if self._project.errors else ""
            hint = f"{first}run: headwater run --once"
            return ConfigError("NO_DATA_YET", f'table "{name}" has not been written yet', hint=hint)
        known = {*self._lake.names(), *catalog.sources, *catalog.views}
        hint = did_you_mean(name, known, "tables")
        return ConfigError("UNKNOWN_TABLE", f'table "{name}" does not exist', hint=hint)

    def columns(self, relation: ReadableTable) -> list[ShownColumn]:
        """Return the columns of a relation in order: those of its table if it has been written.

        Raises:
            ServiceError: the catalog or the table cannot be read.
        """
        if relation.name.endswith(SNAPSHOTS):
            return [ShownColumn(name, kind, True, about) for name, kind, about in COLUMNS]
        fields = {each.name: each for each in relation.fields or ()}
        table = self._lake.table(relation.name)
        if table is None and relation.name == commits.COMMITS and not fields:
            return [
                ShownColumn(name, commits.TYPES[kind].lower(), True, comment)
                for name, kind, comment in commits.COLUMNS
            ]
        held = {} if table is None else table.columns()
        shown = [name for name in held or fields if not is_system_column(name)]
        return [_column(name, held.get(name, ""), fields.get(name)) for name in shown]

    def arrow(self, name: str) -> pa.Table:
        """Return one of :data:`RELATIONS`.

        Raises:
            ServiceError: the catalog or a table cannot be read.
        """
        import pyarrow as pa

        rows = list(self._rows(name))
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(_RELATIONS[name])
        kinds = [
            pa.int64() if each == "ordinal_position" else pa.string() for each in _RELATIONS[name]
        ]
        arrays = [pa.array(values, kind) for values, kind in zip(columns, kinds, strict=True)]
        return pa.table(arrays, names=list(_RELATIONS[name]))

    def _rows(self, name: str) -> Iterator[tuple[object, ...]]:
        schema = self._lake.namespace
        if name == "schemata":
            yield from ((CATALOG, each) for each in (INFORMATION_SCHEMA, schema))
            return
        for each in self.relations().values():
            place = (CATALOG, schema, each.name)
            if name == "tables":
                yield (*place, each.kind, each.comment or None)
            elif name == "views" and each.kind == VIEW:
                yield (*place, each.definition or None, each.comment or None)
            elif name == "columns":
                for number, column in enumerate(self.columns(each), 1):
                    nullable = "YES" if column.nullable else "NO"
                    told = (nullable, column.type, column.comment or None)
                    yield (*place, column.name, number, None, *told)


def defined(project: Project) -> Iterator[ReadableTable]:
    """Yield the tables and views that a project defines and that a query can read."""
    catalog = project.catalog
    for source in catalog.sources.values():
        if source.kept and not source.is_changes:
            yield ReadableTable(source.name, TABLE, source.comment, fields=source.fields)
    for view in catalog.views.values():
        kind = TABLE if view.changes else VIEW
        text = "" if view.changes else view.text
        yield ReadableTable(view.name, kind, view.comment, text, view.fields)


def _column(name: str, held: str, field: Field | None) -> ShownColumn:
    if field is None:
        return ShownColumn(name, _as_trino(held).lower())
    same = not held or held == t.iceberg_type(field.type)
    kind = t.trino_type(field.type) if same else _as_trino(held)
    return ShownColumn(name, kind.lower(), field.nullable, field.comment)


def _as_trino(kind: str) -> str:
    """Trino's name of a type that a stored table gives; Delta's other names stay as they are."""

    def word(found: re.Match[str]) -> str:
        if opened := found[1]:
            return {"list": "array", "struct": "row"}.get(opened, opened) + "("
        if found[0] in (">", ": "):
            return {">": ")", ": ": " "}[found[0]]
        return _TYPES_OF_ICEBERG.get(found[0], found[0])

    return _ICEBERG_WORD.sub(word, kind)
