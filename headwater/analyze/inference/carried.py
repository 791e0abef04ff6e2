"""Operators, casts and functions of times of day, intervals and UUIDs, as calls that engines have.

In: typed nodes of the language. Out: calls of the lines in
:mod:`headwater.analyze.typing.functions.carried` in their places. An interval that stands beside a
timestamp, or says how far a frame or a window reaches, remains as it is: engines know it there.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.lets import is_long
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.functions import carried as c
from headwater.dialect import interval_text
from headwater.dialect.syntax import DIALECT, SHOWN
from headwater.dialect.vocabulary import LENGTHS

_WITH_TIME = ("duckdb", "postgres")
"""Dialects in which a date and a time of day add up to a timestamp."""
_TEXT_OF_TIME = ("duckdb", "postgres", "spark")
"""Dialects that write a time of day as it is carried."""
_EXAMPLES = {
    t.Type.TIME: "write it like 09:30:00",
    t.Type.UUID: "write it like 12151fd2-7586-11e9-8f9e-2a86e4085a59",
}
_UNITS = ("millisecond", "second", "minute", "hour", "day")
_OF_SPAN = {"day": None, "hour": 24, "minute": 60, "second": 60}
"""Parts of an interval, and how many of each the next one has."""


# -- intervals as values


def is_value(node: exp.Expr) -> bool:
    """Return whether a constant interval is a value, not a part of a time or of a frame.

    Args:
        node: ``exp.Interval``, typed as what is around it.
    """
    around = node.parent
    while isinstance(around, (exp.Paren, exp.Neg)):
        around = around.parent
    if isinstance(around, (exp.Add, exp.Sub)):
        return type_of(around) == t.INTERVAL
    return isinstance(around, (exp.Condition, exp.If, exp.Alias))


def micros(node: exp.Expr) -> int | None:
    """Return the microseconds of a constant interval, None if it has no fixed length."""
    length = LENGTHS.get(node.text("unit").upper())
    if length is None or not isinstance(node.this, exp.Literal):
        return None
    try:
        return int(Decimal(node.this.name) * (length // timedelta(microseconds=1)))
    except ArithmeticError:
        return None


def check_values(nodes: list[exp.Expr], report: Diagnostics) -> None:
    """Report intervals of months that are values: no number of microseconds stands for them."""
    for node in nodes:
        if isinstance(node, exp.Interval) and micros(node) is None and is_value(node):
            message = f"an interval of {node.text('unit').lower()}s has no fixed length"
            hint = "add it to a timestamp, or write days"
            report.add("UNSUPPORTED_SYNTAX", message, node, hint)


def span_arithmetic(node: exp.Expr, report: Diagnostics) -> exp.DataType | None:
    """Return the type of an operator with a time of day or an interval, None if it is not known.

    Args:
        node: ``+ - * /``, its operands typed; it gives way to a call where engines need one.
    """
    left, right = node.this, node.args["expression"]
    kinds = (type_of(left), type_of(right))
    if isinstance(node, exp.Mul) and t.INTERVAL in kinds:
        span, count = (left, right) if kinds[0] == t.INTERVAL else (right, left)
        return _multiplied(node, span, count)
    if not isinstance(node, (exp.Add, exp.Sub)):
        return None
    if kinds == (t.INTERVAL, t.INTERVAL):
        return t.INTERVAL
    if kinds[0] == t.INTERVAL and isinstance(node, exp.Add):
        left, right, kinds = right, left, (kinds[1], kinds[0])
    if kinds == (t.TIME, t.INTERVAL):
        turned = c.TIME_LATER if isinstance(node, exp.Add) else c.TIME_EARLIER
        return _call_instead(node, turned, [left, right], t.TIME)
    if kinds == (t.TIME, t.TIME) and isinstance(node, exp.Sub):
        apart = c.TIMES_APART if node.meta.get(DIALECT) else c.MILLIS_APART
        return _call_instead(node, apart, [left, right], t.INTERVAL)
    if t.is_timestamp(kinds[0]) and kinds[1] == t.INTERVAL and not _is_constant(right):
        span = right if isinstance(node, exp.Add) else _negative(right)
        moved = c.LATER if kinds[0] == t.TIMESTAMP else c.LATER_ZONED
        return _call_instead(node, moved, [left, span], kinds[0])
    if kinds == (t.TIME, t.DATE) and isinstance(node, exp.Add):
        left, right, kinds = right, left, (kinds[1], kinds[0])
    adds = isinstance(node, exp.Add) and node.meta.get(DIALECT) in _WITH_TIME
    if kinds == (t.DATE, t.TIME) and adds:
        return _call_instead(node, c.DATE_WITH_TIME, [left, right], t.TIMESTAMP)
    return None


def _is_constant(node: exp.Expr) -> bool:
    inner = node.unnest()
    while isinstance(inner, exp.Neg):
        inner = inner.this.unnest()
    return isinstance(inner, exp.Interval)


def _negative(span: exp.Expr) -> exp.Expr:
    inner = exp.Paren(this=span.copy())
    inner.type = t.INTERVAL
    made = exp.Neg(this=inner)
    made.type = t.INTERVAL
    return made


def _multiplied(node: exp.Expr, span: exp.Expr, count: exp.Expr) -> exp.DataType | None:
    if not t.is_integer(type_of(count)):
        return None
    times, length = count.unnest(), span.unnest()
    whole = isinstance(times, exp.Literal) and isinstance(length, exp.Interval)
    if whole and length.this.name.lstrip("-").isdigit():
        amount = str(int(length.this.name) * int(times.name))
        made = exp.Interval(this=exp.Literal.string(amount), unit=length.args["unit"].copy())
        made.type = t.INTERVAL
        node.replace(made)
        return t.INTERVAL
    return _call_instead(node, c.TIMES, [span, count], t.INTERVAL)


def _call_instead(
    node: exp.Expr, function: type[exp.Expr], given: list[exp.Expr], kind: exp.DataType
) -> exp.DataType:
    """Put a call in the place of a node, and return its type."""
    call = made(function, given, kind)
    call.meta[SHOWN] = _as_written(node)
    node.replace(call)
    return kind


def _as_written(node: exp.Expr) -> str:
    """A node as text, with what was written in the places of calls that stand for it."""
    shown = node.copy().transform(
        lambda each: exp.var(each.meta[SHOWN]) if SHOWN in each.meta else each
    )
    return str(shown.sql("trino"))


def made(function: type[exp.Expr], given: list[exp.Expr], kind: exp.DataType) -> exp.Expr:
    """Return a typed call of a line."""
    call = function(expressions=[each.copy() for each in given])
    call.type = kind.copy()
    return call


# -- casts


def carried_cast(node: exp.Expr, target: exp.DataType, report: Diagnostics) -> exp.DataType | None:
    """Return the type of a cast to or from a time of day or a UUID, None if it is another cast.

    Args:
        node: the cast, its operand typed; it gives way to a call.
        target: its canonical type.
    """
    value = node.this
    source = type_of(value)
    if target == source and target.this in c.FORMS:
        node.replace(value)
        return target
    if target.this in c.FORMS and t.family(source) == "text":
        return _read(node, target, report)
    if target == t.TIME and t.is_timestamp(source) and node.meta.get(DIALECT) != "flink":
        return _call_instead(node, c.TIME_OF, [value], t.TIME)
    if target == t.VARCHAR and source == t.UUID:
        return _call_instead(node, c.UUID_TEXT, [value], t.VARCHAR)
    if target == t.VARCHAR and source == t.TIME and node.meta.get(DIALECT) in _TEXT_OF_TIME:
        return _call_instead(node, c.TIME_TEXT, [value], t.VARCHAR)
    return None


def written_span(node: exp.Expr) -> exp.Expr | None:
    """Return the constant interval that a cast of a literal is, None if it is another cast."""
    to, value = node.args["to"], node.this
    if not value.is_string:
        return None
    if isinstance(to.this, exp.Interval) and interval_text.is_plain(value.name):
        unit = interval_text.unit_of(to.this.text("unit"))
        found = (value.name.strip(), unit) if unit else None
    else:
        found = interval_text.read(value.name) if to.this is t.Type.INTERVAL else None
    if found is None:
        return None
    return exp.Interval(this=exp.Literal.string(found[0]), unit=exp.var(found[1]))


def _read(node: exp.Expr, target: exp.DataType, report: Diagnostics) -> exp.DataType:
    value = node.this
    function, form = c.READ[target.this], c.FORMS[target.this]
    fits = not value.is_string or c.has_form(value.name, form)
    if isinstance(node, exp.TryCast):
        value = _where_it_fits(value, form)
    elif not fits:
        message = f"'{value.name}' is not a {t.sql_type(target)}"
        report.add("INVALID_LITERAL", message, value, _EXAMPLES[target.this])
    return _call_instead(node, function, [value], target)


def read_literals(node: exp.Expr, report: Diagnostics) -> None:
    """Read the literals that an operator compares with times of day or UUIDs, in place."""
    for operand in list(node.iter_expressions()):
        kind = type_of(operand)
        if isinstance(operand, exp.Cast) and operand.this.is_string and kind.this in c.FORMS:
            operand.this.type = t.VARCHAR
            _read(operand, kind, report)


def _where_it_fits(value: exp.Expr, form: str) -> exp.Expr:
    """A text that has a form, or NULL: what reads it never fails."""
    if is_long(value):  # the form is that of the whole text
        pattern = exp.Literal.string(form)
        found = exp.RegexpExtract(this=value.copy(), expression=pattern)
        found.type, pattern.type = t.VARCHAR, t.VARCHAR
        return found
    fits = exp.RegexpLike(this=value.copy(), expression=exp.Literal.string(form))
    fits.type, fits.expression.type = t.BOOLEAN, t.VARCHAR
    branch = exp.If(this=fits, true=value.copy())
    whole = exp.Case(ifs=[branch])
    branch.type = whole.type = t.VARCHAR
    return whole


# -- functions


def carried_call(node: exp.Expr) -> exp.Expr | None:
    """Return what a function of a time of day or an interval becomes, None if it is another call.

    Args:
        node: a call of the language, its arguments typed.
    """
    match node:
        case exp.Day() | exp.Hour() | exp.Minute() | exp.Second():
            return _part(node.this, node.key)
        case exp.Extract() if _has_part(node):
            return _part(node.expression, node.this.name.lower())
        case exp.TimeToUnix():
            return _seconds(node.this)
        case exp.TimestampTrunc() if type_of(node.this) == t.TIME:
            began = c.TIME_BEGINNINGS.get(node.text("unit").lower())
            return made(began, [node.this], t.TIME) if began else None
        case exp.DateDiff() if {type_of(node.this), type_of(node.expression)} == {t.TIME}:
            unit = node.text("unit").lower()
            apart = made(c.TIMES_APART, [node.this, node.expression], t.INTERVAL)
            return _whole(apart, unit) if unit in _UNITS[:-1] else None
        case exp.Avg() if type_of(node.this) == t.INTERVAL and not node.meta.get(DIALECT):
            return _average(node)
    return None


def _has_part(node: exp.Extract) -> bool:
    """Whether a part of an interval is Trino's: in other dialects sums are not carried over."""
    if type_of(node.expression) != t.INTERVAL or not node.meta.get(DIALECT):
        return True
    return isinstance(node.expression.unnest(), exp.Sub) and node.this.name.lower() != "second"


