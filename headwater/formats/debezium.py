"""The values of Debezium's events as Spark SQL: what JSON shows → what the database held.

In: a column and the modes that the definition names (``decimals``, ``times``). Out: how its JSON
value is parsed, the expression of its value (NULL where it is none), and the text that a reason
shows. Nothing is guessed: a value in another mode than the declared one is refused by the type it
is parsed as, and where two modes write the same JSON type, by its form.

- ``string``: digits with a point, as ``numeric(p, s)`` is written; base64 has no point. Without
  fraction digits nothing tells ``"1234"`` from base64: there the definition alone decides.
- ``precise``: base64 of the unscaled number, big-endian in two's complement; the scale is the
  column's, for nothing else says it.
- ``double``: the nearest double of a number; one that is no number of that scale is refused.

An event that carries its schema (``schemas.enable``) also says what it writes there, which is held
against the declaration.

See the Debezium documentation, "PostgreSQL connector: data type mappings", "Temporal types" and
"Decimal types".
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from sqlglot import exp

from headwater.analyze.connectors.debezium import ADAPTIVE
from headwater.analyze.connectors.encodings import UNAVAILABLE
from headwater.analyze.definitions import Column
from headwater.analyze.typing import types as t
from headwater.analyze.typing.types import elements, spark_type
from headwater.formats.times import EARLIEST, LATEST, cast_text
from headwater.plan.sql.spark_text import text

_DAYS = tuple((date.fromisoformat(day) - date(1970, 1, 1)).days for day in (EARLIEST, LATEST))


@dataclass(frozen=True, slots=True)
class Reading:
    """How the value of one column is read; each expression is over ``value``, what was parsed.

    Attributes:
        parsed: the type that its JSON value must have.
        value: Spark SQL of the value, NULL where ``value`` is none of the column's.
        said: Spark SQL of the text that reasons show.
        schema: what an event that carries its schema calls such values there.
        counted: whether it is a time that was written as a number.
    """

    parsed: exp.DataType
    value: str
    said: str
    schema: str
    counted: bool = False


def reading(column: Column, value: str, modes: Mapping[str, str]) -> Reading | None:
    """Return how the value of a column is read; None if JSON shows it as it is.

    Args:
        value: expression of what was parsed.
        modes: the options ``decimals`` and ``times``.
    """
    kind = column.type
    if kind.this is t.Type.DECIMAL:
        return _DECIMALS[modes["decimals"]](kind, value)
    if kind.this is t.Type.TIMESTAMPTZ:  # in every mode
        return Reading(t.VARCHAR, cast_text(value, kind, None), value, TIME + "ZonedTimestamp")
    if kind.this not in (t.Type.DATE, t.Type.TIMESTAMPNTZ):
        return None
    times, is_date = modes["times"], kind.this is t.Type.DATE
    if times == "isostring":
        return from_iso(kind, value)
    in_micros = not is_date and times in ADAPTIVE and (column.digits or 0) > 3
    found = from_days(value) if is_date else from_units(kind, value, 1 if in_micros else 1_000)
    owner = TIME if times in ADAPTIVE else CONNECT
    schema = owner + ("Date" if is_date else "MicroTimestamp" if in_micros else "Timestamp")
    return Reading(t.BIGINT, found, f"CAST({value} AS STRING)", schema, counted=True)


def unavailable(kind: exp.DataType, value: str, placeholder: str = UNAVAILABLE) -> str:
    """Return the condition that a value stands for one that is not in the event; '' for never.

    Args:
        value: expression of the value.
        placeholder: Debezium's ``unavailable.value.placeholder``.
    """
    as_bytes = f"CAST({text(placeholder)} AS BINARY)"
    if kind.this is t.Type.VARCHAR:  # an hstore is written as JSON text
        pair = f'{{"{placeholder}":"{placeholder}"}}'
        return f"{value} IN ({text(placeholder)}, {text(pair)})"
    if kind.this is t.Type.VARBINARY:
        return f"{value} = {as_bytes}"
    if kind.this is t.Type.MAP and elements(kind)[0].this is t.Type.VARCHAR:
        return f"map_keys({value}) = array({text(placeholder)})"
    if kind.this is not t.Type.ARRAY:
        return ""
    item, encoded = elements(kind)[0], placeholder.encode()
    if item.this is t.Type.VARCHAR:  # of uuids, the one that is made of its bytes
        made = UUID(bytes=hashlib.md5(encoded, usedforsecurity=False).digest(), version=3)
        return f"{value} IN (array({text(placeholder)}), array({text(str(made))}))"
    if item.this is t.Type.VARBINARY:
        return f"{value} = array({as_bytes})"
    if item.this in (t.Type.INT, t.Type.BIGINT):  # the bytes, signed
        numbers = ", ".join(str((byte ^ 128) - 128) for byte in encoded)
        return f"{value} = CAST(array({numbers}) AS ARRAY<{spark_type(item)}>)"
    return ""


TIME, CONNECT = "io.debezium.time.", "org.apache.kafka.connect.data."
"""What the names of Debezium's and Connect's own types begin with."""


def from_iso(kind: exp.DataType, value: str) -> Reading:
    """Return how a DATE or TIMESTAMP is read from text.

    Args:
        value: expression of the text.
    """
    if kind.this is t.Type.DATE:  # written with an offset: 2026-01-31Z
        bare = f"regexp_replace({value}, 'Z$', '')"
        return Reading(t.VARCHAR, cast_text(bare, kind, None), value, TIME + "IsoDate")
    return Reading(t.VARCHAR, cast_text(value, kind, None), value, TIME + "IsoTimestamp")


def from_days(value: str) -> str:
    """Return the expression of a DATE, NULL if it is out of range.

    Args:
        value: expression of the days since 1970.
    """
    first, last = _DAYS
    found = f"date_from_unix_date(CAST({value} AS INT))"
    return f"CASE WHEN {value} BETWEEN {first} AND {last} THEN {found} END"


def from_units(kind: exp.DataType, value: str, micros: int) -> str:
    """Return the expression of a TIMESTAMP with or without time zone, NULL if it is out of range.

    Args:
        value: expression of the units since 1970, in UTC.
        micros: microseconds of a unit.
    """
    first, last = (days * 86_400_000_000 // micros for days in _DAYS)
    found = f"CAST(timestamp_micros({value} * {micros}L) AS {spark_type(kind)})"
    return f"CASE WHEN {value} BETWEEN {first}L AND {last}L THEN {found} END"


def _scale(kind: exp.DataType) -> int:
    return int(kind.expressions[1].name)


def from_string(kind: exp.DataType, value: str) -> Reading:
    """Return how a DECIMAL is read from its digits.

    Args:
        kind: the DECIMAL.
        value: expression of the text.
    """
    scale = _scale(kind)
    fraction = f"[.][0-9]{{1,{scale}}}0*" if scale else ""
    form = text(f"^-?[0-9]{{1,38}}{fraction}$")
    found = f"CASE WHEN {value} RLIKE {form} THEN try_cast({value} AS {spark_type(kind)}) END"
    return Reading(t.VARCHAR, found, value, "string")


def from_double(kind: exp.DataType, value: str) -> Reading:
    """Return how a DECIMAL is read from the double that is nearest to it.

    Args:
        kind: the DECIMAL.
        value: expression of the double.
    """
    number = f"try_cast({value} AS {spark_type(kind)})"
    found = f"CASE WHEN CAST({number} AS DOUBLE) = {value} THEN {number} END"
    return Reading(t.DOUBLE, found, f"CAST({value} AS STRING)", "double")


def _from_bytes(kind: exp.DataType, value: str) -> Reading:
    """Digits first, then the point: a product of decimals would lose digits."""
    scale = _scale(kind)
    digits = f"lpad(CAST({_magnitude(value)} AS STRING), {_WIDTH}, '0')"
    if scale:
        digits = f"regexp_replace({digits}, '(?=.{{{scale}}}$)', '.')"
    sign = f"CASE WHEN {_is_negative(value)} THEN '-' ELSE '' END"
    found = f"try_cast(concat({sign}, {digits}) AS {spark_type(kind)})"
    return Reading(t.VARBINARY, found, f"base64({value})", f"{CONNECT}Decimal {scale}")


_WIDTH = t.MAX_PRECISION + 1
"""Digits that an unscaled number is written with, so that one stands before every point."""
_COMPLEMENT = "'0123456789ABCDEF', 'FEDCBA9876543210'"


def _is_negative(value: str) -> str:
    return f"substr(hex({value}), 1, 1) >= '8'"


def _magnitude(value: str) -> str:
    """The absolute unscaled number, NULL if it has more than 38 digits."""
    size, negative = f"octet_length({value})", _is_negative(value)
    padded = f"lpad(hex({value}), 32, CASE WHEN {negative} THEN 'F' ELSE '0' END)"
    short = f"abs(CAST(conv(substr({padded}, 17), 16, -10) AS DECIMAL(38, 0)))"
    # longer ones in four parts; a negative number is one more than its complement
    turned = f"CASE WHEN {negative} THEN translate({padded}, {_COMPLEMENT}) ELSE {padded} END"
    most = [f"{10**t.MAX_PRECISION - less:032X}" for less in (2, 1)]
    fits = f"{turned} <= CASE WHEN {negative} THEN '{most[0]}' ELSE '{most[1]}' END"
    long = "CAST(0 AS DECIMAL(38, 0))"
    for first in (1, 9, 17, 25):
        part = f"CAST(conv(substr({turned}, {first}, 8), 16, 10) AS DECIMAL(10, 0))"
        long = f"CAST({long} * CAST({2**32} AS DECIMAL(10, 0)) + {part} AS DECIMAL(38, 0))"
    long = f"{long} + CASE WHEN {negative} THEN 1 ELSE 0 END"
    return (
        f"CASE WHEN {size} BETWEEN 1 AND 8 THEN {short}"
        f" WHEN {size} BETWEEN 9 AND 16 AND {fits} THEN CAST({long} AS DECIMAL(38, 0)) END"
    )


_DECIMALS = {"string": from_string, "precise": _from_bytes, "double": from_double}
