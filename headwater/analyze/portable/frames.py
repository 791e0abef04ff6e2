"""Frames of OVER that engines cannot compute, or compute otherwise → frames that they all can.

In: a typed SELECT. Out: the same values from

- no empty frame, which Spark refuses: the aggregate of no rows;
- no RANGE between lengths of two units, which Spark refuses, too;
- no first_value or last_value of a RANGE with lengths, which could take any of the rows that tie:
  tied rows are ordered by their value, in the direction of the key, as min_by and max_by have it.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.inference.infer import infer
from headwater.analyze.query_parts import window_calls
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.frames import in_one_unit, is_empty, is_range

_COUNTS = (exp.Count, exp.CountIf)
_PLACED = (exp.FirstValue, exp.LastValue, exp.NthValue)

Over = Callable[[exp.Expr], exp.Expr]
"""Puts a call over the frame of another one."""


def settle_frames(select: exp.Select, report: Diagnostics) -> None:
    """Replace the frames of a SELECT that not every engine can compute, in place.

    Args:
        select: a SELECT whose expressions are typed.
    """
    for window in window_calls(select):
        spec = window.args.get("spec")
        if spec is None:
            continue
        ranged, empty = is_range(spec), is_empty(spec)
        if ranged:
            in_one_unit(spec)
        if empty and not ranged:
            _replace(window, _of_no_rows(window), report)
        elif empty:
            _replace(window, _of_null_keys(window), report)
        elif ranged and isinstance(_call(window), exp.NthValue):
            hint = "use first_value or last_value, or ROWS"
            report.not_yet("nth_value over a RANGE with lengths, in which rows tie", window, hint)
        elif ranged and isinstance(_call(window), _PLACED):
            _replace(window, _of_edge(window), report)


def _replace(window: exp.Expr, value: exp.Expr, report: Diagnostics) -> None:
    root = exp.Paren(this=value)
    infer(root, report)
    window.replace(root if isinstance(value, exp.Case) else value)


def _call(window: exp.Expr) -> exp.Expr:
    call: exp.Expr = window.this
    return call.this if isinstance(call, (exp.Filter, exp.IgnoreNulls)) else call


def _aggregated(window: exp.Expr) -> exp.Expr:
    """The call as an aggregate with its FILTER."""
    call = window.this
    if isinstance(_call(window), _PLACED):
        return _of_tied(window)
    found: exp.Expr = call
    return found


def _takes_least(window: exp.Expr) -> bool:
    return isinstance(_call(window), exp.FirstValue) != bool(_key(window).args.get("desc"))


def _of_tied(window: exp.Expr) -> exp.Expr:
    least = _takes_least(window)
    return (exp.Min if least else exp.Max)(this=_call(window).this.copy())


def _filtered(call: exp.Expr) -> bool:
    return isinstance(call, exp.Filter)


def _where(call: exp.Expr, condition: exp.Expr) -> exp.Expr:
    bare = call.this if _filtered(call) else call
    if _filtered(call):
        condition = exp.and_(call.expression.this.copy(), condition)
    return exp.Filter(this=bare.copy(), expression=exp.Where(this=condition))


def _of_no_rows(window: exp.Expr) -> exp.Expr:
    found = window.copy()
    found.set("this", _where(_aggregated(window), exp.false()))
    found.set("spec", None)
    return found


def _of_null_keys(window: exp.Expr) -> exp.Expr:
    """A frame of distances that are none: around NULL it has the other NULLs."""
    key = _key(window)
    found = window.copy()
    found.set("this", _aggregated(window).copy())
    current = {"start": "CURRENT ROW", "end": "CURRENT ROW"}
    found.set("spec", exp.WindowSpec(kind="RANGE", **current))
    counts = isinstance(_call(window), _COUNTS)
    default = exp.cast(exp.Literal.number(0), type_of(window)) if counts else None
    return exp.Case(ifs=[exp.If(this=_is_null(key.this), true=found)], default=default)


def _of_edge(window: exp.Expr) -> exp.Expr:
    """The first (last) value: that of NULL keys where they come first (last), or of the others."""
    key, call = _key(window), _call(window)
    first, value = isinstance(call, exp.FirstValue), call.this
    passes_nulls = isinstance(window.this, exp.IgnoreNulls)

    def over(aggregate: exp.Expr, *terms: exp.Expr) -> exp.Expr:
        counted = [*terms, *([exp.Not(this=_is_null(value))] if passes_nulls else [])]
        found = window.copy()
        if counted:
            aggregate = _where(aggregate, exp.and_(*(term.copy() for term in counted)))
        found.set("this", aggregate)
        return found

    extreme = exp.ArgMin if _takes_least(window) else exp.ArgMax
    by = extreme(this=value.copy(), expression=key.this.copy())
    null, others = over(_of_tied(window), _is_null(key.this)), over(by)
    leads = first == bool(key.args.get("nulls_first"))
    of_nulls = _is_null(key.this) if leads else exp.Not(this=_is_null(key.this))
    count = over(exp.Count(this=exp.Star()), of_nulls)
    some = exp.GT(this=count, expression=exp.Literal.number(0))
    one, other = (null, others) if leads else (others, null)
    return exp.Case(ifs=[exp.If(this=some, true=one)], default=other)


def _key(window: exp.Expr) -> exp.Expr:
    key: exp.Expr = window.args["order"].expressions[0]
    return key


def _is_null(value: exp.Expr) -> exp.Expr:
    return exp.Is(this=value.copy(), expression=exp.Null())
