"""``json_extract_scalar`` with one meaning in three engines, and where it finds no scalar.

In: a typed call whose path was read. Out: an expression of an engine's JSON functions over a text
in which every string, number and boolean is written as a string that begins with ``=``. So numbers
keep their text, and what begins otherwise is no scalar. Texts that are no JSON give NULL: the token
pattern is that of RFC 8259, stricter than both engines' parsers. With ``ERROR ON
ERROR`` it is the same; ``_json_fault(x, path)`` is the condition that it fails.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headwater.analyze.literals import json_path
from headwater.analyze.portable.engine_texts import engine_text
from headwater.analyze.portable.patterns import call, text
from headwater.analyze.portable.text_casts import duckdb_cast, spark_cast
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.dialect.syntax import JSONScalar

_STRING = r'"((?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)"'
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?"
_SCALAR = f"{_STRING}|({_NUMBER}|true|false)"
_JAVA_SCALAR = _SCALAR.replace(")*)", ")*+)")  # without backtracking, which would need a deep stack
_TWO = exp.Literal.number(2)
_WRONG = r"[^0 \t\n\r{}\[\]:,]|,[ \t\n\r]*[}\]]"
"""What JSON cannot have once ``0`` stands for every scalar and null."""


def spark_scalar(node: exp.Expr) -> exp.Expr:
    """``json_extract_scalar`` for Spark."""
    valid, found = _in_spark(*_asked(node))
    # the mark is cut off; what has none is no scalar, and then there is no second part
    value = call("GET", call("SPLIT", found, text("^="), _TWO), exp.Literal.number(1))
    return exp.Case(ifs=[exp.If(this=valid, true=value)])


def spark_fault(node: exp.Expr) -> exp.Expr:
    """``_json_fault`` for Spark."""
    return _fault(node, *_in_spark(*_asked(node)))


def _asked(node: exp.Expr) -> tuple[exp.Expr, str]:
    """Return the text and the path that a call is about."""
    if node.expressions:
        return node.expressions[0], node.expressions[1].name
    path = node.args["path"] if isinstance(node, JSONScalar) else node.expression
    return node.this, path.name


def _fault(node: exp.Expr, valid: exp.Expr, found: exp.Expr) -> exp.Expr:
    """Neither NULL nor a scalar is found, or the text is no JSON."""
    nested = exp.Not(this=exp.Like(this=found, expression=text("=%")))
    return _fails(_asked(node)[0], exp.paren(valid, copy=False), nested)


def _fails(value: exp.Expr, valid: exp.Expr, nested: exp.Expr) -> exp.Expr:
    """Whether something is found that is nested, or a text is no JSON; of NULL, false."""
    null = exp.Is(this=value.copy(), expression=exp.Null())
    ifs = [
        exp.If(this=null, true=exp.false()),
        exp.If(this=exp.Not(this=valid), true=exp.true()),
    ]
    return exp.Case(ifs=ifs, default=call("COALESCE", nested, exp.false()))


def _in_spark(value: exp.Expr, path: str) -> tuple[exp.Expr, exp.Expr]:
    """Return whether a text is JSON, and what is found in it, scalars marked."""
    marked = call("REGEXP_REPLACE", value, text(_JAVA_SCALAR), text('"=$1$2"'))
    bare = call("REGEXP_REPLACE", value, text(f"{_JAVA_SCALAR}|null"), text("0"))
    # either bracket of one's own shows what the other lets pass behind the end
    listed = call("GET_JSON_OBJECT", call("CONCAT", text("["), marked, text("]")), text("$[0]"))
    named = call("CONCAT", text('{"v":'), marked, text("}"))
    found = [
        call("GET_JSON_OBJECT", named, text("$.v" + "".join(map(_spark_step, steps))))
        for steps in json_path.readings(json_path.parse(path))
    ]
    valid = exp.and_(
        exp.Not(this=call("REGEXP_LIKE", bare, text(_WRONG))),
        exp.Not(this=exp.Is(this=listed, expression=exp.Null())),
    )
    return valid, _first(found)


def duckdb_scalar(node: exp.Expr) -> exp.Expr:
    """``json_extract_scalar`` for DuckDB."""
    valid, found = _in_duckdb(*_asked(node))
    marked = exp.Like(this=found, expression=text("=%"))
    cut = call("SUBSTRING", found, _TWO)
    return exp.Case(ifs=[exp.If(this=exp.and_(valid, marked), true=cut)])


def duckdb_fault(node: exp.Expr) -> exp.Expr:
    """``_json_fault`` for DuckDB."""
    return _fault(node, *_in_duckdb(*_asked(node)))


def _in_duckdb(value: exp.Expr, path: str) -> tuple[exp.Expr, exp.Expr]:
    """Return whether a text is JSON, and what is found in it, scalars marked."""
    marked = call("REGEXP_REPLACE", value, text(_SCALAR), text('"=\\1\\2"'), text("g"))
    bare = call("REGEXP_REPLACE", value, text(f"{_SCALAR}|null"), text("0"), text("g"))
    valid = exp.and_(
        exp.Not(this=call("REGEXP_MATCHES", bare, text(_WRONG))), call("JSON_VALID", marked)
    )
    found = [
        call("JSON_EXTRACT_STRING", marked, text("$" + "".join(map(_duckdb_step, steps))))
        for steps in json_path.readings(json_path.parse(path))
    ]
    return valid, _first(found)


def made(node: exp.Expr, dialect: str) -> exp.Expr:
    """Return a value as JSON; DuckDB writes 2.5 for a decimal that is 2.50.

    Args:
        node: a typed :class:`JSONText`.
        dialect: ``spark``, ``duckdb`` or ``trino``.
    """
    if type_of(node.this).this is not t.Type.DECIMAL:
        return engine_text(node, dialect)
    written = exp.Cast(this=node.this.copy(), to=t.VARCHAR.copy())
    written.type = t.VARCHAR
    return {"spark": spark_cast, "duckdb": duckdb_cast}.get(dialect, lambda cast: cast)(written)


def trino_scalar(node: exp.Expr) -> exp.Expr:
    """Make Trino look at the whole text: it returns what stands before a fault."""
    value, path = _asked(node)
    found = exp.JSONExtractScalar(this=value.copy(), expression=text(path))
    return exp.Case(ifs=[exp.If(this=_is_json(value), true=found)])


def trino_fault(node: exp.Expr) -> exp.Expr:
    """``_json_fault`` for Trino."""
    value, path = _asked(node)
    found = call("JSON_FORMAT", call("JSON_EXTRACT", value, text(path)))
    begins = call("SUBSTR", found, exp.Literal.number(1), exp.Literal.number(1))
    nested = exp.In(this=begins, expressions=[text("{"), text("[")])
    return _fails(value, exp.paren(_is_json(value), copy=False), nested)


def _is_json(value: exp.Expr) -> exp.Expr:
    parsed = exp.Try(this=call("JSON_PARSE", value))
    return exp.Not(this=exp.Is(this=parsed, expression=exp.Null()))


def _first(found: Sequence[exp.Expr]) -> exp.Expr:
    return found[0] if len(found) == 1 else call("COALESCE", *found)


def _spark_step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f"['={step}']" if any(char in step for char in ".[") else f".={step}"


def _duckdb_step(step: str | int) -> str:
    return f"[{step}]" if isinstance(step, int) else f'."={step}"'
