"""Times as other words say them: parts, units, and patterns by which text is read and written.

In: nodes as a parser left them. Out: nodes of Trino's functions. Text is read by a pattern as CAST
reads it, once a regular expression has found the parts of the pattern in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from headwater.dialect.meanings.text import refuse, text
from headwater.dialect.normalize import fail_at
from headwater.dialect.syntax import BY_PATTERN, DIALECT, SHOWN
from headwater.dialect.time_patterns import LETTERS, WRITTEN, pattern_parts

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
_READ_HINT = (
    "use the year, month, day, hour to 24, minute, second and fraction once each, the year at"
    " least, and - / : . , _ T Z"
)
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
    found = _of_joda(given[1].name)
    for part, letters in found:
        if not letters or "%" in part:
            message = f"{part} in format_datetime does not mean the same in every engine"
            refuse(node, message, f"use {' '.join(_JODA)}, and the rest with ||")
    in_trino = {letters: f"%{letter}" for letter, letters in LETTERS.items()}
    pattern = text("".join(letters for _, letters in found))
    pattern.meta[WRITTEN] = "".join(in_trino.get(letters, letters) for _, letters in found)
    return exp.TimeToStr(this=given[0].copy(), format=pattern)


def read(node: exp.Expr) -> exp.Expr:
    """``date_parse`` and what other dialects call it: text read by a pattern of ``strftime``."""
    pattern = node.args.get("format")
    if pattern is None or not pattern.is_string:
        message = "argument 2 of date_parse must be a literal"
        fail_at(pattern or node, "WRONG_ARGUMENTS", message, "write the value itself")
    written = pattern.meta.get(WRITTEN)
    return _read(node, pattern.name, pattern_parts(written) if written else (), "date_parse")


def _read(node: exp.Expr, letters: str, written: Sequence[tuple[str, str]], call: str) -> exp.Expr:
    """Text read by a pattern.

    Args:
        node: the call.
        letters: the pattern, of ``strftime``.
        written: its parts as written, and of ``strftime``; empty if they are not known.
        call: the function.
    """
    found = _reader(letters)
    if found is None or not all(made for _, made in written):
        wrong = next((part for part, made in written if not _is_read(made)), "")
        whole = "".join(part for part, _ in written)
        what = (
            f"{wrong} in {call}" if wrong else f"the pattern {whole!r}" if whole else "the pattern"
        )
        message = f"{what} does not mean the same in every engine"
        refuse(node, message, _READ_HINT)
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
    found = _of_joda(pattern.name)
    letters = "".join(made for _, made in found)
    moment = _read(node, letters, found, "parse_datetime")
    return exp.Cast(this=moment, to=exp.DataType(this=exp.DType.TIMESTAMPTZ))


def _of_joda(pattern: str) -> list[tuple[str, str]]:
    """Return the parts of a pattern of Joda, each in letters of ``strftime``, empty without any."""
    return [
        (found[0], _JODA.get(found[0], "") if found[2] else (found[1] or found[0]))
        for found in _JODA_PARTS.finditer(pattern)
    ]


def _is_read(letters: str) -> bool:
    """Return whether text can be read by a part of a pattern of ``strftime``."""
    if not letters.startswith("%"):
        return all(map(_LITERAL.fullmatch, letters)) and letters != ""
    return all(each.lstrip("-")[:1] in _READ for each in letters.split("%")[1:])


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
    return f"^{regex}\\z", in_order(groups, "YmdHMSf")


def in_order(groups: Mapping[str, int], letters: str) -> str:
    """Return a time as text, of the groups of a regular expression; what is missing is the least.

    Args:
        groups: numbers of the groups by letter.
        letters: those of the year, month, day, hour, minute, second and fraction.
    """
    parts = [f"${groups[letter]}" if letter in groups else "" for letter in letters]
    day = "-".join(part or "01" for part in parts[:3])
    time = ":".join(part or "00" for part in parts[3:6])
    return f"{day} {time}" + (f".{parts[6]}" if parts[6] else "")


# -- parts and differences


def parts(sunday: int, epoch: str = "", *, week: str = "week") -> Meaning:
    """``extract(dow)``, by the number of Sunday: 0 or 1; ``extract(epoch)``, by its type.

    Args:
        week: the word for the ISO week.
    """

    def part(node: exp.Expr) -> exp.Expr:
        unit, value = node.this.name.lower(), node.expression
        iso = exp.DayOfWeekIso(this=value.copy())
        if unit in ("isodow", "dow_iso", "dayofweek_iso"):
            return iso
        if unit == week:
            return exp.WeekOfYear(this=value.copy())
        if unit in ("isoyear", "yearofweek"):
            return exp.Anonymous(this="year_of_week", expressions=[value.copy()])
        if unit in ("dow", "dayofweek"):
            seven = exp.Literal.number(7)
            day: exp.Expr = exp.Mod(this=iso, expression=seven)
            if sunday:
                day = exp.Add(this=day, expression=exp.Literal.number(sunday))
            return exp.paren(day, copy=False)
        if unit in ("doy", "dayofyear"):
            return exp.DayOfYear(this=value.copy())
        if unit == "epoch" and epoch:
            return exp.cast(exp.TimeToUnix(this=value.copy()), epoch)
        return node

    return part


def part_called(part: Meaning, otherwise: Meaning = lambda node: node) -> Meaning:
    """``date_part('dow', x)`` as ``extract(dow FROM x)``."""

    def called(node: exp.Expr) -> exp.Expr:
        name, given = str(node.this).lower(), node.expressions
        if name not in ("date_part", "datepart") or len(given) != 2 or not given[0].is_string:
            return otherwise(node)
        return part(exp.Extract(this=exp.var(given[0].name.upper()), expression=given[1].copy()))

    return called


def boundaries(node: exp.Expr) -> exp.Expr:
    """``datediff`` that counts the beginnings of units between two times."""
    unit = node.args.get("unit")
    if node.args.get("date_part_boundary") and unit is not None:
        node.set("date_part_boundary", None)
        for side in ("this", "expression"):
            start = exp.TimestampTrunc(this=node.args[side].copy(), unit=unit.copy())
            node.set(side, start)
    return node


_SAME_LENGTH = ("MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK")


def elapsed(node: exp.Expr) -> exp.Expr:
    """``timestampdiff``, which counts months otherwise at their ends."""
    unit = node.text("unit").upper()
    if unit not in _SAME_LENGTH:
        refuse(node, f"{unit} of timestampdiff is another one in Trino", "count days")
    parts = {key: node.args[key].copy() for key in ("this", "expression", "unit")}
    return exp.DateDiff(**parts)


def as_date(node: exp.Expr) -> exp.Expr:
    """``to_date(x)`` of Spark."""
    return exp.Cast(this=node.this.copy(), to=exp.DataType.build("DATE"))


def days_later(node: exp.Expr) -> exp.Expr:
    """``date_add(date, days)`` of Spark."""
    day = exp.Cast(this=node.this.copy(), to=exp.DataType.build("DATE"))
    return exp.DateAdd(this=day, expression=node.expression.copy(), unit=exp.var("DAY"))


def day_of_month(node: exp.Expr) -> exp.Expr:
    """``dayofmonth(x)``."""
    return exp.Day(this=node.this.copy())


def iso_week(node: exp.Expr) -> exp.Expr:
    """``week(x)``."""
    return exp.WeekOfYear(this=node.this.copy())


def month_later(node: exp.Expr) -> exp.Expr:
    """``add_months(x, n)`` of Spark, a date."""
    day = exp.Cast(this=node.this.copy(), to=exp.DataType.build("DATE"))
    return exp.DateAdd(this=day, expression=node.expression.copy(), unit=exp.var("MONTH"))


def whole_days_later(node: exp.Expr) -> exp.Expr:
    """``date_add(date, days)`` of DuckDB, as ``date + days``."""
    if node.args.get("unit") or isinstance(node.expression, exp.Interval):
        return node
    made = exp.Add(this=node.this.copy(), expression=node.expression.copy())
    made.meta[DIALECT] = "duckdb"
    return exp.paren(made, copy=False)
