"""``json_extract_scalar`` with one meaning in three engines.

In: a typed call whose path was read. Out: an expression of an engine's JSON functions over a text
in which every string, number and boolean is written as a string that begins with ``=``. So numbers
keep their text, and what begins otherwise is no scalar. Texts that are no JSON give NULL: the token
pattern is that of RFC 8259, stricter than both engines' parsers.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headwater.analyze.literals import json_path
from headwater.analyze.portable.patterns import call, text

_STRING = r'"((?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)"'
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?"
_SCALAR = f"{_STRING}|({_NUMBER}|true|false)"
_JAVA_SCALAR = _SCALAR.replace(")*)", ")*+)")  # without backtracking, which would need a deep stack
_TWO = exp.Literal.number(2)
_WRONG = r"[^0 \t\n\r{}\[\]:,]|,[ \t\n\r]*[}\]]"
"""What JSON cannot have once ``0`` stands for every scalar and null."""


def spark_scalar(node: exp.Expr) -> exp.Expr:
    """``json_extract_scalar`` for Spark."""
    marked = call("REGEXP_REPLACE", node.this, text(_JAVA_SCALAR), text('"=$1$2"'))
    bare = call("REGEXP_REPLACE", node.this, text(f"{_JAVA_SCALAR}|null"), text("0"))
    # either bracket of one's own shows what the other lets pass behind the end
    listed = call("GET_JSON_OBJECT", call("CONCAT", text("["), marked, text("]")), text("$[0]"))
    named = call("CONCAT", text('{"v":'), marked, text("}"))
    found = [
        call("GET_JSON_OBJECT", named, text("$.v" + "".join(map(_spark_step, steps))))
        for steps in json_path.readings(json_path.parse(node.expression.name))
    ]
    valid = exp.and_(
        exp.Not(this=call("REGEXP_LIKE", bare, text(_WRONG))),
        exp.Not(this=exp.Is(this=listed, expression=exp.Null())),
    )
    # the mark is cut off; what has none is no scalar, and then there is no second part
    value = call("GET", call("SPLIT", _first(found), text("^="), _TWO), exp.Literal.number(1))
    return exp.Case(ifs=[exp.If(this=valid, true=value)])


def duckdb_scalar(node: exp.Expr) -> exp.Expr:
    """``json_extract_scalar`` for DuckDB."""
    marked = call("REGEXP_REPLACE", node.this, text(_SCALAR), text('"=\\1\\2"'), text("g"))
    bare = call("REGEXP_REPLACE", node.this, text(f"{_SCALAR}|null"), text("0"), text("g"))
    valid = exp.and_(
        exp.Not(this=call("REGEXP_MATCHES", bare, text(_WRONG))), call("JSON_VALID", marked)
    )
    found = [
        call("JSON_EXTRACT_STRING", marked, text("$" + "".join(map(_duckdb_step, steps))))
        for steps in json_path.readings(json_path.parse(node.expression.name))
    ]
    value = _first(found)
    marked_value = exp.Like(this=value, expression=text("=%"))
    cut = call("SUBSTRING", value, _TWO)
    return exp.Case(ifs=[exp.If(this=exp.and_(valid, marked_value), true=cut)])


def trino_scalar(node: exp.Expr) -> exp.Expr:
    """Make Trino look at the whole text: it returns what stands before a fault."""
    parsed = exp.Try(this=call("JSON_PARSE", node.this))
    valid = exp.Not(this=exp.Is(this=parsed, expression=exp.Null()))
    return exp.Case(ifs=[exp.If(this=valid, true=node.copy())])


def _first(found: Sequence[exp.Expr]) -> exp.Expr:
    return found[0] if len(found) == 1 else call("COALESCE", *found)


def _spark_step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f"['={step}']" if any(char in step for char in ".[") else f".={step}"


def _duckdb_step(step: str | int) -> str:
    return f"[{step}]" if isinstance(step, int) else f'."={step}"'
