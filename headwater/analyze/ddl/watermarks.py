"""``WATERMARK FOR … AS …`` → :class:`~headwater.analyze.definitions.Watermark`.

In: the statement of a source or table, and its columns. Out: the rule by which its watermark
follows the rows, and errors for a rule that cannot be followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from sqlglot import exp

from headwater.analyze.connectors.options import SPAN
from headwater.analyze.definitions import AdaptiveDelay, Column, Watermark
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.time.event_time import interval
from headwater.analyze.typing import types as t
from headwater.dialect import syntax
from headwater.errors.nearest import did_you_mean

_EXAMPLE = "ADAPTIVE (PERCENTILE 0.99, MIN INTERVAL '1' SECOND, MAX INTERVAL '10' MINUTE)"
_ABOVE_ZERO = "write a length above zero"
_NONE = timedelta(0)


def bind_watermark(
    statement: syntax.CreateSource, columns: Sequence[Column], report: Diagnostics
) -> Watermark | None:
    """Bind the WATERMARK of a source or table, None if it has none.

    Args:
        report: where errors go; with errors in it the result must not be used.
    """
    _check_drift(statement, report)
    node = statement.args.get("watermark")
    if node is None:
        return None
    name = node.this.name
    _check_column(name, node, columns, report)
    adaptive = _adaptive(node, report)
    delay = adaptive.most if adaptive else _length(node, "delay", "the delay", report, "")
    idle = _length(node, "idle_timeout", "IDLE TIMEOUT", report)
    _check_landed(statement, node, name, report)
    return Watermark(name, delay or _NONE, adaptive, idle)


def _check_column(
    name: str, node: exp.Expr, columns: Sequence[Column], report: Diagnostics
) -> None:
    column = next((column for column in columns if column.name == name), None)
    if column is None:
        hint = did_you_mean(name, (column.name for column in columns), "columns")
        report.add(
            "UNKNOWN_COLUMN", f'column "{name}" of WATERMARK does not exist', node.this, hint
        )
    elif not t.is_timestamp(column.type) and not t.is_unknown(column.type):
        message = f'the event time "{name}" is {t.sql_type(column.type)}, not a timestamp'
        hint = "declare it TIMESTAMP, or compute one: event_time AS from_unixtime(x)"
        report.add("INVALID_WATERMARK", message, node.this, hint)


def _adaptive(node: exp.Expr, report: Diagnostics) -> AdaptiveDelay | None:
    rule = node.args.get("adaptive")
    if rule is None:
        return None
    least = _length(rule, "min", "MIN", report, "leave MIN out")
    most = _length(rule, "max", "MAX", report)
    for part, why in (("percentile", "PERCENTILE"), ("max", "MAX")):
        if rule.args.get(part) is None:
            message = f"an adaptive watermark needs {why}"
            report.add("INVALID_WATERMARK", message, rule, f"write for example {_EXAMPLE}")
    if least and most and least > most:
        message = "MIN is longer than MAX"
        report.add("INVALID_WATERMARK", message, rule.args["min"], f"write for example {_EXAMPLE}")
    share = rule.args.get("percentile")
    return AdaptiveDelay(float(share.name) if share else 1.0, least or _NONE, most or _NONE)


def _length(
    node: exp.Expr, key: str, what: str, report: Diagnostics, zero: str = _ABOVE_ZERO
) -> timedelta | None:
    """Bind an interval of fixed length; None if it is not written or not valid.

    Args:
        zero: the hint for one of zero; empty if zero is valid.
    """
    written = node.args.get(key)
    if written is None:
        return None
    span = interval(written)
    if span is None:
        hint = "use microseconds to weeks: months have no fixed length"
        report.add("INVALID_WATERMARK", f"{what} has no fixed length", written, hint)
    elif not span and zero:
        report.add("INVALID_WATERMARK", f"{what} is zero", written, zero)
    else:
        return span
    return None


def _check_landed(
    statement: syntax.CreateSource, node: exp.Expr, name: str, report: Diagnostics
) -> None:
    """Refuse what only landed rows can have: they carry the watermark that they met."""
    if statement.args["kept"]:
        return
    if node.args.get("adaptive"):
        hint = f"write CREATE TABLE, or a fixed delay: {name} - INTERVAL '10' SECOND"
        report.not_yet("an adaptive watermark of a SOURCE", node.args["adaptive"], hint)
    if node.args.get("idle_timeout"):
        hint = "write CREATE TABLE: its rows are landed with the watermark that they met"
        report.not_yet("IDLE TIMEOUT of a SOURCE", node.args["idle_timeout"], hint)


def _check_drift(statement: syntax.CreateSource, report: Diagnostics) -> None:
    options: Sequence[syntax.OptionClause] = statement.args.get("options") or []
    for option in (each for each in options if each.this == "max_drift"):
        wrong = None
        if not statement.args["kept"]:
            wrong = "max_drift is for tables only", "write CREATE TABLE: a table can wait"
        elif statement.args.get("watermark") is None:
            wrong = "max_drift needs a WATERMARK", "add WATERMARK FOR column AS …"
        elif (length := SPAN.fullmatch(option.expression.name)) and not float(length[1]):
            wrong = "max_drift is zero", _ABOVE_ZERO
        if wrong:
            report.add("INVALID_OPTION", wrong[0], option, wrong[1])
