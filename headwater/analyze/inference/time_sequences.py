"""``sequence`` of dates and times: whole numbers of steps, each added to the first time.

In: a call whose arguments are typed. Out: the same with whole numbers::

    sequence(d, e, INTERVAL '2' DAY)
    → transform(sequence(0, date_diff('day', d, e), 2), i -> date_add('day', i, d))
"""

from __future__ import annotations

from contextlib import suppress
from datetime import date

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.fallibility.fallible import SAFE
from headwater.analyze.inference.carried import micros
from headwater.analyze.inference.language_texts import composed_untyped, parsed
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.functions.lines import named
from headwater.dialect.meanings.templates import filled

_SEQUENCE = named("sequence")
_STEPS = "transform(sequence(0, _2, _3), i -> date_add('{unit}', i, _1))"
_APART = "date_diff('{unit}', _1, _2)"
_SECOND = 1_000_000
_DAY = 86_400 * _SECOND


def is_time_sequence(node: exp.Expr) -> bool:
    """Return whether a call is a ``sequence`` that begins with a date or a time."""
    given = node.expressions if isinstance(node, _SEQUENCE) else []
    return len(given) in (2, 3) and t.family(type_of(given[0])) == "time"


def time_sequence(node: exp.Expr, report: Diagnostics) -> exp.Expr | None:
    """Return a sequence of dates or times by whole numbers, not typed yet; None after an error.

    Args:
        node: see :func:`is_time_sequence`.
    """
    first, last, *steps = node.expressions
    kind = type_of(first)
    if type_of(last) != kind:
        if not t.is_unknown(type_of(last)):
            message = f"sequence goes from {t.sql_type(kind)} to {t.sql_type(type_of(last))}"
            report.add("TYPE_CLASH", message, last, "cast one of them")
        return None
    unit, size = ("day", _DAY) if kind == t.DATE else ("second", _SECOND)
    step = _length(steps[0], size) if steps else _DAY
    if step is None:
        if type_of(steps[0]) != t.INTERVAL or micros(steps[0]) is not None:  # months are reported
            hint = "write INTERVAL '1' DAY" if kind == t.DATE else "write INTERVAL '1' HOUR"
            message = f"the step of a sequence of {t.sql_type(kind)} must be whole {unit}s"
            report.add("WRONG_ARGUMENTS", message, steps[0], hint)
        return None
    root = exp.Paren(this=parsed(_STEPS.format(unit=unit)).copy())
    added = root.find(exp.DateAdd)
    assert added is not None
    added.meta[SAFE] = True  # it lies between two times
    apart = _apart(first, last, unit)
    return filled(root, [first, apart, exp.Literal.number(step // size)])


def _apart(first: exp.Expr, last: exp.Expr, unit: str) -> exp.Expr:
    """The units between two times: a number, where two dates are written out."""
    written = [each.this for each in (first, last) if isinstance(each, exp.Cast)]
    match [each.name for each in written if isinstance(each, exp.Literal)]:
        case sooner, later if unit == "day":
            with suppress(ValueError):  # no date: that is reported where it stands
                days = date.fromisoformat(later) - date.fromisoformat(sooner)
                return exp.Literal.number(days.days)
    return composed_untyped(_APART.format(unit=unit), [first, last])


def _length(step: exp.Expr, size: int) -> int | None:
    """The microseconds of an interval that is written out; None if they are no whole units."""
    length = micros(step) if isinstance(step, exp.Interval) else None
    return length if length and length % size == 0 else None
