"""Rows by their values: ``ROW(a AS x, b AS y)``.

In: ``exp.Struct`` whose values are typed. Out: its type, or an error.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.dialect.vocabulary import NAME_PATTERN

_HINT = "name its fields: ROW(a AS x, b AS y), or CAST(ROW(a, b) AS ROW(x BIGINT, y VARCHAR))"


def row(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    """Return the type of a row.

    Args:
        node: its values are typed.
    """
    fields: dict[str, exp.DataType] = {}
    for each in node.expressions:
        named = isinstance(each, exp.PropertyEQ) and isinstance(each.this, exp.Identifier)
        name, kind = each.this.name if named else "", type_of(each)
        if not NAME_PATTERN.fullmatch(name):
            report.add("UNSUPPORTED_TYPE", "a field of the row has no name", each, _HINT)
            return t.UNKNOWN
        if name in fields:
            message = f'the row has the field "{name}" twice'
            report.add("DUPLICATE_COLUMN", message, each, "give one of them another name")
            return t.UNKNOWN
        if kind in (t.NULL, t.INTERVAL):
            message = f'the field "{name}" is {t.sql_type(kind)}, which tables do not hold'
            report.add("UNSUPPORTED_TYPE", message, each, "cast it: CAST(x AS type)")
            return t.UNKNOWN
        fields[name] = kind
    return t.UNKNOWN if any(map(t.is_unknown, fields.values())) else t.row(fields)
