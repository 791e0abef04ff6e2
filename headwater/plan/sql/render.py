"""Bound query → SQL of an engine: relations become subqueries that carry windows and lateness.

In: the canonical query and, per relation, how it is read (:data:`Reader`).
Out: SQL text in the engine's dialect. Every renderer of ``plan/`` goes through :func:`render`, so
that a view in motion and its SELECT at rest differ only in what they read.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import cast

from sqlglot import Generator, exp, parse_one
from sqlglot.dialects.spark import Spark
from sqlglot.dialects.trino import Trino
from sqlglot.generators.spark import SparkGenerator

from headwater.analyze.definitions import WATERMARK_COLUMN, Catalog, Field
from headwater.analyze.typing.types import spark_type
from headwater.dialect.row_pattern_text import RowPatternGenerator
from headwater.plan.query_shape import MICROSECOND, RelationShape, relations_of
from headwater.plan.sql.as_of import with_sorted_versions
from headwater.plan.sql.no_float_skipping import without_skipping
from headwater.plan.sql.windows import assign, first_close, last_close
from headwater.plan.windows import TimeWindow

Reader = Callable[[RelationShape], exp.Expr]
"""Gives what a relation is read from: a table or a query over it, without an alias."""

FAR_FUTURE = "9999-12-31 00:00:00"
WINDOW = "__window"
"""Name of Spark's window struct where a streaming query groups by it."""


QUALIFIED = "__qualified"
"""Name of the subquery, and of its condition, that stands for QUALIFY where there is none."""


READ = "read"
"""Key of the ``meta`` of a FROM item of a rendered query that reads a relation: its name."""


class Watermarked(exp.Expression):
    """Spark's ``(query) WATERMARK column DELAY OF interval`` as a FROM item."""

    arg_types = {"this": True, "column": True, "delay": True}


class SparkStream(Spark):
    """Spark SQL with the watermark clause that Spark 4.1 reads in a FROM item."""

    class Generator(SparkGenerator):
        """Prints :class:`Watermarked`."""

        TRANSFORMS = {
            **SparkGenerator.TRANSFORMS,
            Watermarked: lambda self, node: (
                f"{self.sql(node, 'this')} WATERMARK {self.sql(node, 'column')}"
                f" DELAY OF {self.sql(node, 'delay')}"
            ),
        }


class TrinoPatterns(Trino):
    """Trino SQL with row patterns."""

    Generator = RowPatternGenerator


_PRINTERS = {"spark": SparkStream, "trino": TrinoPatterns}


def render(query: exp.Query, catalog: Catalog, read: Reader) -> exp.Query:
    """Return a copy of the query whose relations are read by ``read``.

    Args:
        read: gives what each relation of ``query`` is read from.
    """
    copy = query.copy()
    pairs = zip(relations_of(query, catalog), list(relations_of(copy, catalog)), strict=True)
    for own, relation in pairs:
        item = read(own)
        alias = exp.TableAlias(this=exp.to_identifier(relation.alias))
        if isinstance(item, exp.Table):
            item.set("alias", alias)
        else:
            item = exp.Subquery(this=item, alias=alias)
        item.meta[READ] = relation.name
        relation.table.replace(item)
    return copy


_DEEP = 16
"""Levels of a value that stands on lines of its own; a deeper one is one line."""


def print_sql(query: exp.Expr, dialect: str) -> str:
    """Return the text of a query; Spark's includes the watermark clause, DuckDB's quotes names.

    DuckDB reserves words that are good column names elsewhere, for example ``at``.
    """
    query = with_sorted_versions(query)
    if dialect != "duckdb" and query.find(exp.Qualify):
        query = _without_qualify(query)
    if dialect == "spark":
        query = _without_alias_like_where(without_skipping(query))
    printer, quoted = _PRINTERS.get(dialect, dialect), dialect == "duckdb"
    query = query.copy()
    for deep in _deep(query):  # indented, calls within calls would be wider than long
        line = deep.sql(dialect=printer, identify=quoted)
        deep.replace(exp.Var(this=line.replace("\n", Generator.SENTINEL_LINE_BREAK)))
    return query.sql(dialect=printer, pretty=True, identify=quoted)


def _deep(query: exp.Expr) -> list[exp.Expr]:
    """Return the values that are nested deeply and hold no query, those within others aside."""
    found: list[exp.Expr] = []

    def below(node: exp.Expr) -> bool:
        # Spark's printer makes LATERAL VIEW of an UNNEST: it has to see it
        around = isinstance(node, (exp.Query, exp.Connector, exp.Paren, exp.Not, exp.UDTF))
        if around or not isinstance(node, exp.Condition):
            return False
        if _levels(node) > _DEEP and not node.find(exp.Query):
            found.append(node)
            return True
        return not node.find(exp.Query)

    for _ in query.walk(prune=below):
        pass
    return found


