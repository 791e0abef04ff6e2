"""Intervals as engines get them: microseconds, and types that stand for others.

In: typed nodes. Out: nodes over the types that values are carried as, the same for every engine.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.failing.guards import has_guard
from headwater.analyze.inference.carried import is_value, micros
from headwater.analyze.portable.engine_texts import engine_text
from headwater.analyze.text_places import filled
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.functions.carried import canonical, micros_of, rounded
from headwater.dialect.syntax import DIALECT


def carrier(node: exp.Expr) -> exp.Expr:
    """Return the type that stands for one which tables do not have; any other as it is."""
    kind = t.CARRIERS.get(node.this)
    return node if kind is None or node.expressions else kind.copy()  # an engine's own has a size


def length(node: exp.Expr) -> exp.Expr:
    """Return a constant interval that is a value as its microseconds."""
    count = micros(node) if is_value(node) else None
    if count is None:
        return node
    number: exp.Expr = exp.Literal.number(abs(count))
    return exp.Cast(this=number if count >= 0 else exp.Neg(this=number), to=t.BIGINT.copy())


def difference(node: exp.Expr, dialect: str) -> exp.Expr:
    """Return the difference of two timestamps as microseconds; any other node as it is."""
    if type_of(node) != t.INTERVAL or not t.is_timestamp(type_of(node.this)):
        return node
    apart = f"({micros_of(dialect, '_1')} - {micros_of(dialect, '_2')})"
    if not node.meta.get(DIALECT):
        apart = rounded(dialect, apart)
    return exp.paren(filled(apart, [node.this, node.expression], dialect), copy=False)


def written(node: exp.Expr, dialect: str) -> exp.Expr:
    """Return a literal time of day or UUID as the text that stands for it."""
    value = node.expressions[0]
    if not value.is_string or has_guard(node):
        return engine_text(node, dialect)
    return exp.Literal.string(canonical(value.name, type_of(node)))
