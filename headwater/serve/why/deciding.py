"""The input rows that decide a row of a view, at the cut that its commit recorded.

In: a project, its plans, a view and the values of some of its columns. Out: the rows of the view
with these values, each with the rows of its inputs that decide it; of views among the inputs again
their inputs, if asked for. DuckDB runs the SELECT at rest, rewritten by
:mod:`headwater.serve.why.lineage`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headwater.dialect.syntax import RecursiveRows
from headwater.errors import ConfigError, HeadwaterError, SqlError
from headwater.plan.at_rest import rendered
from headwater.serve.compare import FLOAT_NOISE, FLOAT_TOLERANCE
from headwater.serve.connection import duckdb_connection, quoted, rows_of
from headwater.serve.embedded import translated_errors
from headwater.serve.lake_reader import LakeReader
from headwater.serve.stored_table import AT, NUMBER, ROWS_OF_FILE
from headwater.serve.verify import Case, Verdict, case_of
from headwater.serve.why.conditions import condition, equals
from headwater.serve.why.naming import Naming

if TYPE_CHECKING:
    import duckdb
    from sqlglot import exp

    from headwater.plan.view_plan import ViewPlan
    from headwater.project import Project

PLACES = ("_path", "_row")
"""Columns of a landed table that say where in a file a row is from."""
ROWS_OF_VIEW = 5
"""Rows of a view that are explained at once."""
ROWS_OF_INPUT = 20
"""Deciding rows of an input that are shown."""
INPUT_BITS = 57
"""Bits of a number below those for the input."""
_LITERALS = 200
"""Values of a column that are written into the query, so that files without them are skipped."""
_UNKNOWN = ("NOT_EXPLAINED", "NO_DATA_YET", "NOT_YET", "SNAPSHOT_EXPIRED", "UNKNOWN_SNAPSHOT")
"""Conditions of a view whose rows cannot be explained; those of the view that reads it can."""


@dataclass(frozen=True, slots=True)
class DecidingRows:
    """Rows of one input that decide a row.

    Attributes:
        input: name of the input.
        kind: ``table``, ``view``, …
        rows: how many there are.
        of: how many rows the view has read of the input.
        shown: some of them: values by column, places in files or topics first.
        because: of a view, what decides each row that is shown, if it was asked for.
        unknown: why that cannot be said.
    """

    input: str
    kind: str
    rows: int
    of: int
    shown: tuple[Mapping[str, object], ...]
    because: tuple[ExplainedRow, ...] = ()
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class ExplainedRow:
    """A row of a view and what decides it.

    Attributes:
        view: the view.
        epoch: the commit that was explained.
        snapshot: its snapshot.
        row: values by column.
        inputs: the rows that decide it, of each input that has some.
        is_right: whether the SELECT at rest returns the row.
        stays: whether the row would be there without these rows too, as aggregates of no rows are.
    """

    view: str
    epoch: int
    snapshot: int
    row: Mapping[str, object]
    inputs: tuple[DecidingRows, ...]
    is_right: bool = True
    stays: bool = False


@dataclass(frozen=True, slots=True)
class Explained:
    """Rows of a view.

    Attributes:
        rows: those that are explained.
        matching: how many rows of the view have the values asked for.
    """

    rows: tuple[ExplainedRow, ...]
    matching: int


class Deciding:
    """Explains rows of the views of a project.

    Args:
        plans: by name the plans of the views.
        rows: how many deciding rows of an input to show.
        deep: whether rows of views are explained by their inputs again.
    """

    def __init__(
        self,
        project: Project,
        plans: Mapping[str, ViewPlan],
        *,
        rows: int = ROWS_OF_INPUT,
        deep: bool = False,
    ) -> None:
        self._project, self._plans, self._rows, self._deep = project, plans, rows, deep
        self._lake = LakeReader(project.config, project.catalog.external)

    def explain(self, view: str, pairs: Mapping[str, str]) -> Explained:
        """Explain the rows of a view that have some values.

        Args:
            view: name of the view.
            pairs: texts of values by column; all rows if empty.

        Raises:
            ConfigError: ``UNKNOWN_COLUMN``, ``NO_DATA_YET``, ``NOT_EXPLAINED``.
            ServiceError: something cannot be read.
            SqlError: ``NOT_YET``, ``QUERY_REFUSED``.
        """
        case = readable_case(self._project, self._lake, self._plans[view])
        with duckdb_connection() as connection, translated_errors():
            view_of_table(connection, case)
            types = column_types(connection, "@table")
            where = condition(connection, view, pairs, types) if pairs else "true"
            matching = count_of(connection, f'FROM "@table" WHERE {where}')
            select = f'FROM "@table" WHERE {where} LIMIT {ROWS_OF_VIEW}'
            found = self._rows_of(connection, case, select) if matching else ()
            return Explained(found, matching)

    def _rows_of(
        self, connection: duckdb.DuckDBPyConnection, case: Case, select: str
    ) -> tuple[ExplainedRow, ...]:
        distinct = f"SELECT row_number() OVER () AS _n, * FROM (SELECT DISTINCT * FROM ({select}))"
        connection.execute(f'CREATE OR REPLACE TEMP TABLE "@rows" AS {distinct}')
        numbers = create_inputs(connection, case)
        naming = Naming(
            connection,
            numbers,
            lambda cut: at_rest_query(case, cut=cut),
            lambda query, columns: _matching(connection, case, query, columns),
        )
        relation = connection.sql('FROM "@rows" ORDER BY _n')
        columns = relation.columns[1:]
        of = (case.plan.view.name, case.commit.marker.epoch, case.commit.snapshot_id)
        rows = []
        for number, *values in list(rows_of(relation)):
            n = int(str(number))
            is_right = naming.copies(n) > 0
            stays = is_right and naming.settle(n)
            inputs = [
                self._input(connection, case, name, number, n) for name, number in numbers.items()
            ]
            row = dict(zip(columns, values, strict=True))
            named = tuple(each for each in inputs if each.rows)
            rows.append(ExplainedRow(*of, row, named, is_right, stays))
        return tuple(rows)

    def _input(
        self,
        connection: duckdb.DuckDBPyConnection,
        case: Case,
        name: str,
        number: int,
        n: object,
    ) -> DecidingRows:
        """The rows of one input that decide one row."""
        of = f'FROM "@named" WHERE _n = {n} AND id >> {INPUT_BITS} = {number}'
        count = count_of(connection, of)
        kind = next(each.kind for each in case.plan.inputs if each.name == name)
        ids = connection.sql(f"SELECT id {of} ORDER BY id LIMIT {self._rows}").fetchall()
        if not ids:
            return DecidingRows(name, kind, count, 0, ())
        listed = ", ".join(str(each) for (each,) in ids)
        places = ", ".join(str(each % (1 << ROWS_OF_FILE)) for (each,) in ids)
        where = f"WHERE {AT} IN ({places}) AND {NUMBER} IN ({listed})"
        source = f"{quoted(f'{name}@cut')} {where} ORDER BY {NUMBER}"
        shown = shown_columns(self._project, name, list(column_types(connection, f"{name}@cut")))
        rows = connection.sql(f"SELECT {', '.join(map(quoted, shown))} FROM {source}")
        dicts = tuple(dict(zip(shown, row, strict=True)) for row in rows_of(rows))
        held = count_of(connection, f"FROM {quoted(f'{name}@cut')}")
        found = DecidingRows(name, kind, count, held, dicts)
        if not self._deep or name not in self._plans:
            return found
        try:
            return replace(found, because=self._deeper(connection, case, name, source))
        except HeadwaterError as error:
            if error.condition not in _UNKNOWN:
                raise
            return replace(found, unknown=error.message)

    def _deeper(
        self, connection: duckdb.DuckDBPyConnection, case: Case, name: str, rows: str
    ) -> tuple[ExplainedRow, ...]:
        """Explain rows of a view that a view has read, as of the commit that it has read."""
        _, snapshot = case.inputs[name]
        below = readable_case(self._project, self._lake, self._plans[name], snapshot)
        columns = ", ".join(map(quoted, below.columns.names))
        held = connection.sql(f"SELECT {columns} FROM {rows}").to_arrow_table()
        with duckdb_connection() as inner, translated_errors():
            inner.register("@held", held)
            return self._rows_of(inner, below, 'FROM "@held"')


def readable_case(
    project: Project, lake: LakeReader, plan: ViewPlan, snapshot: int | None = None
) -> Case:
    """Return what a commit of a view has read.

    Raises:
        ConfigError: ``NO_DATA_YET``, or ``NOT_EXPLAINED`` with the reason.
        ServiceError: something cannot be read.
    """
    case, name = case_of(project, lake, plan, snapshot), plan.view.name
    if isinstance(case, Case):
        return case
    if case.verdict is Verdict.NO_COMMIT:
        raise ConfigError("NO_DATA_YET", f'view "{name}" has no commit yet', hint=case.reason)
    message = f'rows of "{name}" cannot be explained: {case.reason}'
    raise ConfigError("NOT_EXPLAINED", message, hint=f"see: headwater verify {name}")


def view_of_table(connection: duckdb.DuckDBPyConnection, case: Case) -> None:
    """Create the DuckDB view ``@table`` over the table of a view."""
    case.table.create_view(connection, "@table", case.read_at, case.columns.names)


def create_inputs(connection: duckdb.DuckDBPyConnection, case: Case) -> dict[str, int]:
    """Create DuckDB views over the inputs of a view, numbered; return the number of each."""
    numbers = {name: number for number, name in enumerate(case.inputs)}
    for name, (source, position) in case.inputs.items():
        columns = list(source.columns())
        first = numbers[name] << INPUT_BITS
        source.create_view(connection, f"{name}@cut", position, columns, first)
    return numbers


def column_types(connection: duckdb.DuckDBPyConnection, name: str) -> dict[str, str]:
    """Return DuckDB's types of the columns of a relation."""
    relation = connection.sql(f"FROM {quoted(name)}")
    return dict(zip(relation.columns, map(str, relation.types), strict=True))


