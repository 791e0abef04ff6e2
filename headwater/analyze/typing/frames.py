"""The frames of OVER: which are valid, and what a bound of RANGE may be.

In: typed calls with OVER. Out: errors for frames that Trino refuses, or that engines read in more
than one way; bounds of RANGE cut to the digits of what they are compared with.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.dialect.vocabulary import LENGTHS

_HINT = "write it like ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"
_MOST_ROWS = 2**31 - 1
_DAY = ("DAY", "WEEK", "MONTH", "YEAR")
_MONTHS = {"MONTH": 1, "YEAR": 12}

Bound = tuple[str, exp.Expr | None]
"""The side of a bound (``UNBOUNDED PRECEDING``, …, ``FOLLOWING``) and its length, if it has one."""

_PLACES = (
    *("UNBOUNDED PRECEDING", "PRECEDING", "CURRENT ROW"),
    *("FOLLOWING", "UNBOUNDED FOLLOWING"),
)


def bounds_of(spec: exp.Expr) -> tuple[Bound, Bound]:
    """Return the start and the end of a frame."""
    return _bound(spec, "start"), _bound(spec, "end")


def _bound(spec: exp.Expr, key: str) -> Bound:
    value, side = spec.args.get(key), str(spec.args.get(f"{key}_side") or "").upper()
    if value is None or str(value).upper() == "CURRENT ROW":
        return "CURRENT ROW", None
    if str(value).upper() == "UNBOUNDED":
        return f"UNBOUNDED {side}", None
    return side, value


def is_range(spec: exp.Expr | None) -> bool:
    """Return whether a frame is one of RANGE whose bounds are lengths."""
    if spec is None or str(spec.args.get("kind")).upper() != "RANGE":
        return False
    return any(length is not None for _, length in bounds_of(spec))


def is_empty(spec: exp.Expr) -> bool:
    """Return whether the end of a valid frame comes before its start."""
    (start, first), (end, last) = bounds_of(spec)
    if start != end or first is None or last is None:
        return False
    one, two = _size(first), _size(last)
    return one < two if start == "PRECEDING" else one > two


def _size(length: exp.Expr) -> tuple[int, Decimal]:
    """A length as something that compares; months are no days."""
    if not isinstance(length, exp.Interval):
        return 0, Decimal(length.name)
    unit = length.text("unit").upper()
    return int(unit in _MONTHS), Decimal(length.name) * _unit(unit)


def _unit(name: str) -> int:
    """A unit as a number of months, or of microseconds."""
    return _MONTHS.get(name) or LENGTHS[name] // LENGTHS["MICROSECOND"]


def in_one_unit(spec: exp.Expr) -> None:
    """Write both bounds of a RANGE in the smaller unit, in place: Spark takes no two of them."""
    lengths = [each for _, each in bounds_of(spec) if isinstance(each, exp.Interval)]
    units = {length.text("unit").upper() for length in lengths}
    if len(units) < 2:
        return
    least = min(units, key=_unit)
    for length in lengths:
        count = _size(length)[1] / _unit(least)
        length.set("this", exp.Literal.string(f"{count:f}"))
        length.set("unit", exp.var(least))


def check_frame(node: exp.Expr, report: Diagnostics) -> None:
    """Report a frame that no engine, or not every one, can compute.

    Args:
        node: ``exp.Window``, what stands in it typed.
    """
    spec = node.args["spec"]
    if str(spec.args.get("kind")).upper() not in ("ROWS", "RANGE") or spec.args.get("exclude"):
        report.not_yet("GROUPS or EXCLUDE in a frame", node, "use ROWS or RANGE")
        return
    (start, first), (end, last) = bounds_of(spec)
    if {start, end} - {*_PLACES}:
        report.add("WRONG_ARGUMENTS", "the bounds of a frame must be literals", node, _HINT)
    elif start == _PLACES[-1] or end == _PLACES[0] or _PLACES.index(start) > _PLACES.index(end):
        message = f"a frame cannot begin with {start} and end with {end}"
        report.add("WRONG_ARGUMENTS", message, node, _HINT)
    else:
        lengths = [length for length in (first, last) if length is not None]
        ranged = str(spec.args.get("kind")).upper() == "RANGE"
        check = _check_distance if ranged else _check_count
        if not all(check(length, node, report) for length in lengths):
            return
        if len({_is_of_months(length) for length in lengths}) > 1:
            hint = "use two lengths of days or less, or two of months or more"
            report.not_yet("a frame between months and a length of time", node, hint)


def _is_of_months(length: exp.Expr) -> bool:
    return isinstance(length, exp.Interval) and length.text("unit").upper() in _MONTHS


def _check_count(length: exp.Expr, node: exp.Expr, report: Diagnostics) -> bool:
    if not (isinstance(length, exp.Literal) and length.is_int):
        message = "a bound of ROWS must be a whole number"
        report.add("WRONG_ARGUMENTS", message, node, _HINT)
        return False
    length.set("this", str(min(int(length.name), _MOST_ROWS)))  # Spark counts rows in 32 bits
    return True


def _check_distance(length: exp.Expr, node: exp.Expr, report: Diagnostics) -> bool:
    order = node.args.get("order")
    keys = [item.this for item in order.expressions] if order is not None else []
    if len(keys) != 1:
        message = f"RANGE with a length needs one column in ORDER BY, not {len(keys)}"
        report.add("WRONG_ARGUMENTS", message, node, "order by one number or time, or use ROWS")
        return False
    kind = type_of(keys[0])
    if t.is_unknown(kind):
        return True
    if t.family(kind) == "time":
        fits = isinstance(length, exp.Interval) and _is_length_of(length, kind)
        hint = "write it like RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND CURRENT ROW"
    else:
        fits = t.family(kind) == "number" and _fit_number(length, kind)
        hint = "write it like RANGE BETWEEN 2 PRECEDING AND CURRENT ROW"
    if not fits:
        shown = length.sql("trino")
        message = f"RANGE cannot count {shown} from a value of type {t.sql_type(kind)}"
        report.add("TYPE_CLASH", message, node, hint)
    return fits


def _is_length_of(length: exp.Interval, kind: exp.DataType) -> bool:
    if not isinstance(length.this, exp.Literal):
        return False
    try:
        whole = Decimal(length.name) == int(Decimal(length.name)) >= 0
    except (InvalidOperation, ValueError):
        return False
    return whole and (kind != t.DATE or length.text("unit").upper() in _DAY)


def _fit_number(length: exp.Expr, kind: exp.DataType) -> bool:
    """Return whether a number is a distance of values of a type; cut digits that they do not have.

    What is no further away than 1.5 from a whole number is no further away than 1.
    """
    if not (isinstance(length, exp.Literal) and length.is_number):
        return False
    if t.is_float(kind):
        return True
    if "e" in length.name.lower():
        return False
    precision, scale = t.digits(kind)
    cut = Decimal(length.name).quantize(Decimal(1).scaleb(-scale), rounding="ROUND_DOWN")
    length.set("this", f"{cut:f}")
    limits = {t.Type.INT: 2**31 - 1, t.Type.BIGINT: 2**63 - 1}
    return cut <= limits.get(kind.this, Decimal(10) ** (precision - scale) - 1)
