"""JSON lines → typed columns (see ``headwater.formats.columns`` for what comes out).

Each line is wrapped before it is parsed: ``{"_":[<line>],"_end":1}``. Spark's parser stops after
the first value and would take ``{"a":1}{"a":2}`` or ``{"a":1} garbage`` for one row; in the
wrapping, ``_end`` and the length of ``_`` tell. Scalars are parsed with their types, which Spark
does strictly (``"1"`` and ``1.0`` are no integers), dates and times as text (see
:func:`~headwater.formats.times.cast_text`).

Rules: a key twice in one object: the last wins. DECIMAL rounds half up to its scale, as SQL
assignment does, and overflow is an error. Numbers that are not finite are refused, unless the
option ``non_finite`` takes the texts that stand for them. A VARCHAR takes numbers, booleans and
nested JSON as their text. A missing key is NULL. Keys are found without regard to case; an object
with a name in two cases is refused (:mod:`headwater.formats.json_text`, also of numbers as texts).
Empty lines are skipped. Nesting is limited to 998 levels and one string to 20 million characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from headwater.analyze.definitions import Column, RecordFormat, Source
from headwater.analyze.typing.types import elements, is_float, spark_type
from headwater.formats.columns import (
    BROKEN,
    MAX_RECORD_BYTES,
    ONCE,
    PATH,
    ROW,
    VALUE,
    Encoded,
    Records,
    ddl,
    is_long,
    lines_to_parse,
    max_record_bytes,
    misread,
    not_finite,
    stored,
    text_faults,
    value_start,
)
from headwater.formats.envelopes import envelope, known
from headwater.formats.json_text import (
    MAX_LEVELS,
    QUOTED,
    as_texts,
    as_written,
    has_other_case,
    holds_text,
    in_lower_case,
    is_deep,
    may_differ,
    may_have_both,
    same_but_for_case,
    shown,
    with_numbers_as_texts,
)
from headwater.formats.times import cast_text, is_cast, is_nested
from headwater.formats.unknown_fields import NAMED, VALUES, named, of_json, values_in, values_of
from headwater.plan.sql.spark_text import name, text

_SURROGATE = (
    r"(?<!\\)(?:\\\\)*(?:\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
"""Half of a surrogate pair, which would silently become ``?``."""
_EXPONENT = "[eE][+-]?0*[1-9][0-9]{3}"
"""Spark writes 1e10000000 out, digit by digit, before it finds that no DECIMAL holds it: 30 s."""
_TO_NUMBER = r"[ \t\r\n]*:[ \t\r\n]*[-.0-9]*"
"""Between the quote that ends a name and the exponent of its number."""
_FEW, _PLAIN_NAME = 3, re.compile("[a-z0-9_ ]+")
_PATTERN = "yyyy-MM-dd['T'][' ']HH:mm[:ss][.SSSSSSSSS][XXX]"
"""Of times inside arrays, maps and rows; Spark's own default adds today's date to a time of day."""
_NON_FINITE = "allowNonNumericNumbers"
_OPTIONS = {
    "columnNameOfCorruptRecord": "_corrupt",
    "allowSingleQuotes": "false",
    "timestampFormat": _PATTERN,
    "timestampNTZFormat": "yyyy-MM-dd['T'][' ']HH:mm[:ss][.SSSSSSSSS]",
}


def parser_options(source: Source) -> dict[str, str]:
    """Return the options of Spark's JSON parser."""
    accepts = source.encode_options.get("non_finite") == "accept"
    return {**_OPTIONS, _NON_FINITE: str(accepts).lower()}


