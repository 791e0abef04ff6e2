"""One meaning in three engines: what sqlglot's translation of an allowed function leaves different.

In: a bound query. Out: a copy that means the same when sqlglot prints it for Spark, DuckDB or
Trino. Every function of the allow-list is run through this in Spark and DuckDB by the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar, cast

from sqlglot import exp

from headwater.analyze.decimals import quotients
from headwater.analyze.decimals.averages import (
    duckdb_average,
    spark_average,
    trino_average,
)
from headwater.analyze.decimals.casts import decimal_as_float
from headwater.analyze.failing.guards import raise_where_it_fails
from headwater.analyze.inference.compositions import compose_calls
from headwater.analyze.inference.window_functions import NUMBERED
from headwater.analyze.lets import once
from headwater.analyze.portable import (
    arithmetic,
    attempts,
    collecting_aggregates,
    division,
    equality,
    function_edge_cases,
    json_values,
    null_if,
    patterns,
    spans,
    texts,
    times,
    trino,
)
from headwater.analyze.portable.engine_texts import (
    aggregate_text,
    engine_text,
    is_line_of_rows,
    untyped_text,
)
from headwater.analyze.portable.in_subquery import spark_in
from headwater.analyze.portable.patterns import call
from headwater.analyze.portable.text_casts import duckdb_cast, spark_cast
from headwater.analyze.portable.unnest import duckdb_unnest, spark_unnest
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.functions.arrays import LET
from headwater.analyze.typing.functions.carried import READ
from headwater.analyze.typing.functions.lambdas import ZIP_WITH
from headwater.analyze.typing.functions.others import JSON_FAULT
from headwater.analyze.typing.functions.text import (
    REGEXP_COUNT,
    REGEXP_EXTRACT_ALL,
    REGEXP_SPLIT,
)
from headwater.dialect.syntax import JSONScalar, JSONText

_NARROW = 18
_LAST_PLACE = 2**31 - 1
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
    raise_where_it_fails(root)
    if dialect != "trino":
        compose_calls(root)
    fixes = FIXES[dialect]
    text_of = partial(engine_text, dialect=dialect)
    let_text = partial(untyped_text, dialect=dialect)
    for node in reversed(list(root.walk(bfs=True))):
        if node is root:
            continue
        kind = node.type
        if is_line_of_rows(node):
            around = isinstance(node.parent, (exp.Filter, exp.Window)) and node.arg_key == "this"
            fixed = node if around else aggregate_text(node, dialect)
        else:
            fix = fixes.get(type(node), let_text if isinstance(node, LET) else text_of)
            fixed = once(node, fix, let_text)
        if fixed is not node:
            node.replace(fixed)
            fixed.type = kind
    return cast(Tree, root.this.pop())


def _cast(node: exp.Expr, kind: exp.DataType) -> exp.Cast:
    return exp.Cast(this=node.copy(), to=kind.copy())


def _ranked(node: exp.Expr) -> exp.Expr:
    """Decimals are ranked as REAL and integers as BIGINT, as in Trino."""
    kind = type_of(node)
    if not t.is_unknown(kind) and type_of(node.this) != kind:
        value = _cast(node.this, kind)
        value.type = kind
        node.set("this", value)
    return node


def _spark_counted(node: exp.Expr) -> exp.Expr:
    """Spark's lengths, places and parts of a time are INTEGER, and its seconds have a fraction."""
    return _cast(node, t.BIGINT)


def _spark_day_of_week(node: exp.Expr) -> exp.Expr:
    return exp.paren(exp.Add(this=call("WEEKDAY", node.this), expression=_ONE.copy()), copy=False)


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


def _spark_seconds_to_time(node: exp.Expr) -> exp.Expr:
    """Not by way of text, as sqlglot does: it wraps around where 64 bits end."""
    return call("TIMESTAMP_SECONDS", node.this)


def _whole_division(node: exp.Expr) -> exp.Expr:
    """Not by way of floating point numbers, which lose digits above 2**53."""
    if t.is_integer(type_of(node.this)) and t.is_integer(type_of(node.expression)):
        return exp.paren(exp.IntDiv(this=node.this.copy(), expression=node.expression.copy()))
    return node


