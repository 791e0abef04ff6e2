"""Times of Flink: text read as a time, the beginnings and ends of units, parts.

In: nodes as Flink's parser left them. Out: nodes with Trino's meaning. Of a day that no month has,
such as February 30, Flink makes the last day of the month; here it is a bad row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp

from headwater.dialect.meanings import times
from headwater.dialect.meanings.text import refuse, text
from headwater.dialect.syntax import BY_PATTERN, SHOWN

_DAY = "[0-9]{4}-(?:0?[1-9]|1[0-2])-(?:0?[1-9]|[12][0-9]|3[01])"
_TIME = "(?:[01]?[0-9]|2[0-4]):[0-5]?[0-9]:[0-5]?[0-9]"
_READ = rf"^{_DAY}(?: {_TIME}(?:\.[0-9]{{1,9}})?)?\z"
_BEYOND = (r"(\.[0-9]{3})[0-9]+\z", "$1")
"""Digits of a second that ``TO_TIMESTAMP`` leaves out."""
_LETTERS: Mapping[str, tuple[str, str]] = {
    "yyyy": ("y", "([0-9]{4})"),
    "MM": ("M", "(0[1-9]|1[0-2])"),
    "M": ("M", "(0?[1-9]|1[0-2])"),
    "dd": ("d", "(0[1-9]|[12][0-9]|3[01])"),
    "d": ("d", "(0?[1-9]|[12][0-9]|3[01])"),
    "HH": ("H", "([01][0-9]|2[0-4])"),
    "H": ("H", "([01]?[0-9]|2[0-4])"),
    "mm": ("m", "([0-5][0-9])"),
    "ss": ("s", "([0-5][0-9])"),
    "SSS": ("S", "([0-9]{1,3})"),
}
"""Letters of a pattern: the part of a time, and what it matches."""
_OF_DAYS = ("WEEK", "MONTH", "QUARTER", "YEAR")
"""Units of which ``CEIL`` does not look at the time of the day."""
_TOKENS = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']")
_LITERAL = re.compile(r"[ \-/:.,_A-Za-z0-9]")


def read(node: exp.Expr) -> exp.Expr:
    """``TO_TIMESTAMP(text[, pattern])``: NULL if the text is not written so."""
    value, *patterns = node.expressions
    if not patterns:
        form, (cut, kept) = _READ, _BEYOND
    else:
        found = _reader(patterns[0].name) if patterns[0].is_string else None
        if found is None:
            hint = "write it with yyyy MM M dd d HH H mm ss SSS and punctuation"
            refuse(node, "the pattern of TO_TIMESTAMP is not one that is read here", hint)
        form, kept = found
        cut = form
    matches = exp.RegexpLike(this=value.copy(), expression=text(form))
    moment = exp.RegexpReplace(this=value.copy(), expression=text(cut), replacement=text(kept))
    cast = exp.Cast(this=moment, to=exp.DataType(this=exp.DType.TIMESTAMP))
    cast.meta[BY_PATTERN] = True
    cast.meta[SHOWN] = f"to_timestamp({value.sql('trino')})"
    return exp.Case(ifs=[exp.If(this=matches, true=cast)])


def _reader(pattern: str) -> tuple[str, str] | None:
    """Return the regular expression of a pattern, and its groups as a time; None if it has none."""
    regex, groups = "", dict[str, int]()
    tokens = list(_TOKENS.finditer(pattern))
    if "".join(each[0] for each in tokens) != pattern:
        return None
    for at, token in enumerate(tokens):
        if not token[2]:
            literal = token[0] if token[1] is None else token[1].replace("''", "'")
            if not all(map(_LITERAL.fullmatch, literal)):
                return None
            regex += literal.replace(".", "[.]").replace("/", "[/]")
            continue
        part, form = _LETTERS.get(token[0], ("", ""))
        beside = at + 1 < len(tokens) and tokens[at + 1][2]
        if not part or part in groups or beside and token[0] in ("M", "d", "H", "SSS"):
            return None
        groups[part] = len(groups) + 1
        regex += form
    if "y" not in groups:
        return None
    return rf"^{regex}\z", times.in_order(groups, "yMdHmsS")


def from_epoch(node: exp.Expr) -> exp.Expr:
    """``TO_TIMESTAMP_LTZ(n[, digits])``: seconds or milliseconds since 1970."""
    count, *precision = node.expressions
    unit = {"0": "SECOND", "3": "MILLISECOND"}.get(precision[0].name if precision else "3")
    if unit is None or count.is_string:
        hint = "write TO_TIMESTAMP_LTZ(x, 3)"
        refuse(node, "TO_TIMESTAMP_LTZ takes seconds or milliseconds", hint)
    epoch = exp.cast(text("1970-01-01 00:00:00 UTC"), "TIMESTAMPTZ")
    return exp.DateAdd(this=epoch, expression=count.copy(), unit=exp.var(unit))


def part(node: exp.Expr) -> exp.Expr:
    """``EXTRACT(unit FROM x)``."""
    unit, value = node.this.name.lower(), node.expression
    if unit == "millisecond":
        return exp.Anonymous(this="millisecond", expressions=[value.copy()])
    if unit == "epoch":
        seconds = exp.Trunc(this=exp.TimeToUnix(this=value.copy()))
        return exp.cast(seconds, "BIGINT")
    return times.parts(1)(node)


def beginning(node: exp.Expr) -> exp.Expr:
    """``FLOOR(x TO unit)``; weeks begin on Sunday."""
    unit = node.args.get("to")
    return node if unit is None else _start(node.this, unit.name.upper())


def end(node: exp.Expr) -> exp.Expr:
    """``CEIL(x TO unit)``: the next beginning of a unit, or the time if it is one."""
    unit = node.args.get("to")
    if unit is None:
        return node
    name = unit.name.upper()
    start = _start(node.this, name)
    reached = _start(node.this, "DAY") if name in _OF_DAYS else node.this
    same = exp.EQ(this=start.copy(), expression=reached.copy())
    later = exp.DateAdd(this=start.copy(), expression=exp.Literal.number(1), unit=exp.var(name))
    if name == "QUARTER":  # of which Flink takes the next even of one that begins
        return later
    return exp.Case(ifs=[exp.If(this=same, true=start)], default=later)


def _start(value: exp.Expr, unit: str) -> exp.Expr:
    if unit != "WEEK":
        return exp.TimestampTrunc(this=value.copy(), unit=exp.var(unit))
    monday = exp.TimestampTrunc(this=_days_later(value.copy(), 1), unit=exp.var(unit))
    return exp.paren(_days_later(monday, -1), copy=False)


def _days_later(value: exp.Expr, days: int) -> exp.Expr:
    count = exp.Literal.number(abs(days))
    return exp.DateAdd(
        this=value, expression=count if days > 0 else exp.Neg(this=count), unit=exp.var("DAY")
    )
