"""A query → what DuckDB has to be asked for its answer.

In: the text of a query in Headwater's SQL. Out: text for DuckDB. Nearly all of it means the same;
what does not is written anew here from what ``docs/reference/sql`` says, with no code of the
product but its parser.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import duckdb
from sqlglot import exp, parse_one

from headwater.dialect.parser import Headwater
from tests.fuzz.schemas import Row

_DIFFERENT = re.compile(
    r"\b(any_value|arbitrary|m(in|ax)_by|array_agg|listagg|cardinality|(first|last)_value)\("
    r"|ignore nulls|unnest\(.*,|order by coalesce",
    re.IGNORECASE,
)
_GATHERING = (exp.AnyValue, exp.ArgMin, exp.ArgMax, exp.ArrayAgg, exp.GroupConcat)


def open_duckdb() -> duckdb.DuckDBPyConnection:
    """Open DuckDB as it answers what the fuzz asks."""
    duck = duckdb.connect()
    duck.execute("SET TimeZone = 'UTC'")
    # its 2.0.0 fails where they decide: CASE WHEN x IS NULL THEN 'none' END > 'v'
    duck.execute("SET disabled_optimizers = 'statistics_propagation'")
    return duck


def for_duckdb(text: str) -> str:
    """Return a query as DuckDB answers it.

    Args:
        text: a query in Headwater's SQL.
    """
    if not _DIFFERENT.search(text):
        return text
    root = exp.Paren(this=parse_one(text, dialect=Headwater))
    for select in [*root.find_all(exp.Select)]:
        _outputs_first(select)
        _named_windows(select)
    for unnest in [*root.find_all(exp.Unnest)]:
        _side_by_side(unnest)
    for window in [*root.find_all(exp.Window)]:
        _edge_of_range(window)
    for node in [*root.find_all(*_GATHERING)]:
        if isinstance(node, exp.AnyValue):
            node.replace(exp.Min(this=node.this))
        elif isinstance(node, (exp.ArgMin, exp.ArgMax)):
            _of_extreme(node)
        else:
            _in_order(node)
    return root.this.sql("duckdb")


def _outputs_first(select: exp.Select) -> None:
    """Expressions of ORDER BY are over outputs: a query around has nothing else."""
    order = select.args.get("order")
    if order is None or all(isinstance(item.this, exp.Column) for item in order.expressions):
        return
    clauses = {key: select.args.get(key) for key in ("order", "limit")}
    for key in clauses:
        select.set(key, None)
    around = exp.Select(expressions=[exp.Star()])
    select.replace(around)
    around.set("from_", exp.From(this=select.subquery("outputs", copy=False)))
    for key, clause in clauses.items():
        around.set(key, clause)


def _named_windows(select: exp.Select) -> None:
    """``OVER w`` → what ``WINDOW w AS (…)`` says."""
    defined = {each.name: each for each in select.args.get("windows") or []}
    for window in [*select.find_all(exp.Window)]:
        definition = defined.get(window.alias) if window.parent_select is select else None
        if definition is not None and not any(map(window.args.get, ("order", "spec"))):
            base = defined.get(definition.alias, definition)
            for key in ("partition_by", "order", "spec"):
                part = definition.args.get(key) or base.args.get(key)
                window.set(key, part.copy() if isinstance(part, exp.Expr) else part)
            window.set("alias", None)


def _side_by_side(unnest: exp.Unnest) -> None:
    """DuckDB unnests several lists side by side in a SELECT list only."""
    if len(unnest.expressions) > 1:
        calls = [exp.Anonymous(this="unnest", expressions=[each]) for each in unnest.expressions]
        query = exp.Subquery(this=exp.Select(expressions=calls))
        unnest.replace(exp.Lateral(this=query, alias=unnest.args["alias"]))


def _edge_of_range(window: exp.Window) -> None:
    """The first (last) value of a RANGE, whose ties are ordered by value as their keys are."""
    spec, call = window.args.get("spec"), window.this
    skips = isinstance(call, exp.IgnoreNulls)
    call = call.this if skips else call
    if spec is None or str(spec.args["kind"]) != "RANGE":
        return
    if not isinstance(call, (exp.FirstValue, exp.LastValue)):
        return
    key, first = window.args["order"].expressions[0], isinstance(call, exp.FirstValue)
    desc, nulls_first = bool(key.args.get("desc")), bool(key.args.get("nulls_first"))
    edge = exp.Ordered(
        this=key.this.copy(),
        desc=desc if first else not desc,
        nulls_first=nulls_first if first else not nulls_first,
    )
    value = call.this
    listed: exp.Expr = exp.ArrayAgg(
        this=exp.Order(
            this=value.copy(), expressions=[edge, _ordered(value, desc=edge.args["desc"])]
        )
    )
    if skips:
        given = exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null()))
        listed = exp.Filter(this=listed, expression=exp.Where(this=given))
    over = window.copy()
    over.set("this", listed)
    first_one = [over, exp.Literal.number(1)]
    window.replace(exp.Anonymous(this="list_extract", expressions=first_one))


def _of_extreme(node: exp.ArgMin | exp.ArgMax) -> None:
    """``min_by(x, y)`` → the first x in the order of y, then of x."""
    most = isinstance(node, exp.ArgMax)
    keys = [_ordered(each, desc=most) for each in (node.expression, node.this)]
    call: exp.Expr = exp.ArrayAgg(this=exp.Order(this=node.this.copy(), expressions=keys))
    given = exp.Not(this=exp.Is(this=node.expression.copy(), expression=exp.Null()))
    whole: exp.Expr = node
    if isinstance(node.parent, exp.Filter):
        whole = node.parent
        given = exp.and_(given, whole.expression.this.copy())
    call = exp.Filter(this=call, expression=exp.Where(this=given))
    if isinstance(whole.parent, exp.Window) and whole.arg_key == "this":
        whole = whole.parent
        over = whole.copy()
        over.set("this", call)
        call = over
    whole.replace(exp.Anonymous(this="list_extract", expressions=[call, exp.Literal.number(1)]))


def _in_order(node: exp.ArrayAgg | exp.GroupConcat) -> None:
    """Lists are ordered by their values in the end."""
    order = node.this if isinstance(node.this, exp.Order) else exp.Order(this=node.this)
    if isinstance(order.this, exp.Distinct):
        value = order.this.expressions[0]
        order = exp.Order(this=order.this, expressions=order.expressions or [_ordered(value)])
    else:
        order = exp.Order(this=order.this, expressions=[*order.expressions, _ordered(order.this)])
    node.set("this", order)


def _ordered(key: exp.Expr, *, desc: bool = False) -> exp.Ordered:
    return exp.Ordered(this=key.copy(), desc=desc, nulls_first=False)


def insert(duck: duckdb.DuckDBPyConnection, name: str, rows: Sequence[Row]) -> None:
    """Insert rows into a table of DuckDB.

    Args:
        duck: where it is.
        name: of the table.
        rows: what it gains, maybe nothing.
    """
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        duck.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
