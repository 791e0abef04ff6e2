"""CSV lines, Parquet rows and raw bytes → typed columns (see ``headwater.formats.columns``).

CSV: records are those of RFC 4180 (:mod:`headwater.formats.csv_records`). With a header, columns
are found by its names, without one by position. An empty value without quotes is NULL,
``""`` is the empty text (PostgreSQL's rule); ``null_value`` names another text for NULL. Every
record has as many values as the header or the definition. Values are read as text and cast; an
integer takes no fraction, a DECIMAL rounds half up.

Parquet: columns by name, a missing one is NULL; text is valid UTF-8; widening reads (INT as BIGINT,
REAL as DOUBLE) are allowed, a lossy one makes the whole file bad, which the connector finds when
Spark refuses it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headwater.analyze.definitions import Column, Source
from headwater.analyze.typing.types import is_float, spark_type
from headwater.errors import SqlError
from headwater.formats.columns import (
    BROKEN,
    ONCE,
    PATH,
    ROW,
    VALUE,
    Encoded,
    Records,
    lines_to_parse,
    misread,
    not_finite,
    stored,
    text_faults,
)
from headwater.formats.csv_records import misplaced_quote
from headwater.formats.envelopes import known
from headwater.formats.times import cast_text, is_cast, is_nested
from headwater.formats.unknown_fields import of_names
from headwater.plan.sql.spark_text import name, text

_EMPTY = "\x01"
"""What ``""`` is read as: the parser takes one text for both it and no value at all."""


def csv_rows(
    source: Source, records: Records, header: Sequence[str] | None, skipped: int = 0
) -> Encoded:
    """Return the decoding of CSV.

    Args:
        header: names of the columns of the files; None for files without a header.
        skipped: how many records at the beginning of the files are none, with the header.

    Raises:
        SqlError: ``UNSUPPORTED_TYPE`` for arrays, maps and rows, which CSV has no form for.
    """
    columns = stored(source)
    for column in columns:
        if is_nested(column.type):
            raise SqlError(
                "UNSUPPORTED_TYPE",
                f'column "{column.name}" of "{source.name}": CSV cannot hold arrays, maps or rows',
                hint="declare it VARCHAR, or encode the data as JSON",
                span=source.span,
            )
    names = [column.key for column in columns] if header is None else list(header)
    places = {
        c.name: f"CASE WHEN {{0}}.{at} = {text(_EMPTY)} THEN '' ELSE {{0}}.{at} END"
        for c in columns
        if c.key in names and (at := f"`{names.index(c.key)}`")
    }
    schema = ", ".join(f"`{index}` STRING" for index in range(len(names))) + ", `_corrupt` STRING"
    options = f"map({_options(source)})"
    empty, faults = f"length(trim({_LINE})) = 0", _line_faults(source)
    conditions = [f"{ROW} >= {skipped}"] if skipped else []
    if records.lines:
        conditions.append(f"NOT {empty}")
    else:
        faults.append((empty, "'an empty record'"))
    kept, lines = records.kept, lines_to_parse(records, faults, _LINE)
    parsed = (
        f"SELECT {kept}, from_csv(_line, {text(schema)}, {options}) AS _k\n"
        f"FROM ({lines}) WHERE {' AND '.join(conditions) or 'true'}"
    )
    values = ", ".join(_converted(column, places, source) for column in columns)
    given = "".join(
        f", {place.format('_k')} IS NOT NULL AS {_given(column)}"
        for column, place in places.items()
    )
    fits = "coalesce(_k._corrupt IS NULL, false) AND _k IS NOT NULL"
    typed = f"SELECT {kept}, {values}{given}, {fits} AS _found FROM ({parsed})"
    found = [column for column in columns if column.name in places]
    misfits = (f"{_given(column.name)} AND ({_misfit(column)})" for column in found)
    return Encoded(
        f"SELECT {', '.join(name(column.name) for column in columns)}, {kept},"
        f" {' OR '.join(['NOT _found', *misfits])} AS {BROKEN}\nFROM ({typed})",
        (PATH, ROW),
        f"from_csv({_LINE}, {text(schema)}, {options})",
        (
            *faults,
            (
                "_s._corrupt IS NOT NULL OR _s IS NULL",
                text(f"not {len(names)} values in the record"),
            ),
            *(_value_fault(column, places[column.name].format("_s")) for column in found),
        ),
        unknown=of_names(header or (), known(source)),
    )


def raw_records(source: Source, records: Records) -> Encoded:
    """Return records as they are, in the definition's one column."""
    (column,) = stored(source)
    if column.type.this is exp.DataType.Type.VARBINARY:
        value, faults = f"CAST({VALUE} AS BINARY)", text_faults(source)[:1]
    else:
        value, faults = VALUE, text_faults(source)
    broken = " OR ".join(f"coalesce({condition}, false)" for condition, _ in faults)
    return Encoded(
        f"SELECT {value} AS {name(column.name)}, {records.kept}, {broken} AS {BROKEN}\n"
        f"FROM (SELECT {', '.join((VALUE, PATH, *records.carried))}, {records.number} AS {ROW}"
        f" FROM {records.relation})",
        (PATH, ROW),
        faults=tuple(faults),
    )


