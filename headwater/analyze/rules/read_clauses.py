"""Every argument of a clause has a reader, and every table of a query stands in what is bound.

In: a query as parsed; then the bound query that it became. Out: an error for each argument that
nobody reads and for each table that was lost on the way.

sqlglot hangs what it parses on arguments of nodes: TABLESAMPLE on a subquery, joins on a table in
brackets. A pass that forgets one drops it without a word, and ``verify`` agrees, since both sides
come from one bound tree. :data:`READ` therefore lists what somebody reads of a clause; the rest is
refused. :mod:`headwater.analyze.rules.allowed_syntax` says the same of what is bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.query_parts import PLACES
from headwater.analyze.typing.determinism import REFUSED
from headwater.dialect import syntax
from headwater.dialect.position import offsets_of

_ONE = frozenset(("this",))
_CHOSEN = ("order", "limit", "offset")
_SAMPLE = "sample"
_UNNAMED = ("this", "expression", "expressions")

READ: Mapping[type[exp.Expr], frozenset[str]] = {
    exp.Select: frozenset(
        ("with_", "expressions", "distinct", "from_", "joins", "laterals", "match", "where")
        + ("group", "having", "qualify", "windows", *_CHOSEN)
    ),
    **dict.fromkeys(
        (exp.Union, exp.Except, exp.Intersect),
        frozenset(("with_", "this", "expression", "distinct", "by_name", *_CHOSEN)),
    ),
    exp.Subquery: frozenset(("with_", "this", "alias", "joins", "pivots", *_CHOSEN)),
    exp.Table: frozenset(
        ("this", "db", "catalog", "alias", "joins", "pivots", "match")
        + ("version", "when", "system_time")
    ),
    exp.Values: frozenset(("expressions", "alias", "joins")),
    exp.Unnest: frozenset(("expressions", "alias", "offset")),
    exp.Lateral: frozenset(("this", "view", "outer", "cross_apply", "alias")),
    exp.Join: frozenset(("this", "side", "kind", "method", "on", "using", "match_condition")),
    exp.From: _ONE,
    exp.TableAlias: frozenset(("this", "columns")),
    exp.With: frozenset(("expressions", "recursive", "search")),
    exp.CTE: frozenset(("this", "alias", "materialized", "key_expressions")),
    exp.Where: _ONE,
    exp.Group: frozenset(
        ("expressions", "all", "totals", "cube", "rollup", "grouping_sets"),
    ),
    exp.Having: _ONE,
    exp.Qualify: _ONE,
    exp.Distinct: frozenset(("expressions", "on")),
    exp.Star: frozenset(("except_", "replace", "rename")),
    exp.Order: frozenset(("this", "expressions")),
    exp.Ordered: frozenset(("this", "desc", "nulls_first")),
    exp.Limit: frozenset(("expression",)),
    exp.Offset: frozenset(("expression",)),
    exp.Fetch: frozenset(("count", "direction", "limit_options")),
    exp.Window: frozenset(("this", "partition_by", "order", "spec", "over", "alias")),
    exp.WindowSpec: frozenset(("kind", "start", "start_side", "end", "end_side", "exclude")),
    exp.Filter: frozenset(("this", "expression")),
    exp.WithinGroup: frozenset(("this", "expression")),
    exp.IgnoreNulls: _ONE,
    exp.RespectNulls: _ONE,
}
"""Node class → the arguments that a pass of the binder reads or refuses with words of its own."""


def unread_arguments(statement: syntax.CreateStreamingView, report: Diagnostics) -> None:
    """Refuse every argument of a clause that nobody reads."""
    for node in statement.expression.walk():
        read = READ.get(type(node))
        for key, value in node.args.items() if read is not None else ():
            if key in (read or ()) or value in (None, False, []):
                continue
            first = value[0] if isinstance(value, list) else value
            at = first if isinstance(first, exp.Expression) else node
            if key == _SAMPLE:
                hazard = REFUSED["tablesample"]
                message = f"TABLESAMPLE is refused: {hazard.reason}"
                where = at if offsets_of(at) else node
                report.add(hazard.condition, message, where, hazard.hint)
            else:
                words = key.rstrip("_").upper().replace("_", " ")
                if isinstance(value, str) or key in _UNNAMED:
                    words = value if isinstance(value, str) else report.excerpt(at)
                message = f"{words} is not part of the language"
                report.add("UNSUPPORTED_SYNTAX", message, at, "write it in Trino SQL")


def number_tables(query: exp.Query) -> None:
    """Give every table and VALUES of a query a number, in place; copies of it have the same."""
    for at, table in enumerate(_tables(query), start=1):
        table.meta[PLACES] = (at,)


def _tables(query: exp.Expr) -> Iterator[exp.Expr]:
    for each in query.find_all(exp.Table):
        if not isinstance(each.this, (exp.Values, syntax.WindowTable)):
            yield each
    for rows in query.find_all(exp.Values):
        around = rows.parent
        while isinstance(around, (exp.Subquery, exp.Table)):
            around = around.parent
        if isinstance(around, (exp.From, exp.Join)):
            yield rows


def lost_tables(written: exp.Query, bound: exp.Query, report: Diagnostics) -> None:
    """Refuse a query of which a table was lost while it was bound.

    Args:
        written: the query as parsed, its tables numbered.
        bound: what it became.
    """
    found = {place for node in bound.walk() for place in node.meta.get(PLACES, ())}
    for table in _tables(written):
        if found.isdisjoint(table.meta[PLACES]) and not _is_unread(table, written, found):
            hint = "name what it stands in: FROM (SELECT … FROM a JOIN b ON …) AS x"
            report.not_yet("this table where it stands", table, hint)


def _is_unread(table: exp.Expr, written: exp.Query, found: set[int]) -> bool:
    """Whether a table is of a WITH query that nothing reads."""
    for query in _queries_of_with(table, written):
        if all(found.isdisjoint(each.meta[PLACES]) for each in _tables(query)):
            return True
    return False


def _queries_of_with(node: exp.Expr, root: exp.Expr) -> Iterator[exp.CTE]:
    inner: exp.Expr | None = node
    while inner is not None and inner is not root:
        if isinstance(inner, exp.CTE):
            yield inner
        inner = inner.parent
