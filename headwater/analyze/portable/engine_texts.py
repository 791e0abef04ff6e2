"""Calls of functions whose text for each engine stands in the table of functions.

In: a typed call. Out: the text of its line with the arguments in their places, as a tree; the
result of a number is cast to its type, since engines count in other types. A call that fails on a
row raises an error in every engine, unless what would fail was made NULL.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from sqlglot import exp

from headwater.analyze.failing.guards import RAISES
from headwater.analyze.text_places import ARGUMENT, filled
from headwater.analyze.typing import functions as f
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.functions import spreads
from headwater.analyze.typing.functions.lines import named

_SPREADS: Mapping[type[exp.Expr], Mapping[str, str]] = {
    **dict.fromkeys((exp.Stddev, exp.StddevSamp), spreads.STDDEV),
    exp.StddevPop: spreads.STDDEV_POP,
    exp.Variance: spreads.VARIANCE,
    exp.VariancePop: spreads.VARIANCE_POP,
}
"""The texts of functions of floating-point numbers; of other numbers engines have their own."""
_RAISE = {"spark": "raise_error", "duckdb": "error", "trino": "fail"}


def engine_text(node: exp.Expr, dialect: str) -> exp.Expr:
    """Return a call of a line of the table as an engine's own SQL.

    Args:
        node: a typed call; any other node is returned as it is.
        dialect: ``spark``, ``duckdb`` or ``trino``.
    """
    if isinstance(node, exp.Anonymous) and node.name == RAISES:
        return exp.Anonymous(this=_RAISE[dialect], expressions=node.expressions)
    made = untyped_text(node, dialect)
    if made is node or isinstance(made, exp.Cast) or dialect == "trino":
        return made
    kind = type_of(node)
    return exp.Cast(this=made, to=kind.copy()) if t.family(kind) == "number" else made


def untyped_text(node: exp.Expr, dialect: str) -> exp.Expr:
    """Return a call of a line of the table as an engine's own SQL, with the engine's own type.

    Args:
        node: a call; any other node is returned as it is.
        dialect: ``spark``, ``duckdb`` or ``trino``.
    """
    function = f.FUNCTIONS.get(type(node))
    texts = _texts_of(node)
    if function is None or texts is None:
        return node
    given = f.arguments(cast(exp.Func, node))
    text = _of_so_many(texts.get(dialect, ""), len(given))
    if text:
        return filled(text, given, dialect)
    copies = [each.copy() for each in given]
    if function.kind == "aggregate":  # plans tell what aggregates by the class of the node
        return named(function.name, aggregate=True)(expressions=copies)
    return exp.Anonymous(this=function.name, expressions=copies)


def is_line_of_rows(node: exp.Expr) -> bool:
    """Return whether a node is an aggregate of the table, with what stands around it or without."""
    call = node
    while isinstance(call, (exp.Filter, exp.Window)):
        call = call.this
    function = f.FUNCTIONS.get(type(call))
    return function is not None and _texts_of(call) is not None and function.kind == "aggregate"


def _texts_of(call: exp.Expr) -> Mapping[str, str] | None:
    """The texts of a call by engine, if it has some."""
    if type(call) in _SPREADS:
        return _SPREADS[type(call)] if t.is_float(type_of(call.this)) else None
    function = f.FUNCTIONS.get(type(call))
    return function.texts if function is not None else None


def aggregate_text(node: exp.Expr, dialect: str) -> exp.Expr:
    """Return an aggregate of the table with its FILTER and OVER as an engine's own SQL.

    The text of a line may hold several aggregates: each of them gets OVER. The condition of FILTER
    is put into the first argument, since all of these aggregates leave out NULL.

    Args:
        node: a typed call, or FILTER or OVER around it.
    """
    window = node if isinstance(node, exp.Window) else None
    filtered = window.this if window is not None else node
    call = filtered.this if isinstance(filtered, exp.Filter) else filtered
    if isinstance(filtered, exp.Filter):
        first = f.arguments(cast(exp.Func, call))[0]
        condition = exp.paren(filtered.expression.this.copy(), copy=False)
        first.replace(exp.Case(ifs=[exp.If(this=condition, true=first.copy())]))
    root = exp.Paren(this=engine_text(call, dialect))
    if window is not None:
        for each in list(root.find_all(exp.AggFunc)):
            over = window.copy()
            over.set("this", each.copy())
            each.replace(over)
    return cast(exp.Expr, root.this.pop())


def _of_so_many(text: str, count: int) -> str:
    """Return the text for a number of arguments; a text for each stands between ``;;``."""
    texts = text.split(" ;; ")
    found = (each for each in texts if max(map(int, ARGUMENT.findall(each)), default=0) >= count)
    return next(found, texts[-1])
