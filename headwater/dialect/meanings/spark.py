"""Spark's functions by Trino's.

In: nothing. Out: :data:`MEANINGS`, by class of a node, beside those of
:mod:`headwater.dialect.meanings.by_dialect`.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from headwater.dialect.meanings import arrays, functions, times
from headwater.dialect.meanings import text as words
from headwater.dialect.meanings.text import Meaning

_PART = times.part_called(times.parts(1))
_SAME = ("array_union", "arrays_overlap", "e", "map_values", "zip_with")
"""Calls by name that mean what they mean in Trino."""
_CALLS: functions.Calls = {
    "btrim": (1, 2, words.trimmed),
    "cardinality": (1, 1, functions.size),
    "forall": (2, 2, functions.called("all_match")),
    "make_date": (3, 3, functions.day),
}

MEANINGS: Mapping[type[exp.Expr], Meaning] = {
    **words.TEXTS,
    **arrays.OF_SPARK_AND_FLINK,
    exp.AddMonths: times.month_later,
    exp.Anonymous: functions.same(*_SAME, otherwise=functions.by_name(_CALLS, _PART)),
    exp.ArrayRemove: arrays.removed,
    exp.ArraySlice: arrays.piece,
    exp.ArraySort: arrays.sorted_so,
    exp.Chr: functions.character(255),
    exp.Contains: words.held,
    exp.DayOfMonth: times.day_of_month,
    exp.Encode: functions.in_utf8("to_utf8"),
    exp.Exists: functions.any_match,
    exp.FromBase64: functions.of_text("from_base64"),
    exp.GenerateSeries: functions.named("sequence", "start", "end", "step"),
    exp.GroupConcat: words.separated(""),
    exp.Hex: functions.of_text("to_utf8", "to_hex"),
    exp.IntDiv: functions.whole_quotient("spark"),
    exp.IsNan: functions.is_nan,
    exp.Map: functions.MAP,
    exp.Pad: words.padded,
    exp.Reduce: functions.reduced,
    exp.RegexpCount: functions.named("regexp_count", "this", "expression"),
    exp.RegexpExtractAll: functions.pieces,
    exp.ToBase64: functions.of_text("to_utf8", "to_base64"),
    exp.VarMap: functions.MAP,
    exp.WithinGroup: functions.no_mode,
    exp.WidthBucket: functions.BUCKET,
}
"""By class of a node, what it means in Spark."""
