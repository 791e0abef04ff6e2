"""What a keyed table declares about Debezium's events: how values are written, what is left out.

In: the statement of a keyed table with ``FORMAT DEBEZIUM``. Out: errors for what cannot be read for
sure, and the columns whose value an event may leave out.

The same JSON stands for different values in different modes of Debezium: ``"1234"`` is a number or
the base64 of another one, ``1769862896123`` is milliseconds or microseconds. Nothing in an event
says which (unless it carries its schema), so a table whose columns depend on it has to. The schema
of Avro says it.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.connectors.encodings import SOURCE_TIME, record_format
from headwater.analyze.definitions import RecordFormat
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.typing import types as t
from headwater.dialect import syntax

DEBEZIUM_FIELDS = ("before", "after", "op", "payload", "schema")
"""The parts of a change event that are read."""
SOURCE = "source"
"""One more, which is read if the table asks when or in which snapshot a change was made."""
ADAPTIVE = ("adaptive", "adaptive_time_microseconds")
"""The modes in which the unit of a timestamp follows from the precision of its column."""
_MODES = ("decimals", "times")
_PATTERNS = ("timestamp_format", "date_format")
_AMBIGUOUS = (t.Type.DECIMAL, t.Type.DATE, t.Type.TIMESTAMPNTZ)


def check_debezium(statement: syntax.CreateSource, report: Diagnostics) -> None:
    """Refuse columns and options with which values could be read wrong.

    Args:
        statement: as parsed, with ``FORMAT DEBEZIUM``.
    """
    given = {str(o.this): o.expression.name for o in statement.args.get("encode_options") or []}
    in_avro = str(statement.args.get("encode") or "").lower() == "avro"
    columns = statement.args.get("columns") or []
    timed = any(_metadata(node) == SOURCE_TIME for node in columns)
    parts = (*DEBEZIUM_FIELDS, *([SOURCE] if timed or given.get("snapshot") == "replace" else []))
    for option in statement.args.get("encode_options") or []:
        if option.this in _PATTERNS:
            hint = "say how Debezium writes times: times = 'isostring'"
            message = f'FORMAT DEBEZIUM takes no "{option.this}"'
            report.add("INVALID_OPTION", message, option, hint)
        elif in_avro and option.this in _MODES:
            hint = "leave it out: the schema in the registry says how values are written"
            message = f'ENCODE AVRO takes no "{option.this}"'
            report.add("INVALID_OPTION", message, option, hint)
        elif option.this == "unavailable_value" and not option.expression.name:
            hint = "leave it out, or write Debezium's unavailable.value.placeholder"
            message = "with an empty unavailable_value every empty text would be a missing value"
            report.add("INVALID_OPTION", message, option, hint)
    for node in columns:
        if node.this.name in parts:
            hint = "leave it out: it has the name of a part of Debezium's events"
            report.not_yet(f'column "{node.this.name}" with FORMAT DEBEZIUM', node, hint)
        if not in_avro and (kind := _stored(node)) is not None:
            _check_column(node, kind, given, report)


def given_option(statement: syntax.CreateSource, option: str) -> str:
    """Return what a table says of its encoding; empty if it does not say it.

    Args:
        option: such as ``truncate``.
    """
    given = {o.this: o.expression.name for o in statement.args.get("encode_options") or []}
    return str(given.get(option, ""))


def fraction_digits(node: syntax.SourceColumn) -> int | None:
    """Return the precision of a column ``TIMESTAMP(p)``, None if none is declared."""
    kind = node.args["kind"]
    if kind.this not in (t.Type.TIMESTAMP, t.Type.TIMESTAMPNTZ) or len(kind.expressions) != 1:
        return None
    digits = int(kind.expressions[0].name)
    return digits if digits <= 6 else None


def without_digits(node: syntax.SourceColumn) -> exp.DataType:
    """Return the type of a column as written, a TIMESTAMP without its precision."""
    kind: exp.DataType = node.args["kind"]
    if fraction_digits(node) is not None:
        kind = kind.copy()
        kind.set("expressions", [])
    return kind


def left_out(statement: syntax.CreateSource) -> tuple[str, ...]:
    """Return the columns whose value an event may leave out because it did not change.

    PostgreSQL stores long values apart (TOAST) and does not log them again with an update of other
    columns. Arrays and maps are not among them: what stands for them is refused.
    """
    if record_format(statement) is not RecordFormat.DEBEZIUM:
        return ()
    keys = {key.name for key in statement.args.get("primary_key") or []}
    return tuple(
        node.this.name
        for node in statement.args.get("columns") or []
        if (kind := _stored(node)) is not None
        and kind.this in (t.Type.VARCHAR, t.Type.VARBINARY)
        and node.this.name not in keys
    )


def _stored(node: syntax.SourceColumn) -> exp.DataType | None:
    """The type of a column that is read from an event; None for others, and for unknown types."""
    if node.args.get("computed") is not None or node.args.get("metadata") is not None:
        return None
    try:
        return t.canonical(without_digits(node))
    except t.TypeRefused:
        return None


def _metadata(node: syntax.SourceColumn) -> str:
    """The key of a METADATA column; empty for others."""
    metadata = node.args.get("metadata")
    return str(getattr(metadata, "name", metadata or ""))


def _check_column(
    node: syntax.SourceColumn, kind: exp.DataType, given: dict[str, str], report: Diagnostics
) -> None:
    name = node.this.name
    if kind.this not in _AMBIGUOUS:
        if any(part.this in _AMBIGUOUS for part in kind.find_all(exp.DataType)):
            message = f'numbers and times inside column "{name}" with FORMAT DEBEZIUM'
            report.not_yet(message, node.args["kind"], "declare them as VARCHAR or BIGINT")
        return
    option = "decimals" if kind.this is t.Type.DECIMAL else "times"
    if option not in given:
        mode = "decimal.handling.mode" if option == "decimals" else "time.precision.mode"
        example = "string" if option == "decimals" else "adaptive"
        message = f'column "{name}" is {t.sql_type(kind)}: FORMAT DEBEZIUM needs "{option}"'
        hint = f"say what Debezium's {mode} is: ENCODE JSON ({option} = '{example}')"
        report.add("MISSING_OPTION", message, node, hint)
    elif (
        kind.this is t.Type.TIMESTAMPNTZ
        and given[option] in ADAPTIVE
        and fraction_digits(node) is None
    ):
        message = f'column "{name}" does not say whether it is in milliseconds or microseconds'
        hint = "give its precision in the database: TIMESTAMP(3), TIMESTAMP(6) if it has none"
        report.add("UNSUPPORTED_TYPE", message, node.args["kind"], hint)
