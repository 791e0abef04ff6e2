"""Casts of text, with one meaning in three engines: which text is a number, a boolean, a time.

In: typed casts. Out: casts that accept the same text. Numbers and booleans are what Spark takes:
white space around them, ``yes`` and ``1e3``; no ``1_000``, no ``1.5`` for an integer. Dates and
times begin with the whole date; a time without one would get that of the run, and what may follow
the date differs too much.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from headwater.analyze.portable.arithmetic import duckdb_number
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

_DIGITS = "([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
_DAY = "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
_TIME = "([ T]([01]?[0-9]|2[0-3]):[0-5]?[0-9](:[0-5]?[0-9]([.][0-9]{1,9})?)?"
_ZONE = " ?(Z|UTC|[+-][0-9]{1,2}:[0-9]{2})"
TEXTS: Mapping[exp.DType, str] = {
    t.Type.INT: "[+-]?[0-9]+",
    t.Type.BIGINT: "[+-]?[0-9]+",
    t.Type.DECIMAL: f"[+-]?{_DIGITS}",
    t.Type.FLOAT: f"[+-]?({_DIGITS}[dDfF]?|(?i:inf|infinity))|[+]?(?i:nan)",
    t.Type.DOUBLE: f"[+-]?({_DIGITS}[dDfF]?|(?i:inf|infinity))|[+]?(?i:nan)",
    t.Type.BOOLEAN: "(?i:t|true|y|yes|1|f|false|n|no|0)",
    t.Type.DATE: _DAY,
    t.Type.TIMESTAMPNTZ: f"{_DAY}{_TIME})?",
    t.Type.TIMESTAMPTZ: f"{_DAY}{_TIME}({_ZONE})?)?",
}
"""What text looks like that can be cast, by type; the value may still be out of range."""


def spark_cast(node: exp.Expr) -> exp.Expr:
    """Make Spark refuse dates and times that others read otherwise or not at all.

    Args:
        node: a typed cast; changed in place if it makes a date or time of text.
    """
    kind = node.args["to"]
    if is_of_text(node) and t.family(kind) == "time":
        pattern = exp.Literal.string(f"^(?!{_whole(kind)})")
        marked = exp.RegexpReplace(
            this=node.this.copy(), expression=pattern, replacement=exp.Literal.string("?")
        )
        node.set("this", marked)
    return node


def duckdb_try_cast(node: exp.Expr) -> exp.Expr:
    """Make DuckDB accept what Spark does.

    Args:
        node: a typed ``TRY_CAST``; changed in place if it is one of text.
    """
    kind = node.args["to"]
    if is_of_text(node) and kind.this in TEXTS:
        text = node.this.copy()
        like = exp.RegexpLike(this=text, expression=exp.Literal.string(f"^{_whole(kind)}"))
        node.set("this", exp.Case(ifs=[exp.If(this=like, true=_stripped(text, kind))]))
        return node
    return duckdb_number(node)


def duckdb_cast(node: exp.Expr) -> exp.Expr:
    """Make DuckDB read a floating point number that has Java's suffix, ``1.5d``.

    Args:
        node: a typed cast; changed in place. Text that Spark refuses does not come here.
    """
    if is_of_text(node):
        node.set("this", _stripped(node.this.copy(), node.args["to"]))
        return node
    return duckdb_number(node)


def trino_cast(node: exp.Expr) -> exp.Expr:
    """Make Trino read text with white space around it.

    Args:
        node: a typed cast; changed in place.
    """
    if is_of_text(node):
        node.set("this", exp.Trim(this=node.this.copy()))
    return node


def is_of_text(node: exp.Expr) -> bool:
    """Return whether a typed cast makes something else of text that is not a literal."""
    text = node.this
    other = t.family(node.args["to"]) not in ("text", "unknown")
    return other and t.family(type_of(text)) == "text" and not text.is_string


def _whole(kind: exp.DataType) -> str:
    return rf"\s*({TEXTS[kind.this]})\s*$"


def _stripped(text: exp.Expr, kind: exp.DataType) -> exp.Expr:
    if kind.this is t.Type.BOOLEAN:
        return exp.Trim(this=text.copy())
    if not t.is_float(kind):
        return text.copy()
    return exp.Anonymous(
        this="REGEXP_REPLACE",
        expressions=[
            text.copy(),
            exp.Literal.string(r"([0-9.])[dDfF]\s*$"),
            exp.Literal.string(r"\1"),
        ],
    )