def json_lines(source: Source, records: Records) -> Encoded:
    """Return the decoding of JSON, an object a record."""
    columns, options = stored(source), parser_options(source)
    named_alike = in_lower_case(VALUE, columns)
    lines = lines_to_parse(records, _line_faults(source), _wrapped(named_alike))
    # not conditions on what was parsed, which Spark would push below, and parse for it once more
    some = f"(startswith({VALUE}, '{{') OR ltrim(' \\t\\r', {VALUE}) <> '')"
    conditions = [some] if records.lines else []
    if source.format is RecordFormat.DEBEZIUM:  # a tombstone after a deletion says nothing new
        conditions.append(f"trim({VALUE}) <> 'null'")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    records = _expecting(source, records)
    beside = [*columns, *_beside(source, records.expected)]
    line = _from_json("_line", _schema(beside, _parsed_as), options)
    parsed = f"SELECT {records.kept}, _line, {line} AS _j\nFROM ({lines}){where}"
    values, counted = "CAST(NULL AS INT)", "true"
    if not any(is_nested(column.type) for column in columns):
        # once, or its references to every column make Spark write the parser for each of them, and
        # planning a table of twenty columns ends in an exhausted heap
        values = f"CASE WHEN {ONCE} THEN {values_of(beside, '_k.')} END"
        most = values_in(VALUE, " \t\r" if records.lines else " \t\r\n")
        counted = f"coalesce({BROKEN} OR {most} <> {VALUES}, true)"
    relation = f"(SELECT *, get(_j._, 0) AS _k FROM ({parsed}))"
    texts = [column for column in columns if holds_text(column.type)]
    if texts:
        marked = _from_json(with_numbers_as_texts("_line"), _schema(texts, as_texts), options)
        differs = may_differ("_line", "_k.", texts)
        again = f"CASE WHEN {ONCE} AND ({differs}) THEN get({marked}._, 0) END AS _m"
        relation = f"(SELECT *, {again} FROM {relation})"
    alike = same_but_for_case(VALUE, columns)
    found = (
        "coalesce(_j._corrupt IS NULL AND _j._end = 1 AND size(_j._) = 1 AND _k IS NOT NULL, false)"
        f" AND CASE WHEN {may_have_both('_line', columns)} THEN NOT coalesce({alike}, false)"
        " ELSE true END"
    )
    return Encoded(
        _typed(source, relation, "_k.", found, records, values),
        (PATH, ROW),
        _from_json(_wrapped(named_alike), _schema(columns, lambda kind: "STRING"), options),
        (*_line_faults(source), *_value_faults(columns, options)),
        values=VALUES,
        named=NAMED,
        unknown=f"CASE WHEN {ONCE} AND {counted}"
        f" THEN {unknown_in_json(source, records.expected)} ELSE {NAMED} END",
    )


def _is_read_beside(source: Source) -> bool:
    """Whether fields can be read beside the columns without a change of what is a good record.

    In a change event the row is within. A text of more than 20 million characters can be passed
    over, and cannot be read.
    """
    return envelope(source).row == VALUE and max_record_bytes(source) <= MAX_RECORD_BYTES


def _expecting(source: Source, records: Records) -> Records:
    return records if _is_read_beside(source) else replace(records, expected=())


def _beside(source: Source, expected: Sequence[str]) -> Iterator[Column]:
    """Yield what else is read of a record, to know all its fields.

    They are the expected ones, and those of a key that is read elsewhere.
    """
    if _is_read_beside(source):
        names = {column.key for column in stored(source)}
        for field in (*(each for each in known(source) if each not in names), *expected):
            yield Column(field, exp.DataType.build("VARCHAR"))


def json_rows(source: Source, records: Records) -> Encoded:
    """Return the decoding of what Spark's reader makes of lines that are :func:`not_flat` nowhere.

    It finds the same rows good as :func:`json_lines`, in half the time: the reader parses bytes,
    ``from_json`` characters. It does not say why a row is bad, and does not know its text.

    Args:
        records: name of a relation of :func:`reader_schema`, ``_path`` and what the number reads.
    """
    records = _expecting(source, records)
    beside = [*stored(source), *_beside(source, records.expected)]
    names = [name(column.key) for column in beside]
    # all columns are named, lest the reader leave one out and its misfits unseen
    unread = " AND ".join(f"{column} IS NOT NULL" for column in names)
    rows = (
        f"(SELECT {', '.join(names)}, _corrupt, CAST(NULL AS STRING) AS {VALUE}, {PATH},"
        f" {records.number} AS {ROW} FROM {records.relation})"
    )
    found = f"_corrupt IS NULL OR NOT {ONCE} AND {unread}"
    sql = _typed(source, rows, "", found, records, values_of(beside))
    return Encoded(sql, (PATH, ROW), values=VALUES, named=NAMED, unknown=NAMED)


def reader_schema(source: Source, expected: Sequence[str] = ()) -> str:
    """Return what Spark's JSON reader is to read, as DDL.

    Args:
        expected: further fields.
    """
    columns = [*stored(source), *_beside(source, expected)]
    return f"{ddl(columns, _parsed_as)}, `_corrupt` STRING"


