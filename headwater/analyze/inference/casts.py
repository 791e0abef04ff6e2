"""Casts: which conversions all engines make alike.

In: a cast whose operand is typed. Out: its canonical target type, or an error with another way.
"""

from __future__ import annotations

import re
from typing import cast

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.inference.carried import carried_cast, written_span
from headwater.analyze.literals import moment
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import cast_to, type_of
from headwater.analyze.typing.functions.entry import rounded
from headwater.analyze.typing.functions.numbers import NARROW
from headwater.dialect.syntax import CONVERSION, DIALECT, SHOWN

_TEXTUAL = ("text", "boolean", "null", "unknown")
ROUNDS = "rounds"
"""Key of ``meta`` of a cast that does not say how it rounds."""
_ROUNDED = (t.Type.DECIMAL, t.Type.DOUBLE)
"""Trino casts a REAL beyond BIGINT to the last BIGINT; what is rounded before fails there."""
_ROUND_DECIMALS = ("duckdb", "postgres", "snowflake")
"""They round a decimal as Trino does, half away from zero; of a DOUBLE, the even one of two."""
_CUT = ("spark", "flink")
"""They cut the fraction off."""
_INTEGRAL = (exp.Round, exp.Floor, exp.Ceil, exp.Trunc)


def bind_cast(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    """Return the target of a cast, made canonical in place; report one that engines do differently.

    Args:
        node: ``exp.Cast`` or ``exp.TryCast``, its operand typed.
    """
    if what := node.meta.get(CONVERSION):
        return _convert(node, what, report)
    if node.args.get("format") or node.args.get("action") or node.args.get("default"):
        message = "CAST takes a type and nothing else"
        report.add("UNSUPPORTED_SYNTAX", message, node, "write CAST(x AS type)")
        return t.UNKNOWN
    if (span := written_span(node)) is not None:
        node.replace(span)
        return t.INTERVAL
    if not _keeps_digits(node, report):
        return t.UNKNOWN
    written = node.sql("trino") if node.args["to"].this in NARROW else ""
    length, narrow = _taken_length(node), _taken_range(node)
    try:
        target = t.canonical(_without_precision(node))
    except t.TypeRefused as refused:
        report.add("UNSUPPORTED_TYPE", str(refused), node.args["to"], refused.hint)
        return t.UNKNOWN
    if (carried := carried_cast(node, target, report)) is not None:
        return carried
    is_literal = node.this.is_string and not isinstance(node, exp.TryCast)
    if is_literal and target == t.TIMESTAMP and _has_zone(node.this.name):
        target = t.TIMESTAMPTZ
    node.set("to", target.copy())
    if is_literal:
        _read_literal(node.this, target, report)
    _round(node, target)
    _check_cast(node, type_of(node.this), target, report)
    if length is not None:
        cut = exp.Substring(start=exp.Literal.number(1), length=length)
        cut.type = target
        node.replace(cut)
        cut.set("this", node)
    if narrow is not None:
        within = narrow()
        within.type = target
        within.meta[SHOWN] = written
        node.replace(within)
        within.set("expressions", [node])
    return target


def _keeps_digits(node: exp.Expr, report: Diagnostics) -> bool:
    """Give a numeric of PostgreSQL without digits those of its operand, in place, or report it."""
    to, source = node.args["to"], type_of(node.this)
    if node.meta.get(DIALECT) != "postgres" or to.this is not t.Type.DECIMAL or to.expressions:
        return True
    if t.is_exact(source):
        to.replace(t.decimal(*t.digits(source)))
    elif not t.is_unknown(source):
        message = "numeric without digits keeps those of each value"
        report.add("NOT_PORTABLE", message, node, f"write {report.cast_of(node.this)}")
        return False
    return not t.is_unknown(source)


def _taken_length(node: exp.Expr) -> exp.Expr | None:
    """Take the length off the target of a cast from text; longer text is cut there."""
    to = node.args["to"]
    if to.this is not t.Type.VARCHAR or t.family(type_of(node.this)) not in ("text", "null"):
        return None
    sizes = to.expressions
    to.set("expressions", [])
    return sizes[0].this.copy() if sizes else None


def _taken_range(node: exp.Expr) -> type[exp.Expr] | None:
    """Take the range off the target of a cast to a small integer; what is beyond it fails."""
    to = node.args["to"]
    narrow = NARROW.get(to.this) if not isinstance(node, exp.TryCast) else None
    if narrow is not None:
        to.set("this", t.Type.INT)
    return narrow


def _round(node: exp.Expr, target: exp.DataType) -> None:
    """Write out that a cast to an integer rounds, in place: other engines cut the fraction off."""
    source, dialect = type_of(node.this), node.meta.get(DIALECT)
    if _whole_number(node.this) or not t.is_integer(target) or source.this not in _ROUNDED:
        return
    if dialect in _CUT:
        node.set("this", exp.Trunc(this=node.this))
        node.this.type = rounded([source])
    elif dialect is None or (dialect in _ROUND_DECIMALS and source.this is t.Type.DECIMAL):
        node.meta[ROUNDS] = True
        node.set("this", exp.Round(this=node.this))
        node.this.type = rounded([source])


def _convert(node: exp.Expr, what: str, report: Diagnostics) -> exp.DataType:
    """Convert what a function is given or returns as an operand is converted, or report it.

    Args:
        node: the cast, which gives way to its operand.
        what: what is converted, for the message.
    """
    value, target = node.this, t.canonical(cast(exp.DataType, node.args["to"]))
    kind = type_of(value)
    if t.is_unknown(kind):
        return t.UNKNOWN
    if t.common_type([kind, target]) != target:
        message = f"{what} must be {t.sql_type(target)}, not {t.sql_type(kind)}"
        hint = f"cast it: CAST(x AS {t.sql_type(target)})"
        report.add("TYPE_CLASH", message, node, hint)
        return t.UNKNOWN
    node.replace(value)
    if kind != target:
        cast_to(value, target)
    return target


def _without_precision(node: exp.Expr) -> exp.DataType:
    """Return the target of a cast; a literal's own digits say its precision (``TIMESTAMP '…'``)."""
    target = cast(exp.DataType, node.args["to"])
    if not node.this.is_string or not target.this.name.startswith("TIME"):
        return target
    fraction = node.this.name.partition(".")[2]
    digits = len(fraction) - len(fraction.lstrip("0123456789"))
    sizes = [int(size.name) for size in target.expressions]
    return exp.DataType(this=target.this) if all(digits <= size for size in sizes) else target


def _has_zone(text: str) -> bool:
    """Return whether something other than digits stands behind the time."""
    day, _, time = text.strip().replace("T", " ", 1).partition(" ")
    return bool(re.search(r"[^0-9:. ]", time)) or "Z" in day


def _check_cast(
    node: exp.Expr, source: exp.DataType, target: exp.DataType, report: Diagnostics
) -> None:
    families = (t.family(source), t.family(target))
    hint = ""
    if families == ("number", "number"):
        if t.is_integer(target) and not t.is_integer(source) and not _whole_number(node.this):
            hint = "say how to round: CAST(round(x) AS BIGINT), floor, ceil or truncate"
    elif families == ("time", "text"):
        if source != t.DATE:
            hint = "use date_format(x, '%Y-%m-%d %H:%i:%s')"
    elif families == ("number", "text"):
        if t.is_float(source):
            hint = "cast to DECIMAL(p, s) first"
    elif source == t.TIME and families[1] == "text":
        hint = "use date_format(x, '%H:%i:%s') of the timestamp"
    elif target.this in t.CARRIERS and families[0] not in ("null", "unknown"):
        hint = "there is no such conversion"
    elif families[0] != families[1] and families[0] not in _TEXTUAL:
        if families != ("number", "boolean"):
            hint = "there is no such conversion"
    elif set(families) == {"boolean", "text"} and node.meta.get(DIALECT) == "flink":
        hint = "write CASE WHEN x THEN 'TRUE' ELSE 'FALSE' END, or leave the header out"
    elif families[0] == "boolean" and families[1] == "time":
        hint = "there is no such conversion"
    if hint:
        names = f"{t.sql_type(source)} to {t.sql_type(target)}"
        report.add("UNSUPPORTED_CAST", f"cast from {names} differs between engines", node, hint)


def _whole_number(node: exp.Expr) -> bool:
    return isinstance(node, _INTEGRAL) and not node.args.get("decimals")


def _read_literal(literal: exp.Expr, target: exp.DataType, report: Diagnostics) -> None:
    """Write a literal date or time as every engine reads it; report one that does not exist."""
    if t.family(target) != "time":
        return
    with report.within(literal):
        literal.set("this", moment.read(literal.name, is_date=target == t.DATE))