def _part(value: exp.Expr, unit: str) -> exp.Expr | None:
    if type_of(value) == t.TIME and unit in c.TIME_PARTS:
        return made(c.TIME_PARTS[unit], [value], t.BIGINT)
    if type_of(value) == t.INTERVAL and unit in _OF_SPAN:
        whole = _whole(value, unit)
        most = _OF_SPAN[unit]
        if most is None:
            return whole
        return exp.paren(exp.Mod(this=whole, expression=exp.Literal.number(most)), copy=False)
    return None


def _whole(span: exp.Expr, unit: str) -> exp.Expr:
    length = LENGTHS[unit.upper()] // timedelta(microseconds=1)
    return made(c.WHOLE, [span, exp.Literal.number(length)], t.BIGINT)


def _seconds(value: exp.Expr) -> exp.Expr | None:
    function = {t.Type.TIME: c.TIME_MICROS, t.Type.INTERVAL: c.MICROS}.get(type_of(value).this)
    if function is None:
        return None
    number = exp.cast(made(function, [value], t.BIGINT), t.DOUBLE)
    return exp.paren(
        exp.Div(this=number, expression=exp.Literal.number("1e6"), typed=True), copy=False
    )


def _average(node: exp.Expr) -> exp.Expr | None:
    """An average of intervals, in milliseconds and rounded as in Trino."""
    if isinstance(node.parent, (exp.Filter, exp.Window)):
        return None
    each = _whole(node.this, "millisecond")
    half = exp.Add(this=exp.Avg(this=each), expression=exp.Literal.number("5e-1"))
    millis = exp.cast(exp.Floor(this=half), t.BIGINT)
    thousand = exp.Literal.number(1000)
    return c.SPAN(expressions=[exp.Mul(this=millis, expression=thousand)])