def shown_columns(project: Project, name: str, held: Sequence[str]) -> list[str]:
    """Return the columns to show of an input: places in files or topics, then those of a query."""
    catalog = project.catalog
    known = catalog.sources.get(name) or catalog.views[name]
    places = [each for each in PLACES if each in held and name in catalog.sources]
    return [*places, *(field.name for field in known.fields if field.name in held)]


def at_rest_query(
    case: Case, *, cut: str = "cut", final: bool = True, guarded: bool = True
) -> exp.Query:
    """Return the SELECT at rest of a view over its :func:`create_inputs`.

    Args:
        case: the commit of the view.
        cut: the ending of the names of its inputs.
        final: whether it leaves out what is not final yet.
        guarded: whether it leaves out rows on which it fails.

    Raises:
        SqlError: ``NOT_YET`` for recursion.
    """
    if case.plan.view.query.find(RecursiveRows):
        message = "not supported: why a row of WITH RECURSIVE is there, or not"
        hint = "query the rows that it could come from with: headwater sql"
        raise SqlError("NOT_YET", message, hint=hint)
    return rendered(
        case.plan if guarded else replace(case.plan, find_guard=lambda: None),
        case.project.catalog,
        "duckdb",
        watermark=case.commit.marker.watermark,
        final=final,
        relation=lambda name: quoted(f"{name}@{cut}"),
    )


