"""One meaning in three engines: what sqlglot's translation of an allowed function leaves different.

In: a bound query. Out: a copy that means the same when sqlglot prints it for Spark, DuckDB or
Trino. Every function of the allow-list is run through this in Spark and DuckDB by the tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeVar, cast

from sqlglot import exp

from headwater.analyze.portable import (
    collecting_aggregates,
    function_edge_cases,
    map_equality,
    trino,
)
from headwater.analyze.portable.averages import duckdb_average, spark_average
from headwater.analyze.portable.in_subquery import spark_in
from headwater.analyze.portable.text_casts import duckdb_cast, duckdb_try_cast, spark_cast
from headwater.analyze.portable.unnest import duckdb_unnest, spark_unnest
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.window_functions import NUMBERED

_NARROW = 18
_ONE = exp.cast(exp.Literal.number(1), t.BIGINT)
Tree = TypeVar("Tree", bound=exp.Expr)
Fix = Callable[[exp.Expr], exp.Expr]


def portable(query: Tree, dialect: str) -> Tree:
    """Return a copy of a bound tree that sqlglot can print for an engine without change of meaning.

    Args:
        query: a bound query or expression (types set).
        dialect: ``spark``, ``duckdb`` or ``trino``.
    """
    root = exp.Paren(this=query.copy())
    fixes = FIXES[dialect]
    for node in reversed(list(root.walk(bfs=True))):
        fix = fixes.get(type(node))
        if fix is None or node is root:
            continue
        kind = node.type
        fixed = fix(node)
        if fixed is not node:
            node.replace(fixed)
            fixed.type = kind
    return cast(Tree, root.this.pop())


def _call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])


def _cast(node: exp.Expr, kind: exp.DataType) -> exp.Cast:
    return exp.Cast(this=node.copy(), to=kind.copy())


def _rounded(node: exp.Expr) -> exp.Expr:
    """``round(x, 2)`` of a double → ``round(x * 1e2) / 1e2``: Trino's own definition."""
    decimals = node.args.get("decimals")
    if decimals is None or not t.is_float(type_of(node.this)):
        return node
    negative = isinstance(decimals, exp.Neg)
    digits = int((decimals.this if negative else decimals).name)
    if digits == 0:
        return exp.Round(this=node.this.copy())
    factor = exp.Literal.number(f"1e{digits}")
    first, last = (exp.Div, exp.Mul) if negative else (exp.Mul, exp.Div)
    whole = exp.Round(this=first(this=exp.paren(node.this.copy()), expression=factor))
    return exp.paren(last(this=whole, expression=factor.copy()))


def _kept_type(node: exp.Expr) -> exp.Expr:
    """Trino's sign has the type of its argument."""
    return _cast(node, type_of(node.this))


def _ranked_as_double(node: exp.Expr) -> exp.Expr:
    """Decimals are ranked as DOUBLE, as in Trino."""
    if type_of(node.this).this is t.Type.DECIMAL:
        value = _cast(node.this, t.DOUBLE)
        value.type = t.DOUBLE
        node.set("this", value)
    return node


def _spark_counted(node: exp.Expr) -> exp.Expr:
    """Spark's lengths, places and parts of a time are INTEGER, and its seconds have a fraction."""
    return _cast(node, t.BIGINT)


def _spark_day_of_week(node: exp.Expr) -> exp.Expr:
    return exp.paren(exp.Add(this=_call("WEEKDAY", node.this), expression=_ONE.copy()), copy=False)


def _spark_seconds(node: exp.Expr) -> exp.Expr:
    return _cast(_cast(node.this, t.TIMESTAMPTZ), t.DOUBLE)


def _spark_trunc(node: exp.Expr) -> exp.Expr:
    """Spark's date_trunc always returns TIMESTAMP."""
    kind = type_of(node.this)
    return node if kind == t.TIMESTAMPTZ or t.is_unknown(kind) else _cast(node, kind)


def _spark_if(node: exp.Expr) -> exp.Expr:
    if not isinstance(node.parent, exp.Case) and not node.args.get("false"):
        node.set("false", exp.Null())
    return node


