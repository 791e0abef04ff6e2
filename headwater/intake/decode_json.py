"""JSON lines → typed columns (see ``headwater.intake.decode`` for what comes out).

Each line is wrapped before it is parsed: ``{"_":[<line>],"_end":1}``. Spark's parser stops after
the first value and would take ``{"a":1}{"a":2}`` or ``{"a":1} garbage`` for one row; in the
wrapping, ``_end`` and the length of ``_`` tell. Scalars are parsed with their types, which Spark
does strictly (``"1"`` and ``1.0`` are no integers), dates and times as text (see
:func:`~headwater.intake.decode.cast_time`).

Rules: a key twice in one object: the last wins. DECIMAL rounds half up to its scale, as SQL
assignment does, and overflow is an error. Numbers that are not finite are refused. A VARCHAR takes
numbers, booleans and nested JSON as their text. A missing key is NULL. Keys are matched exactly, so
they are lower case. Empty lines are skipped. Nesting is limited to 1,000 levels and one string to
20 million characters.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.definitions import Column, Source
from headwater.analyze.types import is_float, spark_type
from headwater.intake.decode import (
    FAULT,
    ONCE,
    PATH,
    ROW,
    UNEXPLAINED,
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
    value_start,
)
from headwater.intake.sqltext import name, text

_SURROGATE = (
    r"(?<!\\)(?:\\\\)*(?:\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
"""Half of a surrogate pair, which would silently become ``?``."""
_PATTERN = "yyyy-MM-dd['T'][' ']HH:mm[:ss][.SSSSSSSSS][XXX]"
"""Of times inside arrays, maps and rows; Spark's own default adds today's date to a time of day."""
OPTIONS = {
    "columnNameOfCorruptRecord": "_corrupt",
    "allowSingleQuotes": "false",
    "allowNonNumericNumbers": "false",
    "timestampFormat": _PATTERN,
    "timestampNTZFormat": "yyyy-MM-dd['T'][' ']HH:mm[:ss][.SSSSSSSSS]",
}


def json_lines(source: Source, relation: str, *, numbered: bool = True) -> Encoded:
    """Return the decoding of JSON lines.

    Args:
        source: the definition.
        relation: name of a relation of ``_value``, ``_path`` and ``_block`` (offset of the first
            line).
        numbered: whether lines have numbers; not in a stream.
    """
    columns = stored(source)
    line = to_parse(source, _wrapped(VALUE))
    parsed = (
        f"SELECT {VALUE}, {PATH}, {line_number(numbered)} AS {ROW},\n"
        f"{_from_json(line, _schema(columns, typed=True))} AS _j FROM {relation}"
    )
    values = ", ".join(f"{_converted(column, source)} AS {name(column.name)}" for column in columns)
    blank = "coalesce(_j._end = 1 AND size(_j._) = 0, false)"
    typed = (
        f"SELECT {VALUE}, {PATH}, {ROW}, _j, _k, {values}\n"
        f"FROM (SELECT *, get(_j._, 0) AS _k FROM ({parsed}) WHERE NOT {blank})"
    )
    names = ", ".join(name(column.name) for column in columns)
    sql = f"SELECT {names}, {VALUE}, {PATH}, {ROW}, {_fault(source)} AS {FAULT}\nFROM ({typed})"
    return Encoded(
        sql,
        (PATH, ROW),
        _from_json(_wrapped(VALUE), _schema(columns, typed=False)),
        _explanation(columns),
    )


def good_json_lines(source: Source, relation: str) -> Encoded:
    """Return the decoding of JSON lines that leaves out what :func:`json_lines` finds bad.

    The rows are the same, at a fraction of the price: nothing is kept to explain a bad row with,
    and each value is converted once, however often it is looked at.

    Args:
        source: the definition.
        relation: as in :func:`json_lines`.
    """
    columns = stored(source)
    bad = " OR ".join(f"coalesce({each}, false)" for each, _ in _line_cases(source))
    line = to_parse(source, f"CASE WHEN NOT ({bad}) THEN {_wrapped(VALUE)} END")
    parsed = (
        f"SELECT {PATH}, {_from_json(line, _schema(columns, typed=True))} AS _j FROM {relation}"
    )
    values = ", ".join(f"{_once(column, source)} AS {name(column.name)}" for column in columns)
    typed = f"SELECT {PATH}, _j, _k, {values} FROM (SELECT *, get(_j._, 0) AS _k FROM ({parsed}))"
    cases = [(_BROKEN, ""), *_value_cases(columns)]
    good = " AND ".join(f"NOT coalesce({each}, false)" for each, _ in cases)
    names = ", ".join(name(column.name) for column in columns)
    nothing = "CAST(NULL AS STRING)"
    return Encoded(
        f"SELECT {names}, {nothing} AS {VALUE}, {PATH}, CAST(NULL AS BIGINT) AS {ROW},"
        f" {nothing} AS {FAULT}\nFROM ({typed}) WHERE {good}",
        (PATH, ROW),
    )


def _wrapped(value: str) -> str:
    return f"""concat('{{"_":[', {value}, '],"_end":1}}')"""


def _from_json(value: str, schema: str) -> str:
    options = ", ".join(f"{text(key)}, {text(option)}" for key, option in OPTIONS.items())
    return f"from_json({value}, {text(schema)}, map({options}))"


def _schema(columns: tuple[Column, ...], *, typed: bool) -> str:
    fields = ", ".join(
        f"{name(c.name)}: {spark_type(c.type) if typed and not is_time(c.type) else 'STRING'}"
        for c in columns
    )
    return f"`_` ARRAY<STRUCT<{fields}>>, `_end` INT, `_corrupt` STRING"


def _converted(column: Column, source: Source) -> str:
    value = f"_k.{name(column.name)}"
    if not is_time(column.type):
        return value
    key = "date_format" if column.type.this is exp.DataType.Type.DATE else "timestamp_format"
    return cast_time(value, column.type, source.encode_options.get(key))


def _once(column: Column, source: Source) -> str:
    value = _converted(column, source)
    return f"CASE WHEN {ONCE} THEN {value} END" if is_time(column.type) else value


_BROKEN = (
    "_j IS NULL OR _j._corrupt IS NOT NULL OR _j._end IS NULL OR size(_j._) <> 1 OR _k IS NULL"
)


def _fault(source: Source) -> str:
    long, utf8, surrogate = _line_cases(source)
    broken = (_BROKEN, text(UNEXPLAINED))
    return case([long, utf8, broken, surrogate, *_value_cases(stored(source))])


def _line_cases(source: Source) -> list[tuple[str, str]]:
    """What can be wrong with the text of a line: conditions and reasons."""
    limit = max_record_bytes(source)
    size = f"CAST(octet_length({VALUE}) AS STRING)"
    return [
        (
            f"octet_length({VALUE}) > {limit}",
            f"concat('record of ', {size}, {text(f' bytes, more than {limit}')})",
        ),
        (f"NOT is_valid_utf8({VALUE})", "'invalid UTF-8'"),
        (
            f"contains({VALUE}, {text(chr(92) + 'u')}) AND {VALUE} RLIKE {text(_SURROGATE)}",
            "'lone surrogate in a \\\\u escape'",
        ),
    ]


def _value_cases(columns: tuple[Column, ...]) -> list[tuple[str, str]]:
    """What the parser takes and the type does not: conditions and reasons."""
    cases = []
    for column in columns:
        value = f"_k.{name(column.name)}"
        if is_time(column.type):
            condition = f"{value} IS NOT NULL AND {name(column.name)} IS NULL"
            cases.append((condition, misread(column, value)))
        elif is_float(column.type):
            finite = f"(isnan({value}) OR abs({value}) = double('Infinity'))"
            cases.append((finite, misread(column, f"CAST({value} AS STRING)")))
    return cases


def _explanation(columns: tuple[Column, ...]) -> str:
    start = value_start(VALUE)
    cases = [
        (
            f"_s._end IS NULL OR try_parse_json({VALUE}) IS NULL"
            f" OR _s._ IS NULL AND ltrim({VALUE}) LIKE '{{%'",
            f"concat('not valid JSON: ', {start})",
        ),
        (
            "coalesce(size(_s._), 0) <> 1 OR get(_s._, 0) IS NULL",
            f"concat('not one JSON object: ', {start})",
        ),
    ]
    for column in columns:
        value = f"get(_s._, 0).{name(column.name)}"
        given = f"{value} IS NOT NULL"
        if is_nested(column.type):
            alone = f"""concat('{{"v":', {value}, '}}')"""
            schema = f"v {spark_type(column.type)}, `_corrupt` STRING"
            cases.append(
                (
                    f"{given} AND {_from_json(alone, schema)}._corrupt IS NOT NULL",
                    misread(column, value),
                )
            )
        elif not is_time(column.type):
            cases.append((f"{given} AND {name(column.name)} IS NULL", misread(column, value)))
    cases.append(("true", f"concat('a value does not fit its column: ', {start})"))
    return case(cases)
