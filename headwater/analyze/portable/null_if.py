"""``nullif`` of two types: compared as the type they have in common, and returned as it was.

In: a typed call. Out: a CASE for Spark and DuckDB, which return the common type: a BIGINT beside a
REAL would lose digits.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.decimals.casts import decimal_as_float
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of


def spark(node: exp.Expr) -> exp.Expr:
    """Return nullif as Spark computes it; of one type, as it is."""
    return _compared(node, "spark")


def duckdb(node: exp.Expr) -> exp.Expr:
    """Return nullif as DuckDB computes it; of one type, as it is."""
    return _compared(node, "duckdb")


def _compared(node: exp.Expr, dialect: str) -> exp.Expr:
    sides = (node.this, node.expression)
    kinds = [type_of(side) for side in sides]
    common = t.common_type(kinds)
    known = common is not None and not any(map(t.is_unknown, kinds)) and t.NULL not in kinds
    if common is None or not known or (kinds[0] == common and t.is_read_alike(kinds[1], common)):
        return node
    left, right = (_read_as(side, common, dialect) for side in sides)
    same = exp.EQ(this=left, expression=right)
    return exp.Case(ifs=[exp.If(this=same, true=exp.null())], default=node.this.copy())


def _read_as(side: exp.Expr, common: exp.DataType, dialect: str) -> exp.Expr:
    if t.is_read_alike(type_of(side), common):
        return side.copy()
    return decimal_as_float(exp.Cast(this=side.copy(), to=common.copy()), dialect)
