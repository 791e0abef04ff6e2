"""Calls of other dialects that are written in Trino's SQL, one line for each.

In: nodes as the parser of a dialect left them. Out: Trino's expression with the arguments in their
places; a call whose arguments do not fit is left to the binder, which refuses it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sqlglot import exp

from headwater.dialect.meanings import functions
from headwater.dialect.meanings.templates import filled, hole, template
from headwater.dialect.meanings.text import Meaning
from headwater.dialect.syntax import SHOWN


def written(text: str, *keys: str, when: Callable[..., bool] = lambda *given: True) -> Meaning:
    """A call as an expression of Trino's.

    Args:
        text: the expression; ``_1``, ``_2`` stand for the arguments.
        keys: of the arguments in the node; without any they are those of a call by name.
        when: whether the arguments fit.
    """

    def made(node: exp.Expr) -> exp.Expr:
        given = [node.args.get(key) for key in keys] if keys else node.expressions
        root = exp.Paren(this=template(text).copy())
        last = max(hole(column) for column in root.find_all(exp.Column))
        wanted = [each for each in given[:last] if each is not None]
        if len(wanted) < last or not when(*given):
            return node
        for call in root.find_all(exp.DateDiff):
            name = node.sql_name() if isinstance(node, exp.Func) else node.name
            shown = ", ".join(each.sql() for each in given if each is not None)
            call.meta[SHOWN] = f"{name.lower()}({shown})"
        return exp.Paren(this=filled(root, wanted))

    return made


def first_of(*meanings: Meaning) -> Meaning:
    """The first of several meanings that takes the arguments of a call."""

    def made(node: exp.Expr) -> exp.Expr:
        found = (each(node) for each in meanings)
        return next((each for each in found if each is not node), node)

    return made


def _is_place(*given: exp.Expr | None) -> bool:
    """Whether a place, and a length if there is one, are written as numbers from 1 and 0."""
    return all(
        isinstance(each, exp.Literal) and each.is_int and int(each.name) >= least
        for each, least in zip(given[2:], (1, 0), strict=False)
        if each is not None
    )


_UNITS: Mapping[str, tuple[str, ...]] = {
    "YEAR": ("YEAR", "YYYY", "YY"),
    "QUARTER": ("QUARTER",),
    "MONTH": ("MONTH", "MON", "MM"),
    "WEEK": ("WEEK",),
}


def day_began(node: exp.Expr) -> exp.Expr:
    """``trunc(date, unit)`` of Spark, a date."""
    unit = node.args["unit"]
    word = "" if isinstance(unit, exp.Column) else unit.name.upper()
    known = next((name for name, words in _UNITS.items() if word in words), None)
    day = exp.cast(node.this.copy(), "DATE")
    return exp.TimestampTrunc(this=day, unit=exp.var(known)) if known else node


def chosen(node: exp.Expr) -> exp.Expr:
    """``decode(x, a, y, b, z, other)``, for which NULL equals NULL."""
    value, *rest = node.expressions
    pairs = list(zip(rest[::2], rest[1::2], strict=False))
    ifs = [
        exp.If(this=exp.NullSafeEQ(this=value.copy(), expression=wanted.copy()), true=found.copy())
        for wanted, found in pairs
    ]
    return exp.Case(ifs=ifs, default=rest[-1].copy() if len(rest) % 2 else None)


ASCII = written("CASE WHEN _1 = '' THEN 0 ELSE codepoint(lpad(_1, 1, ' ')) END", "this")
"""The number of the first character, 0 of an empty text."""
BITS = written("8 * length(to_utf8(_1))", "this")
BYTES = written("length(to_utf8(_1))")
NVL2 = written("CASE WHEN _1 IS NULL THEN _3 ELSE _2 END", "this", "true", "false")
_NO_PADDING = "CASE WHEN _3 = '' THEN substr(_1, 1, greatest(_2, 0)) ELSE {} END"
_PADS = {True: "lpad(_1, greatest(_2, 0), _3)", False: "rpad(_1, greatest(_2, 0), _3)"}


def padded(node: exp.Expr) -> exp.Expr:
    """``lpad`` and ``rpad`` that fill with blanks, cut to nothing, and may fill with nothing.

    A length and a padding that are written mean the same in Trino.
    """
    keys = ("this", "expression", "fill_pattern")
    if not node.args.get("fill_pattern"):
        node.set("fill_pattern", exp.Literal.string(" "))
    length, filling = node.expression, node.args["fill_pattern"]
    if isinstance(length, exp.Literal) and isinstance(filling, exp.Literal):
        return node
    text = _PADS[bool(node.args.get("is_left"))]
    some = isinstance(filling, exp.Literal) and filling.name
    return written(text if some else _NO_PADDING.format(text), *keys)(node)


_SIDES = ("this", "expression")
BEGINNING = first_of(functions.beginning, written("substr(_1, 1, greatest(_2, 0))", *_SIDES))
END = first_of(
    functions.end,
    written(
        "CASE WHEN _1 IS NULL THEN NULL WHEN _2 <= 0 THEN '' WHEN length(_1) <= _2 THEN _1"
        " ELSE substr(_1, length(_1) - _2 + 1) END",
        *_SIDES,
    ),
)
"""``left`` and ``right``, empty of less than a character."""
ALL_BUT_END = first_of(
    functions.beginning,
    written(
        "substr(_1, 1, greatest(CASE WHEN _2 < 0 THEN length(_1) + _2 ELSE _2 END, 0))", *_SIDES
    ),
)
ALL_BUT_BEGINNING = first_of(
    functions.end,
    written(
        "CASE WHEN _2 < 0 THEN substr(_1, 1 - _2) WHEN length(_1) <= _2 THEN _1"
        " ELSE substr(_1, length(_1) - _2 + 1) END",
        *_SIDES,
    ),
)
"""``left`` and ``right`` that leave out so many characters if the number is negative."""

_OVER = ("this", "expression", "from_", "for_")
OVERLAY = first_of(
    written("substr(_1, 1, _3 - 1) || _2 || substr(_1, _3 + _4)", *_OVER, when=_is_place),
    written(
        "substr(_1, 1, _3 - 1) || _2 || substr(_1, _3 + length(_2))",
        *_OVER,
        when=lambda *given: given[3] is None and _is_place(*given),
    ),
)
"""``overlay(x PLACING y FROM place FOR length)``."""


def grouping(node: exp.Expr) -> exp.Expr:
    """``grouping_id(a, b)``."""
    given = [each.copy() for each in node.expressions]
    return exp.Grouping(expressions=given) if given else node


def converted(kind: str) -> Meaning:
    """``bigint(x)`` and the like as a cast."""
    return lambda node: exp.cast(node.expressions[0].copy(), kind)


def half_of_day(node: exp.Expr) -> exp.Expr:
    """``to_char`` of PostgreSQL, whose HH counts to 12."""
    pattern = node.args.get("format")
    if pattern is not None and pattern.is_string and '"' not in pattern.name:
        node.set("format", exp.Literal.string(_HALF.sub("%I", pattern.name)))
    return node


_HALF = re.compile(r"(?<!%)(?:HH|hh)")
