r"""Casts of text, with one meaning in three engines: which text is a number, a boolean, a time.

In: typed casts. Out: casts that accept the same text, which Trino accepts, too. White space counts
with booleans and decimals. Trino also reads what is rare and what the engines read differently:
other digits than 0 to 9, years of more than four digits, named zones. No engine reads it here.

A date is whole: a time without one would get that of the run. Trino rounds the digits after the
microseconds, other engines drop them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp

from headwater.analyze.portable.arithmetic import duckdb_number
from headwater.analyze.portable.patterns import call, text
from headwater.analyze.portable.texts import WHITE_SPACE
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

_WHOLE = "[+-]?[0-9]+"
_DECIMAL = "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
_FLOAT = f"{_DECIMAL}|[+-]?(NaN|Infinity)"
_DAY = "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
_TIME = "([01]?[0-9]|2[0-3]):[0-5]?[0-9](:[0-5]?[0-9]([.][0-9]{1,18})?)?"
_OFFSET = "[+-](0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00"
_TEXTS: Mapping[exp.DType, str] = {
    t.Type.INT: _WHOLE,
    t.Type.BIGINT: _WHOLE,
    t.Type.DECIMAL: _DECIMAL,
    t.Type.FLOAT: _FLOAT,
    t.Type.DOUBLE: _FLOAT,
    t.Type.BOOLEAN: "(?i:t|true|1|f|false|0)",
    t.Type.DATE: _DAY,
    t.Type.TIMESTAMPNTZ: f"{_DAY}( {_TIME})?",
    t.Type.TIMESTAMPTZ: f"{_DAY}( {_TIME}({_OFFSET})?)?",
}
"""What text looks like that can be cast, by type; the value may still be out of range."""
_AROUND: Mapping[exp.DType, tuple[str, str]] = {
    **dict.fromkeys((t.Type.INT, t.Type.BIGINT), (r"[\t-\r\x1c- ]*", r"[\t-\r\x1c- ]*")),
    **dict.fromkeys((t.Type.FLOAT, t.Type.DOUBLE), (r"[\t-\r\x1c- ]*", r"[dDfF]?[\t-\r\x1c- ]*")),
}
"""What may stand before and behind it: white space, and Java's suffix as in ``1.5d``."""
_ZONE = rf"(:[0-9]{{1,2}}([.][0-9]+)?)[ \t]*(Z|UTC|({_OFFSET}))\z"
_MORE_THAN_HALF = r"[.][0-9]{6}[5-9]"


def spark_cast(node: exp.Expr) -> exp.Expr:
    """Make Spark refuse the text that Trino refuses.

    Args:
        node: a typed cast; changed in place if it is one of text.
    """
    if not is_of_text(node):
        return node
    kind = _target(node)
    moment = _moment(node.this, kind, "$")
    other = exp.Not(this=call("REGEXP_LIKE", moment, text(f"^{_pattern(kind)}")))
    marked = exp.DPipe(this=text("?"), expression=moment.copy())  # the error shows it
    node.set("this", exp.Case(ifs=[exp.If(this=other, true=marked)], default=moment))
    if not _has_time(kind):
        return node
    return call("TIMESTAMPADD", exp.var("MICROSECOND"), _rounding(moment, "REGEXP_LIKE"), node)


def duckdb_cast(node: exp.Expr) -> exp.Expr:
    """Make DuckDB refuse the text that Trino refuses; cast numbers as Trino does.

    Args:
        node: a typed cast; changed in place if it is one of text.
    """
    if not is_of_text(node):
        return duckdb_number(node)
    kind = _target(node)
    moment = _moment(node.this, kind, "\\")
    # of another text, nothing is left
    found = call("REGEXP_EXTRACT", moment, text(f"^{_pattern(kind)}"), exp.Literal.number(1))
    node.set("this", found)
    if not _has_time(kind):
        return node
    micros = call("TO_MICROSECONDS", _rounding(found, "REGEXP_MATCHES"))
    return exp.paren(exp.Add(this=node.copy(), expression=micros), copy=False)


def trino_cast(node: exp.Expr) -> exp.Expr:
    """Make Trino refuse the text that other engines cannot read.

    Args:
        node: a typed cast; changed in place if it is one of text.
    """
    if not is_of_text(node):
        return node
    kind = _target(node)
    moment = _moment(node.this, kind, "$")
    node.set("this", call("REGEXP_EXTRACT", moment, text(f"^{_pattern(kind)}")))
    return node


def is_of_text(node: exp.Expr) -> bool:
    """Return whether a typed cast makes something else of text that every engine may not read."""
    value, kind = node.this, _target(node)
    if kind.this not in _TEXTS or t.family(type_of(value)) != "text":
        return False
    if not value.is_string:
        return True
    if t.family(kind) == "time":
        return isinstance(node, exp.TryCast)  # the binder has read the text of a CAST
    return re.fullmatch(_TEXTS[kind.this], value.name, re.ASCII) is None


def _target(node: exp.Expr) -> exp.DataType:
    """The canonical type that a cast makes: Trino's has its digits already."""
    kind = type_of(node)
    target: exp.DataType = node.args["to"] if t.is_unknown(kind) else kind
    return target


def _pattern(kind: exp.DataType) -> str:
    before, behind = _AROUND.get(kind.this, ("", ""))
    return rf"{before}({_TEXTS[kind.this]}){behind}\z"


def _moment(value: exp.Expr, kind: exp.DataType, group: str) -> exp.Expr:
    """The text of a time without white space around it, its zone as every engine reads it."""
    if t.family(kind) != "time":
        return value.copy()
    bare = exp.Trim(this=value.copy(), expression=text(WHITE_SPACE), position="BOTH")
    if not _has_time(kind):
        return bare
    # UTC is the session's zone, and a TIMESTAMP has none
    offset = f"{group}4" if kind == t.TIMESTAMPTZ else ""
    return call("REGEXP_REPLACE", bare, text(_ZONE), text(f"{group}1{offset}"))


def _has_time(kind: exp.DataType) -> bool:
    return kind in (t.TIMESTAMP, t.TIMESTAMPTZ)


def _rounding(value: exp.Expr, test: str) -> exp.Expr:
    """The microsecond that the digits behind the sixth are rounded to."""
    up = exp.If(this=call(test, value, text(_MORE_THAN_HALF)), true=exp.Literal.number(1))
    return exp.Case(ifs=[up], default=exp.Literal.number(0))
