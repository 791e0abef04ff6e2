"""Times as other words say them: parts, units, and patterns by which text is read and written.

In: nodes as a parser left them. Out: nodes of Trino's functions. Text is read by a pattern as CAST
reads it, once a regular expression has found the parts of the pattern in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sqlglot import exp

from headwater.dialect.meanings_of_text import text
from headwater.dialect.syntax import BY_PATTERN, SHOWN

Meaning = Callable[[exp.Expr], exp.Expr]

_PARTS: Mapping[str, Callable[[exp.Expr], exp.Expr]] = {
    **dict.fromkeys(("dow", "day_of_week"), lambda value: exp.DayOfWeekIso(this=value)),
    **dict.fromkeys(("doy", "day_of_year"), lambda value: exp.DayOfYear(this=value)),
    **dict.fromkeys(
        ("yow", "year_of_week"),
        lambda value: exp.Anonymous(this="year_of_week", expressions=[value]),
    ),
    "week": lambda value: exp.WeekOfYear(this=value),
    "day_of_month": lambda value: exp.Day(this=value),
}
"""Fields of Trino's extract that are functions here."""

_JODA = {
    "yyyy": "%Y", "YYYY": "%Y", "MM": "%m", "M": "%-m", "dd": "%d", "d": "%-d", "HH": "%H",
    "hh": "%I", "mm": "%M", "ss": "%S", "a": "%p", "EEE": "%a", "EEEE": "%A", "MMM": "%b",
    "MMMM": "%B",
}  # fmt: skip
"""Letters of Joda's patterns as those of ``strftime``."""
_JODA_PARTS = re.compile(r"'((?:[^']|'')+)'|([A-Za-z])\2*|[^A-Za-z']+")

_READ = {"Y": (r"[0-9]{4}", 4), "m": (r"[0-9]{1,2}", 2), "d": (r"[0-9]{1,2}", 2)}
_READ |= {"H": (r"[0-9]{1,2}", 2), "M": (r"[0-9]{1,2}", 2), "S": (r"[0-9]{1,2}", 2)}
_READ |= {"f": (r"[0-9]{1,6}", 6)}
"""Letters of ``strftime`` that text is read by: what they match, and how many digits that are at
most."""
_STRICT = "strict"
"""What sqlglot writes behind a letter that stands for all of its digits."""
_SHORT = {"T": "%H:%M:%S", "F": "%Y-%m-%d"}
_LITERAL = re.compile(r"[ \-/:.,_TZ0-9]")


def part(node: exp.Expr) -> exp.Expr:
    """``extract(dow FROM x)`` and the like as the functions of the parts."""
    made = _PARTS.get(node.this.name.lower())
    return made(node.expression.copy()) if made else node


def rounded_down(node: exp.Expr) -> exp.Expr:
    """``floor(x TO DAY)`` as ``date_trunc('day', x)``."""
    unit = node.args.get("to")
    if unit is None:
        return node
    return exp.TimestampTrunc(this=node.this.copy(), unit=exp.var(unit.name.upper()))


def called(node: exp.Expr) -> exp.Expr:
    """``format_datetime`` and ``parse_datetime`` by Joda's patterns."""
    name, given = str(node.this).lower(), node.expressions
    if name != "format_datetime" or len(given) != 2 or not given[1].is_string:
        return node
    pattern = _of_joda(given[1].name)
    if not pattern:
        return node
    return exp.TimeToStr(this=given[0].copy(), format=text(pattern))


def read(node: exp.Expr) -> exp.Expr:
    """``date_parse`` and what other dialects call it: text read by a pattern of ``strftime``."""
    written = node.args.get("format")
    found = _reader(written.name) if written is not None and written.is_string else None
    if found is None:
        return node
    pattern, replacement = map(text, found)
    value = node.this
    matches = exp.RegexpLike(this=value.copy(), expression=pattern)
    moment = exp.RegexpReplace(
        this=value.copy(), expression=pattern.copy(), replacement=replacement
    )
    no_moment = exp.DPipe(this=text("no match: "), expression=value.copy())
    parts = exp.Case(ifs=[exp.If(this=matches, true=moment)], default=no_moment)
    cast = exp.Cast(this=parts, to=exp.DataType(this=exp.DType.TIMESTAMP))
    cast.meta[BY_PATTERN] = True
    cast.meta[SHOWN] = node.sql("trino")
    return cast


def read_datetime(node: exp.Expr) -> exp.Expr:
    """``parse_datetime``: text read by a pattern of Joda, in UTC."""
    pattern = node.args.get("format")
    if pattern is None or not pattern.is_string or node.args.get("zone"):
        return node
    found = read(exp.StrToTime(this=node.this.copy(), format=text(_of_joda(pattern.name))))
    if not isinstance(found, exp.Cast):
        return node
    return exp.Cast(this=found, to=exp.DataType(this=exp.DType.TIMESTAMPTZ))


def _of_joda(pattern: str) -> str:
    """Return a pattern of Joda in letters of ``strftime``; empty if a letter has no equal."""
    made = ""
    for found in _JODA_PARTS.finditer(pattern):
        if found[2]:
            if found[0] not in _JODA:
                return ""
            made += _JODA[found[0]]
        else:
            made += (found[1] or found[0]).replace("%", "%%")
    return made


def _reader(pattern: str) -> tuple[str, str] | None:
    """Return a regular expression for a text, and its groups as a timestamp; None if it has none.

    Args:
        pattern: of ``strftime``.
    """
    for letter, longer in _SHORT.items():
        pattern = pattern.replace(f"%{letter}", longer)
    parts = re.findall(r"%-?.(?:strict)?|.", pattern, re.DOTALL)
    regex, groups = "", dict[str, int]()
    for at, each in enumerate(parts):
        exact = each.endswith(_STRICT)
        letter = each.removesuffix(_STRICT)[-1]
        if each.startswith("%"):
            if letter not in _READ or letter in groups:
                return None
            groups[letter] = len(groups) + 1
            loose, digits = _READ[letter]
            exact |= at + 1 < len(parts) and parts[at + 1].startswith("%")
            regex += f"([0-9]{{{digits}}})" if exact else f"({loose})"
        elif _LITERAL.fullmatch(letter):
            regex += f"[{letter}]" if letter in "./" else letter
        else:
            return None
    if "Y" not in groups:
        return None
    place = {letter: f"${number}" for letter, number in groups.items()}
    day = f"{place['Y']}-{place.get('m', '01')}-{place.get('d', '01')}"
    time = f"{place.get('H', '00')}:{place.get('M', '00')}:{place.get('S', '00')}"
    fraction = f".{place['f']}" if "f" in place else ""
    return f"^{regex}\\z", f"{day} {time}{fraction}"
