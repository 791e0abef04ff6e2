"""The nodes that cannot fail: whatever their operands are, they have a value in Trino.

In: a node class. Out: whether it is listed here. What is listed neither here nor in
:mod:`headwater.analyze.fallibility.fallible` is guarded, so that a new function is safe by default;
a test wants every node of the language in one of the two tables all the same.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.typing.functions import FUNCTIONS
from headwater.analyze.typing.functions.others import JSON_FAULT
from headwater.dialect.syntax import (
    PatternRows,
    RecursiveRows,
    ViewWatermark,
    WindowTable,
    WorkingTable,
)

_QUERIES = (
    *(exp.Select, exp.Union, exp.Except, exp.Intersect, exp.Subquery, exp.From, exp.Join),
    *(
        exp.Table,
        exp.TableAlias,
        exp.Unnest,
        WindowTable,
        PatternRows,
        RecursiveRows,
        WorkingTable,
        exp.Where,
        exp.Group,
        exp.Having,
    ),
    *(exp.Qualify, exp.Order, exp.Ordered, exp.Limit, exp.Offset, exp.Window, exp.WindowSpec),
    *(exp.IgnoreNulls, exp.RespectNulls, exp.Distinct, exp.Alias, exp.Filter, exp.WithinGroup),
    *(exp.Lateral, exp.CTE, exp.With),
)
_LEAVES = (
    exp.HexString,
    ViewWatermark,
    *(exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Null, exp.Star, exp.Interval),
    *(exp.Var, exp.DataType, exp.DataTypeParam, exp.ColumnDef),
    *(exp.JSONPath, exp.JSONPathRoot, exp.JSONPathKey, exp.JSONPathSubscript),
)
_OPERATORS = (
    *(exp.And, exp.Or, exp.Not, exp.Is, exp.Paren, exp.Case, exp.If, exp.Between, exp.In),
    *(exp.Exists, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ),
    *(exp.NullSafeNEQ, exp.DPipe, exp.Like, exp.Dot, exp.Array, exp.TryCast, exp.Try),
    *(exp.Struct, exp.PropertyEQ),
    exp.Lambda,
)
_TEXT = (
    *(exp.Concat, exp.ConcatWs, exp.Lower, exp.Upper, exp.Trim, exp.Reverse, exp.Replace),
    *(exp.Substring, exp.Translate, exp.Length, exp.StrPosition, exp.StartsWith),
)
_NUMBERS = (
    *(exp.Ceil, exp.Floor, exp.Sign, exp.Trunc, exp.Sqrt, exp.Cbrt, exp.Exp, exp.Pow, exp.Pi),
    *(exp.Sin, exp.Cos, exp.Tan, exp.Atan, exp.Atan2, exp.Radians, exp.Degrees, exp.Greatest),
    *(exp.Least, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor),
)
# Landing refuses times before 1900 and after 2200, so that no function of a time leaves its type.
_TIMES = (
    *(exp.TimestampTrunc, exp.Year, exp.Quarter, exp.Month, exp.Day, exp.DayOfYear),
    *(exp.WeekOfYear, exp.DayOfWeekIso, exp.Hour, exp.Minute, exp.Second, exp.Extract),
    *(exp.DateDiff, exp.Date, exp.TimeToUnix, exp.TimeToStr, exp.LastDay),
)
_OTHERS = (
    exp.Coalesce,
    exp.Nullif,
    exp.ArraySize,
    exp.ArrayContains,
    exp.JSONExtractScalar,
    JSON_FAULT,
)
_AGGREGATES = (
    *(exp.Count, exp.CountIf, exp.Min, exp.Max, exp.LogicalAnd, exp.LogicalOr, exp.Stddev),
    *(exp.StddevSamp, exp.StddevPop, exp.Variance, exp.VariancePop, exp.AnyValue, exp.ArgMin),
    *(exp.ArgMax, exp.ArrayAgg, exp.GroupConcat, exp.ApproxDistinct, exp.ApproxQuantile),
)

_BEFORE_OVER = (
    *(exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile, exp.PercentRank, exp.CumeDist, exp.Lag),
    *(exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue),
)

_LINES = (node for node, each in FUNCTIONS.items() if each.texts is not None and not each.fails)

TOTAL: frozenset[type[exp.Expr]] = frozenset(
    (
        *(*_QUERIES, *_LEAVES, *_OPERATORS, *_TEXT, *_NUMBERS, *_TIMES, *_OTHERS, *_AGGREGATES),
        *_BEFORE_OVER,
        *_LINES,
    )
)
"""Node classes; a subclass needs a line of its own."""
