"""ANY, ALL and IN over lists of rows, arrays and subqueries → OR, AND, IN and CASE.

In: a query as parsed. Out: the same one in which comparisons are plain::

    a > ANY (VALUES 1, 2)      (a > 1 OR a > 2)
    a IN (VALUES 1, 2)         a IN (1, 2)
    a = ANY (SELECT x FROM t)  a IN (SELECT x FROM t)
    a = ANY (xs)               contains(xs, a)
    a > ALL (SELECT x FROM t)  CASE WHEN (SELECT count(*) FROM t) = 0 THEN true
                               WHEN a <= (SELECT max(x) FROM t) THEN false
                               WHEN a IS NULL OR (SELECT count(*) FROM t)
                               > (SELECT count(x) FROM t) THEN NULL ELSE true END
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.query_parts import is_row_by_row

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_OPPOSITE: Mapping[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.LT: exp.GTE,
    exp.LTE: exp.GT,
    exp.GT: exp.LTE,
    exp.GTE: exp.LT,
}
_DECIDING: Mapping[type[exp.Expr], tuple[type[exp.AggFunc], ...]] = {
    **dict.fromkeys((exp.LT, exp.LTE), (exp.Max,)),
    **dict.fromkeys((exp.GT, exp.GTE), (exp.Min,)),
    exp.NEQ: (exp.Min, exp.Max),
}
"""The values with which a comparison holds if it holds with any."""


def without_quantifiers(query: exp.Query, report: Diagnostics) -> None:
    """Replace quantified comparisons and lists of rows in IN, in place; report what has no form."""
    for member in list(query.find_all(exp.In)):
        rows = member.expressions[0] if len(member.expressions) == 1 else None
        if isinstance(rows, exp.Values):
            member.set("expressions", _values(rows, report) or [exp.null()])
    for node in list(query.find_all(*_COMPARISONS)):
        word, among = _quantifier(node.expression)
        if among is not None:
            node.replace(_plain(node, word, among, report))


def _quantifier(side: exp.Expr) -> tuple[str, exp.Expr | None]:
    """Return ``ANY`` or ``ALL`` and what it is about, empty if a side is something else."""
    if isinstance(side, (exp.Any, exp.All)):
        among = side.this.unnest()
        return ("ANY" if isinstance(side, exp.Any) else "ALL"), among
    if isinstance(side, exp.Anonymous) and len(side.expressions) == 1:
        word = str(side.this).upper()
        return (word, side.expressions[0]) if word == "ALL" else ("", None)
    return "", None


def _plain(node: exp.Expr, word: str, among: exp.Expr, report: Diagnostics) -> exp.Expr:
    if isinstance(among, (exp.Values, exp.Array)):
        values = _values(among, report) if isinstance(among, exp.Values) else among.expressions
        compared = [type(node)(this=node.this.copy(), expression=value) for value in values]
        join = exp.Or if word == "ANY" else exp.And
        terms = compared or [exp.true()]
        return exp.Paren(this=reduce(lambda a, b: join(this=a, expression=b), terms))
    one_of = word == "ANY" and isinstance(node, exp.EQ)
    none_of = word == "ALL" and isinstance(node, exp.NEQ)
    found: exp.Expr
    if one_of or none_of:
        if isinstance(among, exp.Query):
            found = exp.In(this=node.this.copy(), query=exp.Subquery(this=among.copy()))
        else:
            found = exp.ArrayContains(this=among.copy(), expression=node.this.copy())
        return found if one_of else exp.Not(this=found)
    if not isinstance(among, exp.Query):
        report.not_yet(f"{word} of an array", among, "UNNEST the array in a subquery")
        return exp.true()
    if not among.is_star and len(among.selects) != 1:
        message = f"the subquery has {len(among.selects)} columns"
        report.add("WRONG_ARGUMENTS", message, node.this, "select one column")
        return exp.true()
    return _decided(node, word, among)


def _decided(node: exp.Expr, word: str, among: exp.Query) -> exp.Expr:
    """A comparison with all rows of a subquery, by the least and the greatest of them."""
    value = node.this
    # ALL is false if the opposite holds with any row
    kind = type(node) if word == "ANY" else _OPPOSITE[type(node)]
    compared = [
        kind(this=value.copy(), expression=_aggregated(among, call)) for call in _DECIDING[kind]
    ]
    holds = reduce(lambda a, b: exp.Or(this=a, expression=b), compared)
    empty = exp.EQ(this=_aggregated(among, None), expression=exp.Literal.number(0))
    null = exp.GT(this=_aggregated(among, None), expression=_aggregated(among, exp.Count))
    unknown = exp.Or(this=exp.Is(this=value.copy(), expression=exp.null()), expression=null)
    first, otherwise = exp.Boolean(this=word == "ANY"), exp.Boolean(this=word == "ALL")
    branches = ((empty, otherwise), (holds, first), (unknown, exp.null()))
    ifs = [exp.If(this=test, true=result.copy()) for test, result in branches]
    return exp.Paren(this=exp.Case(ifs=ifs, default=otherwise.copy()))


def _aggregated(query: exp.Query, call: type[exp.AggFunc] | None) -> exp.Subquery:
    """Return a scalar subquery: an aggregate of the column of a query, or the number of its rows.

    Args:
        query: a query of one column.
        call: the aggregate; None counts the rows.
    """
    if is_row_by_row(query) and not query.is_star:
        select, column = query.copy(), query.selects[0].unalias().copy()
    else:
        alias = exp.TableAlias(this=exp.to_identifier("_rows"), columns=[exp.to_identifier("v")])
        inner = exp.Subquery(this=query.copy(), alias=alias)
        select, column = exp.Select(from_=exp.From(this=inner)), exp.column("v", table="_rows")
    select.set("expressions", [exp.Count(this=exp.Star()) if call is None else call(this=column)])
    return exp.Subquery(this=select)


def _values(rows: exp.Values, report: Diagnostics) -> list[exp.Expr]:
    found = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in rows.expressions]
    if any(len(row) != 1 for row in found):
        hint = "give each row one value: VALUES 1, 2"
        report.add("WRONG_ARGUMENTS", "the rows of VALUES have several columns", rows, hint)
        return []
    return [value.copy() for row in found for value in row]
