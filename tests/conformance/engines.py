"""The answers of DuckDB, Spark and Trino in one notation, so that they can be compared as JSON.

In: SQL that returns a key and a value. Out: values by key. NULL, booleans and integers are
themselves; decimals, dates and times are text; floating point numbers are numbers, or ``NaN``,
``Infinity`` and ``-Infinity``; arrays and rows are lists, maps are sorted lists of pairs.
"""

from __future__ import annotations

import base64
import json
import math
import re
import struct
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import duckdb

from tests.conformance.forms import Form
from tests.conformance.product import translated
from tests.conformance.values import rows_sql, table_of

Answers = dict[int, Any]
ERROR = "!"
"""Key of an object that stands for an error, ``{"!": reason}``."""

_ZEROS = re.compile(r"(\.\d*?)0+$")


def number(value: float) -> Any:
    """Return a floating point number in the notation of answers; there is one zero."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value + 0.0


def single(value: float) -> Any:
    """Return a number of 32 bits in the notation of answers."""
    if math.isfinite(value):
        value = struct.unpack("f", struct.pack("f", value))[0]
    return number(value)


def time(text: str) -> str:
    """Return a date or time as text without a zone and without zeros at the end."""
    text = text.removesuffix("+00").removesuffix(" UTC").replace("T", " ").removeprefix("+")
    if " (BC)" in text:
        year, rest = text.replace(" (BC)", "").split("-", 1)
        before = int(year) - 1
        text = f"{'-' if before else ''}{before:04}-{rest}"
    return _ZEROS.sub(lambda found: found[1].rstrip("."), text) if "." in text else text


def plain(value: Any) -> Any:
    """Return a value of Python in the notation of answers."""
    match value:
        case float():
            return number(value)
        case Decimal():
            return format(value, "f")
        case datetime():
            moment = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
            return time(moment.isoformat(" "))
        case date():
            return value.isoformat()
        case timedelta():
            return str(value)
        case bytes() | bytearray():
            return value.hex()
        case dict():
            return sorted([plain(k), plain(v)] for k, v in value.items())
        case list() | tuple():
            return [plain(item) for item in value]
    return value


# -- DuckDB


class DuckDB:
    """DuckDB with the tables that forms read."""

    def __init__(self) -> None:
        self._connection = duckdb.connect()
        self._connection.execute("SET TimeZone = 'UTC'")
        self._made: dict[tuple[str, ...], str] = {}

    def close(self) -> None:
        """Let the tables go."""
        self._connection.close()

    def table(self, columns: tuple[str, ...]) -> str:
        """Return the name of the table with these columns, made if it is not there."""
        if columns not in self._made:
            name = table_of(columns)
            self._connection.execute(f"CREATE TABLE {name} AS {rows_sql(columns, 'duckdb')}")
            self._made[columns] = name
        return self._made[columns]

    def answer(self, form: Form) -> Answers:
        """Return what the product's translation of a form answers."""
        self.table(form.columns)
        return self.answers(translated(form).sql("duckdb"))

    def answers(self, sql: str) -> Answers:
        """Return values by key.

        Raises:
            duckdb.Error: as DuckDB does.
        """
        relation = self._connection.sql(sql)
        kinds = [str(kind) for kind in relation.types]
        key, value = relation.columns
        if kinds[1].startswith(("DATE", "TIMESTAMP")) and not kinds[1].endswith("]"):
            relation = self._connection.sql(
                f'SELECT "{key}", CAST("{value}" AS VARCHAR) FROM relation'
            )
            return {k: None if v is None else time(v) for k, v in relation.fetchall()}
        return {k: plain(v) for k, v in relation.fetchall()}


# -- Trino


def trino_value(value: Any, kind: str) -> Any:
    """Return a value as Trino's protocol has it in the notation of answers.

    Args:
        value: from JSON.
        kind: Trino's name of its type.
    """
    if value is None:
        return None
    if kind == "double":
        return number(float(value))
    if kind == "real":
        return single(float(value))
    if kind.startswith(("time", "date")):
        return time(_in_utc(value) if kind.endswith("zone") else value)
    if kind == "varbinary":
        return base64.b64decode(value).hex()
    if kind.startswith("array("):
        return [trino_value(item, kind[6:-1]) for item in value]
    if kind.startswith("map("):
        return sorted([k, v] for k, v in value.items())
    return value


def _in_utc(text: str) -> str:
    """A time with an offset or a region as the time in UTC."""
    moment, _, zone = text.rpartition(" ")
    if zone == "UTC":
        return moment
    offset = zone if zone[0] in "+-" else ""
    parsed = datetime.fromisoformat(f"{moment[:26]}{offset}")
    if not offset:
        parsed = parsed.replace(tzinfo=ZoneInfo(zone))
    return parsed.astimezone(UTC).replace(tzinfo=None).isoformat(" ")


def type_name(kind: str) -> str:
    """Return Trino's name of a type as the product writes types: without lengths and precisions."""
    name = re.sub(r"\b(var)?char\(\d+\)", lambda found: f"{found[1] or ''}char", kind)
    name = re.sub(r"time(stamp)?\(\d\)", lambda found: f"time{found[1] or ''}", name)
    return re.sub(r",(?=\d)", ", ", name).upper()


def same(left: Any, right: Any) -> bool:
    """Return whether two values are equal; floating point numbers within 1e-9, as in ``verify``."""
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-9)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and bool(left == right)


def as_text(values: Iterable[Any]) -> str:
    """Return values as compact JSON."""
    return json.dumps(list(values), ensure_ascii=False, separators=(",", ":"))
