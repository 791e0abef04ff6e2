"""``=`` and ``<>`` of arrays and maps, as SQL means them: NULL if a NULL decides.

In: typed comparisons. Out: expressions that compare element by element. Spark has no equality of
maps and takes two NULL elements for equal; so does DuckDB, where the order of a map's entries
counts too.
"""

from __future__ import annotations

from sqlglot import exp, parse_one

from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

_LEFT, _RIGHT = "__left", "__right"
_NULL = f"WHEN {_LEFT} IS NULL OR {_RIGHT} IS NULL THEN NULL"
_SPARK_ARRAY = f"""
CASE {_NULL} WHEN size({_LEFT}) <> size({_RIGHT}) THEN FALSE
  ELSE forall(zip_with({_LEFT}, {_RIGHT}, (a, b) -> a = b), same -> same) END"""
_SPARK_MAP = f"""
CASE {_NULL} WHEN size({_LEFT}) <> size({_RIGHT}) THEN FALSE
  WHEN NOT forall(map_keys({_LEFT}), k -> map_contains_key({_RIGHT}, k)) THEN FALSE
  ELSE forall(map_keys({_LEFT}), k -> element_at({_LEFT}, k) = element_at({_RIGHT}, k)) END"""
_DUCKDB_ARRAY = f"""
CASE {_NULL} WHEN len({_LEFT}) <> len({_RIGHT}) THEN FALSE
  WHEN list_contains(list_transform(range(len({_LEFT})),
    lambda i: {_LEFT}[i + 1] = {_RIGHT}[i + 1]), FALSE) THEN FALSE
  WHEN list_count({_LEFT}) < len({_LEFT}) OR list_count({_RIGHT}) < len({_RIGHT}) THEN NULL
  ELSE TRUE END"""
_DUCKDB_MAP = f"""
CASE {_NULL} WHEN cardinality({_LEFT}) <> cardinality({_RIGHT}) THEN FALSE
  WHEN NOT list_has_all(map_keys({_RIGHT}), map_keys({_LEFT})) THEN FALSE
  WHEN list_contains(list_transform(map_keys({_LEFT}),
    lambda k: {_LEFT}[k] = {_RIGHT}[k]), FALSE) THEN FALSE
  WHEN list_count(map_values({_LEFT})) < cardinality({_LEFT})
    OR list_count(map_values({_RIGHT})) < cardinality({_RIGHT}) THEN NULL
  ELSE TRUE END"""


def spark(node: exp.Expr) -> exp.Expr:
    """Return ``=`` or ``<>`` as Spark computes it; of values without parts, as it is."""
    return _compared(node, _SPARK_ARRAY, _SPARK_MAP, "spark")


def duckdb(node: exp.Expr) -> exp.Expr:
    """Return ``=`` or ``<>`` as DuckDB computes it; of values without parts, as it is."""
    return _compared(node, _DUCKDB_ARRAY, _DUCKDB_MAP, "duckdb")


def _compared(node: exp.Expr, of_arrays: str, of_maps: str, dialect: str) -> exp.Expr:
    kind = type_of(node.this)
    if kind.this not in (t.Type.ARRAY, t.Type.MAP):
        return node
    sides = {_LEFT: node.this, _RIGHT: node.expression}

    def filled(part: exp.Expr) -> exp.Expr:
        side = sides.get(part.name) if isinstance(part, exp.Column) else None
        return exp.paren(side.copy(), copy=False) if side is not None else part

    text = of_arrays if kind.this is t.Type.ARRAY else of_maps
    same = exp.paren(parse_one(text, dialect=dialect).transform(filled), copy=False)
    return exp.Not(this=same) if isinstance(node, exp.NEQ) else same
