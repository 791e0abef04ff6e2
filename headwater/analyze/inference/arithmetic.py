"""The operators of arithmetic: which operands they take, and the type of their result.

In: operators whose operands are typed. Out: their types by Trino's rules, the implicit casts of
operands written out, errors for what engines calculate differently.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.decimals.quotients import check_quotient
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.fallibility.bounds import bound_of
from headwater.analyze.inference.carried import span_arithmetic
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import cast_to, clash, coerce, type_of
from headwater.dialect.syntax import DIALECT

_DAYS = ("DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
_DATES_ARE_DAYS = ("duckdb", "postgres", "snowflake")
_DATES_TAKE_NUMBERS = ("duckdb", "postgres", "snowflake", "spark")
_KEPT_SCALE = 6
"""Digits after the point that Spark keeps if a result has more than 38 digits."""


def arithmetic(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    """Return the type of ``+ - * / %``; report operands that do not fit."""
    if _counts_days(node):
        _as_interval(node.args["expression"])
    left, right = type_of(node.this), type_of(node.args["expression"])
    families = (t.family(left), t.family(right))
    if "unknown" in families:
        return t.UNKNOWN
    if "null" in families:
        return left if families[1] == "null" else right
    if families == ("number", "number"):
        return _number(node, left, right, report)
    if {"interval", "clock"} & {*families} and (found := span_arithmetic(node, report)):
        return found
    if families in (("time", "interval"), ("interval", "time"), ("time", "time")):
        return _time_arithmetic(node, left, right, report)
    if "text" in families:
        side = node.this if families[0] == "text" else node.args["expression"]
        hint = "cast it: CAST(x AS DOUBLE)" if isinstance(side, exp.Column) else "remove the quotes"
        report.add("TYPE_CLASH", f"cannot calculate with {t.sql_type(type_of(side))}", side, hint)
    else:
        clash(node.this, node.args["expression"], "cannot calculate with", node, report)
    return t.UNKNOWN


def _number(
    node: exp.Expr, left: exp.DataType, right: exp.DataType, report: Diagnostics
) -> exp.DataType:
    kind = t.arithmetic_type(type(node), left, right)
    if kind.this is t.Type.DECIMAL and _digits_needed(node, left, right):
        left, right = (_narrowed(side) for side in (node.this, node.expression))
        kind = t.arithmetic_type(type(node), left, right)
    if kind.this is t.Type.DECIMAL and (needed := _digits_needed(node, left, right)):
        message = f"the result of decimals needs {needed} digits, {t.MAX_PRECISION} is most"
        hint = "cast the operands to fewer digits, or CAST(x AS DOUBLE)"
        report.add("UNSUPPORTED_SYNTAX", message, node, hint)
        return t.UNKNOWN
    if isinstance(node, exp.Div) and not node.args.get("typed"):
        kind = _untyped_division(node, kind)
    if isinstance(node, exp.Div) and kind.this is t.Type.DECIMAL:
        return _decimal_quotient(node, kind, report)
    if kind.this is t.Type.DECIMAL and t.digits(kind)[0] >= t.MAX_PRECISION - 1:
        for side in (node.this, node.expression):
            if type_of(side) == t.BIGINT:  # 20 digits in Spark, and the result would lose one
                cast_to(side, t.decimal(*t.digits(t.BIGINT)))
    if t.is_float(kind):
        coerce([node.this, node.expression], kind)
    elif isinstance(node, exp.Mod):
        coerce([node.this, node.expression], t.common_type([left, right]) or kind)
    return kind


def _narrowed(side: exp.Expr) -> exp.DataType:
    """Cast an exact number to the digits that its values have, and return its type then."""
    kind, bound = type_of(side), bound_of(side)
    if bound is not None:
        precision, scale = t.digits(kind)
        whole = len(str(bound - 1)) if bound > 1 else 0
        if whole + scale < precision:
            kind = t.decimal(max(whole + scale, 1), scale)
            cast_to(side, kind)
    return kind


def _digits_needed(node: exp.Expr, left: exp.DataType, right: exp.DataType) -> int:
    """Return how many digits a result needs if an engine would cut it, otherwise 0."""
    (precision, scale), (others, other_scale) = t.digits(left), t.digits(right)
    if isinstance(node, exp.Mul):
        needed, scale = precision + others, scale + other_scale
        spark = needed + 1
    elif isinstance(node, exp.Add | exp.Sub):
        whole, scale = max(precision - scale, others - other_scale), max(scale, other_scale)
        spark, needed = whole + scale + 1, whole + scale + 1
        if scale <= _KEPT_SCALE:
            return 0
    else:
        return 0
    cut = spark > t.MAX_PRECISION and scale > _KEPT_SCALE
    return spark if cut else needed if needed > t.MAX_PRECISION else 0


def _decimal_quotient(node: exp.Div, kind: exp.DataType, report: Diagnostics) -> exp.DataType:
    dialect = node.meta.get(DIALECT)
    if dialect == "duckdb":
        coerce([node.this, node.expression], t.DOUBLE)
        return t.DOUBLE
    if dialect:
        report.add(
            "UNSUPPORTED_SYNTAX",
            f"the quotient of decimals has another scale in {dialect}",
            node,
            f"divide floating point numbers: write {report.cast_of(node.this, 'DOUBLE')} / …",
        )
        return t.UNKNOWN
    node.type = kind
    check_quotient(node, report)
    return kind


def _untyped_division(node: exp.Expr, kind: exp.DataType) -> exp.DataType:
    """Spark's and DuckDB's quotient of integers is a DOUBLE: say so, for Trino's is an integer."""
    node.set("typed", True)
    if not t.is_integer(kind):
        return kind
    cast_to(node.this, t.DOUBLE)
    return t.DOUBLE


