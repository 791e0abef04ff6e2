"""Times written as text, with one meaning in three engines: Trino's.

In: a typed ``date_format``. Out: a call that rounds to milliseconds first, as Trino does.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.portable.patterns import call, text


def spark_written(node: exp.Expr) -> exp.Expr:
    """``date_format`` for Spark, which signs years above 9999."""
    written = duckdb_written(node)
    return (
        call("TRANSLATE", written, text("+"), text("")) if "%Y" in node.text("format") else written
    )


def duckdb_written(node: exp.Expr) -> exp.Expr:
    """``date_format`` for DuckDB.

    Args:
        node: a typed call; changed in place.
    """
    # no pattern shows fractions, so that only the carry counts: half a millisecond more does it
    half = exp.Interval(this=exp.Literal.string("0.0005"), unit=exp.Var(this="SECOND"))
    node.set("this", exp.paren(exp.Add(this=node.this.copy(), expression=half), copy=False))
    return node