_ATTEMPTS = {exp.Add: "try_add", exp.Sub: "try_subtract", exp.Mul: "try_multiply"}


def _spark_attempt(node: exp.Expr) -> exp.Expr:
    """Spark has no TRY of any expression, but functions for the operators."""
    operation = node.this
    return _call(_ATTEMPTS[type(operation)], operation.this, operation.expression)


def _spark_seconds_to_time(node: exp.Expr) -> exp.Expr:
    """Not by way of text, as sqlglot does: it wraps around where 64 bits end."""
    return _call("TIMESTAMP_SECONDS", node.this)


def _whole_division(node: exp.Expr) -> exp.Expr:
    """Not by way of floating point numbers, which lose digits above 2**53."""
    if t.is_integer(type_of(node.this)) and t.is_integer(type_of(node.expression)):
        return exp.paren(exp.IntDiv(this=node.this.copy(), expression=node.expression.copy()))
    return node


def _spark_division(node: exp.Expr) -> exp.Expr:
    """Spark's quotient of INTEGERs is a BIGINT, which holds what theirs does not."""
    fixed, kind = _whole_division(node), type_of(node)
    return _cast(fixed, kind) if kind.this is t.Type.INT else fixed


def _spark_numbered(node: exp.Expr) -> exp.Expr:
    """Spark's row_number and the like are INTEGER."""
    return _cast(node, type_of(node)) if type(node.this) in NUMBERED else node


def _spark_window(node: exp.Expr) -> exp.Expr:
    return spark_average(_spark_numbered(node))


def _spark_filter(node: exp.Expr) -> exp.Expr:
    fixed = spark_average(node)
    return collecting_aggregates.spark_filter(node) if fixed is node else fixed


def _duckdb_elapsed(node: exp.Expr) -> exp.Expr:
    """DuckDB's date_diff counts boundaries; its date_sub counts full units, as Trino does."""
    unit = exp.Literal.string(node.text("unit").lower())
    return _call("DATE_SUB", unit, node.expression, node.this)


def _duckdb_trunc(node: exp.Expr) -> exp.Expr:
    kind = type_of(node.this)
    return _cast(node, kind) if kind == t.DATE else node


def _duckdb_wide(node: exp.Expr) -> exp.Expr:
    """DuckDB calculates with 18 digits as long as both operands have no more."""
    if type_of(node).this is not t.Type.DECIMAL or t.digits(type_of(node))[0] <= _NARROW:
        return node
    left = type_of(node.this)
    if t.is_unknown(left):
        return node
    wide = t.decimal(t.MAX_PRECISION, t.digits(left)[1])
    node.set("this", _cast(node.this, wide))
    return node


def _duckdb_replace(node: exp.Expr) -> exp.Expr:
    """Groups are ``$1`` in Trino and Spark, and have a backslash in DuckDB."""
    text = node.args.get("replacement")
    if text is not None and text.is_string:
        replacement = re.sub(r"\$(\d)", r"\\\1", text.name)
        node.set("replacement", exp.Literal.string(replacement))
    return node


def _duckdb_contains(node: exp.Expr) -> exp.Expr:
    """DuckDB's own is false, not NULL, where a NULL in the array could be the value."""
    null = _call("LIST_COUNT", node.this)  # of those that are not NULL
    unknown = exp.LT(this=null, expression=_call("LEN", node.this))
    found = exp.If(this=node.copy(), true=exp.true())
    return exp.Case(ifs=[found, exp.If(this=unknown, true=exp.null())], default=node.copy())


def _duckdb_count_if(node: exp.Expr) -> exp.Expr:
    """DuckDB's own is NULL, not 0, where every condition is."""
    one = exp.If(this=node.this.copy(), true=exp.Literal.number(1))
    return exp.Count(this=exp.Case(ifs=[one]))


def _duckdb_json(node: exp.Expr) -> exp.Expr:
    """Text that is no JSON gives NULL, not an error."""
    valid = exp.If(this=_call("JSON_VALID", node.this), true=node.copy())
    return exp.Case(ifs=[valid])


