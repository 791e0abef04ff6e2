"""A call within itself: its text grows by a call for each level; its answer is that of steps."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from tests.fuzz.functions import CALLS
from tests.fuzz.oracle import open_duckdb
from tests.fuzz.schemas import KINDS
from tests.nesting.calls import ENGINES, OPERATORS, Nesting, fill, guarded, nestings, query, texts
from tests.support.sampling import some

# ALL stands in WHERE and in a column, not within a call
EVERY = [each for each in (*nestings(OPERATORS), *nestings(CALLS)) if " ALL " not in each.call]
ASKED = some(EVERY, 4)
_JSON = "json_object("
LEVELS, GROWTH = 6, 8
STEPS = 3


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with open_duckdb() as connection:
        fill(connection)
        yield connection


@pytest.mark.parametrize("nesting", ASKED, ids=str)
def test_the_text_grows_by_a_call_for_each_level(nesting: Nesting) -> None:
    one, many = texts(nesting.sql(1)), texts(nesting.sql(LEVELS))
    grown = {dialect: round(len(many[dialect]) / len(one[dialect]), 1) for dialect in ENGINES}
    assert max(grown.values()) <= GROWTH, grown


@pytest.mark.parametrize("nesting", [each for each in ASKED if each.place == 0], ids=str)
def test_so_does_its_guard(nesting: Nesting) -> None:
    # only from the second level on a condition computes the value of a call
    two, three, many = (
        len(guarded(query(nesting.sql(depth)), "spark")) for depth in (2, 3, LEVELS)
    )
    assert many - three <= 1.5 * (LEVELS - 3) * (three - two), (two, three, many)


# JSON within JSON is no text
@pytest.mark.parametrize("nesting", [each for each in ASKED if _JSON not in each.call], ids=str)
def test_the_answer_is_that_of_steps(nesting: Nesting, duck: duckdb.DuckDBPyConnection) -> None:
    duck.execute("CREATE OR REPLACE TABLE t AS FROM base")
    nested = duck.sql(guarded(query(nesting.sql(STEPS)), "duckdb")).fetchall()
    step = guarded(query(nesting.sql(1)), "duckdb")
    bad: set[object] = set()
    for _ in range(STEPS):
        answers = duck.sql(step).fetchall()
        bad |= {row[0] for row in answers if row[2]}
        kind = KINDS[nesting.kind].type
        duck.execute(
            f"CREATE OR REPLACE TABLE t AS SELECT t.* REPLACE (CAST(s.x AS {kind}) AS"
            f" {nesting.input}) FROM t JOIN ({step}) AS s USING (id)"
        )
    assert str([row[:2] for row in nested]) == str([row[:2] for row in answers])
    found = {row[0] for row in nested if row[2]}
    assert found <= bad if nesting.is_lazy else found == bad
