"""Flink SQL, which sqlglot does not know: its words, and what it means otherwise than Trino.

In: nothing. Out: :class:`Flink`, a dialect for sqlglot's parser, and :data:`MEANINGS` of its nodes.
Each meaning is one that Flink 2.3 gave when it was asked. What wraps around there, such as
``2147483647 + 1``, is a bad row here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sqlglot import exp
from sqlglot.dialects.dialect import build_formatted_time
from sqlglot.dialects.hive import Hive
from sqlglot.dialects.trino import Trino
from sqlglot.helper import seq_get
from sqlglot.parsers.trino import TrinoParser

from headwater.dialect.meanings import functions, times
from headwater.dialect.meanings import text as words
from headwater.dialect.meanings.text import Meaning

_MILLISECONDS = "3"
"""Digits of a second."""
_SECONDS = "%Y-%m-%d %H:%M:%S"


class FlinkParser(TrinoParser):
    """Calls that Trino lacks, or reads otherwise."""

    FUNCTIONS = {
        **{key: value for key, value in TrinoParser.FUNCTIONS.items() if key != "TO_CHAR"},
        "CHARACTER_LENGTH": exp.Length.from_arg_list,
        "DATE_FORMAT": build_formatted_time(exp.TimeToStr, "hive"),
        "MD5": exp.MD5.from_arg_list,
        "REGEXP": exp.RegexpLike.from_arg_list,
        "SHA1": exp.SHA.from_arg_list,
        "SHA256": lambda given: exp.SHA2(this=seq_get(given, 0), length=exp.Literal.number(256)),
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


def _called(node: exp.Expr) -> exp.Expr:
    """Functions that sqlglot has no node for."""
    meaning = _CALLS.get(str(node.this).lower())
    return meaning(node) if meaning else node


def _part_of(node: exp.Expr) -> exp.Expr:
    """``SPLIT_INDEX(x, delimiter, n)``, which counts from 0; an empty text has no parts."""
    if len(node.expressions) != 3:
        return node
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


def _from_milliseconds(node: exp.Expr) -> exp.Expr:
    """``TO_TIMESTAMP_LTZ(milliseconds[, 3])``."""
    count, *precision = node.expressions
    if precision and precision[0].name != _MILLISECONDS:
        words.refuse(node, "TO_TIMESTAMP_LTZ takes milliseconds", "write TO_TIMESTAMP_LTZ(x, 3)")
    epoch = exp.cast(words.text("1970-01-01 00:00:00 UTC"), "TIMESTAMPTZ")
    return exp.DateAdd(this=epoch, expression=count.copy(), unit=exp.var("MILLISECOND"))


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


def _entries_or_element(node: exp.Expr) -> exp.Expr:
    """``MAP[key, value, …]``, which sqlglot takes for elements of a column; or an element."""
    of, given = node.this, node.expressions
    named = isinstance(of, exp.Column) and of.sql().lower() == "map"
    if not named or len(given) % 2:
        return functions.element(1, fails=False)(node)
    sides = [exp.Array(expressions=[each.copy() for each in given[at::2]]) for at in (0, 1)]
    return exp.Anonymous(this="map", expressions=sides)


_CALLS: Mapping[str, Callable[[exp.Expr], exp.Expr]] = {
    "split_index": _part_of,
    "to_timestamp_ltz": _from_milliseconds,
}

MEANINGS: Mapping[type[exp.Expr], Meaning] = {
    exp.Anonymous: _called,
    exp.UnixToTime: _from_seconds,
    exp.Bracket: _entries_or_element,
    exp.DayOfWeek: functions.day_of_week(1),
    exp.Extract: times.parts(1),
    exp.Floor: times.rounded_down,
    exp.TimeToStr: functions.exact_letters,
    exp.TimestampDiff: times.elapsed,
    exp.JSONValue: _json_value,
    exp.Log: _natural_logarithm,
    exp.Substring: _first_place,
    exp.RegexpReplace: _plain_replacement,
}
"""By class of a node, what it means in Flink."""
