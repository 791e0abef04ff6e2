"""Pairs of types × places where they meet, as an analyst writes them, and the rows to try them on.

In: nothing. Out: :func:`forms`, each a SELECT over the table ``t``; the columns of ``t`` as each
engine declares them; Trino's answers as they are recorded.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from sqlglot import exp

from headwater.analyze.typing import types as t

FILE = Path(__file__).with_name("answers.jsonl")

COLUMNS: Mapping[str, str] = {
    "id": "INTEGER",
    "i": "INTEGER",
    "b": "BIGINT",
    "r": "REAL",
    "d": "DOUBLE",
    "p": "DECIMAL(10, 2)",
    "q": "DECIMAL(18, 9)",
    "z": "DECIMAL(38, 0)",
    "k": "BOOLEAN",
    "s": "VARCHAR",
    "dt": "DATE",
    "ts": "TIMESTAMP(6)",
    "tz": "TIMESTAMP(6) WITH TIME ZONE",
}
ROWS: Sequence[Sequence[str | None]] = (
    ("1", "1", "1", "0.1", "0.1", "0.10", "0.100000000", "1", "true", "1",
     "2020-01-01", "2020-01-01 00:00:00", "2020-01-01 00:00:00 UTC"),
    ("2", "16777217", "16777217", "16777216", "16777217", "16777217.00", "16777217.000000000",
     "16777217", "false", "a", "2020-02-29", "2020-02-29 12:30:00.000001",
     "2020-02-29 12:30:00.000001 UTC"),
    ("3", "3", "9007199254740993", "0.2", "9007199254740992", "987654.32", "12345678.123456789",
     "9007199254740993", "true", "", "1969-12-31", "1970-01-01 00:00:00",
     "1969-12-31 23:59:59.999999 UTC"),
    ("4", "-7", "-7", "-7", "-6.999999999999999", "-7.00", "-7.000000001", "-7", "false", "-7",
     "1900-03-01", "1900-02-28 23:59:59", "1900-03-01 00:00:00 UTC"),
    ("5", None, "4", "4", None, "4.00", None, None, None, None, None, None,
     "2020-01-01 00:00:00 UTC"),
    ("6", "2", None, None, "2.5", None, "2.500000000", "100000000000000000000", "true", "x",
     "2021-01-01", "2021-01-01 00:00:00", None),
)  # fmt: skip

_NUMBERS = ("i", "b", "r", "d", "p", "q", "z")
_TIMES = ("dt", "ts", "tz")
_LITERALS = ("0.1", "-7", "2.50", "1e-1", "16777217.0", "12345678.123456789")
_TIME_LITERALS = (
    "DATE '2020-01-01'",
    "TIMESTAMP '2020-01-01 00:00:00'",
    "TIMESTAMP '2020-01-01 00:00:00 UTC'",
)
_CHOICES = (
    *("coalesce({x}, {y})", "nullif({x}, {y})", "greatest({x}, {y})", "least({x}, {y})"),
    *("if(k, {x}, {y})", "CASE WHEN k THEN {x} ELSE {y} END"),
    "lag({x}, 1, {y}) OVER (ORDER BY id)",
)
_COMPARISONS = (
    *("{x} = {y}", "{x} <> {y}", "{x} < {y}", "{x} >= {y}", "{x} IS DISTINCT FROM {y}"),
    *(
        "{x} IN ({y}, {x})",
        "{x} NOT IN ({y})",
        "{x} BETWEEN {y} AND {x}",
        "{y} BETWEEN {x} AND {y}",
    ),
    "CASE {x} WHEN {y} THEN 'same' ELSE 'other' END",
)
_ARITHMETIC = ("{x} + {y}", "{y} - {x}", "{x} * {y}", "{x} / {y}", "{y} % {x}")
_RELATIONS = (
    "SELECT t.id AS v FROM t WHERE {x} IN (SELECT {y} FROM t)",
    "SELECT {x} AS v FROM t UNION ALL SELECT {y} FROM t",
    "SELECT {x} AS v FROM t INTERSECT SELECT {y} FROM t",
    "SELECT {x} AS v FROM t EXCEPT SELECT {y} FROM t",
)
_JOIN = "SELECT l.id * 10 + o.id AS v FROM t l JOIN t o ON l.{x} = o.{y}"
_THREE = (
    *("coalesce(i, p, r)", "greatest(i, 0.1, d)", "r IN (0.1, 2e-1)", "r IN (0.1, 0.2)"),
    *("CASE r WHEN 0.1 THEN i WHEN 2e-1 THEN p ELSE q END", "d BETWEEN r AND p"),
    *("i BETWEEN 0.5 AND 3", "sqrt(q)", "power(p, 2.5)", "least(dt, ts, tz)"),
    *("date_diff('day', dt, ts)", "date_diff('second', ts, tz)", "i + r * p", "(i + b) % 2.50"),
    *("ARRAY[1, 2] = ARRAY[1, 2]", "contains(split(s, ','), 'a')"),
)
_NEVER = (("i", "s"), ("s", "d"), ("dt", "s"), ("ts", "'2020-01-01'"), ("k", "i"), ("k", "s"),
          ("i", "dt"), ("d", "ts"), ("s", "1"))  # fmt: skip


def forms() -> Iterator[str]:
    """Yield every form; a scalar one is an expression over the columns."""
    for x, y in _pairs():
        literal = y not in COLUMNS
        kinds = _COMPARISONS + _CHOICES
        if x in _NUMBERS and (y in _NUMBERS or y in _LITERALS):
            kinds += _ARITHMETIC
        relations = _RELATIONS if literal else (*_RELATIONS, _JOIN)
        for text in (*kinds, *relations):
            yield text.format(x=x, y=y)
    yield from _THREE[:-2]


def _pairs() -> Iterator[tuple[str, str]]:
    for group, literals in ((_NUMBERS, _LITERALS), (_TIMES, _TIME_LITERALS)):
        for at, x in enumerate(group):
            yield from ((x, y) for y in (*group[at + 1 :], *literals))
    yield from _NEVER


def query_of(form: str) -> str:
    """Return a form as a SELECT whose rows are keyed by ``id``, or are a bag of values."""
    return form if form.startswith("SELECT") else f"SELECT id, {form} AS v FROM t"


# -- answers


@dataclass(frozen=True, slots=True)
class Answer:
    """What Trino says to a form.

    Attributes:
        form: its text.
        type: Trino's name of the type, empty if Trino refuses the form.
        values: the values, as text; sorted if they are a bag.
    """

    form: str
    type: str
    values: list[str | None]


def read() -> dict[str, Answer]:
    """Return the recorded answers by form."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return {answer.form: answer for answer in (Answer(*json.loads(line)) for line in lines)}


