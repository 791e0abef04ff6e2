"""SELECT without FROM inside a query → its values.

In: a query whose common table expressions are written out. Out: the same rows::

    x > (SELECT 30)                              x > (30)
    x IN (SELECT 'a' UNION ALL SELECT 'b')       x IN ('a', 'b')
    FROM t, (SELECT 5 AS a) AS c                 FROM t, (VALUES (5)) AS c (a)
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.query_parts import stand_for, written_name
from headwater.dialect.vocabulary import unnamed_column

_MAKES_ROWS = (exp.AggFunc, exp.Window, exp.Explode, exp.Unnest, exp.Star, exp.Query)


def without_constants(query: exp.Query) -> None:
    """Replace subqueries that read nothing by their values, in place."""
    for node in reversed(list(query.find_all(exp.Subquery))):
        around = node.parent
        if isinstance(around, (exp.From, exp.Join)):
            _list_rows(node)
        elif isinstance(around, exp.In) and node.arg_key == "query":
            rows = _rows(node.this)
            if rows and all(len(row) == 1 for row in rows):
                around.set("expressions", [row[0].unalias().copy() for row in rows])
                around.set("query", None)
        elif not isinstance(around, (exp.Query, exp.Exists, exp.Any, exp.All, exp.Lateral)):
            rows = _rows(node.this) if isinstance(node.this, exp.Select) else []
            if len(rows) == 1 and len(rows[0]) == 1:
                node.replace(exp.paren(rows[0][0].unalias().copy(), copy=False))


def _list_rows(node: exp.Subquery) -> None:
    rows = _rows(node.this)
    if not rows or any(each.find(exp.Column) for row in rows for each in row):
        return
    alias = (node.args.get("alias") or exp.TableAlias()).copy()
    if not alias.columns:
        names = [written_name(each) or unnamed_column(at) for at, each in enumerate(rows[0])]
        alias.set("columns", [exp.to_identifier(name) for name in names])
    values = [exp.Tuple(expressions=[each.unalias().copy() for each in row]) for row in rows]
    found = exp.Values(expressions=values, alias=alias)
    stand_for(found, node)
    node.replace(found)


def _rows(query: exp.Expr) -> list[list[exp.Expr]]:
    """The rows of a UNION ALL of SELECTs without FROM; empty if it is something else."""
    if isinstance(query, exp.Subquery) and not query.alias:
        return _rows(query.this)
    if isinstance(query, exp.Union) and not query.args.get("distinct"):
        left, right = _rows(query.this), _rows(query.expression)
        plain = {key for key, each in query.args.items() if each} <= {"this", "expression"}
        return left + right if left and right and plain else []
    if not isinstance(query, exp.Select):
        return []
    if {key for key, each in query.args.items() if each} != {"expressions"}:
        return []
    items = list(query.expressions)
    return [] if any(each.find(*_MAKES_ROWS) for each in items) else [items]
