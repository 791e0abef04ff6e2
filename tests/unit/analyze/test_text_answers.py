"""Functions over text give in DuckDB what Trino gives, at their edges."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from headwater.analyze.portable.rewrites import portable
from tests.support.text_cases import EXPRESSIONS, ON_PURPOSE, ROWS, recorded, text_view


def in_duckdb() -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (id INTEGER, s VARCHAR, u VARCHAR, i INTEGER)")
        rows = [(at, *row) for at, row in enumerate(ROWS)]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
        query = portable(text_view().query, "duckdb").sql("duckdb", identify=True)
        return connection.execute(f"{query} ORDER BY id").fetchall()


def differences(found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Where answers are not Trino's: expression, row, ours, Trino's.

    Args:
        found: rows of an id and one answer for each expression.
    """
    answers = recorded()
    return [
        (expression, ROWS[at], row[place], wanted)
        for place, expression in enumerate(EXPRESSIONS, start=1)
        for at, (row, wanted) in enumerate(zip(found, answers[expression], strict=True))
        if row[place] != wanted or type(row[place]) is not type(wanted)
        if (expression, ROWS[at][0]) not in ON_PURPOSE
    ]


def test_duckdb_gives_the_answers_of_trino() -> None:
    assert differences(in_duckdb()) == []


def test_a_difference_on_purpose_is_one() -> None:
    answers, found = recorded(), in_duckdb()
    for expression, text in ON_PURPOSE:
        at = [row[0] for row in ROWS].index(text)
        ours = found[at][EXPRESSIONS.index(expression) + 1]
        assert ours != answers[expression][at]


@pytest.mark.parametrize("expression", ["substr(s, 0)", "trim(s)", "s LIKE '%\\'"])
def test_the_table_would_show_an_error(expression: str) -> None:
    found = [list(row) for row in in_duckdb()]
    found[1][EXPRESSIONS.index(expression) + 1] = "another"
    assert [item[0] for item in differences([tuple(row) for row in found])] == [expression]
