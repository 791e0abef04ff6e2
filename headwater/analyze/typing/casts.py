"""Casts: which conversions all engines make alike.

In: a cast whose operand is typed. Out: its canonical target type, or an error with another way.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import cast

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

_TEXTUAL = ("text", "boolean", "null", "unknown")
_INTEGRAL = (exp.Round, exp.Floor, exp.Ceil, exp.Trunc)


def bind_cast(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    """Return the target of a cast, made canonical in place; report one that engines do differently.

    Args:
        node: ``exp.Cast`` or ``exp.TryCast``, its operand typed.
    """
    if node.args.get("format") or node.args.get("action") or node.args.get("default"):
        message = "CAST takes a type and nothing else"
        report.add("UNSUPPORTED_SYNTAX", message, node, "write CAST(x AS type)")
        return t.UNKNOWN
    try:
        target = t.canonical(_without_precision(node))
    except t.TypeRefused as refused:
        report.add("UNSUPPORTED_TYPE", str(refused), node.args["to"], refused.hint)
        return t.UNKNOWN
    if node.this.is_string and target == t.TIMESTAMP and _has_zone(node.this.name):
        target = t.TIMESTAMPTZ
    node.set("to", target.copy())
    if node.this.is_string and not isinstance(node, exp.TryCast):
        _check_literal(node.this, target, report)
    _check_cast(node, type_of(node.this), target, report)
    return target


def _without_precision(node: exp.Expr) -> exp.DataType:
    """Return the target of a cast; a literal's own digits say its precision (``TIMESTAMP '…'``)."""
    target = cast(exp.DataType, node.args["to"])
    if not node.this.is_string or not target.this.name.startswith("TIMESTAMP"):
        return target
    fraction = node.this.name.partition(".")[2]
    digits = len(fraction) - len(fraction.lstrip("0123456789"))
    sizes = [int(size.name) for size in target.expressions]
    return exp.DataType(this=target.this) if all(digits <= size for size in sizes) else target


def _has_zone(text: str) -> bool:
    last = text.strip().rpartition(" ")[2]
    return last.upper() in ("UTC", "Z") or last.endswith("Z") or "+" in last


def _check_cast(
    node: exp.Expr, source: exp.DataType, target: exp.DataType, report: Diagnostics
) -> None:
    families = (t.family(source), t.family(target))
    hint = ""
    if families == ("number", "number"):
        if t.is_integer(target) and not t.is_integer(source) and not _whole_number(node.this):
            hint = "say how to round: CAST(round(x) AS BIGINT), floor, ceil or truncate"
    elif families == ("time", "text"):
        if source != t.DATE:
            hint = "use date_format(x, '%Y-%m-%d %H:%i:%s')"
    elif families == ("number", "text"):
        if t.is_float(source):
            hint = "cast to DECIMAL(p, s) first"
    elif families[0] != families[1] and families[0] not in _TEXTUAL:
        if families != ("number", "boolean"):
            hint = "there is no such conversion"
    elif families[0] == "boolean" and families[1] == "time":
        hint = "there is no such conversion"
    if hint:
        names = f"{t.sql_type(source)} to {t.sql_type(target)}"
        report.add("UNSUPPORTED_CAST", f"cast from {names} differs between engines", node, hint)


def _whole_number(node: exp.Expr) -> bool:
    return isinstance(node, _INTEGRAL) and not node.args.get("decimals")


def _check_literal(literal: exp.Expr, target: exp.DataType, report: Diagnostics) -> None:
    """Report a literal date or timestamp that does not exist."""
    text = literal.name.strip().removesuffix(" UTC").replace(" +", "+")
    try:
        if target == t.DATE:
            date.fromisoformat(text)
        elif t.is_timestamp(target):
            datetime.fromisoformat(text)
    except ValueError:
        name = t.sql_type(target)
        hint = "write it like 2026-01-31" + ("" if target == t.DATE else " 23:59:59")
        report.add("INVALID_LITERAL", f"'{literal.name}' is not a {name}", literal, hint)
