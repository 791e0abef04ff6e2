"""PostgreSQL's functions by Trino's.

In: nothing. Out: :data:`MEANINGS`, by class of a node, beside those of
:mod:`headwater.dialect.meanings.by_dialect`.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from headwater.dialect.meanings import arrays, composed, from_items, functions, json_made
from headwater.dialect.meanings import text as words
from headwater.dialect.meanings.text import Meaning

_CALLS: functions.Calls = {
    **json_made.OF_POSTGRES,
    "btrim": (1, 2, words.trimmed),
    "cardinality": (1, 1, functions.size),
    "convert_to": (2, 2, functions.converted),
    "make_date": (3, 3, functions.day),
    "octet_length": (1, 1, composed.BYTES),
}

MEANINGS: Mapping[type[exp.Expr], Meaning] = {
    **words.TEXTS,
    exp.Anonymous: functions.same("trim_array", otherwise=functions.by_name(_CALLS)),
    exp.ArrayPosition: arrays.place_or_null,
    exp.ArrayRemove: arrays.without,
    exp.Ascii: composed.ASCII,
    exp.BitLength: composed.BITS,
    exp.Chr: functions.character(0),
    exp.Decode: functions.decoded,
    exp.Encode: functions.encoded,
    exp.Explode: from_items.matches,
    exp.ExplodingGenerateSeries: from_items.selected_series,
    exp.Filter: json_made.gathered_where,
    exp.JSONArrayAgg: json_made.gathered,
    exp.Left: composed.ALL_BUT_END,
    exp.Overlay: composed.OVERLAY,
    exp.Pad: composed.padded,
    exp.RegexpCount: functions.named("regexp_count", "this", "expression"),
    exp.Right: composed.ALL_BUT_BEGINNING,
    exp.SHA2Digest: functions.sha256,
    exp.StringToArray: arrays.parts,
    exp.Table: from_items.series(called_as_alias=True),
    exp.TimeToStr: composed.half_of_day,
    exp.Trunc: functions.no_digits,
    exp.Unnest: from_items.named_unnest,
    exp.WidthBucket: functions.BUCKET,
    exp.WithinGroup: functions.no_mode,
}
"""By class of a node, what it means in PostgreSQL."""
