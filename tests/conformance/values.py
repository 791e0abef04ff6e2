"""Edge values of every type, as columns of the tables that forms read.

In: nothing. Out: :data:`COLUMNS` by name, their values, and how each engine writes them. A value
enters every engine as text that is cast, so that no engine reads a literal in its own way.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from headwater.analyze.typing import types as t

Value = object
"""NULL, a boolean, or text; a list of them for an array, a list of pairs for a map."""


@dataclass(frozen=True, slots=True)
class Column:
    """A type and its edge values.

    Attributes:
        type: as a table declares it.
        values: the edge values; the first ones also meet those of other columns.
        few: how many of them meet those of another column.
    """

    type: str
    values: tuple[Value, ...]
    few: int = 7

    @property
    def kind(self) -> exp.DataType:
        """The canonical type."""
        return t.canonical(exp.DataType.build(self.type, dialect="trino"))


_TEXTS = (
    *(None, "", "abc", "A_b%c", "a\\b", " a ", "ää-Ö", "a\u0301b", "\U0001f600x"),
    *("\ta\n", "a\nb", "a.b.c", "ß", "ΑΣ", "İ", "%", "_", "\\", "a,b,,c", "$1", "aaa", "x\u00a0"),
    *("\u2003a\u2003", "Ab9", "'", '"', "a\r\nb", "ﬁ", "0"),
)

_NUMERALS = (
    *(None, "12", " 12 ", "-0", "+7", "1.5", "1e3", ".5", "5.", "1_000", "0x1F", "", "abc", "\t1"),
    *("2147483648", "-2147483648", "9223372036854775808", "1.25", "-2.675", "NaN", "nan", "inf"),
    *("Infinity", "-Infinity", "1e400", "1.5d", "1e-400", "٣", "true", "T", "yes", "f", "0", "1"),
    *("TRUE", " false ", "99999999999999999999999999999999999999", "0.000001", "-1.005"),
)

_MOMENTS = (
    *(None, "2024-02-29", " 2024-02-29 ", "2023-02-29", "2024-2-9", "0001-01-01", "9999-12-31"),
    *(
        "10000-01-01",
        "-0001-01-01",
        "2024-02-29 12:30:45.123456",
        "2024-02-29T12:30:45",
        "20240229",
    ),
    *("2024-02-29 24:00:00", "2024-02-29 12:30", "2024-02-29 12", "2024-02-29 23:59:59.9999999"),
    *("2024-02-29 12:30:00 UTC", "2024-02-29 12:30:00Z", "2024-02-29 12:30:00+02:00", "now"),
    *("2024-02-29 12:30:00 Europe/Berlin", "2024-02-29 12:30:00 +02:00", "2024", "12:30:00", ""),
    *("2024-02-29 12:30:45.1", "1582-10-10", "2024-02-29 12:30:61", "2024-13-01"),
)

_DAYS = (
    *(None, "2024-02-29", "1970-01-01", "1969-12-31", "0001-01-01", "9999-12-31", "2021-01-03"),
    *("2020-12-31", "2024-12-30", "2023-02-28", "1582-10-04", "1582-10-15", "1900-02-28"),
    *("2016-01-01", "2000-12-31", "2025-03-30"),
)

_TIMES = (
    *(None, "2024-02-29 23:59:59.999999", "1970-01-01 00:00:00", "1969-12-31 23:59:59.5"),
    *("2024-03-31 00:30:00", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"),
    *("2020-12-31 12:00:00.000001", "2021-01-03 23:00:00", "1900-01-01 00:00:00.1"),
    *("2024-12-30 01:02:03.4", "1582-10-10 12:00:00", "2016-12-31 23:59:59", "2023-03-26 01:00:00"),
)

_DOUBLES = (
    *(None, "0", "-0.0", "1.5", "NaN", "Infinity", "-Infinity", "-2.5", "2.5", "0.5", "-0.5", "1"),
    *("1.7976931348623157e308", "4.9e-324", "9007199254740993", "4503599627370497.5", "-1", "1e18"),
    *("0.49999999999999994", "9.3e18", "-9.3e18", "1.005", "-2.675", "0.1", "1e-7", "1e7", "3"),
)

_CODES = (
    *(
        None,
        "",
        "00ff",
        "6162",
        "ABCD",
        "abc",
        "0g",
        " 61",
        "YQ==",
        "YWI=",
        "YWJj",
        "YQ",
        "YQ=",
        "Y",
    ),
    *("YQ==YQ==", "Y Q=", "YQ=\n", "+/==", "-_==", "_-8=", "===="),
)
_URLS = (
    *(
        None,
        "",
        "a+b%20c",
        "%C3%A5",
        "%c3%a5",
        "%zz",
        "%4",
        "100%",
        "%%4141",
        "å b",
        "a~*-._",
        "%2B",
    ),
    *("https://user@www.example.com:8080/a/b?x=1&y=%20z#top", "http://example.com", "/a/b?q=1"),
    *("mailto:a@example.com", "http://[::1]:80/", "http://a b/", "HTTP://EXAMPLE.com/?x"),
)

_PARTS = (
    *(
        "http://a_b.example/x",
        "http://1.2.3.4:/",
        "http://a.b.c.:99/",
        "ftp://u:p@h.example/%C3%A5",
    ),
    *("//host.example/p", "a/b:c", "1a:b", "a:", ":b", "a:b", "x://", "http:///p", "http://h?q#f"),
    *("http://h/p?q=[1]&r=%26", "http://h/[p]", "http://h/p#a#b", "http://h:port/", "http://h.1/"),
    *("http://å.example/ö", "http://-h/", "http://h-/", "http://h:80:81/", "http://u@v@h/", "?q"),
    *("#f", "/+%2B", "http://h/\u2003", "urn:isbn:0?x=1#y", "http://[::1", "http://h/a|b"),
    *("http://h\n", "\nhttp://h"),
)

COLUMNS: Mapping[str, Column] = {
    "f": Column("BOOLEAN", (None, "true", "false")),
    "i": Column(
        "INTEGER", (None, "0", "1", "-1", "7", "2147483647", "-2147483648", "-7", "2", "100")
    ),
    "b": Column(
        "BIGINT",
        (None, "0", "1", "-1", "7", "9223372036854775807", "-9223372036854775808", "-7", "2")
        + ("9007199254740993", "2147483648", "1764091845", "253402300799", "-62135596800"),
    ),
    "r": Column(
        "REAL",
        (None, "0", "-0.0", "0.2", "NaN", "Infinity", "-Infinity", "1.5", "-2.5", "16777217")
        + ("3.4028235e38", "1.4e-45", "0.1", "-1", "2.5", "1e10"),
    ),
    "d": Column("DOUBLE", _DOUBLES),
    "m": Column(
        "DECIMAL(5, 2)",
        (None, "0", "2.50", "-0.01", "999.99", "-999.99", "0.05", "-2.50", "1.00", "3.33", "0.50")
        + ("-0.45", "0.45", "1.25"),
    ),
    "n": Column(
        "DECIMAL(18, 4)",
        (None, "0", "99999999999999.9999", "-99999999999999.9999", "0.0001", "1.5000", "-3.3333"),
    ),
    "w": Column(
        "DECIMAL(38, 6)",
        (None, "0", "99999999999999999999999999999999.999999")
        + ("-99999999999999999999999999999999.999999", "-1.500000", "0.000001", "2.500000")
        + ("-12345678901234567890123456789012.345678",),
    ),
    "h": Column(
        "DECIMAL(38, 0)",
        (None, "0", "99999999999999999999999999999999999999")
        + ("-99999999999999999999999999999999999999", "1", "-7", "9223372036854775808"),
    ),
    "e": Column("DECIMAL(38, 38)", (None, "0", "0." + "9" * 38, "-0." + "9" * 38, "0." + "5" * 38)),
    "s": Column("VARCHAR", _TEXTS, 9),
    "sn": Column("VARCHAR", _NUMERALS),
    "st": Column("VARCHAR", _MOMENTS),
    "js": Column(
        "VARCHAR",
        (None, '{"a": 1}', '{"a": {"b": 1}}', '{"a": [1, 2]}', '{"a": null}', '{"a": "x"}')
        + ('{"a": 12.10}', '{"a": 1e7}', '{"a": 12345678901234567890}', '{"a": true}', "[1, 2]")
        + ("no JSON", "", "7", '{"a": "\\u00e4\\n"}', '{"a b": 2, "a.b": 3}', '{"A": 4}')
        + ('{"a": 1, "a": 2}', '{"a": 0.1e-5}', '{"a": -0}', '{"a": {"b": {"c": "d"}}}', "null")
        + ('{"a": [{"b": 5}]}', '{"a": ""}', ' {"a" : 6 } ', '{"a": 1} x', "{'a': 1}", '"t"'),
    ),
    "hx": Column("VARCHAR", _CODES),
    "u": Column("VARCHAR", _URLS),
    "us": Column("VARCHAR", _PARTS),
    "dt": Column("DATE", _DAYS),
    "ts": Column("TIMESTAMP", _TIMES),
    "tz": Column("TIMESTAMP WITH TIME ZONE", tuple(v and f"{v} UTC" for v in _TIMES)),
    "tm": Column(
        "TIME(6)",
        (None, "00:00:00", "23:59:59.999999", "09:30:15.25", "12:00:00", "09:30:15.000001")
        + ("23:00:00", "00:59:59.5", "10:10:10"),
    ),
    "ui": Column(
        "UUID",
        (None, "12151fd2-7586-11e9-8f9e-2a86e4085a59", "00000000-0000-0000-0000-000000000000")
        + ("f2151fd2-7586-11e9-8f9e-2a86e4085a59", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
    ),
    "tt": Column(
        "VARCHAR",
        (None, "09:30", "9:5", "9:5:7", "23:59:59.999999", "09:30:00.50", "00:00:00.0", "24:00:00")
        + ("12:30:60", "12", "12:30+01:00", "012:30", " 12:30", "12:30:00.", "", "12:60", "1:2:3.4")
        + ("12:30:00Z", "9:30 PM", "2024-02-29 12:30:00"),
    ),
    "ut": Column(
        "VARCHAR",
        (None, "12151FD2-7586-11e9-8f9e-2a86e4085a59", "12151fd2758611e98f9e2a86e4085a59", "")
        + ("{12151fd2-7586-11e9-8f9e-2a86e4085a59}", "1-2-3-4-5", "x")
        + (" 12151fd2-7586-11e9-8f9e-2a86e4085a59", "g2151fd2-7586-11e9-8f9e-2a86e4085a59")
        + ("12151fd2-7586-11e9-8f9e-2a86e4085a59\n",),
    ),
    "bn": Column("VARBINARY", (None, "", "00ff", "6162")),
    "bx": Column("VARBINARY", (None, "", "c3a5", "c328", "f09f9880", "eda080", "61c3", "f4908080")),
    "ai": Column(
        "ARRAY(INTEGER)",
        (None, [], ["1"], ["3", "1", "2"], ["1", None], [None], ["2147483647", "0"]),
    ),
    "ax": Column("ARRAY(VARCHAR)", (None, [], ["a"], ["a", "b", None], ["", "\U0001f600"])),
    "ad": Column(
        "ARRAY(DOUBLE)", (None, [], ["NaN"], ["0", "-0.0"], ["1.5", None], ["Infinity", "NaN"])
    ),
    "mp": Column(
        "MAP(VARCHAR, INTEGER)", (None, [], [["a", "1"]], [["b", None], ["a", "2"]], [["", "0"]])
    ),
}
"""Columns by name; a digit behind the name makes another column of the same values."""

_NAMED = re.compile(rf"\b({'|'.join(sorted(COLUMNS, key=len, reverse=True))})([2-9]?)\b")
_QUOTED = re.compile(r"'(?:[^']|'')*'|\b\w+\(|\b\w+ '")


def columns_of(text: str) -> tuple[str, ...]:
    """Return the names of the columns that a form reads, sorted.

    Args:
        text: the form; ``d2`` is a second column of the values of ``d``.
    """
    plain = _QUOTED.sub(" ( ", text)
    return tuple(sorted({found[0] for found in _NAMED.finditer(plain)}))


def column(name: str) -> Column:
    """Return the type and values of a column by its name in a form."""
    return COLUMNS[name.rstrip("23456789")]


Row = tuple[Value, ...]


def rows_of(names: Sequence[str]) -> list[Row]:
    """Return the rows of the table with these columns: values that meet each other."""
    if not names:
        return [()]
    if len(names) == 1:
        return [(value,) for value in column(names[0]).values]
    most = {2: 99, 3: 4}.get(len(names), 2)
    meeting = [column(name).values[: min(column(name).few, most)] for name in names]
    return list(itertools.product(*meeting))


def table_of(names: Sequence[str]) -> str:
    """Return the name of the table with these columns."""
    return "_".join(("t", *names))


def digest(names: Sequence[str]) -> str:
    """Return what tells whether recorded answers are those of today's rows."""
    text = json.dumps([[column(name).type for name in names], rows_of(names)])
    return hashlib.sha256(text.encode()).hexdigest()[:8]


