"""What makes rows in FROM: ``unnest(x)`` and ``generate_series(1, n)``.

In: nodes as sqlglot parsed them. Out: UNNEST, named as the engine of the dialect names it::

    FROM t, generate_series(1, t.n) AS g    FROM t, UNNEST(CASE WHEN 1 <= t.n
                                            THEN sequence(1, t.n) END) AS g (g)
"""

from __future__ import annotations

import re

from sqlglot import exp

from headwater.dialect.meanings.arrays import call
from headwater.dialect.meanings.text import Meaning

_SERIES = (exp.ExplodingGenerateSeries, exp.GenerateSeries)


def named_unnest(node: exp.Expr) -> exp.Expr:
    """The rows of ``FROM unnest(x)``, and their column, are called ``unnest``."""
    if not node.args.get("alias") and isinstance(node.parent, (exp.From, exp.Join)):
        node.set("alias", exp.TableAlias(this=exp.to_identifier("unnest")))
    return node


def series(*, called_as_alias: bool) -> Meaning:
    """``generate_series(first, last [, step])`` of integers, which may be empty.

    Args:
        called_as_alias: whether an alias names the column too.
    """

    def unnested(node: exp.Expr) -> exp.Expr:
        made = node.this
        bounds = _bounds(made) if isinstance(made, _SERIES) else None
        if bounds is None:
            return node
        some = _sequence(*bounds)
        name = "range" if made.args.get("is_end_exclusive") else "generate_series"
        alias = node.alias or name
        columns = [each.copy() for each in node.args["alias"].columns] if node.alias else []
        column = exp.to_identifier(alias if called_as_alias else name)
        named = exp.TableAlias(this=exp.to_identifier(alias), columns=columns or [column])
        return exp.Unnest(expressions=[some], alias=named)

    return unnested


def selected_series(node: exp.Expr) -> exp.Expr:
    """``SELECT generate_series(first, last [, step])``, which makes rows."""
    bounds = None if isinstance(node.parent, exp.Table) else _bounds(node)
    if bounds is None:
        return node
    rows = exp.Unnest(expressions=[_sequence(*bounds)])
    if not isinstance(node.parent, exp.Select):
        return rows
    return exp.Alias(this=rows, alias=exp.to_identifier("generate_series"))


def matches(node: exp.Expr) -> exp.Expr:
    """``unnest(regexp_matches(x, pattern, 'g'))`` of a pattern without groups: all matches."""
    inner = node.this
    if not isinstance(inner, exp.Anonymous) or inner.name.lower() != "regexp_matches":
        return node
    value, pattern, flags = [*inner.expressions, None, None, None][:3]
    if not isinstance(flags, exp.Literal) or flags.name != "g" or not pattern.is_string:
        return node
    if re.search(r"\((?!\?:)", pattern.name):
        return node
    return exp.Explode(this=call("regexp_extract_all", value, pattern))


def _sequence(first: exp.Expr, last: exp.Expr, step: exp.Expr | None) -> exp.Expr:
    """An array of numbers, NULL if there are none."""
    reached = (exp.GTE if isinstance(step, exp.Neg) else exp.LTE)(
        this=exp.paren(first.copy()), expression=exp.paren(last.copy())
    )
    given = [first.copy(), last.copy(), *([step.copy()] if step is not None else [])]
    return exp.Case(ifs=[exp.If(this=reached, true=call("sequence", *given))])


def _bounds(made: exp.Expr) -> tuple[exp.Expr, exp.Expr, exp.Expr | None] | None:
    """First, last and step of a series; None if the sign of its step is not written."""
    first, last, step = made.args.get("start"), made.args.get("end"), made.args.get("step")
    if first is None or last is None:
        return None
    if step is not None:
        size = step.this if isinstance(step, exp.Neg) else step
        written = isinstance(size, exp.Literal) and size.is_int and int(size.name) > 0
        if not written or made.args.get("is_end_exclusive"):
            return None
    if made.args.get("is_end_exclusive"):
        last = exp.Sub(this=exp.paren(last.copy()), expression=exp.Literal.number(1))
    return first, last, step
