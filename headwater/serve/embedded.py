"""The embedded query engine: SQL over the tables of a project, in this process, without a server.

In: a project and a SELECT in Headwater's (Trino's) SQL. Out: column names and rows. DuckDB does the
work on the tables as they were when the query began. Beside the tables there are ``commits``, one
row per commit of every table, ``"name$snapshots"`` with all that its markers say, and ``FOR VERSION
AS OF`` a snapshot id.

Columns whose names begin with ``_`` (watermark stamps, arrival, hidden state) are there for who
names them and never in ``SELECT *``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING

from sqlglot import exp

from headwater.dialect.vocabulary import is_system_column
from headwater.errors import ConfigError, HeadwaterError, ServiceError, SqlError
from headwater.errors.plain import plain
from headwater.lake.protocol.commits import COMMITS
from headwater.serve.called_functions import call_as_duckdb
from headwater.serve.commits import commits_table
from headwater.serve.connection import duckdb_connection, rows_of
from headwater.serve.lake_reader import LakeReader
from headwater.serve.unnest import unnest_as_trino

if TYPE_CHECKING:
    import duckdb

    from headwater.lake.protocol.history import History, Snapshot
    from headwater.project import Project
    from headwater.serve.stored_table import StoredTable

SNAPSHOTS = "$snapshots"
_SHOWN = 200
_DAMAGED = re.compile(
    r"magic bytes|too small to be a Parquet file|[Cc]orrupt|TProtocol|not a parquet"
)
"""What DuckDB says of a file that is damaged."""


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to a query.

    Attributes:
        columns: names of the columns.
        rows: the rows as Python values, read lazily; times with a zone are in UTC.
        unread: of ``commits``, the tables that could not be read, with the reason.
    """

    columns: tuple[str, ...]
    rows: Iterator[tuple[object, ...]]
    unread: Mapping[str, str] = field(default_factory=dict)


class Embedded:
    """DuckDB over the tables of one project.

    Args:
        project: the project; only its configuration and its names are used.
        cut: the name of a cut; tables that have it are read there.
    """

    def __init__(self, project: Project, cut: str = "") -> None:
        self._project, self._cut = project, cut
        self._lake = LakeReader(project.config, project.catalog.external)

    @contextmanager
    def query(self, sql: str) -> Iterator[Result]:
        """Run one query; its rows can be read until the block ends.

        Args:
            sql: a SELECT in Headwater's SQL.

        Raises:
            SqlError: the text is no query, or DuckDB refuses it.
            ConfigError: ``UNKNOWN_TABLE``, ``NO_DATA_YET`` or ``UNKNOWN_SNAPSHOT``.
            ServiceError: the catalog or the data cannot be read.
        """
        query = parse_query(sql)
        with duckdb_connection(typed=False) as connection:
            unread = self._bind(connection, query)
            unnest_as_trino(connection, query)
            call_as_duckdb(query)
            with translated_errors(sql):
                relation = connection.sql(query.sql(dialect="duckdb"))
                yield Result(tuple(relation.columns), rows_of(relation), unread)

    def _bind(self, connection: duckdb.DuckDBPyConnection, query: exp.Query) -> dict[str, str]:
        """Give every table of the query a view in DuckDB, and rename the tables to them."""
        ctes = {cte.alias for cte in query.find_all(exp.CTE)}
        named = {c.name for c in query.find_all(exp.Column) if is_system_column(c.name)}
        tables: dict[str, StoredTable] = {}
        unread: dict[str, str] = {}
        for number, node in enumerate(list(query.find_all(exp.Table))):
            if not isinstance(node.this, exp.Identifier) or (node.name in ctes and not node.db):
                continue
            target = f"{node.name}#{number}"
            hidden: list[str] = []
            if node.name == COMMITS and self._lake.table(COMMITS) is None:
                connection.register(target, commits_table(self._lake, unread))
            elif node.name.endswith(SNAPSHOTS):
                table = self._table(node, node.name.removesuffix(SNAPSHOTS), tables)
                _create_snapshots(connection, target, table)
            else:
                table = self._table(node, node.name, tables)
                names = table.columns()
                hidden = [name for name in names if name in named]
                shown = [name for name in names if not is_system_column(name) or name in hidden]
                at = _snapshot_id(node, table, self._cut)
                table.create_view(connection, target, at, shown)
            _rename(node, target, hidden)
        return unread

    def _table(self, node: exp.Table, name: str, loaded: dict[str, StoredTable]) -> StoredTable:
        if node.db not in ("", self._lake.namespace):
            raise ConfigError(
                "UNKNOWN_NAMESPACE",
                f'namespace "{node.db}" is not the one of this project',
                hint=f'tables are in "{self._lake.namespace}"; the namespace can be left out',
            )
        if name not in loaded:
            table = self._lake.table(name)
            if table is None:
                raise self._missing(name)
            loaded[name] = table
        return loaded[name]

    def _missing(self, name: str) -> HeadwaterError:
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
        known = sorted({*self._lake.names(), *catalog.sources, *catalog.views})
        near = get_close_matches(name, known, n=1)
        hint = f'did you mean "{near[0]}"?' if near else f"tables: {', '.join(known) or 'none'}"
        return ConfigError("UNKNOWN_TABLE", f'table "{name}" does not exist', hint=hint)


