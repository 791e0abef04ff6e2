"""``=`` and ``<>`` of arrays and maps, as Trino means them, in engines that compare them otherwise.

In: typed comparisons. Out: the same, or what computes them element by element.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.portable import array_equality, map_equality
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of


def spark(node: exp.Expr) -> exp.Expr:
    """Return a comparison as Spark computes it."""
    if type_of(node.this).this is t.Type.ARRAY:
        return array_equality.spark(node)
    return map_equality.spark_equal(node)


def duckdb(node: exp.Expr) -> exp.Expr:
    """Return a comparison as DuckDB computes it."""
    if type_of(node.this).this is t.Type.ARRAY:
        return array_equality.duckdb(node)
    return map_equality.duckdb_equal(node)
