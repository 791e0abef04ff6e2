"""Functions at the edges of their domain, with one meaning in three engines.

In: typed calls of a bound query. Out: expressions in which the engines agree on NaN and infinity,
NULL among arguments, numbers beyond 64 bits, white space and letters that are not ASCII.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp

from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

_ALL_WHOLE = "4.503599627370496e15"
"""From 2**52 on, every double is a whole number."""

_CAPITALS: Mapping[str, str] = {"ß": "SS", "ﬁ": "FI", "ﬂ": "FL"}
"""Letters whose capital is two letters, those that people write: Spark spells them out."""

_END = re.compile(r"(\\.|\[\^?\]?(?:\\.|[^\]\\])*\])|\$", re.DOTALL)
"""``$`` (without a group), and what may hold one that means itself."""


def spark_whole(node: exp.Expr) -> exp.Expr:
    """Keep floor, ceil and truncate of a double a double: Spark's BIGINT cannot hold all."""
    kind, value = type_of(node.this), node.this
    if not t.is_float(kind):
        return whole(node)
    small = exp.LT(this=exp.Abs(this=value.copy()), expression=exp.Literal.number(_ALL_WHOLE))
    cut = exp.Cast(this=node.copy(), to=kind.copy())
    return exp.Case(ifs=[exp.If(this=small, true=cut)], default=value.copy())


def whole(node: exp.Expr) -> exp.Expr:
    """Keep whole numbers as they are: Spark makes a BIGINT of an INTEGER, DuckDB a DOUBLE.

    Args:
        node: a typed call of floor, ceil or truncate.
    """
    if not t.is_integer(type_of(node.this)):
        return node
    value = exp.paren(node.this.copy())
    return exp.cast(value, type_of(node).copy()) if isinstance(node, exp.Trunc) else value


def spark_extreme(node: exp.Expr) -> exp.Expr:
    """Make greatest and least NULL if one argument is: Spark's leave NULLs out."""
    given = [
        exp.Not(this=exp.Is(this=item.copy(), expression=exp.Null()))
        for item in (node.this, *node.expressions)
        if not isinstance(item, exp.Literal)
    ]
    if not given:
        return node
    return exp.Case(ifs=[exp.If(this=exp.and_(*given), true=node.copy())])


def spark_pattern(node: exp.Expr) -> exp.Expr:
    """In Java ``$`` also matches before a last line break, and ``.`` not every character but LF.

    Args:
        node: a typed call; changed in place.
    """
    text_end(node)
    if re.search(r"[.^$]", node.expression.name):
        node.set("expression", exp.Literal.string(f"(?d){node.expression.name}"))
    return node


def spark_extract(node: exp.Expr) -> exp.Expr:
    """Do the same as :func:`spark_pattern`, and return NULL if nothing is found.

    Args:
        node: a typed call; changed in place.
    """
    return null_unless_found(spark_pattern(node))


def null_unless_found(node: exp.Expr) -> exp.Expr:
    """Return NULL if nothing is found: other engines' regexp_extract gives an empty text."""
    found = exp.RegexpLike(this=node.this.copy(), expression=node.expression.copy())
    return exp.Case(ifs=[exp.If(this=found, true=node.copy())])


def text_end(node: exp.Expr) -> exp.Expr:
    """Make ``$`` match only at the end of the text, also after a line break.

    Args:
        node: a typed call; changed in place.
    """
    pattern = _END.sub(lambda found: found[1] or r"\z", node.expression.name)
    node.set("expression", exp.Literal.string(pattern))
    return node


def only_spaces(node: exp.Expr) -> exp.Expr:
    """Let trim remove only spaces, as Spark does: other engines remove all white space.

    Args:
        node: a typed call; changed in place.
    """
    if not node.args.get("expression"):
        node.set("expression", exp.Literal.string(" "))
        node.set("position", node.args.get("position") or "BOTH")
    return node


def duckdb_sign(node: exp.Expr) -> exp.Expr:
    """Give sign the type of its argument, and NaN for NaN: DuckDB's sign of NaN is 0."""
    kind = type_of(node.this)
    sign = exp.Cast(this=node.copy(), to=kind.copy())
    if not t.is_float(kind):
        return sign
    return exp.Case(
        ifs=[exp.If(this=exp.IsNan(this=node.this.copy()), true=node.this.copy())], default=sign
    )


def duckdb_upper(node: exp.Expr) -> exp.Expr:
    """Mend upper: DuckDB's capital of one letter is always one letter.

    Args:
        node: a typed call; changed in place.
    """
    text = node.this.copy()
    for letter, capital in _CAPITALS.items():
        text = _text_call("REPLACE", text, letter, capital)
    node.set("this", text)
    return node


def duckdb_lower(node: exp.Expr) -> exp.Expr:
    """Mend lower: DuckDB's misses the final sigma and the dot of a Turkish I.

    Args:
        node: a typed call; changed in place.
    """
    dotted = _text_call("REPLACE", node.this.copy(), "İ", "i\u0307")
    final = _text_call("REGEXP_REPLACE", dotted, r"(\p{L})Σ(\P{L}|$)", r"\1ς\2", "g")
    node.set("this", final)
    return node


def duckdb_reverse(node: exp.Expr) -> exp.Expr:
    """Reverse code points as other engines do: DuckDB keeps accents behind their letters."""
    text = node.this.sql("duckdb")
    points = f"LIST_REVERSE(REGEXP_EXTRACT_ALL({text}, '(?s).'))"
    return exp.Anonymous(
        this="ARRAY_TO_STRING", expressions=[exp.maybe_parse(points), _literal("")]
    )


def _text_call(name: str, text: exp.Expr, *arguments: str) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=[text, *map(_literal, arguments)])


def _literal(text: str) -> exp.Literal:
    return exp.Literal.string(text)