def _spark_division(node: exp.Expr) -> exp.Expr:
    """Spark's quotient of INTEGERs is a BIGINT, which holds more; that of REALs is a DOUBLE."""
    fixed, kind = _whole_division(node), type_of(node)
    if kind.this is t.Type.DECIMAL:
        return quotients.spark_quotient(node)
    if t.is_float(kind):
        fixed = division.spark_quotient(node)
    return _cast(fixed, kind) if kind.this in (t.Type.INT, t.Type.FLOAT) else fixed


def _duckdb_division(node: exp.Expr) -> exp.Expr:
    if type_of(node).this is t.Type.DECIMAL:
        return quotients.duckdb_quotient(node)
    return _whole_division(node)


def _spark_numbered(node: exp.Expr) -> exp.Expr:
    """Spark's row_number and the like are INTEGER."""
    return _cast(node, type_of(node)) if type(node.this) in NUMBERED else node


def _spark_average(node: exp.Expr) -> exp.Expr:
    fixed = spark_average(node)
    return arithmetic.real_average(node) if fixed is node else fixed


def _duckdb_average(node: exp.Expr) -> exp.Expr:
    fixed = duckdb_average(node)
    return arithmetic.real_average(node) if fixed is node else fixed


def _spark_window(node: exp.Expr) -> exp.Expr:
    return _spark_average(_spark_numbered(node))


def _spark_filter(node: exp.Expr) -> exp.Expr:
    fixed = _spark_average(node)
    return collecting_aggregates.spark_filter(node) if fixed is node else fixed


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


def _duckdb_contains(node: exp.Expr) -> exp.Expr:
    """DuckDB's own is false, not NULL, where a NULL in the array could be the value."""
    null = call("LIST_COUNT", node.this)  # of those that are not NULL
    unknown = exp.LT(this=null, expression=call("LEN", node.this))
    found = exp.If(this=node.copy(), true=exp.true())
    return exp.Case(ifs=[found, exp.If(this=unknown, true=exp.null())], default=node.copy())


def _duckdb_size(node: exp.Expr) -> exp.Expr:
    is_map = type_of(node.this).this is t.Type.MAP
    return call("CARDINALITY", node.this) if is_map else node


def _duckdb_joined(node: exp.Expr) -> exp.Expr:
    """DuckDB takes an array that is NULL for an empty one."""
    if type_of(node).this is not t.Type.ARRAY:
        return node
    sides = (node.this, node.expression)
    given = [exp.Not(this=exp.Is(this=exp.paren(each), expression=exp.Null())) for each in sides]
    whole = call("LIST_CONCAT", *sides)
    return exp.Case(ifs=[exp.If(this=exp.and_(*given), true=whole)])


def _element(node: exp.Expr, of_map: str, of_array: str) -> exp.Expr:
    """An element of an array, or the value of a key; sqlglot takes a number for a place."""
    kind, at = type_of(node.this), node.expressions[0]
    if kind.this is t.Type.MAP:
        return call(of_map, node.this, at)
    if node.args.get("safe") and isinstance(at, (exp.Literal, exp.Neg)):
        return node  # as sqlglot prints it
    return call(of_array, node.this, at)


def _spark_element(node: exp.Expr) -> exp.Expr:
    """Spark 4.1.3 takes an INTEGER, and fails at the least of them instead of finding nothing."""
    at = node.expressions[0]
    if type_of(node.this).this is not t.Type.MAP and not isinstance(at, (exp.Literal, exp.Neg)):
        upper = call("LEAST", at, exp.Literal.number(_LAST_PLACE))
        place = call("GREATEST", upper, exp.Neg(this=exp.Literal.number(_LAST_PLACE)))
        node.set("expressions", [_cast(place, t.INTEGER)])
    return _element(node, of_map="TRY_ELEMENT_AT", of_array="TRY_ELEMENT_AT")


def _duckdb_count_if(node: exp.Expr) -> exp.Expr:
    """DuckDB's own is NULL, not 0, where every condition is."""
    one = exp.If(this=node.this.copy(), true=exp.Literal.number(1))
    return exp.Count(this=exp.Case(ifs=[one]))


def _duckdb_length(node: exp.Expr) -> exp.Expr:
    is_bytes = t.family(type_of(node.this)) == "binary"
    return call("OCTET_LENGTH", node.this) if is_bytes else node


