"""Aggregates over the rows of a match, one row at a time.

In: values. Out: :data:`FOLDS`. A fold's state is immutable, so that a walk can turn back. Whole
matches are aggregated by columns instead, see :mod:`headwater.patterns.measures`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from headwater.errors import SqlError

Value = Any
"""A value of SQL as Python has it; NULL is None."""

EXACT = Context(prec=80)
"""Decimals of 38 digits are added and multiplied without rounding."""

_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class RunningAggregate:
    """One aggregate.

    Attributes:
        begin: the state before any row.
        add: the state behind a row, from the state before and the arguments.
        result: the value of a state.
    """

    begin: Any
    add: Callable[..., Any]
    result: Callable[[Any], Any]


def total(left: Value, right: Value) -> Value:
    """Return the sum of two values of one type.

    Raises:
        SqlError: ``NUMBER_TOO_LARGE``, a sum of integers exceeds BIGINT.
    """
    if isinstance(left, Decimal):
        return EXACT.add(left, right)
    found = left + right
    if isinstance(found, int) and abs(found) > _LARGEST:
        message = f"the sum {found} does not fit BIGINT"
        raise SqlError("MATCH_FAILED", message, hint="cast the argument to DECIMAL(38, 0)")
    return found


def average(state: tuple[Value, int]) -> Value:
    """Return the average of a sum and a count: DOUBLE, of decimals a decimal of their scale."""
    found, count = state
    if not count:
        return None
    if isinstance(found, Decimal):
        unit = Decimal(1).scaleb(int(found.as_tuple().exponent))
        return EXACT.divide(found, count).quantize(unit, ROUND_HALF_UP, EXACT)
    return found / count


def _same(state: Value) -> Value:
    return state


def _keep(better: Callable[[Value, Value], bool]) -> Callable[[Value, Value], Value]:
    def add(state: Value, value: Value) -> Value:
        if value is None:
            return state
        return value if state is None or better(value, state) else state

    return add


def _by(better: Callable[[Value, Value], bool]) -> RunningAggregate:
    def add(state: Value, value: Value, key: Value) -> Value:
        if key is None:
            return state
        return (value, key) if state is None or better(key, state[1]) else state

    return RunningAggregate(None, add, lambda state: None if state is None else state[0])


def _add_sum(state: Value, value: Value) -> Value:
    if value is None:
        return state
    return value if state is None else total(state, value)


def _add_average(state: tuple[Value, int], value: Value) -> tuple[Value, int]:
    if value is None:
        return state
    found, count = state
    if isinstance(value, int):
        value = float(value)
    return (value if count == 0 else total(found, value), count + 1)


FOLDS: Mapping[str, RunningAggregate] = {
    "count": RunningAggregate(
        0, lambda n, *values: n + (not values or values[0] is not None), _same
    ),
    "count_if": RunningAggregate(0, lambda n, value: n + (value is True), _same),
    "sum": RunningAggregate(None, _add_sum, _same),
    "avg": RunningAggregate((0.0, 0), _add_average, average),
    "min": RunningAggregate(None, _keep(lambda new, old: new < old), _same),
    "max": RunningAggregate(None, _keep(lambda new, old: new > old), _same),
    "bool_and": RunningAggregate(None, _keep(lambda new, old: old and not new), _same),
    "bool_or": RunningAggregate(None, _keep(lambda new, old: new and not old), _same),
    "arbitrary": RunningAggregate(None, _keep(lambda new, old: False), _same),
    "array_agg": RunningAggregate(None, lambda state, value: (*(state or ()), value), _same),
    "min_by": _by(lambda new, old: new < old),
    "max_by": _by(lambda new, old: new > old),
}
