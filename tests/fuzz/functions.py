"""Calls of the functions of the language by the kind of their value, to be nested at random.

In: a random generator and columns. Out: SQL text of a kind. :data:`CALLS` has every function: what
engines must be able to analyse. :data:`PLAIN` are those whose meaning DuckDB shares without a
rewrite, so that the fuzz can ask it for the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random

from sqlglot import exp

from headwater.analyze.typing import types as t
from headwater.analyze.typing.functions import FUNCTIONS, INTERNAL, Function

_WRITTEN: Mapping[str, tuple[str, ...]] = {
    "text": (
        *("lower({text})", "upper({text})", "trim({text})", "ltrim({text})", "rtrim({text})"),
        *("reverse({text})", "replace({text}, 'u', 'v')", "substr({text}, 1, 2)"),
        *("concat({text}, {text})", "concat_ws('-', {text}, {text})", "lpad({text}, 3, 'x')"),
        "rpad({text}, 1 + abs({small}) % 5, 'x')",
        *("rpad({text}, 3, 'x')", "split_part({text}, 'v', 1)", "translate({text}, 'uv', 'vu')"),
        *("regexp_replace({text}, 'u', 'v')", "regexp_extract({text}, '(u)', 1)"),
        *("date_format({instant}, '%Y-%m')", "CAST({number} AS VARCHAR)", "{text} || {text}"),
        *("if({flag}, {text}, {text})", "json_extract_scalar({text}, '$.a[0]')"),
        *("nullif({text}, 'v')", "greatest({text}, {text})", "element_at(split({text}, 'v'), 1)"),
        "CASE {text} WHEN 'u' THEN {text} WHEN 'v' THEN 'w' END",
        "CAST(TRY_CAST({text} AS UUID) AS VARCHAR)",
        "json_format(CAST(ARRAY[{text}, NULL] AS JSON))",
        "json_object('a': {number}, 'b': {text}, 'c': json_array({flag}, {day}, {money}))",
    ),
    "number": (
        *("abs({number})", "length({text})", "strpos({text}, 'v')", "CAST({small} AS BIGINT)"),
        *("bitwise_and({number}, 3)", "bitwise_or({number}, {number})", "mod({number}, 7)"),
        *("bitwise_xor({number}, {number})", "sign({number})", "cardinality(split({text}, 'v'))"),
        *("year({day})", "quarter({day})", "month({day})", "day({day})", "week({day})"),
        *("day_of_week({day})", "day_of_year({day})", "hour({instant})", "minute({instant})"),
        *("second({instant})", "date_diff('hour', {instant}, {instant})", "coalesce({number}, 7)"),
        *("{number} + {small}", "{number} - {number}", "{number} * 2", "{number} / 2"),
        *("-{number}", "least({number}, {number})", "TRY_CAST({text} AS BIGINT)"),
        *("extract(YEAR FROM {moment})", "extract(DOW FROM {day})"),
        *("hour(CAST({moment} AS TIME))", "extract(DAY FROM {moment} - {moment})"),
        "date_diff('minute', CAST({instant} AS TIME), TRY_CAST({text} AS TIME))",
        *("date_diff('month', {day}, {day})", "date_diff('week', {moment}, {moment})"),
        *("length(from_utf8(X'6162'))", "regexp_count({text}, 'u+')"),
        "cardinality(regexp_extract_all({text}, '(u)v', 1))",
        "cardinality(regexp_split({text}, '[uv]'))",
        "ARRAY[{number}, {small}][1 + abs({small}) % 3]",
        "element_at(ARRAY[{number}, NULL], {small})",
        "map(ARRAY[{text}], ARRAY[{number}])[{text}]",
        "bit_count({number}, 64)",
        "cardinality(map_keys(map(ARRAY[{text}], ARRAY[{number}])))",
        "element_at(map_values(map(ARRAY[{text}], ARRAY[{number}])), 1)",
        "cardinality(transform(split({text}, 'v'), x -> length(x) + {small}))",
        "cardinality(filter(split({text}, 'v'), x -> length(x) > {small}))",
        "element_at(zip_with(ARRAY[{number}], ARRAY[{small}], (x, y) -> x + y), 1)",
        "reduce(split({text}, 'v'), 0, (x, y) -> greatest(x, 1), x -> x)",
    ),
    "float": (
        *("sqrt(abs({float}))", "cbrt({float})", "exp({small})", "power({float}, 2)"),
        *("sin({float})", "cos({float})", "tan({float})", "atan({float})", "radians({float})"),
        *("atan2({float}, {float})", "degrees({float})", "pi()", "ceil({float})", "floor({float})"),
        *("round({float}, 1)", "truncate({float})", "to_unixtime({instant})", "{number} / 2e0"),
        *("sign({float})", "CAST({money} AS DOUBLE)", "{float} * {float}"),
    ),
    "small": ("abs({small})", "{small} % 3", "CAST({number} AS INTEGER)", "coalesce({small}, 7)"),
    "money": ("abs({money})", "-{money}", "CAST({small} AS DECIMAL(9, 2))", "least({money}, 1.50)"),
    "flag": (
        *("regexp_like({text}, 'u')", "starts_with({text}, 'u')", "{text} LIKE 'u!%' ESCAPE '!'"),
        *(
            "contains(split({text}, 'v'), 'u')",
            "{number} IN (1, 2)",
            "NOT {flag}",
            "{flag} IS TRUE",
        ),
        *("{day} BETWEEN {day} AND {day}", "{float} > 1e0", "{text} IS NOT DISTINCT FROM 'u'"),
        *("{number} <> ALL (VALUES 1, 2)", "{money} <= {money}", "{flag} AND {flag} OR {flag}"),
        *("any_match(ARRAY[{text}], x -> x = 'u')", "all_match(ARRAY[{number}], x -> x > 1)"),
        "none_match(split({text}, 'v'), x -> x IS NULL)",
        "CAST({moment} AS TIME) + INTERVAL '20' HOUR < TIME '12:00'",
        "{moment} - {moment} > {small} * INTERVAL '1' HOUR",
    ),
    "day": (
        *("date({instant})", "last_day_of_month({day})", "date_trunc('month', {day})"),
        *("CAST({moment} AS DATE)", "greatest({day}, DATE '2026-01-01')"),
        *("date_add('month', {small}, {day})", "{day} + INTERVAL '1' MONTH"),
    ),
    "moment": (
        *(
            "date_trunc('hour', {moment})",
            "{moment} + INTERVAL '1' DAY",
            "CAST({day} AS TIMESTAMP)",
        ),
        *("CAST({instant} AS TIMESTAMP)", "{moment} + ({moment} - {moment})"),
    ),
    "instant": (
        *(
            "date_trunc('hour', {instant})",
            "from_unixtime({number})",
            "{instant} - INTERVAL '2' HOUR",
        ),
        *("CAST({moment} AS TIMESTAMP WITH TIME ZONE)", "date_add('minute', -5, {instant})"),
        "date_add('hour', {small}, {instant})",
    ),
}
"""By kind of the value; in braces stands the kind of an argument."""

_ARGUMENTS: Mapping[str, str] = {
    **dict.fromkeys(("bigint", "integer", "long"), "{number}"),
    **dict.fromkeys(("texts", "comparables", "exacts", "same", "array"), "split({text}, 'v')"),
    **dict.fromkeys(("text", "element", "string"), "{text}"),
    "arrays": "ARRAY[split({text}, 'v')]",
    "int": "{small}",
    "double": "{float}",
    "number": "{money}",
    "binary": "to_utf8({text})",
    "datetime": "{day}",
    "timestamp": "{moment}",
}
_SHOWN: Mapping[exp.DType, tuple[str, str]] = {
    t.Type.VARCHAR: ("text", "{}"),
    t.Type.INT: ("small", "{}"),
    t.Type.BIGINT: ("number", "{}"),
    t.Type.DOUBLE: ("float", "{}"),
    t.Type.BOOLEAN: ("flag", "{}"),
    t.Type.VARBINARY: ("text", "to_hex({})"),
    t.Type.ARRAY: ("number", "cardinality({})"),
}
"""By type of a result, the kind of value that it is or is shown as."""
_APART = ("lambda", "map", "any")
"""Arguments of lines whose calls are written out."""


def call_of(function: Function) -> str:
    """Return the call of a line of the table, with a hole for each argument."""
    needed = [word for word in function.params if not word.endswith("?")]
    return f"{function.name}({', '.join(_ARGUMENTS[word.rstrip('*')] for word in needed)})"


def _lines() -> Iterator[tuple[str, str]]:
    """Yield the kind and the call of every scalar line of the table that takes no literal."""
    for function in FUNCTIONS.values():
        written = function.constant or not set(_APART).isdisjoint(function.params)
        written = written or function.name in ("map", *(each.name for each in INTERNAL.values()))
        if function.texts is not None and function.kind == "scalar" and not written:
            texts = t.array(t.VARCHAR)
            kinds = [t.array(texts) if word == "arrays" else texts for word in function.params]
            kind, shown = _SHOWN[function.result(kinds).this]
            yield kind, shown.format(call_of(function))


CALLS: Mapping[str, tuple[str, ...]] = {
    kind: (*calls, *(call for found, call in _lines() if found == kind))
    for kind, calls in _WRITTEN.items()
}
"""All of them, with those of the lines of the table of functions."""

PLAIN: Mapping[str, tuple[str, ...]] = {
    "text": ("coalesce({text}, {text})", "nullif({text}, 'v')", "if({flag}, {text}, {text})"),
    "number": (
        *("coalesce({number}, 7)", "length({text})", "CAST({small} AS BIGINT)"),
        "extract(day FROM CAST({day} AS TIMESTAMP) - CAST({day} AS TIMESTAMP))",
        "hour(CAST(CAST({day} AS TIMESTAMP) + ({small} % 50) * INTERVAL '1' HOUR AS TIME))",
    ),
    "flag": (
        *("{text} IS NULL", "NOT {flag}", "{number} IN (1, 2)", "{day} <= DATE '2026-01-01'"),
        "CAST({day} AS TIMESTAMP) - CAST({day} AS TIMESTAMP) > ({small} % 50) * INTERVAL '9' HOUR",
    ),
    "small": ("coalesce({small}, 7)", "nullif({small}, 1)"),
    "day": ("coalesce({day}, DATE '2026-01-02')",),
}
"""Of these, what DuckDB computes as Headwater does, of every value that the fuzz has."""

_HOLE = re.compile(r"\{(\w+)\}")


def holes(call: str) -> list[str]:
    """Return the kinds of the arguments of a call.

    Args:
        call: of :data:`CALLS`.
    """
    return _HOLE.findall(call)


def nested(
    rnd: Random,
    columns: Mapping[str, Sequence[str]],
    kind: str,
    depth: int,
    calls: Mapping[str, Sequence[str]] = CALLS,
) -> str:
    """Return a call of a kind, with calls as its arguments.

    Args:
        rnd: the generator.
        columns: texts of the values of each kind.
        kind: of the value.
        depth: how deep calls are nested.
        calls: what there is to call.
    """
    if not depth or kind not in calls:
        return rnd.choice(columns[kind])
    return fill(rnd, columns, rnd.choice(calls[kind]), depth - 1, calls)


def fill(
    rnd: Random,
    columns: Mapping[str, Sequence[str]],
    call: str,
    depth: int = 0,
    calls: Mapping[str, Sequence[str]] = CALLS,
) -> str:
    """Return a call whose arguments are values of a depth.

    Args:
        rnd: the generator.
        columns: texts of the values of each kind.
        call: of :data:`CALLS`.
        depth: how deep calls are nested in its arguments.
        calls: what there is to call.
    """
    return _HOLE.sub(lambda hole: f"({nested(rnd, columns, hole[1], depth, calls)})", call)
