"""Queries that were refused once hold what DuckDB answers to their own text, tick by tick."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.errors import HeadwaterError
from tests.accepted.corpus import outcomes
from tests.algebra.query import wrong
from tests.fuzz.cases import Case, random_ticks
from tests.fuzz.schemas import STANDARD, Draw
from tests.support.sampling import some

QUERIES = Path(__file__).parents[2] / "algebra" / "queries.sql"
_TICKS = 4
_SEEDS = some(range(2), 2)


def _case(query: str, seed: int) -> Case:
    ticks = random_ticks(Draw(f"motion-{seed}", STANDARD), _TICKS)
    return Case(query, ticks, STANDARD, "affected groups", "WITH (engine = 'incremental')")


@pytest.mark.parametrize(("query", "outcome"), outcomes(QUERIES.read_text(encoding="utf-8")))
def test_a_view_holds_what_duckdb_answers_to_its_text(query: str, outcome: str) -> None:
    if outcome == "ok":
        assert {seed: wrong(_case(query, seed)) for seed in _SEEDS} == dict.fromkeys(_SEEDS, "")
        return
    with pytest.raises(HeadwaterError) as raised:
        wrong(_case(query, 0))
    assert raised.value.condition == outcome
