"""LIKE and regular expressions with one meaning in three engines.

In: typed calls whose patterns :mod:`headwater.analyze.inference.literals` has read. Out: calls of
an engine's own functions, their patterns translated.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.literals import regex, regex_engines, replacement
from headwater.analyze.literals.characters import character
from headwater.analyze.typing import types as t
from headwater.analyze.typing.functions.text import (
    REGEXP_COUNT,
    REGEXP_SPLIT,
)

_BACKSLASH = "\\"


def spark_like(node: exp.Expr) -> exp.Expr:
    """Name an escape character, since Spark's default is a backslash and Trino has none.

    Args:
        node: a typed LIKE; changed in place.
    """
    pattern = node.expression
    if isinstance(node.parent, exp.Escape) or (
        pattern.is_string and _BACKSLASH not in pattern.name
    ):
        return node
    if pattern.is_string:
        node.set("expression", text(pattern.name.replace(_BACKSLASH, 2 * _BACKSLASH)))
    else:
        doubled = call("REPLACE", pattern, text(_BACKSLASH), text(2 * _BACKSLASH))
        node.set("expression", doubled)
    return exp.Escape(this=node.copy(), expression=text(_BACKSLASH))


def spark_test(node: exp.Expr) -> exp.Expr:
    """``regexp_like`` for Spark."""
    pattern = regex_engines.java(regex.parse(node.expression.name))
    return call("REGEXP_LIKE", node.this, text(pattern))


def duckdb_test(node: exp.Expr) -> exp.Expr:
    """``regexp_like`` for DuckDB."""
    pattern = regex_engines.re2_test(regex.parse(node.expression.name))
    return call("REGEXP_MATCHES", node.this, text(pattern))


def spark_replace(node: exp.Expr) -> exp.Expr:
    """``regexp_replace`` for Spark."""
    tree = regex.parse(node.expression.name)
    parts = replacement.parse(node.text("replacement"), tree)
    pattern = text(regex_engines.java(tree))
    return call("REGEXP_REPLACE", node.this, pattern, text(replacement.java(parts)))


def duckdb_replace(node: exp.Expr) -> exp.Expr:
    """``regexp_replace`` for DuckDB; the line feed behind ``$`` is put back."""
    tree = regex.parse(node.expression.name)
    parts = replacement.parse(node.text("replacement"), tree)
    found = regex_engines.re2_replace(tree, parts)
    written = replacement.re2(parts, found.numbers)
    written += "".join(f"\\{group}" for group in found.line_feeds)
    return call("REGEXP_REPLACE", node.this, text(found.text), text(written), text("g"))


def spark_extract(node: exp.Expr) -> exp.Expr:
    """``regexp_extract`` for Spark, NULL if nothing matches."""
    pattern = text(regex_engines.java(regex.parse(node.expression.name)))
    found = call("REGEXP_EXTRACT", node.this, pattern, exp.Literal.number(_group(node)))
    return _if_found(call("REGEXP_LIKE", node.this, pattern), found)


def duckdb_extract(node: exp.Expr) -> exp.Expr:
    """``regexp_extract`` for DuckDB, NULL if nothing matches."""
    tree, group = regex.parse(node.expression.name), _group(node)
    found = regex_engines.re2_extract(tree, group)
    values: list[exp.Expr] = [
        call("REGEXP_EXTRACT", node.this, text(found.text), exp.Literal.number(number))
        for number in found.numbers[group]
    ]
    value = values[0] if len(values) == 1 else call("CONCAT", *values)
    return _if_found(call("REGEXP_MATCHES", node.this, text(found.text)), value)


def spark_every(node: exp.Expr) -> exp.Expr:
    """``regexp_count``, ``regexp_extract_all`` and ``regexp_split`` for Spark."""
    value, pattern, *group = node.expressions
    java = text(regex_engines.java(regex.parse(pattern.name)))
    if isinstance(node, REGEXP_COUNT):
        return exp.Cast(this=call("REGEXP_COUNT", value, java), to=t.BIGINT.copy())
    if isinstance(node, REGEXP_SPLIT):
        return call("SPLIT", value, java)
    return call("REGEXP_EXTRACT_ALL", value, java, *(group or [exp.Literal.number(0)]))


def duckdb_every(node: exp.Expr) -> exp.Expr:
    """The same for DuckDB."""
    value, pattern, *group = node.expressions
    number = int(group[0].to_py()) if group else 0
    found = regex_engines.re2_extract(regex.parse(pattern.name), number)
    if isinstance(node, REGEXP_SPLIT):
        return call("STRING_SPLIT_REGEX", value, text(found.text))
    place = exp.Literal.number(found.numbers[number][0])
    matches = call("REGEXP_EXTRACT_ALL", value, text(found.text), place)
    return call("LEN", matches) if isinstance(node, REGEXP_COUNT) else matches


def spark_split(node: exp.Expr) -> exp.Expr:
    """``split`` for Spark, whose delimiter is a pattern."""
    pattern = "".join(character(ord(char)) for char in node.expression.name)
    return call("SPLIT", node.this, text(pattern))


def call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    """Return a call of an engine's function; arguments are copied."""
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])


def text(value: str) -> exp.Literal:
    """Return a text literal."""
    return exp.Literal.string(value)


def _group(node: exp.Expr) -> int:
    group = node.args.get("group")
    return int(group.to_py()) if group is not None else 0


def _if_found(found: exp.Expr, value: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=found, true=value)])
