"""DuckDB's functions by Trino's.

In: nothing. Out: :data:`MEANINGS`, by class of a node, beside those of
:mod:`headwater.dialect.meanings.by_dialect`.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from headwater.dialect.meanings import arrays, composed, from_items, functions, times
from headwater.dialect.meanings import text as words
from headwater.dialect.meanings.text import Meaning


def _passes_over_null(node: exp.Expr) -> exp.Expr:
    """``arg_min`` of DuckDB, which leaves out rows whose first argument is NULL."""
    name = str(node.this).lower()
    if name not in ("arg_min", "argmin", "arg_max", "argmax") or len(node.expressions) != 2:
        return node
    value, by = (each.copy() for each in node.expressions)
    given = exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null()))
    by = exp.Case(ifs=[exp.If(this=given, true=by)])
    call = exp.ArgMin if "min" in name else exp.ArgMax
    return call(this=value, expression=by)


_PART = times.part_called(times.parts(0, "DOUBLE"), _passes_over_null)
_CALLS: functions.Calls = {
    "base64": (1, 1, functions.called("to_base64")),
    "cardinality": (1, 1, functions.size),
    "geomean": (1, 1, functions.called("geometric_mean")),
    "isfinite": (1, 1, functions.called("is_finite")),
    "prefix": (2, 2, lambda node: words.begins_with(*node.expressions)),
    "suffix": (2, 2, lambda node: words.turned(*node.expressions)),
}

MEANINGS: Mapping[type[exp.Expr], Meaning] = {
    **words.TEXTS,
    exp.Anonymous: functions.by_name(_CALLS, _PART),
    exp.ArrayMax: arrays.most("array_max"),
    exp.ArrayMin: arrays.most("array_min"),
    exp.ArrayPosition: arrays.place_or_null,
    exp.ArraySlice: arrays.from_to,
    exp.ArraySort: arrays.nulls_first,
    exp.Ascii: composed.ASCII,
    exp.Chr: functions.character(0),
    exp.DateAdd: times.whole_days_later,
    exp.DateFromParts: functions.day_of_parts,
    exp.DayOfMonth: times.day_of_month,
    exp.Encode: functions.in_utf8("to_utf8"),
    exp.Flatten: functions.named("flatten", "this"),
    exp.FromBase64: functions.of_text("from_base64"),
    exp.GroupConcat: words.separated(","),
    exp.GroupingId: composed.grouping,
    exp.Hex: functions.of_text("to_utf8", "to_hex"),
    exp.IgnoreNulls: functions.any_given,
    exp.IntDiv: functions.whole_quotient("duckdb"),
    exp.IsInf: functions.named("is_infinite", "this"),
    exp.IsNan: functions.named("is_nan", "this"),
    exp.Left: composed.ALL_BUT_END,
    exp.Map: functions.MAP,
    exp.MapKeys: functions.named("map_keys", "this"),
    exp.RegexpExtractAll: functions.named("regexp_extract_all", "this", "expression", "group"),
    exp.Right: composed.ALL_BUT_BEGINNING,
    exp.Table: from_items.series(called_as_alias=False),
    exp.ToBase64: functions.named("to_base64", "this"),
    exp.Trunc: functions.no_digits,
    exp.Week: times.iso_week,
    exp.WithinGroup: functions.no_mode,
}
"""By class of a node, what it means in DuckDB."""
