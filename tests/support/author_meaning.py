"""What a text means otherwise in DuckDB than in Headwater, once plain sqlglot has parsed it.

In: the tree that plain sqlglot parsed. Out: why DuckDB cannot be asked it at all, which of its
columns cannot be compared, and the tree as DuckDB has to read it. The tables here are the only
places that excuse a difference. All that they do not name is asked: FROM, joins, groups, set
operations and windows always are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp, parse_one
from sqlglot.dialects.trino import Trino
from sqlglot.tokenizer_core import TokenType


class TrinoWithQualify(Trino):
    """Trino of plain sqlglot, with the one word that Headwater has in common with other engines."""

    class Tokenizer(Trino.Tokenizer):
        """Words."""

        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            **Trino.Tokenizer.KEYWORDS,
            "QUALIFY": TokenType.QUALIFY,
        }


TRINO = "trinowithqualify"
"""The name under which sqlglot knows it."""

NOT_ASKED = {
    "session": "DuckDB has no windows of sessions",
    "cumulate": "DuckDB has no growing windows",
    "tumble": "only windows that divide a day are written for DuckDB",
    "hop": "as TUMBLE",
    "matchrecognize": "DuckDB has no MATCH_RECOGNIZE",
    "version": "DuckDB has no FOR SYSTEM_TIME AS OF",
    "unnest of rows": "UNNEST of an array of rows, or of a map, makes one column in DuckDB",
    "with ties": "sqlglot 30.30.0 drops WITH TIES",
    "grouping sets": "k and t.k are two columns for the sets of DuckDB, and one for Trino",
}
"""Forms that DuckDB lacks or reads in another way, so that the rows are others."""

OTHERWISE: dict[str, str] = {
    "attimezone": "an instant shown elsewhere is an instant in Trino, a wall clock in DuckDB",
    "countif": "over no row that counts it is NULL in DuckDB, 0 in Trino",
    "jsonobject": "json_object leaves NULL in, and writes decimals without zeros, in DuckDB",
    "jsonarray": "json_array leaves NULL in, and writes decimals without zeros, in DuckDB",
    "regexpextract": "without a match it is an empty text in DuckDB, NULL in Trino",
    "approxquantile": "a sketch: verify compares it within its bounds",
    "approxdistinct": "a sketch: verify compares it within its bounds",
    "arraycontains": "an element that is NULL makes it NULL in Trino",
    "arrayposition": "of what is not in the array it is NULL in DuckDB, 0 in Trino",
    "bitwiseand": "sqlglot 30.30.0 writes & without the brackets that it needs in DuckDB",
    "bitwiseor": "as bitwise_and",
    "bitwisexor": "as bitwise_and",
    "jsonformat": "fields that are NULL are left out of Spark's to_json",
    "sha": "sha1 is a text in DuckDB, bytes in Trino",
    "text of round": "round(DECIMAL, n) has n digits in DuckDB and all in Trino, as a text shows",
    "millisecond": "it counts the seconds of the minute too in DuckDB",
}
"""Functions and operators whose value differs; columns that hold such a value are left out."""


@dataclass(frozen=True, slots=True)
class Unlike:
    """What of a query does not mean the same.

    Attributes:
        reason: why it cannot be asked; empty if it can.
        columns: places of its columns that cannot be compared.
    """

    reason: str = ""
    columns: frozenset[int] = frozenset()


def unlike(tree: exp.Query) -> Unlike:
    """Return what of a query means something else in DuckDB.

    A value that differs is followed by name: from a SELECT list to whoever names that column. If
    it reaches anything but a SELECT list, such as a condition or a key, the query is not asked.

    Args:
        tree: as plain sqlglot parsed it, and :func:`as_trino` wrote it.
    """
    for node in tree.walk():
        for name in _names(node):
            if name in NOT_ASKED:
                return Unlike(f"{name}: {NOT_ASKED[name]}")
    tainted: set[str] = set()
    columns: set[int] = set()
    while True:
        known = len(tainted) + len(columns)
        for node in tree.walk():
            name = next((each for each in _names(node) if each in OTHERWISE), "")
            if isinstance(node, exp.Column) and node.name.lower() in tainted:
                name = node.name
            if not name:
                continue
            item = _item(node)
            if item is None:
                return Unlike(f"{name}: {OTHERWISE.get(name, 'it differs')}, and decides rows")
            select, at = item
            if select in _branches(tree):
                columns.add(at)
            else:
                shown = select.selects[at].alias_or_name.lower()
                if not shown:
                    return Unlike(f"{name}: {OTHERWISE.get(name, 'it differs')}")
                tainted.add(shown)
        if len(tainted) + len(columns) == known:
            return Unlike("", frozenset(columns))


def _item(node: exp.Expr) -> tuple[exp.Select, int] | None:
    """The SELECT in whose list a node stands and its place there; None if it decides rows."""
    below, above = node, node.parent
    while above is not None:
        if isinstance(above, exp.Select):
            if below.arg_key != "expressions" or above.args.get("distinct"):
                return None
            assert below.index is not None
            return above, below.index
        if isinstance(above, (exp.AggFunc, exp.Window)) and below.arg_key in (
            "order",
            "partition_by",
        ):
            return None
        below, above = above, above.parent
    return None


def _branches(tree: exp.Expr) -> list[exp.Select]:
    """The SELECTs whose lists are the columns of a query; none if rows are compared in it."""
    match tree:
        case exp.Select():
            return [tree]
        case exp.Subquery():
            return _branches(tree.this)
        case exp.Union() if not tree.args.get("distinct"):
            return [*_branches(tree.left), *_branches(tree.right)]
    return []


def _names(node: exp.Expr) -> Iterator[str]:
    """What the tables may call a node."""
    yield type(node).__name__.lower()
    match node:
        case exp.Anonymous():
            yield node.name.lower()
        case exp.Cast() if node.to.this in exp.DataType.TEXT_TYPES and node.find(exp.Round):
            yield "text of round"
        case exp.Unnest(args={"alias": exp.TableAlias(columns=[_, *more])}):
            if len(more) + 1 > len(node.expressions) + bool(node.args.get("offset")):
                yield "unnest of rows"
        case exp.Fetch(args={"limit_options": exp.LimitOptions(args={"with_ties": True})}):
            yield "with ties"
        case exp.GroupingSets():
            columns = {column.sql() for column in node.find_all(exp.Column)}
            if len({column.rpartition(".")[2] for column in columns}) < len(columns):
                yield "grouping sets"


# -- what DuckDB has to be asked in other words

_GATHERING = (exp.AnyValue, exp.ArgMin, exp.ArgMax, exp.ArrayAgg, exp.GroupConcat)


def as_trino(tree: exp.Expr) -> exp.Query:
    """Return a query with the words that DuckDB needs for what the reference says.

    Ties are broken by value, ORDER BY is over outputs, arrays are unnested side by side, windows
    have their definitions, and TUMBLE and HOP are subqueries.

    Args:
        tree: as plain sqlglot parsed it; it is changed.
    """
    root = exp.Paren(this=tree)
    for call in [*root.find_all(exp.Anonymous)]:
        _windows(call)
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
            assert isinstance(node, (exp.ArrayAgg, exp.GroupConcat))
            _in_order(node)
    assert isinstance(root.this, exp.Query)
    return root.this


def _windows(call: exp.Anonymous) -> None:
    """``TUMBLE(t, time, size)``, ``HOP(t, time, slide, size)`` → a row for each window of a row."""
    name, given = call.name.upper(), call.expressions
    table, lengths = call.parent, [_micros(each) for each in given[2:]]
    known = len(given) == {"TUMBLE": 3, "HOP": 4}.get(name)
    if not known or not isinstance(table, exp.Table) or not all(lengths):
        return
    slide, size = lengths[0], lengths[-1]
    if _DAY % slide or size % slide:
        return
    rows, time = given[0], given[1].sql("duckdb")
    source = rows if isinstance(rows, exp.Subquery) else exp.to_table(rows.sql("duckdb"))
    start = f"time_bucket(to_microseconds({slide}), {time}) - to_microseconds(nth_ * {slide})"
    text = (
        f"(SELECT * EXCLUDE (nth_), window_start + to_microseconds({size}) AS window_end FROM"
        f" (SELECT rows_.*, nth_, {start} AS window_start FROM (FROM rows_given) AS rows_,"
        f" range({size // slide}) AS r_(nth_))"
        f" WHERE window_start + to_microseconds({size}) > {time})"
    )
    windows = parse_one(text, dialect="duckdb")
    next(each for each in windows.find_all(exp.Table) if each.name == "rows_given").replace(source)
    windows.set("alias", table.args.get("alias"))
    for key in ("joins", "laterals", "sample"):
        windows.set(key, table.args.get(key))
    table.replace(windows)


def _micros(length: exp.Expr) -> int:
    """The length of an interval in microseconds; 0 if it is none that is always as long."""
    if not isinstance(length, exp.Interval) or length.unit is None or not length.this:
        return 0
    unit = _UNITS.get(length.unit.name.upper().removesuffix("S"), 0)
    return round(float(length.this.name) * unit) if length.this.name else 0


_UNITS = {"MILLISECOND": 10**3, "SECOND": 10**6, "MINUTE": 60 * 10**6, "HOUR": 3600 * 10**6}
_UNITS["DAY"] = _DAY = 24 * _UNITS["HOUR"]


def _outputs_first(select: exp.Select) -> None:
    """Expressions of ORDER BY are over outputs: a query around has nothing else."""
    order, shown = select.args.get("order"), {item.alias_or_name for item in select.selects}
    if order is None or all(isinstance(item.this, exp.Column) for item in order.expressions):
        return
    if not {column.sql() for column in order.find_all(exp.Column)} <= shown:
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
    spec, order, call = window.args.get("spec"), window.args.get("order"), window.this
    skips = isinstance(call, exp.IgnoreNulls)
    call = call.this if skips else call
    if spec is None or order is None or str(spec.args["kind"]) != "RANGE":
        return
    if not isinstance(call, (exp.FirstValue, exp.LastValue)):
        return
    key, first = order.expressions[0], isinstance(call, exp.FirstValue)
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
    given: exp.Expr = exp.Not(this=exp.Is(this=node.expression.copy(), expression=exp.Null()))
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
