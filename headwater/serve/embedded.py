"""The embedded query engine: SQL over the tables of a project, in this process, without a server.

In: a project and a SELECT in Headwater's (Trino's) SQL. Out: column names and rows. DuckDB does the
work on the tables as they were when the query began. Beside the tables there are ``commits``, one
row per commit of every table, ``"name$snapshots"`` with all that its markers say, and ``FOR VERSION
AS OF`` a snapshot id.

Columns whose names begin with ``_`` (watermark stamps, arrival, hidden state) are there for who
names them and never in ``SELECT *``. ``information_schema`` and ``SHOW`` say what there is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from headwater.dialect.vocabulary import is_system_column
from headwater.errors import ConfigError, ServiceError, SqlError
from headwater.errors.nearest import did_you_mean
from headwater.errors.plain import plain
from headwater.lake.protocol.commits import COMMITS
from headwater.serve.called_functions import call_as_duckdb
from headwater.serve.commits import commits_table
from headwater.serve.connection import duckdb_connection, rows_of
from headwater.serve.information_schema import INFORMATION_SCHEMA, RELATIONS, InformationSchema
from headwater.serve.lake_reader import LakeReader
from headwater.serve.output_names import name_outputs, shown_names
from headwater.serve.refusals import explained
from headwater.serve.show import show
from headwater.serve.snapshots import SNAPSHOTS, snapshots_table
from headwater.serve.unnest import unnest_as_trino

if TYPE_CHECKING:
    import duckdb

    from headwater.project import Project
    from headwater.serve.stored_table import StoredTable

PLAN = "Query Plan"
_SHOWN = 200
_EXPLAIN = re.compile(r"\s*EXPLAIN\s+(ANALYZE\s+)?", re.IGNORECASE)
_NAME = re.compile(r'[\w.]+|"[^"]+"')
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
        self._schema = InformationSchema(project, self._lake)
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._read: list[str] = []

    def interrupt(self) -> None:
        """Stop the query that another thread runs, if one does: it raises there."""
        if connection := self._connection:
            connection.interrupt()

    @contextmanager
    def query(self, sql: str) -> Iterator[Result]:
        """Run one query; its rows can be read until the block ends.

        Args:
            sql: a SELECT in Headwater's SQL, with EXPLAIN [ANALYZE] before it or not, or a
                statement of :mod:`headwater.serve.show`.

        Raises:
            SqlError: the text is no query, or DuckDB refuses it.
            ConfigError: ``UNKNOWN_TABLE``, ``NO_DATA_YET`` or ``UNKNOWN_SNAPSHOT``.
            ServiceError: the catalog or the data cannot be read.
        """
        if answer := show(sql, self._project, self._schema):
            yield Result(answer[0], iter(answer[1]))
            return
        asks = _EXPLAIN.match(sql)
        asked = _explained(sql, asks.end()) if asks else parse_query(sql)
        query = asked.copy()
        with duckdb_connection(typed=False) as connection:
            self._connection = connection
            try:
                unread = self._bind(connection, query)
                unnest_as_trino(connection, query)
                name_outputs(connection, query)
                call_as_duckdb(query)
                with translated_errors(sql, lambda said: explained(said, asked, self._read)):
                    text = query.sql(dialect="duckdb")
                    if asks:
                        yield Result((PLAN,), _plan_of(connection, asks[0] + text), unread)
                        return
                    relation = connection.sql(text)
                    yield Result(shown_names(relation.columns), rows_of(relation), unread)
            finally:
                self._connection = None

    def _bind(self, connection: duckdb.DuckDBPyConnection, query: exp.Query) -> dict[str, str]:
        """Give every table of the query a view in DuckDB, and rename the tables to them."""
        ctes = {cte.alias for cte in query.find_all(exp.CTE)}
        named = {c.name for c in query.find_all(exp.Column) if is_system_column(c.name)}
        tables: dict[str, StoredTable] = {}
        unread: dict[str, str] = {}
        self._read = []
        for number, node in enumerate(list(query.find_all(exp.Table))):
            if not isinstance(node.this, exp.Identifier) or (node.name in ctes and not node.db):
                continue
            target = f"{node.name}#{number}"
            hidden: list[str] = []
            if node.db == INFORMATION_SCHEMA:
                connection.register(target, self._schema.arrow(self._relation(node)))
            elif node.name == COMMITS and self._lake.table(COMMITS) is None:
                connection.register(target, commits_table(self._lake, unread))
            elif node.name.endswith(SNAPSHOTS):
                table = self._table(node, node.name.removesuffix(SNAPSHOTS), tables)
                connection.register(target, snapshots_table(table))
            else:
                table = self._table(node, node.name, tables)
                names = table.columns()
                hidden = [name for name in names if name in named]
                shown = [name for name in names if not is_system_column(name) or name in hidden]
                at = _snapshot_id(node, table, self._cut)
                table.create_view(connection, target, at, shown)
                self._read += shown
            _rename(node, target, hidden)
        return unread

    def _relation(self, node: exp.Table) -> str:
        if node.name in RELATIONS:
            return node.name
        hint = did_you_mean(node.name, RELATIONS, "its relations")
        message = f'{INFORMATION_SCHEMA} has no relation "{node.name}"'
        raise ConfigError("UNKNOWN_TABLE", message, hint=hint)

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
                raise self._schema.missing(name)
            loaded[name] = table
        return loaded[name]


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
def translated_errors(
    query: str = "", refused: Callable[[str], SqlError] | None = None
) -> Iterator[None]:
    """Turn DuckDB's exceptions into Headwater's.

    Args:
        query: what a person asked, for the message.
        refused: makes the error of a query that DuckDB refuses, from its message.
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
        if refused is not None:
            raise refused(said) from error
        raise SqlError("QUERY_REFUSED", said) from error


def _explained(sql: str, start: int) -> exp.Query:
    """The query whose plan is asked for; its errors have their places in the whole text."""
    if _NAME.fullmatch(name := sql[start:].strip()):
        hint = f"for the plan of a view: headwater explain {name}"
        raise SqlError("NOT_A_QUERY", "EXPLAIN takes a query here", hint=hint)
    return parse_query(re.sub(r"\S", " ", sql[:start]) + sql[start:])


def _plan_of(connection: duckdb.DuckDBPyConnection, text: str) -> Iterator[tuple[object, ...]]:
    """Yield the lines of the plan that an EXPLAIN gives."""
    for _, plan in connection.execute(text).fetchall():
        yield from ((line,) for line in str(plan).splitlines())


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
