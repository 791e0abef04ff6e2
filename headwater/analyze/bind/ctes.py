"""WITH clauses → subqueries.

In: a query as parsed. Out: the same query, changed in place, in which every reference to a common
table expression is a copy of it.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics

MAX_NODES = 50_000


class _TooLarge(Exception):
    pass


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
        if clause.args.get("recursive"):
            report.not_yet("WITH RECURSIVE", clause)
            return False
        try:
            _inline(clause, budget, report)
        except _TooLarge:
            hint = "make the common table expressions views of their own"
            report.add("TOO_COMPLEX", "WITH expands to a very large query", clause, hint)
            return False
    return True


def _inline(clause: exp.With, budget: list[int], report: Diagnostics) -> None:
    known: dict[str, exp.CTE] = {}
    for cte in clause.expressions:
        _replace(cte.this, known, budget)
        if cte.alias in known:
            message = f'"{cte.alias}" is defined twice in WITH'
            report.add("DUPLICATE_NAME", message, cte.args["alias"], "rename one of them")
        known[cte.alias] = cte
    parent = clause.parent
    assert parent is not None
    clause.pop()
    _replace(parent, known, budget)


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
        if not alias.args.get("columns"):
            alias.set("columns", [name.copy() for name in cte.args["alias"].columns] or None)
        alias = alias.copy()
        if alias.this is None:
            alias.set("this", table.this.copy())
        subquery = exp.Subquery(this=body, alias=alias)
        subquery.meta.update(table.this.meta)
        table.replace(subquery)