def _padded(node: exp.Expr) -> exp.Expr:
    """Lengths are INTEGER in Spark and DuckDB."""
    if not isinstance(node.expression, exp.Literal):
        node.set("expression", _cast(node.expression, t.INTEGER))
    return node


_SPARK_COUNTS = (
    *(exp.Length, exp.StrPosition, exp.ArraySize, exp.Extract),
    *(exp.Year, exp.Quarter, exp.Month, exp.WeekOfYear, exp.Day, exp.DayOfYear),
    *(exp.Hour, exp.Minute, exp.Second),
)

_EVERY = (REGEXP_COUNT, REGEXP_EXTRACT_ALL, REGEXP_SPLIT)
_BITS = (exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor)

_CARRIED: Mapping[type[exp.Expr], Fix] = {exp.DataType: spans.carrier, exp.Interval: spans.length}

FIXES: Mapping[str, Mapping[type[exp.Expr], Fix]] = {
    "spark": {
        **_CARRIED,
        **dict.fromkeys(READ.values(), partial(spans.written, dialect="spark")),
        exp.Round: arithmetic.rounded,
        exp.Floor: function_edge_cases.spark_whole,
        exp.Ceil: function_edge_cases.spark_whole,
        exp.Trunc: function_edge_cases.spark_whole,
        exp.Greatest: function_edge_cases.spark_extreme,
        exp.Least: function_edge_cases.spark_extreme,
        exp.Like: patterns.spark_like,
        exp.RegexpLike: patterns.spark_test,
        exp.RegexpReplace: patterns.spark_replace,
        exp.RegexpExtract: patterns.spark_extract,
        exp.Split: patterns.spark_split,
        **dict.fromkeys(_EVERY, patterns.spark_every),
        exp.Pad: _padded,
        exp.SplitPart: texts.spark_part,
        exp.Substring: texts.part_of,
        exp.Replace: texts.spark_replaced,
        exp.Trim: texts.trimmed,
        exp.Upper: texts.spark_upper,
        exp.Lower: texts.spark_lower,
        **dict.fromkeys((exp.JSONExtractScalar, JSONScalar), json_values.spark_scalar),
        JSON_FAULT: json_values.spark_fault,
        JSONText: partial(json_values.made, dialect="spark"),
        exp.TimeToStr: times.spark_written,
        exp.DateDiff: times.spark_elapsed,
        exp.DateAdd: times.spark_later,
        exp.Add: times.kept_date,
        exp.Sub: lambda node: times.kept_date(spans.difference(node, "spark")),
        **dict.fromkeys(_SPARK_COUNTS, _spark_counted),
        exp.DayOfWeekIso: _spark_day_of_week,
        exp.TimeToUnix: _spark_seconds,
        exp.TimestampTrunc: _spark_trunc,
        exp.If: _spark_if,
        exp.Cast: lambda node: decimal_as_float(spark_cast(node), "spark"),
        exp.TryCast: lambda node: decimal_as_float(spark_cast(node), "spark"),
        exp.Nullif: null_if.spark,
        **dict.fromkeys((exp.EQ, exp.NEQ), partial(equality.compared, dialect="spark")),
        exp.Try: attempts.spark_attempt,
        exp.UnixToTime: _spark_seconds_to_time,
        exp.Div: _spark_division,
        exp.Mod: division.spark_rest,
        exp.Neg: arithmetic.spark_negative,
        exp.Abs: arithmetic.spark_abs,
        exp.Atan2: arithmetic.spark_atan2,
        **dict.fromkeys(_BITS, arithmetic.kept_type),
        exp.Sign: arithmetic.kept_type,
        exp.Window: _spark_window,
        exp.Avg: _spark_average,
        exp.ApproxQuantile: _ranked,
        exp.In: lambda node: spark_in(equality.member(node, "spark")),
        exp.Case: partial(equality.chosen, dialect="spark"),
        exp.ArgMin: collecting_aggregates.spark_by,
        exp.ArgMax: collecting_aggregates.spark_by,
        exp.ArrayAgg: collecting_aggregates.spark_list,
        exp.GroupConcat: collecting_aggregates.spark_list,
        exp.Filter: _spark_filter,
        exp.Unnest: spark_unnest,
        exp.Bracket: _spark_element,
    },
    "duckdb": {
        **_CARRIED,
        **dict.fromkeys(READ.values(), partial(spans.written, dialect="duckdb")),
        exp.Try: attempts.duckdb_attempt,
        exp.HexString: lambda node: call("UNHEX", exp.Literal.string(node.name)),
        exp.Round: arithmetic.rounded,
        exp.Floor: function_edge_cases.whole,
        exp.Ceil: function_edge_cases.whole,
        exp.DateDiff: times.duckdb_elapsed,
        exp.DateAdd: times.duckdb_later,
        exp.Sign: function_edge_cases.duckdb_sign,
        exp.Greatest: function_edge_cases.duckdb_extreme,
        exp.Least: function_edge_cases.duckdb_extreme,
        exp.Pow: arithmetic.duckdb_power,
        exp.Literal: arithmetic.duckdb_literal,
        exp.Trunc: function_edge_cases.whole,
        **dict.fromkeys(_BITS, arithmetic.kept_type),
        exp.Trim: texts.trimmed,
        exp.Upper: texts.duckdb_upper,
        exp.Lower: texts.duckdb_lower,
        exp.Reverse: texts.duckdb_reverse,
        exp.Replace: texts.duckdb_replaced,
        exp.Substring: texts.part_of,
        exp.Length: _duckdb_length,
        exp.Pad: _padded,
        exp.SplitPart: texts.duckdb_part,
        exp.RegexpLike: patterns.duckdb_test,
        **dict.fromkeys(_EVERY, patterns.duckdb_every),
        exp.TimestampTrunc: _duckdb_trunc,
        exp.Div: _duckdb_division,
        exp.Mod: division.duckdb_rest,
        exp.Add: lambda node: times.kept_date(_duckdb_wide(node)),
        exp.Sub: lambda node: times.kept_date(_duckdb_wide(spans.difference(node, "duckdb"))),
        exp.Mul: _duckdb_wide,
        exp.Cast: lambda node: decimal_as_float(duckdb_cast(node), "duckdb"),
        exp.TryCast: lambda node: decimal_as_float(duckdb_cast(node), "duckdb"),
        exp.Nullif: null_if.duckdb,
        **dict.fromkeys((exp.EQ, exp.NEQ), partial(equality.compared, dialect="duckdb")),
        exp.In: partial(equality.member, dialect="duckdb"),
        exp.Case: partial(equality.chosen, dialect="duckdb"),
        exp.RegexpReplace: patterns.duckdb_replace,
        exp.RegexpExtract: patterns.duckdb_extract,
        exp.ArrayContains: _duckdb_contains,
        exp.ArgMin: collecting_aggregates.duckdb_by,
        exp.ArgMax: collecting_aggregates.duckdb_by,
        **dict.fromkeys((exp.JSONExtractScalar, JSONScalar), json_values.duckdb_scalar),
        JSON_FAULT: json_values.duckdb_fault,
        JSONText: partial(json_values.made, dialect="duckdb"),
        exp.TimeToStr: times.duckdb_written,
        exp.CountIf: _duckdb_count_if,
        exp.ApproxQuantile: _ranked,
        exp.Unnest: duckdb_unnest,
        exp.ArraySize: _duckdb_size,
        ZIP_WITH: function_edge_cases.duckdb_zip,
        exp.DPipe: _duckdb_joined,
        exp.Bracket: partial(_element, of_map="MAP_EXTRACT_VALUE", of_array="LIST_EXTRACT"),
        **dict.fromkeys((exp.Avg, exp.Filter, exp.Window), _duckdb_average),
    },
    "trino": {
        **trino.FIXES,
        **dict.fromkeys(READ.values(), partial(spans.written, dialect="trino")),
        exp.Sub: partial(spans.difference, dialect="trino"),
        JSONText: partial(json_values.made, dialect="trino"),
        exp.Try: attempts.trino_attempt,
        exp.DateAdd: times.trino_later,
        exp.Bracket: partial(_element, of_map="ELEMENT_AT", of_array="ELEMENT_AT"),
        exp.ApproxQuantile: _ranked,
        **dict.fromkeys((exp.Avg, exp.Filter), trino_average),
        exp.Window: lambda node: trino_average(trino.window(node)),
    },
}
"""The corrections by dialect and node class."""
