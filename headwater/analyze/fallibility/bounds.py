"""What numbers are at most, by the expression that computes them.

In: typed expressions. Out: a bound of the absolute value. A sum adds up ten billion rows at most;
columns of subqueries know what their expressions were bounded by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from sqlglot import exp

from headwater.algebra.scalars import BOUND
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

LIMITS = {t.Type.INT: 2**31, t.Type.BIGINT: 2**63}
"""The first number above the range of an integer type; the least is its negative."""
SMALL: Mapping[type[exp.Expr], int] = {
    **dict.fromkeys((exp.Year, exp.Quarter, exp.Month, exp.Day, exp.DayOfYear), 1_000_000),
    **dict.fromkeys((exp.DayOfWeekIso, exp.Hour, exp.Minute, exp.Second, exp.Extract), 1_000_000),
    **dict.fromkeys((exp.Length, exp.StrPosition, exp.ArraySize), 2**31),
    **dict.fromkeys((exp.Count, exp.CountIf, exp.ApproxDistinct, exp.DateDiff), 2**50),
    **dict.fromkeys((exp.RowNumber, exp.Rank, exp.DenseRank), 2**50),
}
"""Functions whose value is bounded whatever they are given."""
_ONE_OF_THEM = (
    *(exp.Filter, exp.Window, exp.Max, exp.Min, exp.Avg, exp.Nullif, exp.IgnoreNulls, exp.Try),
    *(exp.FirstValue, exp.LastValue, exp.NthValue, exp.AnyValue, exp.ArgMax, exp.ArgMin),
)
"""What gives one of the values of its first operand, or lies between them."""
_MOST_ROWS = 10**10
"""So many rows are added up at most."""


def bound_of(node: exp.Expr) -> int | None:
    """Return what the absolute value of a number is less than.

    Args:
        node: a typed expression; None of one whose values nothing bounds.
    """
    kind = type_of(node)
    match node:
        case exp.Sum():
            each = bound_of(node.this)
            return _least(None if each is None else each * _MOST_ROWS, _own_bound(kind))
        case exp.Column() if node.meta.get(BOUND) is not None:
            return _least(node.meta[BOUND], _own_bound(kind))
        case exp.Lag() | exp.Lead():
            return _most([node.this, node.args.get("default") or exp.null()], kind)
        case exp.Coalesce() | exp.Greatest() | exp.Least():
            return _most([node.this, *node.expressions], kind)
        case exp.If():
            return _most([node.args["true"], node.args.get("false") or exp.null()], kind)
        case _ if isinstance(node, _ONE_OF_THEM):
            return _least(bound_of(node.this), _own_bound(kind))
        case exp.Case():
            values = [each.args["true"] for each in node.args["ifs"]]
            return _most([*values, node.args.get("default") or exp.null()], kind)
        case exp.Literal():
            return None if node.is_string else int(Decimal(node.name).copy_abs()) + 1
        case exp.Paren() | exp.Neg() | exp.Abs():
            return bound_of(node.this)
        case exp.Floor() | exp.Ceil() | exp.Round():
            return _rounded(bound_of(node.this))
        case exp.Cast() if t.family(type_of(node.this)) == "number":
            return _least(_rounded(bound_of(node.this)), _own_bound(kind))
        case exp.Add() | exp.Sub():
            left, right = bound_of(node.this), bound_of(node.expression)
            return None if left is None or right is None else left + right
        case exp.Mul():
            left, right = bound_of(node.this), bound_of(node.expression)
            return None if left is None or right is None else left * right
        case exp.Div() if t.is_integer(kind):
            return bound_of(node.this)
        case exp.Mod():
            return bound_of(node.expression)
    return SMALL.get(type(node)) or _own_bound(kind)


def _rounded(bound: int | None) -> int | None:
    """Return the bound of what is rounded, perhaps up."""
    return None if bound is None else bound + 1


def _most(values: Sequence[exp.Expr], kind: exp.DataType) -> int | None:
    """Return the bound of what is one of these values; NULL is none."""
    bounds = [bound_of(each) for each in values if not isinstance(each, exp.Null)]
    return _least(greatest(bounds), _own_bound(kind))


def greatest(bounds: Sequence[int | None]) -> int | None:
    """Return what bounds a value that is within one of these; None if there is none, or one is."""
    known = [each for each in bounds if each is not None]
    return max(known) if known and len(known) == len(bounds) else None


def _own_bound(kind: exp.DataType) -> int | None:
    if kind.this is t.Type.DECIMAL:
        precision, scale = t.digits(kind)
        return int(10 ** (precision - scale))
    return LIMITS.get(kind.this)


def _least(left: int | None, right: int | None) -> int | None:
    return min((value for value in (left, right) if value is not None), default=None)
