"""Comparisons of floating-point columns, kept away from what skips files by their statistics.

In: Spark SQL with typed columns. Out: the same in which no column of type DOUBLE or REAL is itself
compared, but its sum with 0. Iceberg skips a file by the least and greatest value in it, which know
no NaN, and of which -0.0 is below 0.0; for SQL NaN is the greatest value, and both zeros are one.
``x > 0e0`` pushed down to a scan loses the rows of files in which all other values are less.
Seen with Iceberg 1.12.0 (apache/iceberg#9130).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from sqlglot import exp

from headwater.analyze.typing.types import is_float, spark_type

_COMPARE = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_COMPARE_MORE = (exp.In, exp.Between, exp.Nullif, exp.Case)


def without_skipping(query: exp.Expr) -> exp.Expr:
    """Return a query that compares no floating-point column as it is stored.

    Args:
        query: with types at its columns.
    """
    root = exp.Paren(this=query)
    if not any(_is_stored_float(column) for column in root.find_all(exp.Column)):
        return query
    root = root.copy()
    for node in [*root.find_all(*_COMPARE, *_COMPARE_MORE)]:
        for column in [*_compared(node)]:
            zero = exp.cast(exp.Literal.number(0), spark_type(cast(exp.DataType, column.type)))
            column.replace(exp.paren(exp.Add(this=column.copy(), expression=zero), copy=False))
    return cast(exp.Expr, root.this)


def _compared(node: exp.Expr) -> Iterator[exp.Column]:
    """Yield the columns that a comparison reads as they are stored."""
    parts = [node.this, node.expression] if not isinstance(node, exp.Case) else [node.this]
    for key in ("low", "high"):
        parts.append(node.args.get(key))
    if isinstance(node, exp.In):
        parts += node.expressions
    for part in parts:
        inner = part
        while isinstance(inner, exp.Paren | exp.Cast):
            inner = inner.this
        if isinstance(inner, exp.Column) and _is_stored_float(inner):
            yield inner


def _is_stored_float(column: exp.Column) -> bool:
    return isinstance(column.type, exp.DataType) and is_float(column.type)