def not_flat(source: Source) -> str:
    """Return the condition that a line ``_value`` may be read wrong by Spark's JSON reader.

    The reader stops after the first value of a line, takes an array for several rows, and mends
    broken characters. None of it can be in a line that begins with ``{`` and ends with its only
    ``}``. Lines with nested objects are not flat, though nothing is wrong with them.
    """
    conditions = [condition for condition, _ in _line_faults(source)]
    # as bytes: text functions count characters first
    inner = f"substring(CAST({VALUE} AS BINARY), 1, octet_length({VALUE}) - 1)"
    conditions += [
        f"NOT startswith({VALUE}, '{{')",
        f"NOT endswith({VALUE}, '}}')",
        f"contains({inner}, X'7D')",
        has_other_case(VALUE, stored(source)),
    ]
    if any(column.type.this is exp.DataType.Type.VARCHAR for column in stored(source)):
        conditions.append(f"contains({VALUE}, '[')")  # kept with its blanks where it is a text
    return " OR ".join(f"({condition})" for condition in conditions)


def unknown_in_json(source: Source, expected: Sequence[str] = ()) -> str:
    """Return the fields of a record that the definition does not name.

    Args:
        expected: those that are told already.
    """
    fields = of_json(envelope(source).row, known(source), expected, BROKEN)
    return f"CASE WHEN NOT {is_long(source)} THEN {fields} END"


def _typed(
    source: Source, relation: str, prefix: str, found: str, records: Records, values: str
) -> str:
    """The layers above the parser: conversions, each once, then the verdict."""
    columns = stored(source)
    names = ", ".join(name(column.name) for column in columns)
    converted = ", ".join(f"{_converted(c, source, prefix)} AS {name(c.name)}" for c in columns)
    given = "".join(
        f", {prefix}{name(column.key)} IS NOT NULL AS {_given(column)}"
        for column in columns
        if is_cast(column.type)
    )
    misfits = _misfits(columns, parser_options(source))
    broken = " OR ".join(["NOT _found", *misfits])
    return (
        f"SELECT {names}, {records.kept}, {VALUES}, {NAMED}, {broken} AS {BROKEN}\n"
        f"FROM (SELECT {records.kept}, {values} AS {VALUES}, {converted}{given},\n"
        f"{named(records.expected, prefix)} AS {NAMED},\n"
        f"{found} AS _found FROM {relation})"
    )


def _wrapped(value: str) -> str:
    return f"""concat('{{"_":[', {value}, '],"_end":1}}')"""


def _from_json(value: str, schema: str, options: Mapping[str, str]) -> str:
    pairs = ", ".join(f"{text(key)}, {text(option)}" for key, option in options.items())
    return f"from_json({value}, {text(schema)}, map({pairs}))"


def _takes_all(options: Mapping[str, str]) -> bool:
    """Whether numbers that are not finite are taken."""
    return options[_NON_FINITE] == "true"


def _schema(columns: Sequence[Column], kind: Callable[[exp.DataType], str]) -> str:
    fields = ddl(columns, kind)
    return f"`_` ARRAY<STRUCT<{fields}>>, `_end` INT, `_corrupt` STRING"


def _parsed_as(kind: exp.DataType) -> str:
    return "STRING" if is_cast(kind) else spark_type(kind)


def _converted(column: Column, source: Source, prefix: str) -> str:
    value = f"{prefix}{name(column.key)}"
    if prefix and holds_text(column.type):
        written = as_written(value, f"_m.{name(column.key)}", column.type)
        return f"CASE WHEN {ONCE} THEN CASE WHEN _m IS NULL THEN {value} ELSE {written} END END"
    if not is_cast(column.type):
        return value
    key = "date_format" if column.type.this is exp.DataType.Type.DATE else "timestamp_format"
    time = cast_text(value, column.type, source.encode_options.get(key))
    return f"CASE WHEN {ONCE} THEN {time} END"


def _given(column: Column) -> str:
    """Name of the flag that a time had a text."""
    return name(f"_given_{column.name}")


def _misfits(columns: Sequence[Column], options: Mapping[str, str]) -> Iterator[str]:
    """Yield the conditions that the parser took a value and the type does not."""
    for column in columns:
        if is_cast(column.type):
            yield f"{_given(column)} AND {name(column.name)} IS NULL"
        elif is_float(column.type) and not _takes_all(options):
            yield not_finite(name(column.name))