def parse_query(sql: str) -> exp.Query:
    """Parse one SELECT in Headwater's SQL.

    Raises:
        SqlError: syntax errors; ``NOT_A_QUERY`` for anything else than one query;
            ``UNSUPPORTED_TYPE``.
    """
    from headwater.dialect import parse

    statements = parse(sql, file="<sql>")
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise SqlError(
            "NOT_A_QUERY",
            "only a single SELECT can be run here",
            hint="definitions go into .sql files",
        )
    if any(kind.this is exp.DataType.Type.TIMETZ for kind in statements[0].find_all(exp.DataType)):
        # otherwise it would be read as a TIME
        raise SqlError(
            "UNSUPPORTED_TYPE",
            "type TIME WITH TIME ZONE is not supported",
            hint="write TIME, or TIMESTAMP WITH TIME ZONE",
        )
    return statements[0]


@contextmanager
def translated_errors(query: str = "") -> Iterator[None]:
    """Turn DuckDB's exceptions into Headwater's.

    Args:
        query: what a person asked, for the message.
    """
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        if isinstance(error, duckdb.InterruptException):
            message = "the query was stopped: it took longer than it may"
            hint = "ask for less; the command line has no limit of time"
            raise SqlError("QUERY_TOO_LONG", message, hint=hint) from error
        said = plain(error)
        if isinstance(error, duckdb.InternalException | duckdb.FatalException):
            # it takes the connection along; each query has one of its own
            asked = f": {' '.join(query.split())[:_SHOWN]}" if query else ""
            message = f"DuckDB met a fault of its own{asked} ({_first_line(said)})"
            hint = "ask another engine: --engine trino; other queries are not affected"
            raise SqlError("ENGINE_FAULT", message, hint=hint) from error
        outside = isinstance(error, duckdb.IOException | duckdb.OutOfMemoryException)
        if outside or _DAMAGED.search(said):
            raise ServiceError("READ_FAILED", said) from error
        raise SqlError("QUERY_REFUSED", said) from error


def _first_line(text: str) -> str:
    return text.splitlines()[0] if text else "no reason given"


def _snapshot_id(node: exp.Table, table: StoredTable, cut: str) -> int | None:
    version = node.args.get("version")
    if version is None:
        return table.refs.get(cut, table.snapshot_id())
    value = version.expression
    if isinstance(value, exp.Literal) and value.is_string and value.name in table.refs:
        return table.refs[value.name]
    if version.name.upper() == "VERSION" and isinstance(value, exp.Literal) and value.is_int:
        snapshot_id = int(value.name)
        if table.snapshot(snapshot_id) is not None:
            return snapshot_id
        raise ConfigError(
            "UNKNOWN_SNAPSHOT",
            f'table "{node.name}" has no snapshot {snapshot_id}',
            hint=f'list them with: SELECT * FROM "{node.name}{SNAPSHOTS}"',
        )
    raise SqlError(
        "NOT_YET",
        "only FOR VERSION AS OF a snapshot id, or the name of a cut, is supported",
        hint=f'find the snapshot of a time in "{node.name}{SNAPSHOTS}"',
    )


def _rename(node: exp.Table, target: str, hidden: list[str]) -> None:
    """Point a table at its view, and keep named hidden columns out of the stars of its SELECT."""
    alias = node.alias or node.name
    node.set("alias", node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(alias, True)))
    node.set("this", exp.to_identifier(target, quoted=True))
    for key in ("db", "catalog", "version"):
        node.set(key, None)
    select = node.find_ancestor(exp.Select)
    if not hidden or select is None:
        return
    for item in select.expressions:
        star = item.this if isinstance(item, exp.Column) else item
        if isinstance(star, exp.Star) and (not isinstance(item, exp.Column) or item.table == alias):
            left_out = star.args.get("except_") or []
            star.set("except_", [*left_out, *(exp.column(name, table=alias) for name in hidden)])


def _create_snapshots(connection: duckdb.DuckDBPyConnection, name: str, table: History) -> None:
    """Make the relation of a table's snapshots, oldest first: what Trino has, and the markers."""
    import pyarrow as pa

    text_map = pa.map_(pa.string(), pa.string())
    utc = pa.timestamp("us", "UTC")
    schema = pa.schema(
        {
            "committed_at": utc,
            "snapshot_id": pa.int64(),
            "parent_id": pa.int64(),
            "operation": pa.string(),
            "view": pa.string(),
            "version": pa.int64(),
            "epoch": pa.int64(),
            "watermark": utc,
            "cut_from": text_map,
            "cut_to": text_map,
            "counts": pa.map_(pa.string(), pa.int64()),
            "evolved": text_map,
            "summary": text_map,
        }
    )
    snapshots = list(table.ancestors())[::-1]
    connection.register(
        name, pa.Table.from_pylist([_snapshot_row(each) for each in snapshots], schema=schema)
    )


def _snapshot_row(snapshot: Snapshot) -> dict[str, object]:
    row: dict[str, object] = {
        "committed_at": snapshot.at * 1000,
        "snapshot_id": snapshot.id,
        "parent_id": snapshot.parent,
        "operation": snapshot.operation or None,
        "summary": list(snapshot.summary.items()),
    }
    marker = snapshot.marker
    if marker is not None:
        row |= {
            "view": marker.view,
            "version": marker.version,
            "epoch": marker.epoch,
            "watermark": marker.watermark,
            "cut_from": list(marker.cut_from.items()),
            "cut_to": list(marker.cut_to.items()),
            "counts": list(marker.counts.items()),
            "evolved": list(marker.evolved.items()),
        }
    return row
