"""Implicit casts are Trino's: pairs of types, in every place where they meet, run in DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import duckdb
import pytest

from headwater.analyze.definitions import View
from headwater.analyze.typing.types import duckdb_type
from headwater.dialect import to_sql
from tests.coercion.pairs import (
    Answer,
    canonical,
    forms,
    kinds_by,
    read,
    rows_sql,
    shown,
    values_of,
)
from tests.coercion.product import bound, sql_of
from tests.support.sampling import some

REFUSED = ("the quotient of decimals needs", "the result of decimals needs")
"""What Trino accepts and Headwater does not, by how the message begins."""


@pytest.fixture(scope="module")
def answers() -> Mapping[str, Answer]:
    return read()


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        opened.execute("SET TimeZone = 'UTC'")
        opened.execute(f"CREATE TABLE t AS {rows_sql(kinds_by(duckdb_type))}")
        yield opened


def test_every_form_has_an_answer(answers: Mapping[str, Answer]) -> None:
    assert list(answers) == list(forms())


def test_what_trino_refuses_is_refused(answers: Mapping[str, Answer]) -> None:
    refused = [answer.form for answer in answers.values() if not answer.type]
    assert len(refused) > 150
    assert [form for form in refused if isinstance(bound(form), View)] == []


def test_values_and_types_are_trinos(
    answers: Mapping[str, Answer], database: duckdb.DuckDBPyConnection
) -> None:
    wrong, refused = [], 0
    for form, answer in some([*answers.items()], 3):
        view = bound(form)
        if not answer.type:
            continue
        if not isinstance(view, View):
            refused += 1
            assert view.message.startswith(REFUSED), form
            assert view.hint, form
            continue
        rows = database.execute(sql_of(view, "duckdb")).fetchall()
        found = (shown(view.fields[-1].type), values_of(form, rows, answer.type))
        expected = (canonical(answer.type), answer.values)
        if found != expected:
            wrong.append((form, found, expected))
    assert wrong == []
    assert refused < 60


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("r <= 0.2", "t.r <= CAST(0.2 AS REAL)"),
        ("d > -0.5", "t.d > -0.5e0"),
        ("q < d", "CAST(t.q AS DOUBLE) < t.d"),
        ("r IN (0.1, i)", "t.r IN (CAST(0.1 AS REAL), CAST(t.i AS REAL))"),
        ("b + r", "CAST(t.b AS REAL) + t.r"),
        ("coalesce(i, p, r)", "COALESCE(CAST(t.i AS REAL), CAST(t.p AS REAL), t.r)"),
        ("i = b", "t.i = t.b"),
        ("p >= 1", "t.p >= 1"),
        ("date_diff('day', dt, ts)", "DATE_DIFF('DAY', CAST(t.dt AS TIMESTAMP), t.ts)"),
    ],
)
def test_an_implicit_cast_stands_in_the_query(form: str, expected: str) -> None:
    view = bound(form)
    assert isinstance(view, View)
    assert to_sql(view.query, pretty=False) == f"SELECT t.id AS id, {expected} AS v FROM t AS t"


@pytest.mark.parametrize(
    "form",
    [
        "SELECT id AS v FROM t WHERE r IN (SELECT p FROM t EXCEPT SELECT q FROM t)",
        "q * z",
    ],
)
def test_what_cannot_be_cast_in_place_is_refused_with_a_hint(form: str) -> None:
    view = bound(form)
    assert not isinstance(view, View)
    assert view.hint