def _line_faults(source: Source) -> list[tuple[str, str]]:
    escape = text(chr(92) + "u")
    faults = [
        *text_faults(source),
        (
            f"contains({VALUE}, {escape}) AND {VALUE} RLIKE {text(_SURROGATE)}",
            "'lone surrogate in a \\\\u escape'",
        ),
    ]
    if huge := _huge_exponent(stored(source)):
        faults.append((huge, "'a number with an exponent of more than three digits'"))
    return faults


def _huge_exponent(columns: Sequence[Column]) -> str | None:
    """Return the condition that a number has an exponent that a DECIMAL must not be given.

    Spark 4.1.3 writes a number out before it rounds it: 1e10000000 takes 34 s (apache/spark#29731).

    A scan for exponents costs a quarter of the parsing, one for a name of a few letters next to
    nothing. So only what follows the names of the columns is looked at, where they are few; a
    record with a backslash may spell a name otherwise, and is looked at everywhere.
    """
    decimals = [c for c in columns if any(map(_is_decimal, c.type.find_all(exp.DataType)))]
    if not decimals:
        return None
    bare = f"regexp_replace({VALUE}, {text(QUOTED)}, '')"
    anywhere = f"{VALUE} RLIKE {text(_EXPONENT)} AND {bare} RLIKE {text('[0-9]' + _EXPONENT)}"
    few = len(decimals) <= _FEW and all(_is_decimal(c.type) for c in decimals)
    if not few or not all(_PLAIN_NAME.fullmatch(c.key) for c in decimals):
        return anywhere
    after = (text(f'"{c.key}"{_TO_NUMBER}{_EXPONENT}') for c in decimals)
    named = " OR ".join(f"{VALUE} RLIKE {pattern}" for pattern in after)
    return f"IF(contains({VALUE}, {text(chr(92))}), {anywhere}, {named})"


def _is_decimal(kind: exp.DataType) -> bool:
    return kind.this is exp.DataType.Type.DECIMAL


def _value_faults(
    columns: Sequence[Column], options: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    start = value_start(VALUE)
    yield (
        is_deep(VALUE),
        f"concat('nested in more than {MAX_LEVELS} levels: ', {start})",
    )
    yield (
        f"_s._end IS NULL OR try_parse_json({VALUE}) IS NULL"
        f" OR _s._ IS NULL AND ltrim({VALUE}) LIKE '{{%'",
        f"concat('not valid JSON: ', {start})",
    )
    yield (
        "coalesce(size(_s._), 0) <> 1 OR get(_s._, 0) IS NULL",
        f"concat('not one JSON object: ', {start})",
    )
    yield (
        same_but_for_case(VALUE, columns),
        f"concat('two keys that differ in case only: ', {start})",
    )
    for column in columns:
        value = f"get(_s._, 0).{name(column.key)}"
        yield from _column_faults(column, value, name(column.name), options)
    yield "true", f"concat('a value does not fit its column: ', {start})"


def _column_faults(
    column: Column, value: str, typed: str, options: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a column, or with the fields of a row that are not nested.

    Args:
        column: the column or field, by the name that reasons show.
        value: expression of its JSON text.
        typed: expression of what the parser made of it.
    """
    misfit = f"{typed} IS NULL"
    if is_nested(column.type):
        if column.type.this is exp.DataType.Type.STRUCT:
            fields = [
                Column(field.name, kind)
                for field, kind in zip(column.type.expressions, elements(column.type), strict=True)
            ]
            within = _from_json(value, ddl(fields, lambda kind: "STRING"), options)
            for field in fields:
                inner = replace(field, name=f"{column.key}.{field.name}")
                part = name(field.name)
                yield from _column_faults(inner, f"{within}.{part}", f"{typed}.{part}", options)
        alone = f"""concat('{{"v":', {value}, '}}')"""
        schema = f"v {spark_type(column.type)}, `_corrupt` STRING"
        misfit = f"{_from_json(alone, schema, options)}._corrupt IS NOT NULL"
    elif is_float(column.type) and not _takes_all(options):
        misfit += f" OR {not_finite(typed)}"
    yield f"{value} IS NOT NULL AND ({misfit})", misread(column, shown(value))
