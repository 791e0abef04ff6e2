"""SEMI and ANTI JOIN → EXISTS.

In: a query as parsed. Out: the same rows::

    SELECT * FROM a LEFT SEMI JOIN b ON a.k = b.k    SELECT * FROM a WHERE EXISTS
                                                       (SELECT 1 FROM b WHERE a.k = b.k)
    SELECT * FROM a ANTI JOIN b USING (k)            SELECT * FROM a WHERE NOT EXISTS
                                                       (SELECT 1 FROM b WHERE b.k = a.k)
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics

_KINDS = ("SEMI", "ANTI")
_HINT = "write WHERE EXISTS (SELECT 1 FROM … WHERE …), or NOT EXISTS"


def without_semi_joins(query: exp.Query, report: Diagnostics) -> None:
    """Write SEMI and ANTI JOIN as conditions of WHERE, in place; report what has no such form."""
    for select in query.find_all(exp.Select):
        joins = list(select.args.get("joins") or [])
        found = [join for join in joins if join.kind in _KINDS and not join.method]
        for join in found:
            after = joins[joins.index(join) + 1 :]
            words = f"{join.side} {join.kind} JOIN".lstrip()
            if join.side not in ("", "LEFT") or any(e.side in ("RIGHT", "FULL") for e in after):
                hint = "put what it reads into a subquery in FROM"
                report.not_yet(f"{words} beside a RIGHT or FULL JOIN", join.this, hint)
            elif not isinstance(join.this, (exp.Table, exp.Subquery)):
                report.not_yet(f"{words} with what is no table", join.this, _HINT)
            elif (condition := _condition(select, join, joins, report)) is not None:
                _ask(select, join, condition)
        if found:
            select.set("joins", [join for join in joins if join not in found] or None)


def _condition(
    select: exp.Select, join: exp.Join, joins: Sequence[exp.Join], report: Diagnostics
) -> exp.Expr | None:
    """The condition of a join over columns with the names of their relations."""
    words = f"{join.side} {join.kind} JOIN".lstrip()
    name = join.this.alias_or_name
    if using := join.args.get("using"):
        before = select.args["from_"].this.alias_or_name
        if joins[0] is not join or not before or not name:
            report.not_yet(f"{words} with USING behind another join", join.this, "write ON")
            return None
        pairs = [[exp.column(each.name, table=at) for at in (name, before)] for each in using]
        return exp.and_(*(exp.EQ(this=one, expression=two) for one, two in pairs), copy=False)
    condition: exp.Expr | None = join.args.get("on")
    if condition is None:
        report.not_yet(f"{words} without ON", join.this, _HINT)
        return None
    if plain := next((each for each in condition.find_all(exp.Column) if not each.table), None):
        hint = "write the name of its table before it"
        report.not_yet(f"{words} on a column without the name of its table", plain, hint)
    return condition


def _ask(select: exp.Select, join: exp.Join, condition: exp.Expr) -> None:
    inner = exp.Select(
        expressions=[exp.Literal.number(1)],
        from_=exp.From(this=join.this.copy()),
        where=exp.Where(this=condition.copy()),
    )
    test: exp.Expr = exp.Exists(this=inner)
    if join.kind == "ANTI":
        test = exp.Not(this=test)
    where = select.args.get("where")
    terms = [exp.paren(where.this), test] if where is not None else [test]
    select.set("where", exp.Where(this=exp.and_(*terms, copy=False)))
