"""Which expressions can fail: divisions, casts, arithmetic that leaves its type.

In: typed nodes. Out: whether a node itself can fail, given operands that do not. What is known of
its operands counts: ``x / 2``, ``x / nullif(y, 0)`` and ``CAST(i AS BIGINT) + 1`` cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal

from sqlglot import exp

from headwater.analyze.fallibility.bounds import LIMITS, SMALL, bound_of
from headwater.analyze.fallibility.nonzero_divisors import PROVEN
from headwater.analyze.fallibility.total import TOTAL
from headwater.analyze.query_parts import relations
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.functions import FUNCTIONS
from headwater.analyze.typing.functions.arrays import SCALAR_SUBQUERY
from headwater.analyze.typing.functions.carried import READERS

SAFE = "gives_null_instead"
"""Key of ``meta`` of a node whose operands are NULL where it would fail."""

EARLIEST, LATEST = -9_223_372_022_400, 9_223_372_036_854
"""The range of ``from_unixtime`` in seconds: times are microseconds in 64 bits."""

_MOST_SUMMED = 28
"""Digits of numbers whose sum has not over 38."""
_MOST_YEARS = 10_000
_PER_YEAR = {"SECOND": 31_536_000, "MINUTE": 525_600, "HOUR": 8760, "DAY": 365, "MONTH": 12}
_LANGUAGES: Mapping[type[exp.Expr], tuple[str, ...]] = {
    exp.SplitPart: ("delimiter", "part_index"),
    exp.RegexpReplace: ("expression", "replacement"),
    exp.RegexpExtract: ("expression", "group"),
}
"""Arguments that ``check`` reads if they are literals; of other functions it is the second."""
_MEANINGLESS_IF_EMPTY = (exp.Sum, exp.Avg, exp.Min, exp.Max)


def can_fail(node: exp.Expr) -> bool:
    """Return whether a typed node can fail, given operands that do not.

    What is neither in :data:`FALLIBLE` nor in
    :data:`~headwater.analyze.fallibility.total.TOTAL` can.
    """
    kind = type(node)
    if rule := FALLIBLE.get(kind):
        return not node.meta.get(SAFE) and rule(node)
    return kind not in TOTAL and isinstance(node, exp.Condition)


def condition_of(node: exp.Expr) -> str:
    """Return the condition under which a call fails by its line, empty if there is none."""
    function = FUNCTIONS.get(type(node))
    if function is None:
        return ""
    return function.fails if isinstance(function.fails, str) else function.fails(node)


def failing(expression: exp.Expr) -> Iterator[exp.Expr]:
    """Yield every node of a typed expression that can fail; subqueries have their own."""
    for node in expression.walk(prune=lambda node: isinstance(node, exp.Query)):
        if can_fail(node):
            yield node


def sum_leaves_type(node: exp.Expr) -> bool:
    """Return whether an aggregate has a sum of numbers that can be beyond its type."""
    if not isinstance(node, (exp.Sum, exp.Avg)):
        return False
    if isinstance(node.this, (exp.Count, exp.CountIf)):
        return False  # together they count no more than the rows
    kind = type_of(node.this)
    if kind.this is t.Type.BIGINT:
        return isinstance(node, exp.Sum)  # their average is a DOUBLE
    return kind.this is t.Type.DECIMAL and t.digits(kind)[0] > _MOST_SUMMED


def fails_on_ordinary_data(node: exp.Expr) -> bool:
    """Return whether a typed node divides by what can be 0, casts text, or wants one row of many.

    Numbers that leave their type are not ordinary: no query is written against 2**63.
    """
    if isinstance(node, SCALAR_SUBQUERY):
        return True
    if isinstance(node, READERS):
        return can_fail(node)
    if isinstance(node, (exp.Div, exp.Mod)):
        return divides_by_zero(node)
    return isinstance(node, exp.Cast) and t.family(type_of(node.this)) == "text" and can_fail(node)


def divides_by_zero(node: exp.Expr) -> bool:
    """Return whether a division or modulo of numbers can have the divisor 0.

    Args:
        node: ``exp.Div`` or ``exp.Mod``.
    """
    kind = type_of(node)
    if t.family(kind) != "number" or t.is_float(kind) or node.meta.get(PROVEN):
        return False  # x / 0e0 is infinite or NaN
    if _never_zero(node.expression):
        return False
    return not any(_null_if_none(part, node.expression) for part in _factors(node.this))


def negates_least(node: exp.Expr) -> bool:
    """Return whether a division can be of the least integer by -1, which has no quotient.

    Args:
        node: ``exp.Div`` or ``exp.Mod``; the rest of a division by -1 is 0.
    """
    kind = type_of(node)
    if not isinstance(node, exp.Div) or not t.is_integer(kind):
        return False
    return _can_be_minus_one(node.expression) and _leaves_type(node)


def _division_fails(node: exp.Expr) -> bool:
    if isinstance(node, exp.Mod) and _aligned_leave_type(node):
        return True
    return divides_by_zero(node) or negates_least(node)


# -- casts


def _cast_fails(node: exp.Expr) -> bool:
    source, target = type_of(node.this), type_of(node)
    if source == target:
        return False
    families = (t.family(source), t.family(target))
    if "unknown" in families or "null" in families:
        return False
    if families[0] == "text":
        return families[1] != "text" and not _good_literal(node.this, target)
    if families != ("number", "number") or t.is_float(target):
        return False  # a DOUBLE beyond REAL is infinite
    if t.is_float(source):
        return True
    bound = bound_of(node.this)
    if t.is_integer(target):
        return bound is None or bound >= LIMITS[target.this]
    precision, scale = t.digits(target)
    limit = 10 ** (precision - scale)
    rounds_up = t.digits(source)[1] > scale
    return bound is None or bound > limit or (rounds_up and bound == limit)


def _good_literal(node: exp.Expr, target: exp.DataType) -> bool:
    """Return whether it is a literal that the binder has looked at, or a number."""
    if not node.is_string:
        return False
    if t.family(target) == "time":
        return True
    try:
        number = Decimal(node.name)
    except ArithmeticError:
        return False
    if t.is_integer(target):
        return node.name.strip().lstrip("+-").isdigit() and abs(number) < LIMITS[target.this]
    return t.is_float(target)


# -- ranges


def _leaves_type(node: exp.Expr) -> bool:
    """Return whether the value of a calculation can be beyond its type."""
    kind = type_of(node)
    if t.family(kind) == "time":
        return _is_far(node)
    if t.is_integer(kind):
        bound = bound_of(node)
        return bound is None or bound >= LIMITS[kind.this]
    return isinstance(node, (exp.Add, exp.Sub)) and _aligned_leave_type(node, carry=1)


def _aligned_leave_type(node: exp.Expr, carry: int = 0) -> bool:
    """Return whether two decimals, with their points under one another, can have over 38 digits."""
    sizes = [t.digits(kind) for kind in map(type_of, (node.this, node.expression)) if _exact(kind)]
    if type_of(node).this is not t.Type.DECIMAL or len(sizes) < 2:
        return False
    whole = max(precision - scale for precision, scale in sizes)
    return whole + max(scale for _, scale in sizes) + carry > t.MAX_PRECISION


def _exact(kind: exp.DataType) -> bool:
    return kind.this is t.Type.DECIMAL or t.is_integer(kind)


def _rounding_leaves_type(node: exp.Expr) -> bool:
    kind, digits = type_of(node.this), node.args.get("decimals")
    if t.is_integer(kind):
        return isinstance(digits, exp.Neg)
    return kind.this is t.Type.DECIMAL and t.digits(kind)[0] >= t.MAX_PRECISION


def _is_far(node: exp.Expr) -> bool:
    """Return whether a time can lie outside of what 64 bits of microseconds hold."""
    # columns are within 1900 and 2200: landing quarantines other times
    if any(_seconds_fail(each) for each in node.find_all(exp.UnixToTime)):
        return True
    lengths = (_years(each) for each in node.find_all(exp.Interval))
    return any(years is None or years > _MOST_YEARS for years in lengths)


def _years(node: exp.Interval) -> float | None:
    unit = (node.text("unit") or "day").upper().rstrip("S")
    length = node.this.this if isinstance(node.this, exp.Neg) else node.this
    try:
        return abs(float(length.name)) / _PER_YEAR.get(unit, 1)
    except (ValueError, AttributeError):
        return None


def _seconds_fail(node: exp.Expr) -> bool:
    return (bound := bound_of(node.this)) is None or bound > LATEST


# -- text


def _has_free_pattern(node: exp.Expr) -> bool:
    """Return whether the arguments that make a language are data, and so may be malformed."""
    return not all(isinstance(each, exp.Literal) for each in _language_of(node))


def _language_of(node: exp.Expr) -> Iterator[exp.Expr]:
    for key in _LANGUAGES.get(type(node), ("expression",)):
        part = node.args.get(key)
        if part is not None:
            yield part.this if isinstance(part, exp.Neg) else part


def _escapes_data(node: exp.Expr) -> bool:
    """Return whether the pattern of a LIKE with ESCAPE is data: without it any text is one."""
    return not node.this.expression.is_string


# -- divisors


def _never_zero(node: exp.Expr) -> bool:
    """Return whether a divisor cannot be 0 (NULL is fine)."""
    match node:
        case exp.Literal():
            return not node.is_string and float(node.name) != 0
        case exp.Paren() | exp.Neg() | exp.Abs():
            return _never_zero(node.this)
        case exp.Cast() if t.is_integer(type_of(node.this)) or t.is_float(type_of(node)):
            return _never_zero(node.this)
        case exp.Mul():
            return _never_zero(node.this) and _never_zero(node.expression)
        case exp.Coalesce():
            return all(map(_never_zero, (node.this, *node.expressions)))
        case exp.Greatest():
            return any(map(_is_positive, (node.this, *node.expressions)))
        case exp.Nullif():
            return _is_zero(node.expression) or _never_zero(node.this)
    return _is_above_zero(node)


def _is_above_zero(node: exp.Expr) -> bool:
    """Return whether a number is above 0 wherever it is not NULL."""
    match node:
        case exp.Literal():
            return _is_positive(node)
        case exp.Paren():
            return _is_above_zero(node.this)
        case exp.Cast() | exp.Add() | exp.Mul() if t.is_integer(type_of(node.this)):
            return all(map(_is_above_zero, _operands(node)))
        case exp.Sum() | exp.Min() | exp.Max():
            return _is_above_zero(node.this)
        case exp.Filter():
            return not isinstance(node.this, exp.Count) and _is_above_zero(node.this)
        case exp.Window(this=exp.Count(this=counted)):
            return isinstance(counted, exp.Star) and _holds_its_row(node.args.get("spec"))
        case exp.Window():
            return _is_above_zero(node.this)
        case exp.Count():
            select = node.find_ancestor(exp.Select)
            star = isinstance(node.this, exp.Star)
            return star and select is not None and bool(select.args.get("group"))
        case exp.Column():
            below = _output_below(node)
            return below is not None and _is_above_zero(below)
    return False


def _operands(node: exp.Expr) -> Iterator[exp.Expr]:
    yield node.this
    if isinstance(node, exp.Binary):
        yield node.expression


def _holds_its_row(frame: exp.Expr | None) -> bool:
    """Return whether the frame of a row always has that row in it."""
    if frame is None:
        return True
    before = frame.args.get("start_side") == "PRECEDING" or frame.args["start"] == "CURRENT ROW"
    end = frame.args.get("end")
    return before and (frame.args.get("end_side") == "FOLLOWING" or end in (None, "CURRENT ROW"))


def _output_below(column: exp.Column) -> exp.Expr | None:
    """The output of a subquery in FROM that a column is."""
    select = column.find_ancestor(exp.Select)
    for item in relations(select) if select is not None else []:
        if item.alias_or_name == column.table and isinstance(item.this, exp.Select):
            outputs = (each for each in item.this.selects if each.alias_or_name == column.name)
            return next((each.unalias() for each in outputs), None)
    return None


def _is_zero(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and float(node.name) == 0


def _is_positive(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and float(node.name) > 0


def _factors(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the parts of a dividend; it is NULL if one of them is."""
    while isinstance(node, (exp.Paren, exp.Cast, exp.Neg)):
        node = node.this
    if isinstance(node, (exp.Add, exp.Sub, exp.Mul, exp.Div)):
        yield from _factors(node.this)
        yield from _factors(node.expression)
    else:
        yield node


