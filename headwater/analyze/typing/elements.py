"""Arrays by their elements, and elements of arrays and maps.

In: ``exp.Array`` and ``exp.Bracket`` whose operands are typed. Out: their types, or an error.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import cast_to, merge, type_of
from headwater.dialect.syntax import DIALECT


def array(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    """Return the type of ``ARRAY[…]``; its elements are cast to the type that they have in common.

    Args:
        node: its elements are typed.
    """
    if not node.expressions:
        return t.array(t.NULL)
    kind = merge(node.expressions, "elements of ARRAY", report)
    for item in list(node.expressions):
        if type_of(item) not in (kind, t.NULL):
            cast_to(item, kind)  # engines would find another common type
    return t.UNKNOWN if t.is_unknown(kind) else t.array(kind)


def element(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    """Return the type of an element by ``[ ]`` or ``element_at``; report one that cannot be.

    Args:
        node: its operands are typed.
    """
    kind, (at, *more) = type_of(node.this), node.expressions
    if t.is_unknown(kind) or t.is_unknown(type_of(at)):
        return t.UNKNOWN
    if t.family(kind) not in ("map", "array") or more:
        report.not_yet(f"elements of {t.sql_type(kind)}", node)
        return t.UNKNOWN
    if not node.args.get("safe") and DIALECT in node.meta:
        hint = "write element_at(x, n): 1 is the first element, and NULL stands where there is none"
        message = f"[ ] in the dialect {node.meta[DIALECT]} counts or fails otherwise"
        report.add("NOT_PORTABLE", message, node, hint)
        return t.UNKNOWN
    if t.family(kind) == "map":
        key, value = t.elements(kind)
        if t.common_type([key, type_of(at)]) is None:
            message = f"the keys of {t.sql_type(kind)} are no {t.sql_type(type_of(at))}"
            report.add("TYPE_CLASH", message, at, f"cast it: CAST(x AS {t.sql_type(key)})")
        elif type_of(at) not in (key, t.NULL):
            cast_to(at, key)
        return value
    if not t.is_integer(type_of(at)) and type_of(at) != t.NULL or _is_zero(at):
        message = "the place of an element must be a whole number but 0"
        report.add("WRONG_ARGUMENTS", message, at, "1 is the first element, -1 the last")
    return t.elements(kind)[0]


def _is_zero(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.is_int and not node.to_py()
