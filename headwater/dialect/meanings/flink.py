"""Flink SQL, which sqlglot does not know: its words, and what it means otherwise than Trino.

In: nothing. Out: :class:`Flink`, a dialect for sqlglot's parser, and :data:`MEANINGS` of its nodes.
Each meaning is one that Flink 2.3 gave when it was asked. What wraps around there, such as
``2147483647 + 1``, is a bad row here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp
from sqlglot.dialects.dialect import build_formatted_time
from sqlglot.dialects.hive import Hive
from sqlglot.dialects.trino import Trino
from sqlglot.helper import seq_get
from sqlglot.parsers.trino import TrinoParser

from headwater.dialect.meanings import arrays, composed, flink_times, functions, times
from headwater.dialect.meanings import text as words
from headwater.dialect.meanings.text import Meaning

_SECONDS = "%Y-%m-%d %H:%M:%S"
_ESCAPED = r"^(?:[^%]|%[0-9A-Fa-f]{2})*\z"
"""What ``URL_DECODE`` can read."""


_UNREAD = ("TO_CHAR", "REGEXP_EXTRACT_ALL")
"""Functions of which sqlglot drops what is written."""


class FlinkParser(TrinoParser):
    """Calls that Trino lacks, or reads otherwise."""

    FUNCTIONS = {
        **{key: make for key, make in TrinoParser.FUNCTIONS.items() if key not in _UNREAD},
        "ARRAY_SORT": lambda given: _sorted(given),
        "CHARACTER_LENGTH": exp.Length.from_arg_list,
        "DATE_FORMAT": build_formatted_time(exp.TimeToStr, "hive"),
        "MD5": exp.MD5.from_arg_list,
        "REGEXP": exp.RegexpLike.from_arg_list,
        "SHA1": exp.SHA.from_arg_list,
        "SHA256": lambda given: exp.SHA2(this=seq_get(given, 0), length=exp.Literal.number(256)),
        "TRANSLATE3": TrinoParser.FUNCTIONS["TRANSLATE"],
        "TIMESTAMPADD": lambda given: _later(given),
        "TIMESTAMPDIFF": lambda given: _between(given),
    }


class Flink(Trino):
    """Flink SQL; names stand in backticks, NULL is the least value."""

    NULL_ORDERING = "nulls_are_small"
    TIME_MAPPING = Hive.TIME_MAPPING
    Parser = FlinkParser

    class Tokenizer(Trino.Tokenizer):
        """Tokens of Flink SQL."""

        IDENTIFIERS = ["`"]
        KEYWORDS = {
            **Trino.Tokenizer.KEYWORDS,
            "BYTES": Trino.Tokenizer.KEYWORDS["VARBINARY"],
            "TIMESTAMP_LTZ": Trino.Tokenizer.KEYWORDS["TIMESTAMPTZ"],
        }


def _sorted(given: list[exp.Expr]) -> exp.Expr:
    """``ARRAY_SORT(x[, upwards[, nulls first]])``; downwards, NULLs come last by default."""
    keys = ("this", "expression", "nulls_first")
    if not 0 < len(given) <= len(keys):
        return exp.Anonymous(this="array_sort", expressions=given)
    return exp.ArraySort(**dict(zip(keys, given, strict=False)))


def _later(given: list[exp.Expr]) -> exp.Expr:
    """``TIMESTAMPADD(unit, n, time)``."""
    if len(given) != 3:
        return exp.Anonymous(this="timestampadd", expressions=given)
    unit, count, time = given
    return exp.DateAdd(this=time, expression=count, unit=exp.var(unit.name.upper()))


def _between(given: list[exp.Expr]) -> exp.Expr:
    """``TIMESTAMPDIFF(unit, from, to)``."""
    if len(given) != 3:
        return exp.Anonymous(this="timestampdiff", expressions=given)
    unit, begin, end = given
    return exp.TimestampDiff(this=end, expression=begin, unit=exp.var(unit.name.upper()))


def _part_of(node: exp.Expr) -> exp.Expr:
    """``SPLIT_INDEX(x, delimiter, n)``, which counts from 0; an empty text has no parts."""
    value, delimiter, number = node.expressions
    if not (number.is_int and delimiter.is_string and delimiter.name):
        words.refuse(node, "SPLIT_INDEX takes a text and a number as written", "write them")
    given = exp.Nullif(this=value.copy(), expression=words.text(""))
    place = exp.Literal.number(int(number.name) + 1)
    return exp.SplitPart(this=given, delimiter=delimiter.copy(), part_index=place)


def _from_seconds(node: exp.Expr) -> exp.Expr:
    """``FROM_UNIXTIME(seconds)``, which is a text."""
    if any(value for key, value in node.args.items() if key != "this"):
        hint = "write DATE_FORMAT(TO_TIMESTAMP_LTZ(1000 * x, 3), 'yyyy-MM-dd')"
        words.refuse(node, "FROM_UNIXTIME takes seconds only", hint)
    return exp.TimeToStr(this=node.copy(), format=words.text(_SECONDS))


def _natural_logarithm(node: exp.Expr) -> exp.Expr:
    """``LOG`` that is natural if it has one argument."""
    value = node.args.get("expression")
    if value is None:
        return exp.Ln(this=node.this.copy())
    return exp.Anonymous(this="log", expressions=[node.this.copy(), value.copy()])


def _first_place(node: exp.Expr) -> exp.Expr:
    """``SUBSTRING`` that takes 0 for 1."""
    start = node.args.get("start")
    if isinstance(start, exp.Literal):
        if start.name == "0":
            node.set("start", exp.Literal.number(1))
    elif start is not None and not isinstance(start, exp.Neg):
        zero = exp.EQ(this=start.copy(), expression=exp.Literal.number(0))
        first = exp.If(this=zero, true=exp.Literal.number(1))
        node.set("start", exp.Case(ifs=[first], default=start.copy()))
    return node


def _plain_replacement(node: exp.Expr) -> exp.Expr:
    """``REGEXP_REPLACE`` whose replacement stands for itself."""
    replacement = node.args.get("replacement")
    if replacement is None or not replacement.is_string:
        words.refuse(node, "the replacement of REGEXP_REPLACE is no literal", "write the text")
    written = replacement.name.replace("\\", "\\\\").replace("$", "\\$")
    node.set("replacement", words.text(written))
    return node


def _json_value(node: exp.Expr) -> exp.Expr:
    """``JSON_VALUE``, NULL where it finds no scalar."""
    path, condition = node.args["path"], node.args.get("on_condition")
    said = [condition.args.get(key) for key in ("empty", "error")] if condition else []
    if not path.is_string or not {None, "NULL ON EMPTY", "NULL ON ERROR"}.issuperset(said):
        words.refuse(node, "JSON_VALUE takes a path as written, and NULL ON ERROR", "leave it out")
    plain = words.text(re.sub(r"(?i)^(lax|strict)\s+", "", path.name))
    found = exp.JSONExtractScalar(this=node.this, expression=plain)
    kind = node.args.get("returning")
    return exp.Cast(this=found, to=kind) if kind else found


def _pieces(node: exp.Expr) -> exp.Expr:
    """``REGEXP_EXTRACT_ALL``, by default of the first group."""
    first = [] if len(node.expressions) > 2 else [exp.Literal.number(1)]
    return arrays.call("regexp_extract_all", *node.expressions, *first)


def _decoded(node: exp.Expr) -> exp.Expr:
    """``URL_DECODE``, NULL of what it cannot read."""
    value = node.expressions[0]
    read = exp.RegexpLike(this=value.copy(), expression=words.text(_ESCAPED))
    return exp.Case(ifs=[exp.If(this=read, true=arrays.call("url_decode", value))])


def _element(node: exp.Expr) -> exp.Expr:
    """``x[n]``, ``x[key]`` and ``MAP[key, value, …]``."""
    return arrays.map_of(node) or functions.element(1, fails=False)(node)


_CALLS: functions.Calls = {
    "btrim": (1, 2, words.trimmed),
    "map_from_arrays": (2, 2, lambda node: arrays.call("map", *node.expressions)),
    "regexp_extract_all": (2, 3, _pieces),
    "split_index": (3, 3, _part_of),
    "to_timestamp": (1, 2, flink_times.read),
    "to_timestamp_ltz": (1, 2, flink_times.from_epoch),
    "url_decode": (1, 1, _decoded),
}
_SAME = ("array_union", "e", "map_values", "url_encode")
"""Calls by name that mean what they mean in Trino."""

_ARRAYS: Mapping[type[exp.Expr], Meaning] = {
    **arrays.OF_SPARK_AND_FLINK,
    exp.ArrayConcat: arrays.joined,
    exp.ArrayContains: arrays.holds,
    exp.ArrayPrepend: arrays.longer(first=True),
    exp.ArrayRemove: arrays.without,
    exp.ArraySlice: arrays.from_to,
    exp.ArraySort: arrays.nulls_first,
    exp.ArrayToString: functions.named("array_join", "this", "expression", "null"),
    exp.Bracket: _element,
    exp.Split: arrays.parts,
}

MEANINGS: Mapping[type[exp.Expr], Meaning] = {
    **_ARRAYS,
    exp.Anonymous: functions.same(*_SAME, otherwise=functions.by_name(_CALLS)),
    exp.Ceil: flink_times.end,
    exp.Chr: functions.character(255),
    exp.DayOfMonth: times.day_of_month,
    exp.DayOfWeek: functions.day_of_week(1),
    exp.Decode: functions.in_utf8("from_utf8"),
    exp.Encode: functions.in_utf8("to_utf8"),
    exp.EndsWith: words.ends_with,
    exp.Extract: flink_times.part,
    exp.Floor: flink_times.beginning,
    exp.FromBase64: functions.of_text("from_base64", "from_utf8"),
    exp.GroupConcat: words.separated(","),
    exp.GroupingId: composed.grouping,
    exp.Hex: functions.of_text("to_utf8", "to_hex"),
    exp.JSONValue: _json_value,
    exp.Left: composed.BEGINNING,
    exp.Log: _natural_logarithm,
    exp.RegexpCount: functions.named("regexp_count", "this", "expression"),
    exp.RegexpReplace: _plain_replacement,
    exp.RegexpSubstr: words.first_match,
    exp.Right: composed.END,
    exp.Substring: _first_place,
    exp.TimestampDiff: times.elapsed,
    exp.TimeToStr: functions.exact_letters,
    exp.ToBase64: functions.of_text("to_utf8", "to_base64"),
    exp.Trim: words.blanks,
    exp.Trunc: functions.no_digits,
    exp.UnixToTime: _from_seconds,
}
"""By class of a node, what it means in Flink."""