def count_of(connection: duckdb.DuckDBPyConnection, source: str) -> int:
    """Return the number of rows of a FROM."""
    return int(connection.sql(f"SELECT count(*) {source}").fetchall()[0][0])


def _matching(connection: duckdb.DuckDBPyConnection, case: Case, query: str, columns: str) -> str:
    """The query for the rows of a query that are among ``@rows``."""
    types = column_types(connection, "@rows")
    held = case.columns
    terms = [f"t.{quoted(c)} IS NOT DISTINCT FROM r.{quoted(c)}" for c in held.exact]
    terms += [_close(quoted(c)) for c in held.floats]
    few = [_values(connection, name, types[name]) for name in held.exact]
    where = " AND ".join(filter(None, few)) or "true"
    rows = f"SELECT * FROM ({query}) WHERE {where}"
    return f'SELECT {columns} FROM ({rows}) t JOIN "@rows" r ON {" AND ".join(terms) or "true"}'


def _values(connection: duckdb.DuckDBPyConnection, column: str, kind: str) -> str:
    """The condition that a column has one of the values in ``@rows``; empty if it has too many."""
    if "[" in kind or kind.startswith(("STRUCT", "MAP")):
        return ""
    name = quoted(column)
    query = f'SELECT DISTINCT CAST({name} AS VARCHAR) FROM "@rows" LIMIT {_LITERALS + 1}'
    texts = [row[0] for row in connection.sql(query).fetchall()]
    if len(texts) > _LITERALS:
        return ""
    return "(" + " OR ".join(equals(name, text, kind) for text in texts) + ")"


def _close(column: str) -> str:
    """The condition that two floating point numbers count as equal."""
    one, two = f"t.{column}", f"r.{column}"
    near = f"abs({one} - {two}) <= {FLOAT_NOISE} + {FLOAT_TOLERANCE} * abs({two})"
    return f"({one} IS NOT DISTINCT FROM {two} OR {near})"
