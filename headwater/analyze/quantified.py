"""ANY, ALL and IN over lists of rows → OR, AND and IN.

In: a query as parsed. Out: the same one in which comparisons are plain::

    a > ANY (VALUES 1, 2)      (a > 1 OR a > 2)
    a IN (VALUES 1, 2)         a IN (1, 2)
    a = ANY (SELECT x FROM t)  a IN (SELECT x FROM t)
"""

from __future__ import annotations

from functools import reduce

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


def without_quantifiers(query: exp.Query, report: Diagnostics) -> None:
    """Replace quantified comparisons and lists of rows in IN, in place; report what has no form."""
    for member in list(query.find_all(exp.In)):
        rows = member.expressions[0] if len(member.expressions) == 1 else None
        if isinstance(rows, exp.Values):
            member.set("expressions", _values(rows, report) or [exp.null()])
    for node in list(query.find_all(*_COMPARISONS)):
        word, among = _quantifier(node.expression)
        if word and isinstance(among, (exp.Values, exp.Query)):
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
    if isinstance(among, exp.Values):
        compared = [
            type(node)(this=node.this.copy(), expression=value) for value in _values(among, report)
        ]
        join = exp.Or if word == "ANY" else exp.And
        terms = compared or [exp.true()]
        return exp.Paren(this=reduce(lambda a, b: join(this=a, expression=b), terms))
    member = exp.In(this=node.this.copy(), query=exp.Subquery(this=among.copy()))
    if word == "ANY" and isinstance(node, exp.EQ):
        return member
    if word == "ALL" and isinstance(node, exp.NEQ):
        return exp.Not(this=member)
    hint = "compare with one value: x > (SELECT min(y) FROM …), or write EXISTS"
    report.not_yet(f"a comparison with {word} of a subquery", node.this, hint)
    return exp.true()


def _values(rows: exp.Values, report: Diagnostics) -> list[exp.Expr]:
    found = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in rows.expressions]
    if any(len(row) != 1 for row in found):
        hint = "give each row one value: VALUES 1, 2"
        report.add("WRONG_ARGUMENTS", "the rows of VALUES have several columns", rows, hint)
        return []
    return [value.copy() for row in found for value in row]
