"""WITH clauses → subqueries.

In: a query as parsed. Out: the same query, changed in place, in which every reference to a common
table expression is a copy of it; of one that reads itself, a copy of its anchor and step.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.query_parts import stand_for
from headwater.analyze.recursion.definition import cast_columns, recursive_rows, references
from headwater.dialect.syntax import RecursiveRows

MAX_NODES = 50_000


class _TooLarge(Exception):
    pass


class _Refused(Exception):
    """A query that reads itself has an error, which is reported."""


def inline_ctes(query: exp.Query, report: Diagnostics) -> bool:
    """Replace references to common table expressions by copies of their queries.

    Args:
        query: a query; changed in place.

    Returns:
        Whether it worked.
    """
    withs = [node for node in query.walk(bfs=True) if isinstance(node, exp.With)]
    budget = [MAX_NODES]
    for clause in reversed(withs):  # the innermost first, so that inner names hide outer ones
        try:
            _inline(clause, budget, report)
        except _TooLarge:
            hint = "make the common table expressions views of their own"
            report.add("TOO_COMPLEX", "WITH expands to a very large query", clause, hint)
            return False
        except _Refused:
            return False
    return True


def _inline(clause: exp.With, budget: list[int], report: Diagnostics) -> None:
    known: dict[str, exp.CTE] = {}
    _refuse_clauses(clause, report)
    for at, cte in enumerate(clause.expressions):
        if clause.args.get("recursive"):
            _refuse_forward(cte, clause.expressions[at + 1 :], report)
        cast_columns(cte)
        _replace(cte.this, known, budget)
        if cte.alias in known:
            message = f'"{cte.alias}" is defined twice in WITH'
            report.add("DUPLICATE_NAME", message, cte.args["alias"], "rename one of them")
        if clause.args.get("recursive") and references(cte.this, cte.alias):
            _define(cte, clause, report)
        known[cte.alias] = cte
    report.local_tables += known
    parent = clause.parent
    assert parent is not None
    clause.pop()
    _replace(parent, known, budget)


def _refuse_clauses(clause: exp.With, report: Diagnostics) -> None:
    """Refuse clauses behind a recursive query that nothing runs yet."""
    if found := clause.args.get("search"):  # the first clause behind it, of either kind
        words = "CYCLE" if found.args.get("kind") == "CYCLE" else "SEARCH"
        hint = "remove it: UNION ends at rows that are there already, a path shows the order"
        report.not_yet(f"{words} behind WITH RECURSIVE", clause.expressions[-1], hint)
        raise _Refused
    for cte in clause.expressions:
        if cte.args.get("key_expressions"):
            hint = "aggregate in the query that reads the recursion"
            report.not_yet("USING KEY in WITH RECURSIVE", cte.args["alias"], hint)
            raise _Refused


def _refuse_forward(cte: exp.CTE, later: Sequence[exp.CTE], report: Diagnostics) -> None:
    for other in later:
        if other.alias != cte.alias and (found := references(cte.this, other.alias)):
            hint = f"define {other.alias} first, if it does not read {cte.alias} in turn"
            words = f'"{cte.alias}" reads "{other.alias}", which WITH RECURSIVE defines after it'
            report.not_yet(words, found[0], hint)
            raise _Refused


def _define(cte: exp.CTE, clause: exp.With, report: Diagnostics) -> None:
    """Put anchor and step in the place of a query that reads itself."""
    taken = {rows.args["name"] for rows in clause.root().find_all(RecursiveRows)}
    rows = recursive_rows(cte, taken, report)
    if rows is None:
        raise _Refused
    cte.set("this", rows)


def _replace(query: exp.Expr, known: dict[str, exp.CTE], budget: list[int]) -> None:
    for table in list(query.find_all(exp.Table)):
        cte = known.get(table.name) if isinstance(table.this, exp.Identifier) else None
        if cte is None or table.args.get("db"):
            continue
        body = cte.this.copy()
        budget[0] -= sum(1 for _ in body.walk())
        if budget[0] < 0:
            raise _TooLarge
        alias = table.args.get("alias") or exp.TableAlias(this=table.this.copy())
        if not alias.args.get("columns") and not isinstance(body, RecursiveRows):
            alias.set("columns", [name.copy() for name in cte.args["alias"].columns] or None)
        alias = alias.copy()
        if alias.this is None:
            alias.set("this", table.this.copy())
        if isinstance(body, RecursiveRows):
            body = _read(body, table.this, alias)
            if not isinstance(body, exp.Select):
                stand_for(body, table)
                table.replace(body)
                continue
        subquery = exp.Subquery(this=body, alias=alias, version=table.args.get("version"))
        subquery.meta.update(table.this.meta)
        stand_for(subquery, table)
        table.replace(subquery)


def _read(rows: RecursiveRows, name: exp.Expr, alias: exp.TableAlias) -> exp.Expr:
    """Return what reads recursive rows in FROM: a query, if the alias names their columns anew."""
    named = bool(alias.args.get("columns"))
    rows.set("alias", exp.TableAlias(this=name.copy()) if named else alias)
    if not named:
        return rows
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=rows))
