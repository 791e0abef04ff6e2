"""``sequence`` of dates and times: whole numbers of steps, each added to the first time.

In: a call whose arguments are typed. Out: the same with whole numbers::

    sequence(d, e, INTERVAL '2' DAY)
    → transform(sequence(0, date_diff('day', d, e), 2), i -> date_add('day', i, d))
"""

from __future__ import annotations

from datetime import date, timedelta

from sqlglot import exp

from headwater.analyze.fallibility.fallible import SAFE
from headwater.analyze.inference.language_texts import composed_untyped
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.functions.lines import named
from headwater.dialect.vocabulary import LENGTHS

_SEQUENCE = named("sequence")
_STEPS = "transform(sequence(0, date_diff('{unit}', _1, _2), _3), i -> date_add('{unit}', i, _1))"
_OF_DATES, _OF_TIMES = _STEPS.format(unit="day"), _STEPS.format(unit="second")


def sequence_of_times(node: exp.Expr) -> exp.Expr | None:
    """Return a call of ``sequence`` over dates or times by whole numbers, not typed yet.

    Args:
        node: any call. None is returned for any other, and for steps of months or years, whose
            lengths differ.
    """
    if not isinstance(node, _SEQUENCE) or not 1 < len(node.expressions) <= 3:  # noqa: PLR2004
        return None
    first, last, *steps = node.expressions
    kind = type_of(first)
    if type_of(last) != kind or (kind != t.DATE and t.family(kind) != "time"):
        return None
    unit = timedelta(days=1) if kind == t.DATE else timedelta(seconds=1)
    length = _length(steps[0]) if steps else timedelta(days=1)
    if length is None or not length or length % unit:
        return None
    text = _OF_DATES if kind == t.DATE else _OF_TIMES
    made = composed_untyped(text, [first, last, exp.Literal.number(length // unit)])
    for added in made.find_all(exp.DateAdd):
        added.meta[SAFE] = True  # it lies between two times
    for distance in list(made.find_all(exp.DateDiff)):
        if days := _days(last, first):
            distance.replace(exp.Literal.number(days))
    return made


def _days(last: exp.Expr, first: exp.Expr) -> int | None:
    """The days between two dates that are written out, which says how many elements there are."""
    texts = [each.this.name for each in (last, first) if isinstance(each.this, exp.Literal)]
    try:
        later, sooner = map(date.fromisoformat, texts)
    except ValueError:
        return None
    return (later - sooner).days


def _length(step: exp.Expr) -> timedelta | None:
    """The length of an interval that is written out; None of months and years."""
    unit = LENGTHS.get(step.text("unit").upper()) if isinstance(step, exp.Interval) else None
    if unit is None or not isinstance(step.this, exp.Literal):
        return None
    try:
        return unit * float(step.this.name)
    except (ValueError, OverflowError):
        return None