def _levels(root: exp.Expr) -> int:
    levels, nodes = 0, [root]
    while nodes:
        levels += 1
        nodes = [child for node in nodes for child in node.iter_expressions()]
    return levels


def _without_alias_like_where(query: exp.Expr) -> exp.Expr:
    """Return a copy of a query without ``WHERE (column)``.

    Spark 4.1.3 takes ``FROM t WHERE (paid)`` for the table under the name "WHERE", with one column.
    """
    copy = query.copy()
    for where in copy.find_all(exp.Where):
        if isinstance(where.this.unnest(), exp.Column):
            where.set("this", where.this.unnest())
    return copy


def _without_qualify(query: exp.Expr) -> exp.Expr:
    """Return a copy of a query that filters the results of OVER in the query around it."""
    # sqlglot's own rewrite would not do: 30.30.0 takes a column for an output of the same name, and
    # puts ORDER BY and LIMIT inside. Related: tobymao/sqlglot#3307.
    root = exp.Paren(this=query.copy())
    for select in reversed([s for s in root.find_all(exp.Select) if s.args.get("qualify")]):
        names = [item.alias_or_name for item in select.selects]
        kept = exp.alias_(select.args["qualify"].this.copy(), QUALIFIED)
        distinct = select.args.get("distinct")
        select.set("qualify", None)
        select.set("distinct", None)
        select.append("expressions", kept)
        around = exp.select(*(exp.column(name, QUALIFIED) for name in names))
        around.set("distinct", distinct)
        inner = select.copy().subquery(QUALIFIED)
        select.replace(around.from_(inner).where(exp.column(QUALIFIED, QUALIFIED)))
    return cast(exp.Expr, root.this)


def interval(length: timedelta) -> str:
    """Return an interval literal that Spark, Trino and DuckDB read alike."""
    seconds = length / timedelta(seconds=1)
    return f"INTERVAL '{int(seconds) if seconds.is_integer() else seconds}' SECOND"


def timestamp(micros: int, like: exp.DataType) -> exp.Expr:
    """Return a timestamp literal of a column's type.

    Args:
        micros: microseconds since 1970 UTC.
        like: the type, with or without time zone.
    """
    at = datetime.fromtimestamp(0, UTC) + micros * MICROSECOND
    zone = "+00:00" if like.this == exp.DataType.Type.TIMESTAMPTZ else ""
    return exp.cast(exp.Literal.string(at.strftime("%Y-%m-%d %H:%M:%S.%f") + zone), like.copy())


def fields_of(relation: RelationShape, catalog: Catalog) -> dict[str, Field]:
    """Return the columns of a relation by name, without the window's and the system's."""
    known = relation.source or catalog.views[relation.name]
    return {field.name: field for field in known.fields}


def without_zone(relation: RelationShape, catalog: Catalog) -> bool:
    """Return whether the event time of a relation is a TIMESTAMP without a time zone."""
    field = fields_of(relation, catalog).get(relation.event_time or "")
    return field is not None and field.type.this is exp.DataType.Type.TIMESTAMPNTZ


def in_time(close: str, allowed: timedelta, *, ends: bool = True) -> str:
    """Return the condition that a row is not too late, as text that every dialect reads.

    Args:
        close: the time at which the row's window closes, or its event time where it has no window.
        ends: whether it is the end of a window, at which no row is taken any more.
    """
    limit = f"{close} + {interval(allowed)}" if allowed else close
    return f"({WATERMARK_COLUMN} IS NULL OR {limit} {'>' if ends else '>='} {WATERMARK_COLUMN})"


def in_time_at_last(relation: RelationShape, allowed: timedelta | None) -> str:
    """Return the condition that a row is not too late for the last of its windows, as Spark SQL.

    Args:
        allowed: allowed lateness, or None if every row counts.

    Returns:
        The condition; empty if no row is left out for being late.
    """
    if allowed is None or not relation.tells_lateness:
        return ""
    close = last_close(relation.window) if relation.window else relation.event_time or ""
    timely = in_time(close, allowed, ends=bool(relation.window))
    return spark_expression(timely).sql(dialect="spark")


def spark_window(window: TimeWindow) -> str:
    """Return Spark's ``window(…)`` call."""
    lengths = [window.size, window.slide, window.offset]
    if not window.offset:
        lengths = lengths[:1] if window.slide == window.size else lengths[:2]
    texts = ", ".join(f"'{_spark_length(length)}'" for length in lengths)
    return f"window({window.time}, {texts})"


def _spark_length(micros: int) -> str:
    seconds, rest = divmod(micros, 1_000_000)
    return f"{micros} microseconds" if rest else f"{seconds} seconds"


