"""Changes of bound queries as trees, of which *affected groups* is made.

In: bound queries and expressions. Out: new ones; what is given stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headwater.analyze.query_parts import is_union_all, union_branches
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.types import spark_type
from headwater.plan.sql.render import spark_expression


def split(query: exp.Query) -> exp.Query:
    """Return a bound query in which set operations other than UNION ALL are operands of none."""
    root = exp.Paren(this=query.copy())
    for node in list(root.find_all(exp.SetOperation)):
        around = node.parent
        while isinstance(around, exp.Subquery) and not around.alias:
            around = around.parent
        if is_union_all(node) or not isinstance(around, exp.SetOperation):
            continue
        inner = exp.Subquery(
            this=node.copy(), alias=exp.TableAlias(this=exp.to_identifier("__set"))
        )
        items = [exp.alias_(column, column.name) for column in outputs(node, "__set")]
        node.replace(exp.Select(expressions=items, from_=exp.From(this=inner)))
    found = root.this
    assert isinstance(found, exp.Query)
    return found


def operands(query: exp.Expr) -> list[exp.Query]:
    """Return the two sides of a set operation, without brackets around it."""
    while isinstance(query, exp.Subquery):
        query = query.this
    return [query.this, query.expression]


def outputs(query: exp.Query, alias: str) -> list[exp.Expr]:
    """Return the columns of a bound query, typed, as they are named from outside."""
    columns: list[exp.Expr] = []
    for item in union_branches(query)[0].selects:
        column = exp.column(item.alias_or_name, table=alias)
        column.type = item.unalias().type
        columns.append(column)
    return columns


def without(node: exp.Expr, aliases: set[str]) -> exp.Expr:
    """Return a typed expression in which the columns of some items of FROM are NULL."""

    def replace(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column) and part.table in aliases:
            return spark_expression(f"CAST(NULL AS {spark_type(type_of(part))})")
        return part

    return node.copy().transform(replace) if aliases else node.copy()


def union_all(queries: Sequence[exp.Query]) -> exp.Query:
    """Return all rows of some queries.

    Args:
        queries: at least one.
    """
    found = queries[0]
    for query in queries[1:]:
        found = exp.Union(this=found, expression=query, distinct=False)
    return found


def is_in(unit: exp.Expr, units: str) -> exp.Expr:
    """Return the condition that a unit is one of those touched.

    Args:
        units: the temporary view of those touched.
    """
    chosen = exp.select("unit").from_(units)
    return exp.In(this=unit.copy(), query=exp.Subquery(this=chosen))


def may_equal(left: exp.Expr, right: exp.Expr, certain: bool) -> exp.Expr:
    """Return the condition that two values are equal, or a NULL would make a difference.

    Args:
        certain: whether a row passes only if they are equal.
    """
    equal = exp.EQ(this=exp.paren(left.copy()), expression=exp.paren(right.copy()))
    if certain:
        return equal
    return exp.not_(exp.Is(this=exp.paren(equal), expression=exp.false()))
