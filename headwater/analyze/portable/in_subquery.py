"""IN (SELECT …) for Spark, which takes NULL for false where a condition does not say otherwise.

In: IN with a subquery, bound. Out: the same where only true counts, or behind NOT there: Spark
knows both; elsewhere, as in the SELECT list, a CASE over EXISTS, which is never NULL.

Spark 4.1.3 makes IN an existence join, which knows no NULL (apache/spark#58186).
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.names.scope import NULLABLE
from headwater.analyze.query_parts import is_aggregate, is_limited, union_branches, window_calls

_MEMBERS = "_members"


def spark_in(node: exp.Expr) -> exp.Expr:
    """Return IN as an expression that is NULL where SQL says so.

    Args:
        node: ``exp.In``, typed.
    """
    query = node.args.get("query")
    if query is None or _only_true_counts(node):
        return node
    while isinstance(query, exp.Subquery):
        query = query.this
    value, members = node.this, _members(query)
    (member,) = (item.unalias() for item in members.selects)
    unknown = []
    if _may_be_null(value):
        unknown.append(exp.and_(_is_null(value), _exists(members)))
    if _may_be_null(member):
        unknown.append(_exists(members, _is_null(member)))
    same = exp.EQ(this=exp.paren(member.copy()), expression=exp.paren(value.copy()))
    ifs = [exp.If(this=_exists(members, same), true=exp.true())]
    if unknown:
        ifs.append(exp.If(this=exp.or_(*unknown), true=exp.null()))
    return exp.Case(ifs=ifs, default=exp.false())


def _only_true_counts(node: exp.Expr) -> bool:
    """Return whether it is a term of the ANDs and ORs of WHERE, maybe behind NOT."""
    above = node.parent
    while isinstance(above, exp.Paren):
        above = above.parent
    if isinstance(above, exp.Not):
        above = above.parent
    while isinstance(above, (exp.Paren, exp.And, exp.Or)):
        above = above.parent
    return isinstance(above, exp.Where)


def _members(query: exp.Query) -> exp.Select:
    """A query as a SELECT that one more condition can be added to."""
    if isinstance(query, exp.Select):
        limited = is_limited(query)
        if not (is_aggregate(query) or window_calls(query) or limited):
            return query
    first = union_branches(query)[0].selects[0]
    column = exp.column(first.alias_or_name, _MEMBERS)
    column.type = first.unalias().type
    return exp.select(exp.alias_(column, column.name)).from_(query.copy().subquery(_MEMBERS))


def _exists(members: exp.Select, *conditions: exp.Expr) -> exp.Exists:
    rows = members.copy()
    rows.set("distinct", None)
    rows.set("expressions", [exp.alias_(exp.Literal.number(1), "found")])
    return exp.Exists(this=rows.where(*conditions, copy=False))


def _is_null(node: exp.Expr) -> exp.Is:
    return exp.Is(this=exp.paren(node.copy()), expression=exp.null())


def _may_be_null(node: exp.Expr) -> bool:
    return not isinstance(node, exp.Column) or bool(node.meta.get(NULLABLE, True))
