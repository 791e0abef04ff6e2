"""What waits in the quarantines of a project, without a JVM.

In: a project. Out: per quarantine its reasons with counts, times and an example, or its rows.
Reasons that differ only in the value they quote are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from headwater.errors import ConfigError, HeadwaterError
from headwater.lake.reserved_names import quarantine_of
from headwater.serve.connection import duckdb_connection, literal
from headwater.serve.embedded import translated_errors
from headwater.serve.lake_reader import NOTHING_IS_READABLE, LakeReader
from headwater.serve.stored_table import reading

if TYPE_CHECKING:
    import duckdb

    from headwater.project import Project

_RAW_SHOWN = 200
_VALUES = (
    (r"^(not valid JSON|not one JSON object|a value does not fit its column): .*$", r"\1"),
    (r"'.*' is not a valid", "… is not a valid"),
    (r"record of \d+ bytes", "record of … bytes"),
    (r": \S+( \S+)? is not between", ": … is not between"),
    (r" is [^,]+, more than", " is …, more than"),
)
"""Patterns of quoted values in reasons, and what stands for them."""


@dataclass(frozen=True, slots=True)
class WaitingRows:
    """Rows of one quarantine with one reason.

    Attributes:
        table: name of the table, source or view.
        reason: the reason without the values it quotes.
        rows: how many there are; a whole file is one.
        first: when the first of them arrived.
        last: when the last of them arrived.
        example: coordinates of one of them, ``file:row``, or the file alone.
    """

    table: str
    reason: str
    rows: int
    first: datetime
    last: datetime
    example: str


@dataclass(frozen=True, slots=True)
class BadRow:
    """One row of a quarantine.

    Attributes:
        table: name of the table, source or view.
        place: its coordinates, ``file:row``, or the file alone.
        arrived_at: when it arrived.
        reason: why it is here.
        raw: the beginning of the record as text; None for a whole file.
    """

    table: str
    place: str
    arrived_at: datetime
    reason: str
    raw: str | None


def waiting(
    project: Project, tables: Sequence[str] = (), unread: dict[str, str] | None = None
) -> list[WaitingRows]:
    """Return what waits, by table and reason.

    Args:
        tables: the tables, sources or views to look at; all if empty.
        unread: gets the quarantines that cannot be read, with the reason.

    Raises:
        ConfigError: ``UNKNOWN_TABLE``.
        ServiceError: the catalog or the data cannot be read.
    """
    kind = "reason"
    for pattern, shown in _VALUES:
        kind = f"regexp_replace({kind}, {literal(pattern)}, {literal(shown)})"
    query = (
        f"SELECT {kind} AS kind, count(*), min(_arrived_at), max(_arrived_at),"
        " min_by(_place, _arrived_at) FROM q GROUP BY kind ORDER BY count(*) DESC, kind"
    )
    found = _asked(project, tables, query, unread)
    return [WaitingRows(name, *row) for name, rows in found for row in rows]


def bad_rows(
    project: Project, tables: Sequence[str], limit: int, unread: dict[str, str] | None = None
) -> list[BadRow]:
    """Return rows of quarantines, the newest first.

    Args:
        tables: the tables, sources or views to look at; all if empty.
        limit: how many of each.
        unread: gets the quarantines that cannot be read, with the reason.

    Raises:
        ConfigError: ``UNKNOWN_TABLE``.
        ServiceError: the catalog or the data cannot be read.
    """
    query = (
        "SELECT _place, _arrived_at, reason, _text FROM q"
        f" ORDER BY _arrived_at DESC, _path, _row LIMIT {limit}"
    )
    found = _asked(project, tables, query, unread)
    return [BadRow(name, *row) for name, rows in found for row in rows]


def _asked(
    project: Project, tables: Sequence[str], query: str, unread: dict[str, str] | None
) -> list[tuple[str, list[tuple[Any, ...]]]]:
    """Run a query over each quarantine that exists and holds rows."""
    catalog = project.catalog
    names = dict.fromkeys([*map(catalog.shown, catalog.sources), *catalog.views, *project.broken])
    for name in tables:
        if name not in names:
            hint = f"they are: {', '.join(names)}"
            raise ConfigError("UNKNOWN_TABLE", f'"{name}" does not exist', hint=hint)
    lake = LakeReader(project.config, project.catalog.external)
    lake.names()  # that the catalog cannot be read is told once
    found = []
    with duckdb_connection() as connection:
        for name in names:
            if tables and name not in tables:
                continue
            try:
                with reading(quarantine_of(name)), translated_errors():
                    if not _register(connection, lake, name):
                        continue
                    # by Arrow: DuckDB's own rows need another package for times with a zone
                    rows = connection.sql(query).to_arrow_table().to_pylist()
            except HeadwaterError as error:
                if unread is None or error.condition in NOTHING_IS_READABLE:
                    raise
                unread[name] = error.message
            else:
                found.append((name, [tuple(row.values()) for row in rows]))
    return found


def _register(connection: duckdb.DuckDBPyConnection, lake: LakeReader, name: str) -> bool:
    table = lake.table(quarantine_of(name))
    snapshot = table.snapshot_id() if table is not None else None
    if table is None or snapshot is None:
        return False
    columns = list(table.columns())
    table.create_view(connection, "kept", snapshot, columns)
    path = "_path" if "_path" in columns else "NULL::VARCHAR"
    # bytes that are no UTF-8 are shown escaped
    text = f"left(coalesce(TRY(decode(raw)), raw::VARCHAR), {_RAW_SHOWN})"
    connection.execute(
        f"CREATE OR REPLACE TEMP VIEW q AS SELECT *, {text} AS _text,"
        f" concat_ws(':', {path}, _row) AS _place FROM kept"
    )
    return True
