"""``AT TIME ZONE`` of dialects in which it is the wall clock of a zone.

In: a typed operand. Out: the wall clock. In Trino's dialect
:mod:`headwater.analyze.shapes.zones` has read it before.
"""

from __future__ import annotations

from functools import cache
from zoneinfo import available_timezones

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.functions.zones import LOCAL
from headwater.dialect.syntax import DIALECT

_WALL_CLOCK = ("postgres", "duckdb")


@cache
def zone_names() -> frozenset[str]:
    """Return the names of all time zones, which are read from files once."""
    return frozenset(available_timezones())


def at_time_zone(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    """Return the type of ``AT TIME ZONE``, which gives way to the wall clock.

    Args:
        node: its operand is typed.
    """
    kind, zone = type_of(node.this), node.args["zone"]
    if t.is_unknown(kind):
        return t.UNKNOWN
    if node.meta.get(DIALECT) not in _WALL_CLOCK or kind != t.TIMESTAMPTZ:
        hint = "leave the header out, and write CAST(x AT TIME ZONE 'Europe/Berlin' AS TIMESTAMP)"
        message = f"AT TIME ZONE of {t.sql_type(kind)} in this dialect is not in the language"
        report.add("NOT_PORTABLE", message, node.this, hint)
        return t.UNKNOWN
    if not zone.is_string or zone.name not in zone_names():
        hint = "write the name of a zone as a literal: 'Europe/Berlin'"
        report.add("WRONG_ARGUMENTS", f"{zone.sql('trino')} is no time zone", node.this, hint)
        return t.UNKNOWN
    local = LOCAL(expressions=[node.this.copy(), zone.copy()])
    local.type = t.TIMESTAMP
    for each in local.expressions:
        each.type = t.VARCHAR if each is local.expressions[1] else kind
    node.replace(local)
    return t.TIMESTAMP
