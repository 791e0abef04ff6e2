"""Times of ksqlDB: milliseconds as numbers, and patterns of Java."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from headwater.importing.contract import RefusedCall
from headwater.importing.functions import MILLISECONDS, NOTE, filled, java_pattern, refused

TIMES = ("rowtime", "windowstart", "windowend")
"""Columns of ksqlDB that are numbers there and times here."""
_READ = {
    "yyyy-MM-dd": "CAST(_1 AS {type})",
    "yyyy-MM-dd HH:mm:ss": "CAST(_1 AS {type})",
    "yyyy-MM-dd HH:mm:ss.SSS": "CAST(_1 AS {type})",
    "yyyy-MM-dd'T'HH:mm:ss": "CAST(replace(_1, 'T', ' ') AS {type})",
    "yyyy-MM-dd'T'HH:mm:ss.SSS": "CAST(replace(_1, 'T', ' ') AS {type})",
    "yyyy-MM-dd'T'HH:mm:ssX": "CAST(replace(_1, 'T', ' ') AS TIMESTAMP WITH TIME ZONE)",
    "yyyy-MM-dd'T'HH:mm:ssXXX": "CAST(replace(_1, 'T', ' ') AS TIMESTAMP WITH TIME ZONE)",
}
"""By pattern, how a text becomes a time."""


def as_time(column: str, pattern: str) -> str:
    """Return the expression that reads a column of text by a pattern; empty if there is none."""
    found = _READ.get(pattern.replace("''", "'"), "")
    return found.format(type="TIMESTAMP").replace("_1", column)


def from_milliseconds(arguments: list[exp.Expr]) -> exp.Expr:
    """Build a time of milliseconds; what is a time here stays one."""
    (value,) = arguments
    if any(column.name.lower() in TIMES for column in value.find_all(exp.Column)):
        return value
    return filled(MILLISECONDS, [value])


def parsed_time(name: str, kind: str) -> Callable[[list[exp.Expr]], exp.Expr]:
    """Return the builder of a function that reads a time by a pattern."""

    def build(arguments: list[exp.Expr]) -> exp.Expr:
        pattern = arguments[1].name if len(arguments) > 1 else ""
        found = _READ.get(pattern)
        if found is None:
            why = RefusedCall(f'text is not read by the pattern "{pattern}"', "write CAST")
            return refused(name, arguments, why)
        node = filled(found.format(type=kind), arguments)
        if name == "STRINGTOTIMESTAMP":
            node.meta[NOTE] = "STRINGTOTIMESTAMP gives a time here, milliseconds there"
        return node

    return build


def time_as_text(name: str) -> Callable[[list[exp.Expr]], exp.Expr]:
    """Return the builder of a function that writes milliseconds by a pattern."""

    def build(arguments: list[exp.Expr]) -> exp.Expr:
        time, *rest = arguments
        turned = java_pattern(rest[0].name) if rest and rest[0].is_string else ""
        zoned = len(rest) > 1 and rest[1].name.upper() not in ("UTC", "GMT", "Z")
        if not turned or zoned:
            what = f'zone "{rest[1].name}"' if zoned else "pattern"
            why = RefusedCall(f"the {what} of the time has no equal here", "write it in UTC")
            return refused(name, arguments, why)
        is_time = isinstance(time, exp.Column) and time.name.lower() in TIMES
        sql = "date_format(_1, _2)" if is_time else "date_format(from_unixtime(_1 / 1000), _2)"
        return filled(sql, [time, exp.Literal.string(turned)])

    return build
