"""CSV lines and Parquet rows → typed columns (see ``headwater.intake.decode`` for what comes out).

CSV: one record is one line (a quoted line break is refused as unbalanced quotes). With a header,
columns are found by its names, without one by position. An empty value without quotes is NULL,
``""`` is the empty text (PostgreSQL's rule); ``null_value`` names another text for NULL. Every line
has as many values as the header or the definition. Values are read as text and cast; an integer
takes no fraction, a DECIMAL rounds half up.

Parquet: columns by name, a missing one is NULL; widening reads (INT as BIGINT, REAL as DOUBLE) are
allowed, a lossy one makes the whole file bad, which the connector finds when Spark refuses it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headwater.analyze.definitions import Column, Source
from headwater.analyze.types import is_float, spark_type
from headwater.errors import SqlError
from headwater.intake.decode import (
    FAULT,
    PATH,
    ROW,
    VALUE,
    Encoded,
    case,
    cast_time,
    is_nested,
    is_time,
    line_number,
    max_record_bytes,
    misread,
    stored,
    to_parse,
)
from headwater.intake.sqltext import name, text

_EMPTY = "\x01"
"""What ``""`` is read as: the parser takes one text for both it and no value at all."""


def csv_lines(
    source: Source, relation: str, header: Sequence[str] | None, *, numbered: bool = True
) -> Encoded:
    """Return the decoding of CSV lines.

    Args:
        source: the definition.
        relation: name of a relation of ``_value``, ``_path`` and ``_block`` (offset of the first
            line).
        header: names in the first line of the files, which is skipped; None for files without one.
        numbered: whether lines have numbers; not in a stream.

    Raises:
        SqlError: ``UNSUPPORTED_TYPE`` for arrays, maps and rows, which CSV has no form for.
    """
    columns = stored(source)
    for column in columns:
        if is_nested(column.type):
            raise SqlError(
                "UNSUPPORTED_TYPE",
                f'column "{column.name}" of "{source.name}": CSV has no arrays, maps or rows',
                hint="declare it VARCHAR, or encode the data as JSON",
                span=source.span,
            )
    names = [column.name for column in columns] if header is None else list(header)
    line = to_parse(source, _line())
    schema = ", ".join(f"`{index}` STRING" for index in range(len(names))) + ", `_corrupt` STRING"
    parsed = (
        f"SELECT {VALUE}, {PATH}, {line_number(numbered)} AS {ROW},\n"
        f"from_csv({line}, {text(schema)}, map({_options(source)})) AS _k FROM {relation}"
    )
    data = f"{ROW} > 0 AND " if header is not None else ""
    places = {
        c.name: f"CASE WHEN {place} = {text(_EMPTY)} THEN '' ELSE {place} END"
        for c in columns
        if c.name in names and (place := f"_k.`{names.index(c.name)}`")
    }
    values = ", ".join(_converted(column, places, source) for column in columns)
    typed = (
        f"SELECT {VALUE}, {PATH}, {ROW}, _k, {values}\n"
        f"FROM ({parsed}) WHERE {data}length(trim({_line()})) > 0"
    )
    kept = ", ".join(name(column.name) for column in columns)
    fault = _fault(source, columns, places, len(names))
    return Encoded(
        f"SELECT {kept}, {VALUE}, {PATH}, {ROW}, {fault} AS {FAULT}\nFROM ({typed})", (PATH, ROW)
    )


def parquet_rows(source: Source, relation: str) -> Encoded:
    """Return the decoding of rows that a reader has typed already.

    Args:
        source: the definition.
        relation: name of a relation of the stored columns, ``_path`` and ``_row``.
    """
    names = ", ".join(name(column.name) for column in stored(source))
    return Encoded(
        f"SELECT {names}, to_json(struct({names})) AS {VALUE}, {PATH}, {ROW},"
        f" CAST(NULL AS STRING) AS {FAULT} FROM {relation}",
        (PATH, ROW),
    )


def _line() -> str:
    return f"rtrim('\\r', {VALUE})"


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
    value = places.get(column.name, "CAST(NULL AS STRING)")
    if is_time(kind):
        key = "date_format" if kind.this is exp.DataType.Type.DATE else "timestamp_format"
        value = cast_time(value, kind, source.encode_options.get(key))
    elif kind.this is exp.DataType.Type.VARBINARY:
        value = f"try_to_binary({value}, 'base64')"
    elif kind.this is not exp.DataType.Type.VARCHAR:
        value = f"try_cast({value} AS {spark_type(kind)})"
    return f"{value} AS {name(column.name)}"


def _fault(source: Source, columns: Sequence[Column], places: dict[str, str], width: int) -> str:
    limit = max_record_bytes(source)
    size = f"CAST(octet_length({VALUE}) AS STRING)"
    quote = text(source.encode_options.get("quote", '"'))
    quotes = f"length({VALUE}) - length(replace({VALUE}, {quote}, ''))"
    cases = [
        (
            f"octet_length({VALUE}) > {limit}",
            f"concat('record of ', {size}, {text(f' bytes, more than {limit}')})",
        ),
        (f"NOT is_valid_utf8({VALUE})", "'invalid UTF-8'"),
        (f"({quotes}) % 2 = 1", "'unbalanced quotes (a record is one line)'"),
        ("_k._corrupt IS NOT NULL OR _k IS NULL", text(f"not {width} values in the line")),
    ]
    for column in columns:
        if value := places.get(column.name):
            condition = f"{value} IS NOT NULL AND {name(column.name)} IS NULL"
            if is_float(column.type):
                typed = name(column.name)
                condition += f" OR isnan({typed}) OR abs({typed}) = double('Infinity')"
            cases.append((condition, misread(column, value)))
    return case(cases)
