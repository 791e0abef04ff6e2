"""Patterns of times: each letter is right in every engine, or refused as it was written."""

from __future__ import annotations

import re

import duckdb
import pytest

from headwater.analyze.portable.rewrites import portable
from headwater.analyze.project import bind_all
from headwater.dialect import parse_all
from headwater.errors import SqlError
from headwater.plan.sql.render import print_sql
from tests.support.time_patterns import MOMENTS, patterns, written, wrong_part

_TABLE = (
    "CREATE TABLE t (k VARCHAR, ts TIMESTAMP) WITH (connector = 'files', path = 't')"
    " FORMAT PLAIN ENCODE JSON;\n"
)


READ = {"%Y", "%m", "%c", "%d", "%e", "%H", "%k", "%i", "%s", "%S", "%f", "%T"}
"""By what text is read, each letter once."""


def bound(text: str, head: str = "") -> tuple[list[SqlError], str]:
    """Return the errors of a SELECT, or how DuckDB runs it."""
    statements, errors = parse_all(f"{head}{_TABLE}CREATE STREAMING VIEW v AS {text};")
    catalog, more = bind_all({"t.sql": statements})
    if found := [*errors, *more]:
        return found, ""
    return [], print_sql(portable(catalog.views["v"].query, "duckdb"), "duckdb")


def call(pattern: str, function: str = "date_format") -> str:
    value = "ts" if function == "date_format" else "k"
    return f"{function}({value}, '{pattern.replace(chr(39), 2 * chr(39))}')"


def test_duckdb_writes_what_trino_does() -> None:
    sound = [each for each in patterns() if written(each, MOMENTS[0]) is not None]
    assert len(sound) > 400
    items = ", ".join(f"{call(each)} AS c{at}" for at, each in enumerate(sound))
    errors, query = bound(f"SELECT ts, {items} FROM t")
    assert not errors
    with duckdb.connect() as duck:
        duck.execute("CREATE TABLE t (k VARCHAR, ts TIMESTAMP, _watermark TIMESTAMPTZ)")
        duck.executemany("INSERT INTO t (ts) VALUES (?)", [[moment] for moment in MOMENTS])
        found = {row[0]: row[1:] for row in duck.execute(query).fetchall()}
    for moment in MOMENTS:
        expected = [written(each, moment) for each in sound]
        assert dict(zip(sound, found[moment], strict=True)) == dict(
            zip(sound, expected, strict=True)
        )


def test_other_letters_are_refused_by_name() -> None:
    for pattern in patterns():
        if written(pattern, MOMENTS[0]) is None:
            (error,), _ = bound(f"SELECT {call(pattern)} AS x FROM t")
            part = wrong_part(pattern)
            assert error.condition == "NOT_PORTABLE"
            assert error.message.startswith(f"{part} in date_format"), pattern
            assert error.span is not None
            assert error.span.text[error.span.column - 1 :].startswith(part.replace("'", "''"))


def test_text_is_read_by_a_pattern_or_it_is_refused_by_name() -> None:
    for pattern in [each for each in patterns() if len(each) < 5]:
        errors, _ = bound(f"SELECT {call('%Y ' + pattern, 'date_parse')} AS x FROM t")
        letters = [f"%{letter}" for letter in re.findall("%(.?)", pattern, re.DOTALL)]
        if errors:
            assert [error.condition for error in errors] == ["NOT_PORTABLE"]
            part = errors[0].message.partition(" in date_parse")[0]
            assert part in pattern or part.startswith(f"the pattern '%Y {pattern}'")
        else:
            assert set(letters) <= READ
            assert len({*letters, "%Y"}) == len(letters) + 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("format_datetime(ts, 'yyyy-ww')", "ww in format_datetime does not"),
        ("parse_datetime(k, 'yyyy-MM-dd hh')", "hh in parse_datetime does not"),
        ("date_parse(k, '%H:%i')", "the pattern '%H:%i' does not"),
        ("date_parse(k, k)", "argument 2 of date_parse must be a literal"),
    ],
)
def test_a_pattern_is_named_as_it_was_written(text: str, message: str) -> None:
    (error,), _ = bound(f"SELECT {text} AS x FROM t")
    assert error.message.startswith(message)


@pytest.mark.parametrize("pattern", ["MMMMM", "yyy", "ssss", "EEEEE"])
def test_more_letters_of_spark_are_not_two_patterns(pattern: str) -> None:
    (error,), _ = bound(f"SELECT date_format(ts, '{pattern}') AS x FROM t", "-- dialect: spark\n")
    assert error.condition == "NOT_PORTABLE"
