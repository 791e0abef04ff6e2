"""Computed columns: what fails in them makes a bad row, not a failed landing.

In: a column with an expression. Out: Spark SQL of its value, and of the condition that it failed.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.definitions import Column
from headwater.analyze.portable import SPARK_TRY
from headwater.analyze.textcasts import spark_cast
from headwater.analyze.types import spark_type
from headwater.intake.sqltext import name

_STRICT = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Cast, exp.Paren, exp.Neg, exp.Column),
    *(exp.Literal, exp.Identifier, exp.DataType, exp.DataTypeParam, exp.Interval, exp.Var),
    *(exp.Lower, exp.Upper, exp.Trim, exp.Concat, exp.Length, exp.UnixToTime),
)
"""Nodes whose value is NULL only for a NULL input, or when they fail."""


def computed_sql(column: Column) -> str:
    """Return the expression of a computed column, with every operation that can fail giving NULL.

    Args:
        column: a column with ``computed``.
    """
    assert column.computed is not None
    return f"try_cast({_tried(column.computed).sql(dialect='spark')} AS {spark_type(column.type)})"


def failed_sql(column: Column) -> str:
    """Return the condition that a computed column failed, '' if that looks like any NULL.

    Args:
        column: a column with ``computed``.
    """
    assert column.computed is not None
    inputs = sorted({node.name for node in column.computed.find_all(exp.Column)})
    strict = all(isinstance(node, _STRICT) for node in column.computed.walk())
    if not inputs or not strict:
        return ""
    given = " AND ".join(f"{name(inner)} IS NOT NULL" for inner in inputs)
    return f"{name(column.name)} IS NULL AND {given}"


def _tried(expression: exp.Expression) -> exp.Expr:
    def rewrite(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column):
            return exp.column(node.name, quoted=True)
        if isinstance(node, exp.Cast):
            spark_cast(node)
        if type(node) is exp.Cast:
            return exp.TryCast(this=node.this, to=node.args["to"], safe=True)
        if function := SPARK_TRY.get(type(node)):
            return exp.Anonymous(this=function, expressions=[node.this, node.expression])
        return node

    return expression.copy().transform(rewrite)
