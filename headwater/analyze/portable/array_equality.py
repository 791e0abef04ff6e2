"""``=`` and ``<>`` of arrays, as SQL means them: NULL if a NULL decides.

In: typed comparisons. Out: expressions that compare element by element. Spark and DuckDB take two
NULL elements for equal.
"""

from __future__ import annotations

from sqlglot import exp, parse_one

from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

_LEFT, _RIGHT = "__left", "__right"
_NULL = f"WHEN {_LEFT} IS NULL OR {_RIGHT} IS NULL THEN NULL"
_SPARK = f"""
CASE {_NULL} WHEN size({_LEFT}) <> size({_RIGHT}) THEN FALSE
  ELSE forall(zip_with({_LEFT}, {_RIGHT}, (a, b) -> a = b), same -> same) END"""
_DUCKDB = f"""
CASE {_NULL} WHEN len({_LEFT}) <> len({_RIGHT}) THEN FALSE
  WHEN list_contains(list_transform(range(len({_LEFT})),
    lambda i: {_LEFT}[i + 1] = {_RIGHT}[i + 1]), FALSE) THEN FALSE
  WHEN list_count({_LEFT}) < len({_LEFT}) OR list_count({_RIGHT}) < len({_RIGHT}) THEN NULL
  ELSE TRUE END"""


def spark(node: exp.Expr) -> exp.Expr:
    """Return ``=`` or ``<>`` as Spark computes it; of other values, as it is."""
    return _compared(node, _SPARK, "spark")


def duckdb(node: exp.Expr) -> exp.Expr:
    """Return ``=`` or ``<>`` as DuckDB computes it; of other values, as it is."""
    return _compared(node, _DUCKDB, "duckdb")


def _compared(node: exp.Expr, text: str, dialect: str) -> exp.Expr:
    if type_of(node.this).this is not t.Type.ARRAY:
        return node
    sides = {_LEFT: node.this, _RIGHT: node.expression}

    def filled(part: exp.Expr) -> exp.Expr:
        side = sides.get(part.name) if isinstance(part, exp.Column) else None
        return exp.paren(side.copy(), copy=False) if side is not None else part

    same = exp.paren(parse_one(text, dialect=dialect).transform(filled), copy=False)
    return exp.Not(this=same) if isinstance(node, exp.NEQ) else same
