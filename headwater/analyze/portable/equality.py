"""``=``, ``<>``, IN and CASE of arrays, maps and rows, as Trino means them: NULL if a NULL decides.

In: typed comparisons. Out: the same, or what computes them element by element. Spark and DuckDB
take two NULL elements for equal. Spark compares no maps, and DuckDB compares entries in their
order; here the keys are compared, and the values of each key.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp, parse_one

from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

_ARRAYS: Mapping[str, str] = {
    "spark": """
CASE WHEN __left IS NULL OR __right IS NULL THEN NULL
  WHEN size(__left) <> size(__right) THEN FALSE
  ELSE forall(zip_with(__left, __right, (a, b) -> a = b), same -> same) END""",
    "duckdb": """
CASE WHEN __left IS NULL OR __right IS NULL THEN NULL
  WHEN len(__left) <> len(__right) THEN FALSE
  WHEN list_contains(list_transform(range(len(__left)),
    lambda i: __left[i + 1] = __right[i + 1]), FALSE) THEN FALSE
  WHEN list_count(__left) < len(__left) OR list_count(__right) < len(__right) THEN NULL
  ELSE TRUE END""",
}
_MAPS: Mapping[str, str] = {
    "spark": """
CASE WHEN __left IS NULL OR __right IS NULL THEN NULL
  WHEN array_sort(map_keys(__left)) <> array_sort(map_keys(__right)) THEN FALSE
  ELSE forall(map_keys(__left), k -> element_at(__left, k) = element_at(__right, k)) END""",
    "duckdb": """
CASE WHEN __left IS NULL OR __right IS NULL THEN NULL
  WHEN list_sort(map_keys(__left)) <> list_sort(map_keys(__right)) THEN FALSE
  WHEN list_contains([__left[k] = __right[k] FOR k IN map_keys(__left)], FALSE) THEN FALSE
  WHEN list_count([__left[k] = __right[k] FOR k IN map_keys(__left)]) = len(map_keys(__left))
  THEN TRUE END""",
}
_NESTED = {t.Type.ARRAY: _ARRAYS, t.Type.MAP: _MAPS}
_HELD = (*_NESTED, t.Type.STRUCT)


def _fields(row: exp.Expr) -> list[exp.Expr]:
    kinds = type_of(row).expressions
    found: list[exp.Expr] = []
    for field in kinds:
        found.append(exp.Dot(this=exp.paren(row.copy()), expression=field.this.copy()))
        found[-1].type = field.args["kind"]
    return found


def member(node: exp.Expr, dialect: str) -> exp.Expr:
    """Return ``x IN (y, z)`` as an engine computes it; of other values, as it is."""
    if not node.expressions or type_of(node.this).this not in _HELD:
        return node
    same = (_equal(node.this, item, dialect) for item in node.expressions)
    return exp.paren(exp.or_(*same), copy=False)


def chosen(node: exp.Expr, dialect: str) -> exp.Expr:
    """Return ``CASE x WHEN y`` as an engine computes it; of other values, as it is."""
    value = node.this
    if value is None or type_of(value).this not in _HELD:
        return node
    for branch in node.args["ifs"]:
        branch.set("this", _equal(value, branch.this, dialect))
    node.set("this", None)
    return node


def _equal(left: exp.Expr, right: exp.Expr, dialect: str) -> exp.Expr:
    return compared(exp.EQ(this=left.copy(), expression=right.copy()), dialect)


def compared(node: exp.Expr, dialect: str) -> exp.Expr:
    """Return ``=`` or ``<>`` as an engine computes it; of other values, as it is."""
    if type_of(node.this).this is t.Type.STRUCT:
        fields = zip(_fields(node.this), _fields(node.expression), strict=True)
        each = (_equal(left, right, dialect) for left, right in fields)
        alike = exp.paren(exp.and_(*each), copy=False)
        return exp.Not(this=alike) if isinstance(node, exp.NEQ) else alike
    texts = _NESTED.get(type_of(node.this).this) or _NESTED.get(type_of(node.expression).this)
    if texts is None:
        return node
    sides = {"__left": node.this, "__right": node.expression}

    def filled(part: exp.Expr) -> exp.Expr:
        side = sides.get(part.name) if isinstance(part, exp.Column) else None
        return exp.paren(side.copy(), copy=False) if side is not None else part

    same = exp.paren(parse_one(texts[dialect], dialect=dialect).transform(filled), copy=False)
    return exp.Not(this=same) if isinstance(node, exp.NEQ) else same
