"""The syntax a bound query may consist of: an allow-list of nodes and of what each may carry.

In: a bound query or computed column. Out: an error for every node, and every part of a node, that
is not listed. The binder refuses with better words what it knows; this is what holds when a new
version of sqlglot, or another dialect of the body, brings a node or a flag that nobody has read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.inference import literals
from headwater.analyze.inference.window_functions import WINDOW_FUNCTIONS
from headwater.analyze.literals import moment
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.functions import FUNCTIONS
from headwater.dialect.syntax import (
    BY_PATTERN,
    JSONScalar,
    JSONText,
    PatternRows,
    RecursiveRows,
    ViewWatermark,
    WindowTable,
    WorkingTable,
)

_ONE = frozenset(("this",))
_TWO = frozenset(("this", "expression"))
_MANY = frozenset(("expressions",))

_QUERIES: Mapping[type[exp.Expr], frozenset[str]] = {
    exp.Select: frozenset(
        ("expressions", "from_", "joins", "where", "group", "having", "qualify", "distinct")
        + ("order", "limit", "offset")
    ),
    **dict.fromkeys((exp.Union, exp.Except, exp.Intersect), _TWO | {"distinct"}),
    exp.Qualify: _ONE,
    exp.Order: _ONE | _MANY,
    exp.Ordered: frozenset(("this", "desc", "nulls_first")),
    exp.Limit: frozenset(("expression",)),
    exp.Offset: frozenset(("expression",)),
    exp.Window: frozenset(("this", "partition_by", "order", "spec", "over")),
    exp.IgnoreNulls: _ONE,
    exp.WindowSpec: frozenset(("kind", "start", "start_side", "end", "end_side")),
    exp.Subquery: frozenset(("this", "alias")),
    exp.From: _ONE,
    exp.Join: frozenset(("this", "on", "side", "kind")),
    exp.Table: frozenset(("this", "alias")),
    exp.TableAlias: frozenset(("this", "columns")),
    exp.Unnest: frozenset(("expressions", "alias")),
    WindowTable: frozenset(("kind", "this", "time", "size", "slide", "offset", "zone")),
    PatternRows: frozenset(("this", "order", "clause", "fields", "alias")),
    RecursiveRows: frozenset(("this", "name", "fields", "alias")),
    WorkingTable: frozenset(("this", "alias")),
    exp.Where: _ONE,
    exp.Group: _MANY,
    exp.Having: _ONE,
    exp.Distinct: _MANY,
    exp.Alias: frozenset(("this", "alias")),
}

_OPERATORS: Mapping[type[exp.Expr], frozenset[str]] = {
    **dict.fromkeys(
        (
            *(exp.Add, exp.Sub, exp.Mul, exp.Mod, exp.And, exp.Or, exp.Is, exp.Dot),
            *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ),
            *(exp.Escape, exp.Filter),
        ),
        _TWO,
    ),
    exp.Div: _TWO | {"typed", "safe"},
    exp.DPipe: _TWO | {"safe"},
    exp.Like: _TWO | {"negate"},
    exp.Neg: _ONE,
    exp.Not: _ONE,
    exp.Paren: _ONE,
    exp.Between: frozenset(("this", "low", "high")),
    exp.In: frozenset(("this", "expressions", "query")),
    exp.Exists: _ONE,
    exp.Case: frozenset(("this", "ifs", "default")),
    exp.If: frozenset(("this", "true", "false")),
    exp.Cast: frozenset(("this", "to")),
    exp.TryCast: frozenset(("this", "to", "safe", "requires_string")),
    exp.Try: _ONE,
    exp.Lambda: _ONE | _MANY,
    exp.Array: _MANY | {"value_constructor"},
    exp.Struct: _MANY,
    exp.PropertyEQ: _TWO,
    exp.Bracket: frozenset(("this", "expressions", "offset", "safe")),
}

_LEAVES: Mapping[type[exp.Expr], frozenset[str]] = {
    exp.Column: frozenset(("this", "table")),
    exp.Identifier: frozenset(("this", "quoted")),
    exp.Literal: frozenset(("this", "is_string")),
    exp.Boolean: _ONE,
    exp.Null: frozenset(),
    exp.HexString: _ONE,
    exp.Star: frozenset(),
    exp.Interval: frozenset(("this", "unit")),
    exp.Var: _ONE,
    exp.DataType: frozenset(("this", "expressions", "nested")),
    exp.DataTypeParam: _ONE,
    exp.ColumnDef: frozenset(("this", "kind")),
}

_ARGUMENTS: Mapping[type[exp.Expr], frozenset[str]] = {
    exp.ApproxQuantile: frozenset(("this", "quantile")),
    **dict.fromkeys((exp.Concat, exp.ConcatWs), frozenset(("expressions", "safe", "coalesce"))),
    exp.Count: frozenset(("this", "big_int")),
    **dict.fromkeys((exp.DateDiff, exp.DateAdd), frozenset(("this", "expression", "unit"))),
    exp.GroupConcat: frozenset(("this", "separator")),
    ViewWatermark: frozenset(),
    JSONScalar: frozenset(("this", "path")),
    JSONText: frozenset(("this", "no_rows", "strict")),
    exp.Greatest: frozenset(("this", "expressions", "ignore_nulls")),
    exp.Least: frozenset(("this", "expressions", "ignore_nulls")),
    exp.Pad: frozenset(("this", "expression", "fill_pattern", "is_left")),
    exp.RegexpExtract: frozenset(("this", "expression", "group", "null_if_pos_overflow")),
    exp.RegexpReplace: frozenset(("this", "expression", "replacement")),
    exp.Replace: frozenset(("this", "expression", "replacement")),
    exp.Round: frozenset(("this", "decimals")),
    exp.SplitPart: frozenset(("this", "delimiter", "part_index")),
    exp.StrPosition: frozenset(("this", "substr")),
    exp.Substring: frozenset(("this", "start", "length")),
    exp.TimeToStr: frozenset(("this", "format")),
    exp.TimestampTrunc: frozenset(("this", "unit", "input_type_preserved")),
    exp.Translate: frozenset(("this", "from_", "to")),
    exp.Trim: frozenset(("this", "position", "expression")),
}
"""What a function of the allow-list may carry if that is more than ``this`` and others like it."""

_OF_WINDOWS = frozenset(("this", "offset", "default"))
_OF_FUNCTIONS = frozenset(("this", "expression", "expressions"))

ALLOWED: Mapping[type[exp.Expr], frozenset[str]] = {
    **{kind: frozenset(kind.arg_types) & _OF_WINDOWS for kind in WINDOW_FUNCTIONS},
    **dict.fromkeys(FUNCTIONS, _OF_FUNCTIONS),
    **_ARGUMENTS,
    **_QUERIES,
    **_OPERATORS,
    **_LEAVES,
}
"""Node class → the arguments that may be set."""


def only_allowed(root: exp.Expr, report: Diagnostics) -> None:
    """Refuse every node that is not in the language, and every part of one that nobody has read."""
    for node in root.walk():
        # a function may have been added since this module was read
        added = _OF_FUNCTIONS if type(node) in FUNCTIONS else None
        allowed = ALLOWED.get(type(node), added)
        if allowed is None:
            _refuse(node, report)
            continue
        for key, value in node.args.items():
            if key not in allowed and value not in (None, False, []):
                word = value if isinstance(value, str) else ""
                at = value if isinstance(value, exp.Expression) else node
                _refuse(at, report, key.rstrip("_").upper() if value is True else word)
        if isinstance(node, (exp.Cast, exp.TryCast)):
            _constant_time(node, report)
        elif check := _PARTS.get(type(node)):
            check(node, report)


def _interval(node: exp.Expr, report: Diagnostics) -> None:
    length = node.this.this if isinstance(node.this, exp.Neg) else node.this
    if not isinstance(length, exp.Literal):
        message = "the length of an interval must be a literal"
        report.add("UNSUPPORTED_SYNTAX", message, node, "write it like INTERVAL '10' SECOND")


def drop_comments(root: exp.Expr) -> None:
    """Remove comments, which sqlglot would print into the SQL of an engine that reads hints there.

    Args:
        root: a query or expression; changed in place.
    """
    for node in root.walk():
        node.comments = None


def _refuse(at: exp.Expr, report: Diagnostics, word: str = "") -> None:
    hint = "write it with the operators and functions of Trino SQL"
    message = f"{word or report.excerpt(at)} is not part of the language"
    report.add("UNSUPPORTED_SYNTAX", message, at, hint)


def _constant_time(node: exp.Expr, report: Diagnostics) -> None:
    """Refuse constants that Spark reads as the time of the run, such as ``'now'``."""
    target, value = type_of(node), node.this
    if t.family(target) != "time" or t.family(type_of(value)) != "text" or value.find(exp.Column):
        return
    if node.meta.get(BY_PATTERN):
        return
    if not value.is_string:
        message = "a date made from constants must be written as one"
        report.add("NON_DETERMINISTIC", message, node, "write DATE '2026-01-31'")
        return
    with report.within(value):
        moment.read(value.name, is_date=target == t.DATE)


def _contains(node: exp.Expr, report: Diagnostics) -> None:
    whole, sought = type_of(node.this), type_of(node.expression)
    if t.family(whole) != "array" or t.is_unknown(sought):
        return  # reported already
    held = t.elements(whole)[0]
    if t.is_float(held) or t.is_float(sought):
        report.not_yet("contains over floating point numbers", node, "use UNNEST")
    elif t.family(held) != t.family(sought):
        message = f"an array of {t.sql_type(held)} holds no {t.sql_type(sought)}"
        report.add("TYPE_CLASH", message, node, f"cast it: CAST(x AS {t.sql_type(held)})")


_PARTS: Mapping[type[exp.Expr], Callable[[exp.Expr, Diagnostics], None]] = {
    **literals.CHECKS,
    exp.Interval: _interval,
    exp.ArrayContains: _contains,
}
"""What an argument must be where the type says too little."""