def _can_be_minus_one(node: exp.Expr) -> bool:
    while isinstance(node, (exp.Paren, exp.Cast)):
        node = node.this
    if isinstance(node, exp.Neg):
        inner = node.this.unnest()
        return not (isinstance(inner, exp.Literal) and inner.name != "1")
    if isinstance(node, exp.Nullif):
        return _can_be_minus_one(node.this)
    if isinstance(node, (exp.Coalesce, exp.Greatest)):
        # the greatest of values is one of them, and at least each of them
        each = map(_can_be_minus_one, (node.this, *node.expressions))
        given = (node.this, *node.expressions)
        if isinstance(node, exp.Greatest) and any(map(_is_positive, given)):
            return False
        return any(each)
    return not isinstance(node, (exp.Literal, *SMALL)) or isinstance(node, exp.DateDiff)


def _null_if_none(aggregate: exp.Expr, divisor: exp.Expr) -> bool:
    """Return whether an aggregate is NULL if the divisor counts no rows: ``sum(x) / count(x)``."""
    while isinstance(divisor, (exp.Paren, exp.Cast)):
        divisor = divisor.this
    filters = [
        item.expression.sql() if isinstance(item, exp.Filter) else ""
        for item in (aggregate, divisor)
    ]
    value = aggregate.this if isinstance(aggregate, exp.Filter) else aggregate
    counted = divisor.this if isinstance(divisor, exp.Filter) else divisor
    if not isinstance(value, _MEANINGLESS_IF_EMPTY) or not isinstance(counted, exp.Count):
        return False
    same = isinstance(counted.this, exp.Star) or counted.this == value.this
    return same and filters[0] == filters[1]


FALLIBLE: Mapping[type[exp.Expr], Callable[[exp.Expr], bool]] = {
    exp.Cast: _cast_fails,
    **dict.fromkeys((exp.Div, exp.Mod), _division_fails),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Abs), _leaves_type),
    exp.Round: _rounding_leaves_type,
    exp.UnixToTime: _seconds_fail,
    exp.Escape: _escapes_data,
    **dict.fromkeys((exp.RegexpLike, exp.RegexpReplace, exp.RegexpExtract), _has_free_pattern),
    **dict.fromkeys((exp.Split, exp.SplitPart), _has_free_pattern),
    # of a group, not of a row: sum_leaves_type
    **dict.fromkeys((exp.Sum, exp.Avg), lambda node: False),
    **{node: lambda node: bool(condition_of(node)) for node, f in FUNCTIONS.items() if f.fails},
}
"""Node class → whether a node of it fails for some values of its operands."""
