"""What all typing rules share: the type of a node, and how two expressions come to one type.

In: typed expressions. Out: their common type, casts where engines would disagree, errors where
    none exists.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.typing import types as t
from headwater.dialect.syntax import DIALECT

_EXACT_DIGITS = 15
"""So many digits are exact in a DOUBLE."""
_WRITTEN = ("time", "clock", "uuid")
"""Families whose literals are texts."""
_SHORT_DIGITS = 18
"""Of decimals with more, Trino reads the text."""


def type_of(node: exp.Expr | None) -> exp.DataType:
    """Return a node's type, UNKNOWN if it has none."""
    kind = node.type if node is not None else None
    return kind if isinstance(kind, exp.DataType) else t.UNKNOWN


def named(value: exp.Expr, name: str) -> exp.Alias:
    """Return a copy of a typed expression as an output, typed too."""
    item = exp.Alias(this=value.copy(), alias=exp.to_identifier(name))
    item.type = type_of(value)
    return item


def expect_boolean(expression: exp.Expr, clause: str, report: Diagnostics) -> None:
    """Report a condition that is not a boolean.

    Args:
        clause: ``WHERE``, ``ON``, … for the message.
    """
    kind = type_of(expression)
    if t.family(kind) not in ("boolean", "null", "unknown"):
        report.add(
            "TYPE_CLASH",
            f"{clause} needs a boolean, not {t.sql_type(kind)}",
            expression,
            "compare it with something, for example x = 1",
        )


def clash(left: exp.Expr, right: exp.Expr, what: str, at: exp.Expr, report: Diagnostics) -> None:
    """Report two expressions whose types do not meet."""
    kinds = {t.family(type_of(left)), t.family(type_of(right))}
    hint = "cast one side: CAST(x AS type)"
    if kinds == {"time", "text"}:
        hint = "write a literal with its type, for example TIMESTAMP '2026-01-01 00:00:00'"
    elif kinds == {"number", "text"}:
        hint = "quote both or none, or cast: CAST(x AS VARCHAR), CAST(x AS BIGINT)"
    names = f"{t.sql_type(type_of(left))} and {t.sql_type(type_of(right))}"
    report.add("TYPE_CLASH", f"{what} {names}", at, hint)


def align(operands: Sequence[exp.Expr], node: exp.Expr, report: Diagnostics) -> None:
    """Bring operands to the type in which Trino compares them; report those that do not compare.

    Args:
        operands: typed expressions, at least one.
        node: what compares them, for the place.
    """
    if node.meta.get(DIALECT):
        operands = _with_times(operands)
    first, *others = operands
    for other in others:
        if t.common_type([type_of(first), type_of(other)]) is None:
            clash(first, other, "cannot compare", node, report)
            return
    common = t.common_type([type_of(item) for item in operands])
    if common is not None:
        coerce(operands, common)


def _with_times(operands: Sequence[exp.Expr]) -> Sequence[exp.Expr]:
    """Give literals that are compared with times the type of those, as all but Trino do."""
    kinds = [type_of(item) for item in operands if t.family(type_of(item)) in _WRITTEN]
    if not kinds:
        return operands
    return [cast_to(item, kinds[0]) if item.is_string else item for item in operands]


def coerce(operands: Sequence[exp.Expr], common: exp.DataType) -> None:
    """Write the implicit casts of operands to a type into the tree.

    An operand stays as it is if every engine converts it alike: see
    :func:`headwater.analyze.typing.types.is_read_alike`.

    Args:
        operands: typed expressions that stand in a tree.
        common: a type that they all have in common.
    """
    for item in operands:
        kind = type_of(item)
        if kind.this not in (t.Type.NULL, t.Type.UNKNOWN) and not t.is_read_alike(kind, common):
            cast_to(item, common)


def cast_to(node: exp.Expr, kind: exp.DataType) -> exp.Expr:
    """Replace a node inside a tree by its cast to a type; a literal becomes one of that type.

    Returns:
        What stands there now.
    """
    if isinstance(node, exp.Cast) and node.this.is_string and t.family(kind) == "time":
        node.set("to", kind.copy())
        node.type = kind
        return node
    literal = node.this if isinstance(node, exp.Neg) else node
    if literal.is_number and kind == t.DOUBLE:
        literal.set("this", _as_double(literal.name))
        literal.type = node.type = kind
        return node
    wrapped = exp.Cast(to=kind.copy())
    wrapped.type = kind
    node.replace(wrapped)
    wrapped.set("this", node)
    return wrapped


def _as_double(text: str) -> str:
    """Write a number as a DOUBLE, rounded as Trino rounds a DECIMAL.

    Trino divides up to 18 digits as one number by a power of ten, and rounds both.
    """
    whole, _, fraction = text.partition(".")
    digits = len((whole + fraction).lstrip("0"))
    if "e" not in text.lower() and fraction and _EXACT_DIGITS < digits <= _SHORT_DIGITS:
        text = repr(float(whole + fraction) / 10.0 ** len(fraction))
    return text if "e" in text.lower() else f"{text}e0"


def merge(branches: Sequence[exp.Expr], what: str, report: Diagnostics) -> exp.DataType:
    """Return the common type of branches or arguments; report those that do not fit.

    Args:
        branches: typed expressions, at least one.
        what: what they are, for the message: ``branches of CASE``.
    """
    result = type_of(branches[0])
    for branch in branches[1:]:
        merged = t.common_type([result, type_of(branch)])
        if merged is None:
            clash(branches[0], branch, f"{what} have the types", branch, report)
            return t.UNKNOWN
        result = merged
    coerce(branches, result)
    return result
