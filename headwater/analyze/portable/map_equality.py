"""``=`` and ``<>`` of maps: Spark compares none, and DuckDB compares entries in their order.

In: a typed comparison. Out: for maps, one of their keys and of the values of each key, which means
what it means in Trino: a value that is NULL makes it NULL, unless another one differs.
"""

from __future__ import annotations

from sqlglot import exp, parse_one

from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

_EQUAL = {
    "spark": """
        CASE WHEN ARRAY_SORT(MAP_KEYS(m)) <> ARRAY_SORT(MAP_KEYS(n)) THEN FALSE
        ELSE FORALL(MAP_KEYS(m), k -> ELEMENT_AT(m, k) = ELEMENT_AT(n, k)) END""",
    "duckdb": """
        CASE WHEN m IS NULL OR n IS NULL THEN NULL
        WHEN LIST_SORT(MAP_KEYS(m)) <> LIST_SORT(MAP_KEYS(n)) THEN FALSE
        WHEN LIST_CONTAINS([m[k] = n[k] FOR k IN MAP_KEYS(m)], FALSE) THEN FALSE
        WHEN LIST_COUNT([m[k] = n[k] FOR k IN MAP_KEYS(m)]) = LEN(MAP_KEYS(m)) THEN TRUE END""",
}


def spark_equal(node: exp.Expr) -> exp.Expr:
    """Compare maps as Spark can."""
    return _equal(node, "spark")


def duckdb_equal(node: exp.Expr) -> exp.Expr:
    """Compare maps as DuckDB can."""
    return _equal(node, "duckdb")


def _equal(node: exp.Expr, dialect: str) -> exp.Expr:
    if t.Type.MAP not in (type_of(node.this).this, type_of(node.expression).this):
        return node
    sides = {"m": node.this, "n": node.expression}
    found: exp.Expr = exp.Paren(this=parse_one(_EQUAL[dialect], dialect=dialect))
    for hole in list(found.find_all(exp.Column)):
        if hole.name in sides and not hole.table:
            hole.replace(sides[hole.name].copy())
    return exp.Not(this=found) if isinstance(node, exp.NEQ) else found