_SPARK_COUNTS = (
    *(exp.Length, exp.StrPosition, exp.ArraySize, exp.Extract),
    *(exp.Year, exp.Quarter, exp.Month, exp.WeekOfYear, exp.Day, exp.DayOfYear),
    *(exp.Hour, exp.Minute, exp.Second),
)

FIXES: Mapping[str, Mapping[type[exp.Expr], Fix]] = {
    "spark": {
        exp.Round: _rounded,
        exp.Floor: function_edge_cases.spark_whole,
        exp.Ceil: function_edge_cases.spark_whole,
        exp.Trunc: function_edge_cases.spark_whole,
        exp.Greatest: function_edge_cases.spark_extreme,
        exp.Least: function_edge_cases.spark_extreme,
        exp.RegexpLike: function_edge_cases.spark_pattern,
        exp.RegexpReplace: function_edge_cases.spark_pattern,
        exp.RegexpExtract: function_edge_cases.spark_extract,
        **dict.fromkeys(_SPARK_COUNTS, _spark_counted),
        exp.DayOfWeekIso: _spark_day_of_week,
        exp.TimeToUnix: _spark_seconds,
        exp.TimestampTrunc: _spark_trunc,
        exp.If: _spark_if,
        exp.Cast: spark_cast,
        exp.TryCast: spark_cast,
        exp.Try: _spark_attempt,
        exp.UnixToTime: _spark_seconds_to_time,
        exp.Div: _spark_division,
        exp.Sign: _kept_type,
        exp.Window: _spark_window,
        exp.Avg: spark_average,
        exp.ApproxQuantile: _ranked_as_double,
        exp.In: spark_in,
        exp.ArgMin: collecting_aggregates.spark_by,
        exp.ArgMax: collecting_aggregates.spark_by,
        exp.ArrayAgg: collecting_aggregates.spark_list,
        exp.GroupConcat: collecting_aggregates.spark_list,
        exp.Filter: _spark_filter,
        exp.Unnest: spark_unnest,
        **dict.fromkeys((exp.EQ, exp.NEQ), map_equality.spark_equal),
    },
    "duckdb": {
        exp.Round: _rounded,
        exp.Floor: function_edge_cases.whole,
        exp.Ceil: function_edge_cases.whole,
        exp.DateDiff: _duckdb_elapsed,
        exp.Sign: function_edge_cases.duckdb_sign,
        exp.Atan2: function_edge_cases.positive_zero,
        exp.Trim: function_edge_cases.only_spaces,
        exp.Upper: function_edge_cases.duckdb_upper,
        exp.Lower: function_edge_cases.duckdb_lower,
        exp.Reverse: function_edge_cases.duckdb_reverse,
        exp.TimestampTrunc: _duckdb_trunc,
        exp.Div: _whole_division,
        exp.Add: _duckdb_wide,
        exp.Sub: _duckdb_wide,
        exp.Mul: _duckdb_wide,
        exp.Cast: duckdb_cast,
        exp.TryCast: duckdb_try_cast,
        exp.RegexpReplace: _duckdb_replace,
        exp.RegexpExtract: function_edge_cases.null_unless_found,
        exp.ArrayContains: _duckdb_contains,
        exp.ArgMin: collecting_aggregates.duckdb_by,
        exp.ArgMax: collecting_aggregates.duckdb_by,
        exp.JSONExtractScalar: _duckdb_json,
        exp.CountIf: _duckdb_count_if,
        exp.ApproxQuantile: _ranked_as_double,
        exp.Unnest: duckdb_unnest,
        **dict.fromkeys((exp.EQ, exp.NEQ), map_equality.duckdb_equal),
        **dict.fromkeys((exp.Avg, exp.Filter, exp.Window), duckdb_average),
    },
    "trino": {**trino.FIXES, exp.ApproxQuantile: _ranked_as_double},
}
"""The corrections by dialect and node class."""