def streaming_read(
    relation: RelationShape, catalog: Catalog, filters: list[exp.Expr], allowed: timedelta
) -> exp.Query:
    """Return a relation of a stateful streaming query: data and heartbeats, watermark, lateness.

    Heartbeats carry a ``_watermark`` in the far future, so that the lateness filter takes them out
    above the watermark operator. That filter reads the event time, and Spark never pushes such a
    filter below the operator; the user's own filters stand in the data's branch, where they cannot
    remove a heartbeat.
    """
    fields = fields_of(relation, catalog)
    time = relation.event_time or ""
    names = sorted({*relation.columns, time})
    where = f" WHERE {' AND '.join(_plain(term) for term in filters)}" if filters else ""
    # Spark's watermarks are on TIMESTAMP only: a time without a zone is read as one in UTC
    zoneless = without_zone(relation, catalog)
    read = [f"CAST({n} AS TIMESTAMP) AS {n}" if n == time and zoneless else n for n in names]
    data = f"SELECT {', '.join([*read, WATERMARK_COLUMN])} FROM {relation.name}{where}"
    kinds = {n: "TIMESTAMP" if n == time else spark_type(fields[n].type) for n in names}
    values = [
        f"CAST({'ts' if name == time else 'NULL'} AS {kinds[name]}) AS {name}" for name in names
    ]
    far = f"CAST('{FAR_FUTURE}' AS TIMESTAMP) AS {WATERMARK_COLUMN}"
    beats = f"SELECT {', '.join([*values, far])} FROM {relation.name}__heartbeat"
    marked = Watermarked(
        this=exp.Subquery(this=spark(f"{data} UNION ALL {beats}")),
        column=exp.column(time),
        delay=spark_expression(interval(relation.spark_delay + allowed)),
    )
    if relation.window is None:
        return exp.select("*").from_(marked).where(spark_expression(in_time(time, allowed)))
    call = spark_expression(f"{spark_window(relation.window)} AS {WINDOW}")
    assigned = exp.select("*", call).from_(marked).subquery()
    return (
        exp.select("*").from_(assigned).where(spark_expression(in_time(WINDOW + ".end", allowed)))
    )


def batch_read(
    relation: RelationShape,
    name: str,
    allowed: timedelta | None,
    within: exp.Expr | None = None,
) -> exp.Query | exp.Table:
    """Return a relation of a Spark batch query: windows as columns, too late rows left out.

    Args:
        name: the table or temporary view it is read from, or a query in brackets.
        allowed: allowed lateness, or None if every row counts.
        within: a condition on the rows that are read at all, by its own columns.
    """
    term = ""
    if allowed is not None and relation.event_time:  # rows of views are in time
        close = "window_end" if relation.window else relation.event_time
        term = in_time(close, allowed, ends=relation.window is not None)
    cut = within.sql(dialect="spark") if within is not None else ""
    if (young := relation.ages.young) is not None:
        cut = " AND ".join(filter(None, (cut, young.flag)))
    if relation.window is None:
        terms = where(cut, term)
        plain = not terms and not name.startswith("(")
        return exp.to_table(name) if plain else spark(f"SELECT * FROM {name}{terms}")
    rows = f"(SELECT * FROM {name}{where(cut)})" if cut else name
    assigned = assign("spark", relation.window, rows)
    return spark(f"SELECT * FROM ({assigned}){where(term)}" if term else assigned)


def where(*terms: str) -> str:
    """Return the WHERE clause of some terms, empty ones left out."""
    found = [term for term in terms if term]
    return f" WHERE {' AND '.join(found)}" if found else ""


def late_rows(relation: RelationShape, filters: list[exp.Expr], allowed: timedelta) -> str:
    """Return the query for the rows that are too late for at least one of their windows."""
    close = first_close(relation.window) if relation.window else relation.event_time or ""
    timely = in_time(close, allowed, ends=relation.window is not None)
    terms = [f"NOT {timely}", *map(_plain, filters)]
    query = spark(f"SELECT * FROM {relation.name}__change WHERE {' AND '.join(terms)}")
    return print_sql(query, "spark")


def spark(sql: str) -> exp.Query:
    """Parse a query of Spark SQL."""
    query = parse_one(sql, dialect="spark")
    assert isinstance(query, exp.Query)
    return query


def spark_expression(sql: str) -> exp.Expr:
    """Parse an expression of Spark SQL."""
    return spark(f"SELECT {sql}").selects[0]


def _plain(term: exp.Expr) -> str:
    """A filter over one relation, printed for Spark without the qualifiers."""
    bare = term.transform(lambda n: exp.column(n.name) if isinstance(n, exp.Column) else n)
    return f"({bare.sql(dialect='spark')})"