# -- as SQL


def written(value: Value, kind: exp.DataType, engine: str) -> str:
    """Return a value of a type as SQL of an engine.

    Args:
        engine: ``trino``, ``duckdb`` or ``spark``.
    """
    name = {"trino": t.trino_type, "duckdb": t.duckdb_type, "spark": t.spark_type}[engine](kind)
    if engine == "trino" and kind.this in t.CARRIERS:
        name = "TIME(6)" if kind == t.TIME else "UUID"
    if value is None:
        return f"CAST(NULL AS {name})"
    if isinstance(value, list):
        return f"CAST({_nested(value, kind, engine)} AS {name})"
    text = str(value)
    if kind == t.VARBINARY:
        return {"trino": f"X'{text}'", "spark": f"X'{text}'"}.get(engine, f"unhex('{text}')")
    if kind == t.VARCHAR and engine == "spark":
        return f"CAST(X'{text.encode().hex()}' AS STRING)"
    quoted = "'" + text.replace("'", "''") + "'"
    if kind == t.DATE and engine == "trino":
        return f"DATE {quoted}"
    return f"CAST({quoted} AS {name})"


def _nested(value: list[Value], kind: exp.DataType, engine: str) -> str:
    inner = t.elements(kind)
    if len(inner) == 1:
        items = ", ".join(written(item, inner[0], engine) for item in value)
        return {"trino": f"ARRAY[{items}]", "duckdb": f"[{items}]"}.get(engine, f"array({items})")
    keys, values = (
        ", ".join(written(pair[at], inner[at], engine) for pair in value)  # type: ignore[index]
        for at in (0, 1)
    )
    if engine == "duckdb":
        return f"MAP([{keys}], [{values}])"
    brackets = ("ARRAY[", "]") if engine == "trino" else ("array(", ")")
    call = "MAP" if engine == "trino" else "map_from_arrays"
    return f"{call}({brackets[0]}{keys}{brackets[1]}, {brackets[0]}{values}{brackets[1]})"


def rows_sql(names: Sequence[str], engine: str) -> str:
    """Return the rows of a table as a query: ``g``, ``k``, then the columns."""
    kinds = [column(name).kind for name in names]
    lines = []
    for at, row in enumerate(rows_of(names)):
        cells = [written(value, kind, engine) for value, kind in zip(row, kinds, strict=True)]
        group = f"CAST({group_of(at, row)} AS BIGINT)"
        lines.append(f"({', '.join([group, f'CAST({at} AS BIGINT)', *cells])})")
    heads = ", ".join(("g", "k", *names))
    return f"SELECT * FROM (VALUES {', '.join(lines)}) AS rows_({heads})"


def group_of(at: int, row: Row) -> int:
    """Return the group of a row: one of NULLs, one of a single value, others of several."""
    if any(value is None for value in row):
        return 0
    return 1 if at == 1 else 2 + at % 4