def parquet_rows(source: Source, relation: str, names: Sequence[str] | None = None) -> Encoded:
    """Return the decoding of rows that a reader has typed already.

    Args:
        relation: name of a relation of the stored columns, ``_path`` and ``_row``.
        names: all columns of the files, if they are known.
    """
    columns = stored(source)
    kept = ", ".join(name(column.name) for column in columns)
    fields = ", ".join(f"{name(column.name)} AS {name(column.key)}" for column in columns)
    # any bytes can be in a text of Parquet, and other engines cannot read them
    faults = tuple(
        (f"NOT is_valid_utf8({name(c.name)})", text(f"{c.label}: invalid UTF-8"))
        for c in columns
        if c.type.this is exp.DataType.Type.VARCHAR
    )
    broken = " OR ".join(f"coalesce({condition}, false)" for condition, _ in faults) or "false"
    return Encoded(
        f"SELECT {kept}, to_json(struct({fields})) AS {VALUE}, {PATH}, {ROW},"
        f" {broken} AS {BROKEN} FROM {relation}",
        (PATH, ROW),
        faults=faults,
        unknown=of_names(names or (), known(source)),
    )


_LINE = f"rtrim('\\r', {VALUE})"


def _options(source: Source) -> str:
    given = source.encode_options
    options = {
        "sep": given.get("delimiter", ","),
        "quote": given.get("quote", '"'),
        "escape": given.get("escape", '"'),
        "nullValue": given.get("null_value", ""),
        "emptyValue": _EMPTY,
        "columnNameOfCorruptRecord": "_corrupt",
        "maxColumns": "100000",
    }
    return ", ".join(f"{text(key)}, {text(option)}" for key, option in options.items())


def _converted(column: Column, places: dict[str, str], source: Source) -> str:
    kind = column.type
    value = places.get(column.name, "CAST(NULL AS STRING)").format("_k")
    if is_cast(kind):
        key = "date_format" if kind.this is exp.DataType.Type.DATE else "timestamp_format"
        value = cast_text(value, kind, source.encode_options.get(key))
    elif kind.this is exp.DataType.Type.VARBINARY:
        value = f"try_to_binary({value}, 'base64')"
    elif kind.this is not exp.DataType.Type.VARCHAR:
        if is_float(kind):  # Java's suffixes: 5d is no number
            value = f"CASE WHEN lower(right(rtrim({value}), 1)) NOT IN ('d', 'f') THEN {value} END"
        value = f"try_cast({value} AS {spark_type(kind)})"
    return f"CASE WHEN {ONCE} THEN {value} END AS {name(column.name)}"


def _given(column: str) -> str:
    """Name of the flag that a line has a value for a column."""
    return name(f"_given_{column}")


def _misfit(column: Column) -> str:
    """Condition that a value was given which the type does not take."""
    typed = name(column.name)
    return f"{typed} IS NULL" + (f" OR {not_finite(typed)}" if is_float(column.type) else "")


def _value_fault(column: Column, value: str) -> tuple[str, str]:
    return f"{value} IS NOT NULL AND ({_misfit(column)})", misread(column, value)


def _line_faults(source: Source) -> list[tuple[str, str]]:
    return [*text_faults(source), misplaced_quote(source)]
