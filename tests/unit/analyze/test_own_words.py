"""Messages say what the user wrote, not how sqlglot calls it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sqlglot import exp

from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.errors import ErrorGroup, HeadwaterError

FOLDER = Path(__file__).parents[2] / "golden" / "errors" / "check"
TABLE = """
CREATE TABLE t (k BIGINT, a INTEGER, b INTEGER, x DOUBLE, s VARCHAR, l ARRAY(INTEGER))
WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;
"""
HEADERS = ("trino", "postgres", "spark", "duckdb", "snowflake", "flink", "risingwave")
WRITTEN = (
    *("jsonb_object_agg(s, a)", "json_object_agg(s, a)", "json_agg(a)", "to_json(s)"),
    *("map(a, b)", "l @> l", 's COLLATE "C"', "sum(*)", "(a, b)", "max((a, b))", "ROW(a, b)"),
    *("(a, b) IS DISTINCT FROM (b, a)", "overlay(s placing 'a' from 2)", "s SIMILAR TO 'a%'"),
    *("array_agg(a) OVER (ORDER BY k)", "approx_top_k(a, 3)", "var_pop(s)", "bit_length(s)"),
    *("CAST(s AS JSON)", "x'0g'", "s ~ 'x'", "a::int4range", "a # b", "l && l", "s -> 'a'"),
    *("try(a / b)", "arrays_zip(l, l)", "nth_value(a, 2) OVER (ORDER BY k)", "grouping_id(a)"),
    *("unix_seconds(s)", "parse_json(s)", "json_object('a' VALUE a)", "stack(2, a, b)"),
    *("regexp_instr(s, 'a')", "to_char(x, '999')", "current_schema()", "sequence(a, b, k)"),
)


def _of_sqlglot() -> frozenset[str]:
    """The names of classes as messages could show them, of several words each."""
    found: set[str] = set()
    for name in (name for name, each in vars(exp).items() if isinstance(each, type)):
        snake = re.sub(r"(?<=[a-zA-Z])(?=[A-Z])", "_", name).lower()
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).upper()
        found |= {snake, snake.replace("_", "")} if "_" in snake else set()
        found |= {words} if " " in words else set()
    return frozenset(found)


OF_SQLGLOT = _of_sqlglot() - {"PRIMARY KEY"}


def _foreign(message: str, sql: str) -> set[str]:
    """The names of classes in a message that do not stand in the text."""
    words = set(re.findall(r"[A-Za-z_]+", message)) | set(re.findall(r"[A-Z]+ [A-Z]+", message))
    known = " ".join(sql.split()).lower()
    return {word for word in words & OF_SQLGLOT if word.lower() not in known}


def _messages(sql: str) -> list[str]:
    try:
        bind({"t.sql": parse(TABLE, file="t.sql"), "v.sql": parse(sql, file="v.sql")})
    except ErrorGroup as group:
        return [each.message for each in group.errors]
    except HeadwaterError as error:
        return [error.message]
    return []


@pytest.mark.parametrize("header", HEADERS)
def test_a_message_shows_the_words_of_the_user(header: str) -> None:
    for written in WRITTEN:
        sql = f"-- dialect: {header}\nCREATE STREAMING VIEW v AS SELECT {written} AS y FROM t;"
        sql = sql.removeprefix("-- dialect: trino\n")
        for message in _messages(sql):
            assert not _foreign(message, sql), (written, message)


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.txt")), ids=lambda file: file.stem)
def test_the_corpus_of_errors_has_the_words_of_its_text(file: Path) -> None:
    for block in file.read_text(encoding="utf-8").split("\n---\n"):
        sql, _, shown = block.partition("\n>>>\n")
        for message in re.findall(r"^case\.sql\S* [A-Z_]+ — (.*)", shown, re.MULTILINE):
            assert not _foreign(message, sql), message
