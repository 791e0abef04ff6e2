"""Computed columns: what fails in them makes a bad row, not a failed landing.

In: a column with an expression. Out: Spark SQL of its value, and of the condition that it failed:
the same as for the expressions of views (``headwater.analyze.failing.failing_rows``).
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.definitions import Column
from headwater.analyze.failing.failing_rows import fails, safe
from headwater.analyze.portable.rewrites import portable
from headwater.analyze.typing.types import spark_type


def computed_sql(column: Column) -> str:
    """Return the expression of a computed column, with every operation that can fail giving NULL.

    Args:
        column: a column with ``computed``.
    """
    assert column.computed is not None
    return f"CAST({_over_the_row(safe(column.computed))} AS {spark_type(column.type)})"


def failed_sql(column: Column) -> str:
    """Return the condition that a computed column failed, '' if it cannot.

    Args:
        column: a column with ``computed``.
    """
    assert column.computed is not None
    condition = fails(column.computed)
    return "" if condition is None else _over_the_row(condition)


def _over_the_row(expression: exp.Expr) -> str:
    def unqualified(node: exp.Expr) -> exp.Expr:
        return exp.column(node.name, quoted=True) if isinstance(node, exp.Column) else node

    return portable(expression, "spark").transform(unqualified).sql(dialect="spark")
