"""Spark's functions by Trino's.

In: nothing. Out: :data:`MEANINGS`, by class of a node, beside those of
:mod:`headwater.dialect.meanings.by_dialect`.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from headwater.dialect.meanings import arrays, composed, functions, json_made, times
from headwater.dialect.meanings import text as words
from headwater.dialect.meanings.text import Meaning

_PART = times.part_called(times.parts(1))
_SAME = ("array_union", "arrays_overlap", "e", "map_values", "zip_with")
"""Calls by name that mean what they mean in Trino."""
_REST = "CASE WHEN _1 % _2 < 0 THEN (_1 % _2 + _2) % _2 ELSE _1 % _2 END"
_CASTS = {"bigint": "BIGINT", "boolean": "BOOLEAN", "double": "DOUBLE", "float": "REAL"}
_CASTS |= {"int": "INTEGER", "string": "VARCHAR"}
_SECONDS = "date_diff('second', TIMESTAMP '0001-01-01 00:00:00', _1) - 62135596800"
_MILLIS = "date_diff('millisecond', TIMESTAMP '0001-01-01 00:00:00', _1) - 62135596800000"
"""Full units since 1970: those before it are counted down, so they are counted from year 1."""
_CALLS: functions.Calls = {
    "btrim": (1, 2, words.trimmed),
    "cardinality": (1, 1, functions.size),
    "forall": (2, 2, functions.called("all_match")),
    "make_date": (3, 3, functions.day),
    "octet_length": (1, 1, composed.BYTES),
    "pmod": (2, 2, composed.written(_REST)),
    "positive": (1, 1, composed.written("_1")),
    "zeroifnull": (1, 1, composed.written("coalesce(_1, 0)")),
    **{name: (1, 1, composed.converted(kind)) for name, kind in _CASTS.items()},
}

MEANINGS: Mapping[type[exp.Expr], Meaning] = {
    **words.TEXTS,
    **arrays.OF_SPARK_AND_FLINK,
    exp.AddMonths: times.month_later,
    exp.Anonymous: functions.same(*_SAME, otherwise=functions.by_name(_CALLS, _PART)),
    exp.ArrayRemove: arrays.removed,
    exp.ArraySlice: arrays.piece,
    exp.ArraySort: arrays.sorted_so,
    exp.Ascii: composed.ASCII,
    exp.BitLength: composed.BITS,
    exp.Chr: functions.character(255),
    exp.Contains: words.held,
    exp.DateTrunc: composed.day_began,
    exp.DayOfMonth: times.day_of_month,
    exp.DecodeCase: composed.chosen,
    exp.Encode: functions.in_utf8("to_utf8"),
    exp.Exists: functions.any_match,
    exp.FromBase64: functions.of_text("from_base64"),
    exp.GenerateSeries: functions.named("sequence", "start", "end", "step"),
    exp.GroupConcat: words.separated(""),
    exp.GroupingId: composed.grouping,
    exp.Hex: functions.of_text("to_utf8", "to_hex"),
    exp.IgnoreNulls: functions.any_given,
    exp.IntDiv: functions.whole_quotient("spark"),
    exp.IsNan: functions.is_nan,
    exp.JSONFormat: json_made.of_struct,
    exp.Left: composed.BEGINNING,
    exp.Map: functions.MAP,
    exp.Negative: composed.written("-_1", "this"),
    exp.Nvl2: composed.NVL2,
    exp.Overlay: composed.OVERLAY,
    exp.Pad: composed.padded,
    exp.Reduce: functions.reduced,
    exp.RegexpCount: functions.named("regexp_count", "this", "expression"),
    exp.RegexpExtractAll: functions.pieces,
    exp.Right: composed.END,
    exp.ToBase64: functions.of_text("to_utf8", "to_base64"),
    exp.UnixMillis: composed.written(_MILLIS, "this"),
    exp.UnixSeconds: composed.written(_SECONDS, "this"),
    exp.VarMap: functions.MAP,
    exp.WidthBucket: functions.BUCKET,
    exp.WithinGroup: functions.no_mode,
}
"""By class of a node, what it means in Spark."""