def values_of(form: str, rows: Sequence[Sequence[Any]], kind: str) -> list[str | None]:
    """Return the values of an engine's rows as they are recorded.

    Args:
        rows: of :func:`query_of`, the value last.
        kind: Trino's name of the type.
    """
    if form.startswith("SELECT"):
        return sorted((text_of(row[-1], kind) for row in rows), key=lambda text: text or "")
    return [text_of(row[-1], kind) for row in sorted(rows, key=lambda row: row[0])]


def text_of(value: Any, kind: str) -> str | None:
    """Return a value as text that is equal in every engine."""
    if value is None:
        return None
    if kind == "real":
        (value,) = struct.unpack("f", struct.pack("f", float(value)))
    if isinstance(value, float):
        return repr(value + 0.0)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat()
    return value.isoformat() if isinstance(value, date) else str(value)


def kinds_by(name: Callable[[exp.DataType], str]) -> dict[str, str]:
    """Return the columns with their types as an engine calls them."""
    return {
        column: name(t.canonical(exp.DataType.build(kind, dialect="trino")))
        for column, kind in COLUMNS.items()
    }


def rows_sql(kinds: Mapping[str, str], *, text: str = "VARCHAR") -> str:
    """Return a SELECT of the rows, every value cast from text to its type in an engine."""
    casts = ", ".join(f"CAST(CAST({name} AS {text}) AS {kind}) AS {name}"
                      for name, kind in kinds.items())  # fmt: skip
    rows = ", ".join(f"({', '.join(map(_quoted, row))})" for row in ROWS)
    return f"SELECT {casts} FROM (VALUES {rows}) AS given({', '.join(kinds)})"


def _quoted(value: str | None) -> str:
    return "NULL" if value is None else f"'{value}'"


def canonical(kind: str) -> str:
    """Return Trino's name of a type without the sizes that Headwater does not keep."""
    name = kind.partition("(")[0] if kind.startswith("varchar") else kind
    if name.startswith("timestamp"):
        name = "timestamp with time zone" if name.endswith("zone") else "timestamp"
    return name


def shown(kind: Any) -> str:
    """Return the name of a type of Headwater as Trino writes it."""
    return t.sql_type(kind).lower()
