"""``TRY`` of an expression, by which a failure is NULL, in engines that have it not or not always.

In: typed ``TRY(x)``. Out: Spark's functions that do not raise; for DuckDB, arithmetic over groups
and windows in a wider type, since its TRY takes no aggregates.
"""

from __future__ import annotations

from typing import cast

from sqlglot import exp

from headwater.analyze.decimals.sums import exact_sum
from headwater.analyze.portable.patterns import call
from headwater.analyze.query_parts import bare_call
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "try_add",
    exp.Sub: "try_subtract",
    exp.Mul: "try_multiply",
}


def spark_attempt(node: exp.Expr) -> exp.Expr:
    """Return what is NULL in Spark if an expression fails.

    Spark 4.1 has no TRY of any expression. Its ``try_to_binary`` gives NULL for whatever its
    argument raises, so that other values go through it as text.

    Args:
        node: a typed ``TRY``.
    """
    operation = node.this
    kind = type_of(node) if not t.is_unknown(type_of(node)) else type_of(operation)
    if attempt := _OPERATORS.get(type(operation)):
        return call(attempt, operation.this, operation.expression)
    if isinstance(bare_call(operation), exp.Sum):
        return exact_sum(operation, "spark")
    is_text = t.family(kind) == "text"
    shown = operation if is_text else exp.Cast(this=operation, to=t.VARCHAR.copy())
    bytes_ = call("try_to_binary", shown, exp.Literal.string("utf-8"))
    text = exp.Cast(this=bytes_, to=t.VARCHAR.copy())
    return text if is_text else exp.Cast(this=text, to=kind.copy())


def duckdb_attempt(node: exp.Expr) -> exp.Expr:
    """Return what is NULL in DuckDB if an expression fails; its TRY takes no aggregates.

    Args:
        node: a typed ``TRY``.
    """
    operation = node.this
    if not operation.find(exp.AggFunc, exp.Window):
        return node
    kind = type_of(operation)
    if isinstance(bare_call(operation), exp.Sum):
        return exact_sum(operation, "duckdb")
    if not isinstance(operation, (exp.Add, exp.Sub, exp.Mul)) or not t.is_integer(kind):
        return cast(exp.Expr, operation.copy())
    first = exp.Cast(this=operation.this.copy(), to=exp.DataType.build("int128"))
    wide = type(operation)(this=first, expression=operation.expression.copy())
    return exp.TryCast(this=exp.paren(wide, copy=False), to=kind.copy(), safe=True)


def trino_attempt(node: exp.Expr) -> exp.Expr:
    """Return TRY for Trino, which raises while it aggregates, before TRY could see it.

    Args:
        node: a typed ``TRY``.
    """
    if isinstance(bare_call(node.this), exp.Sum):
        return exact_sum(node.this, "trino")
    return node.this.copy() if isinstance(bare_call(node.this), exp.AggFunc) else node
