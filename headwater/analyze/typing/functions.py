"""The functions a query may call, as a table; what is not in it is refused.

In: a function node of sqlglot, or a name. Out: its :class:`Function`: signature, result type,
whether it aggregates. A function is listed only if it means the same in Trino, Spark and DuckDB
after translation by :mod:`headwater.analyze.portable.rewrites`; every scalar here was run in Spark
and DuckDB over the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from sqlglot import exp

from headwater.analyze.rules.determinism import NODES
from headwater.analyze.typing import types as t

_CALL = re.compile(r"(\w+)\(")
Result = Callable[[Sequence[exp.DataType]], exp.DataType]


@dataclass(frozen=True, slots=True)
class Function:
    """One function of the allow-list.

    Attributes:
        name: Trino's name.
        params: what each argument must be: a word of :data:`KINDS`; ``?`` at the end: may be
            absent,
            ``*``: once or more.
        result: type of the result from the types of the arguments.
        kind: ``scalar`` or ``aggregate``.
        constant: positions of arguments that must be literals.
        nullable: ``never``, ``always`` or ``arguments`` (NULL only if an argument is).
        approximate: whether two engines may give slightly different results.
        one_type: whether the arguments must have a type in common, which is the result's.
    """

    name: str
    params: tuple[str, ...]
    result: Result
    kind: Literal["scalar", "aggregate"] = "scalar"
    constant: tuple[int, ...] = ()
    nullable: Literal["never", "always", "arguments"] = "arguments"
    approximate: bool = False
    one_type: bool = False


KINDS: Mapping[str, Callable[[exp.DataType], bool]] = {
    "any": lambda kind: True,
    "comparable": lambda kind: t.family(kind) in ("boolean", "number", "text", "time"),
    "number": lambda kind: t.family(kind) == "number",
    "integer": t.is_integer,
    "float": lambda kind: t.is_integer(kind) or t.is_float(kind),
    "text": lambda kind: t.family(kind) == "text",
    "boolean": lambda kind: t.family(kind) == "boolean",
    "timestamp": t.is_timestamp,
    "datetime": lambda kind: t.family(kind) == "time",
    "date": lambda kind: kind == t.DATE,
    "array": lambda kind: t.family(kind) == "array",
}
"""``float`` takes no decimals: what comes of them has another scale in every engine."""

WANTED: Mapping[str, str] = {
    "comparable": "a number, text, boolean or time",
    "number": "a number",
    "integer": "an integer",
    "float": "an integer or floating point number",
    "text": "text",
    "boolean": "a boolean",
    "timestamp": "a timestamp",
    "datetime": "a date or timestamp",
    "date": "a date",
    "array": "an array",
}


def _always(kind: exp.DataType) -> Result:
    return lambda arguments: kind


def _first(arguments: Sequence[exp.DataType]) -> exp.DataType:
    return arguments[0]


def _array(arguments: Sequence[exp.DataType]) -> exp.DataType:
    return t.array(arguments[0])


def _common(arguments: Sequence[exp.DataType]) -> exp.DataType:
    return t.common_type(arguments) or t.UNKNOWN


def _whole(arguments: Sequence[exp.DataType]) -> exp.DataType:
    kind = arguments[0]
    if kind.this is t.Type.DECIMAL:
        precision, scale = t.digits(kind)
        return t.decimal(precision - scale + min(scale, 1), 0)
    return kind


def _rounded(arguments: Sequence[exp.DataType]) -> exp.DataType:
    kind = arguments[0]
    if kind.this is t.Type.DECIMAL:
        precision, scale = t.digits(kind)
        return t.decimal(precision + 1, scale)
    return kind


def _sum(arguments: Sequence[exp.DataType]) -> exp.DataType:
    kind = arguments[0]
    if t.is_integer(kind):
        return t.BIGINT
    return t.decimal(t.MAX_PRECISION, t.digits(kind)[1]) if not t.is_float(kind) else kind


def _mean(arguments: Sequence[exp.DataType]) -> exp.DataType:
    kind = arguments[0]
    return kind if kind.this is t.Type.DECIMAL else t.DOUBLE


def _ranked(arguments: Sequence[exp.DataType]) -> exp.DataType:
    """As Trino: decimals are ranked as DOUBLE."""
    kind = arguments[0]
    return t.DOUBLE if kind.this is t.Type.DECIMAL else kind


def _text(name: str, *params: str, **rest: object) -> Function:
    return Function(name, params, _always(t.VARCHAR), **rest)  # type: ignore[arg-type]


def _double(name: str) -> Function:
    return Function(name, ("number",), _always(t.DOUBLE))


def _part(name: str) -> Function:
    return Function(name, ("datetime",), _always(t.BIGINT))


def _aggregate(name: str, params: tuple[str, ...], result: Result, **rest: object) -> Function:
    rest.setdefault("nullable", "always")
    return Function(name, params, result, kind="aggregate", **rest)  # type: ignore[arg-type]


TEXT: Mapping[type[exp.Expr], Function] = {
    exp.Concat: _text("concat", "text*"),
    exp.ConcatWs: _text("concat_ws", "text*"),
    exp.Lower: _text("lower", "text"),
    exp.Upper: _text("upper", "text"),
    exp.Trim: _text("trim", "text"),
    exp.Reverse: _text("reverse", "text"),
    exp.Replace: _text("replace", "text", "text", "text?"),
    exp.Substring: _text("substr", "text", "integer", "integer?", constant=(1,)),
    exp.Pad: _text("lpad", "text", "integer", "text", constant=(1, 2)),
    exp.SplitPart: _text(
        "split_part", "text", "text", "integer", constant=(1, 2), nullable="always"
    ),
    exp.Translate: _text("translate", "text", "text", "text"),
    exp.Length: Function("length", ("text",), _always(t.BIGINT)),
    exp.StrPosition: Function("strpos", ("text", "text"), _always(t.BIGINT)),
    exp.StartsWith: Function("starts_with", ("text", "text"), _always(t.BOOLEAN)),
    exp.RegexpLike: Function("regexp_like", ("text", "text"), _always(t.BOOLEAN), constant=(1,)),
    exp.RegexpReplace: _text("regexp_replace", "text", "text", "text?", constant=(1, 2)),
    exp.RegexpExtract: _text(
        "regexp_extract", "text", "text", "integer?", constant=(1, 2), nullable="always"
    ),
    exp.Split: Function("split", ("text", "text"), _always(t.array(t.VARCHAR)), constant=(1,)),
}

NUMBERS: Mapping[type[exp.Expr], Function] = {
    exp.Abs: Function("abs", ("number",), _first),
    exp.Ceil: Function("ceil", ("number",), _whole),
    exp.Floor: Function("floor", ("number",), _whole),
    exp.Round: Function("round", ("number", "integer?"), _rounded, constant=(1,)),
    exp.Sign: Function("sign", ("float",), _first),
    exp.Trunc: Function("truncate", ("float",), _first),
    exp.Sqrt: _double("sqrt"),
    exp.Cbrt: _double("cbrt"),
    exp.Exp: _double("exp"),
    exp.Pow: Function("power", ("number", "number"), _always(t.DOUBLE)),
    exp.Pi: Function("pi", (), _always(t.DOUBLE), nullable="never"),
    exp.Sin: _double("sin"),
    exp.Cos: _double("cos"),
    exp.Tan: _double("tan"),
    exp.Atan: _double("atan"),
    exp.Atan2: Function("atan2", ("number", "number"), _always(t.DOUBLE)),
    exp.Radians: _double("radians"),
    exp.Degrees: _double("degrees"),
    exp.Greatest: Function("greatest", ("comparable*",), _common, one_type=True),
    exp.Least: Function("least", ("comparable*",), _common, one_type=True),
    exp.BitwiseAnd: Function("bitwise_and", ("integer", "integer"), _common),
    exp.BitwiseOr: Function("bitwise_or", ("integer", "integer"), _common),
    exp.BitwiseXor: Function("bitwise_xor", ("integer", "integer"), _common),
}

TIMES: Mapping[type[exp.Expr], Function] = {
    exp.TimestampTrunc: Function("date_trunc", ("datetime",), _first),
    exp.Year: _part("year"),
    exp.Quarter: _part("quarter"),
    exp.Month: _part("month"),
    exp.Day: _part("day"),
    exp.DayOfYear: _part("day_of_year"),
    exp.WeekOfYear: _part("week"),
    exp.DayOfWeekIso: _part("day_of_week"),
    exp.Hour: Function("hour", ("timestamp",), _always(t.BIGINT)),
    exp.Minute: Function("minute", ("timestamp",), _always(t.BIGINT)),
    exp.Second: Function("second", ("timestamp",), _always(t.BIGINT)),
    exp.Extract: _part("extract"),
    exp.DateDiff: Function("date_diff", ("datetime", "datetime"), _always(t.BIGINT)),
    exp.Date: Function("date", ("datetime",), _always(t.DATE)),
    exp.UnixToTime: Function("from_unixtime", ("integer",), _always(t.TIMESTAMPTZ)),
    exp.TimeToUnix: Function("to_unixtime", ("timestamp",), _always(t.DOUBLE)),
    exp.TimeToStr: _text("date_format", "timestamp"),
    exp.LastDay: Function("last_day_of_month", ("date",), _always(t.DATE)),
}

OTHERS: Mapping[type[exp.Expr], Function] = {
    exp.Coalesce: Function("coalesce", ("any*",), _common, one_type=True),
    exp.Nullif: Function(
        "nullif", ("comparable", "comparable"), _first, nullable="always", one_type=True
    ),
    exp.ArraySize: Function("cardinality", ("array",), _always(t.BIGINT)),
    exp.ArrayContains: Function(
        "contains", ("array", "comparable"), _always(t.BOOLEAN), nullable="always"
    ),
    exp.JSONExtractScalar: _text("json_extract_scalar", "text", nullable="always"),
}

AGGREGATES: Mapping[type[exp.Expr], Function] = {
    exp.Count: _aggregate("count", ("any*",), _always(t.BIGINT), nullable="never"),
    exp.CountIf: _aggregate("count_if", ("boolean",), _always(t.BIGINT), nullable="never"),
    exp.Sum: _aggregate("sum", ("number",), _sum),
    exp.Avg: _aggregate("avg", ("number",), _mean),
    exp.Min: _aggregate("min", ("comparable",), _first),
    exp.Max: _aggregate("max", ("comparable",), _first),
    exp.LogicalAnd: _aggregate("bool_and", ("boolean",), _always(t.BOOLEAN)),
    exp.LogicalOr: _aggregate("bool_or", ("boolean",), _always(t.BOOLEAN)),
    exp.Stddev: _aggregate("stddev", ("number",), _always(t.DOUBLE)),
    exp.StddevSamp: _aggregate("stddev_samp", ("number",), _always(t.DOUBLE)),
    exp.StddevPop: _aggregate("stddev_pop", ("number",), _always(t.DOUBLE)),
    exp.Variance: _aggregate("variance", ("number",), _always(t.DOUBLE)),
    exp.VariancePop: _aggregate("var_pop", ("number",), _always(t.DOUBLE)),
    exp.AnyValue: _aggregate("any_value", ("comparable",), _first),
    exp.ArgMin: _aggregate("min_by", ("comparable", "comparable"), _first),
    exp.ArgMax: _aggregate("max_by", ("comparable", "comparable"), _first),
    exp.ArrayAgg: _aggregate("array_agg", ("comparable",), _array),
    exp.GroupConcat: _aggregate("listagg", ("text", "text"), _always(t.VARCHAR), constant=(1,)),
    exp.ApproxDistinct: _aggregate(
        "approx_distinct", ("comparable",), _always(t.BIGINT), nullable="never", approximate=True
    ),
    exp.ApproxQuantile: _aggregate(
        "approx_percentile", ("number", "number"), _ranked, constant=(1,), approximate=True
    ),
}

FUNCTIONS: Mapping[type[exp.Expr], Function] = {**TEXT, **NUMBERS, **TIMES, **OTHERS, **AGGREGATES}
"""The allow-list by node class."""

TRUNC_UNITS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
DIFF_UNITS = ("second", "minute", "hour", "day")
EXTRACT_UNITS = ("year", "quarter", "month", "day", "hour", "minute", "second")


def function_name(node: exp.Expr) -> str:
    """Return the name to show for a function or an operator that is refused as one, lower case."""
    if function := FUNCTIONS.get(type(node)):
        return function.name
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    return NODES.get(type(node)) or cast(exp.Func, node).sql_name().lower()


def written_name(node: exp.Func) -> str:
    """Return the name under which Trino has a function that we do not, lower case."""
    called = _CALL.match(node.sql(dialect="trino"))
    return called[1].lower() if called else function_name(node)


def arguments(node: exp.Func) -> list[exp.Expr]:
    """Return the arguments of a function node in order, without units, paths and formats."""
    skipped = ("unit", "format", "collation", "zone") + (
        ("expression",) if isinstance(node, exp.JSONExtractScalar) else ()
    )
    found: list[exp.Expr] = []
    for key in node.arg_types:
        value = node.args.get(key)
        if key in skipped or (isinstance(node, exp.Extract) and key == "this"):
            continue
        found.extend(
            item
            for item in (value if isinstance(value, list) else [value])
            if isinstance(item, exp.Expression)
        )
    return found


def names() -> tuple[str, ...]:
    """Return the names of all functions allowed, sorted."""
    others = {"element_at", "if", "try_cast"}
    return tuple(sorted({function.name for function in FUNCTIONS.values()} | others))