def _time_arithmetic(
    node: exp.Expr, left: exp.DataType, right: exp.DataType, report: Diagnostics
) -> exp.DataType:
    families = (t.family(left), t.family(right))
    if isinstance(node, exp.Sub) and t.is_timestamp(left) and left == right:
        return t.INTERVAL
    if families == ("time", "interval") and t.is_timestamp(left):
        return left
    if families == ("interval", "time") and isinstance(node, exp.Add) and t.is_timestamp(right):
        return right
    if families == ("time", "interval") and _whole_days(node.args["expression"]):
        return left
    if families == ("interval", "time") and isinstance(node, exp.Add) and _whole_days(node.this):
        return right
    if t.DATE in (left, right) and "interval" in families:
        message = "a date takes intervals of days, weeks, months, quarters and years only"
        report.add("TYPE_CLASH", message, node, "cast the date first: CAST(x AS TIMESTAMP)")
    elif left == right == t.DATE and node.meta.get(DIALECT) in _DATES_ARE_DAYS:
        days = exp.DateDiff(this=node.this, expression=node.expression, unit=exp.var("DAY"))
        days.type = t.BIGINT
        node.replace(days)
        return t.BIGINT
    elif t.DATE in (left, right):
        report.add(
            "UNSUPPORTED_SYNTAX",
            "arithmetic on a date gives another type in every engine",
            node,
            "cast the date first: CAST(x AS TIMESTAMP)",
        )
    else:
        clash(node.this, node.args["expression"], "cannot calculate with", node, report)
    return t.UNKNOWN


def _counts_days(node: exp.Expr) -> bool:
    """Return whether a number is added to a date in a dialect where it counts days."""
    if not isinstance(node, exp.Add | exp.Sub) or type_of(node.this) != t.DATE:
        return False
    return node.meta.get(DIALECT) in _DATES_TAKE_NUMBERS and node.args["expression"].is_int


def _as_interval(days: exp.Expr) -> None:
    interval = exp.Interval(this=exp.Literal.string(days.name), unit=exp.var("DAY"))
    interval.type = t.INTERVAL
    days.replace(interval)


def _whole_days(node: exp.Expr) -> bool:
    """Return whether an expression is an interval that can be added to a date."""
    inner = node.this if isinstance(node, exp.Neg) else node.unnest()
    return isinstance(inner, exp.Interval) and inner.text("unit").upper() in _DAYS


def negative(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    """Return the type of ``-x``."""
    if t.family(type_of(node.this)) not in ("number", "interval", "unknown"):
        message = f"cannot calculate with {t.sql_type(type_of(node.this))}"
        report.add("TYPE_CLASH", message, node.this, "cast it: CAST(x AS DOUBLE)")
        return t.UNKNOWN
    return type_of(node.this)
