"""What one commit does not ask, others ask; a person and a long lane ask everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import lanes
from tests.long_lanes import parts
from tests.support import sampling

ROOT = Path(__file__).parents[3]
TABLE = [f"a.py::test_table[{n}]" for n in range(sampling.TABLE + 1)]
FEW = [f"a.py::test_few[{n}]" for n in range(sampling.TABLE)]


@pytest.fixture(autouse=True)
def turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADWATER_EVERY", raising=False)
    monkeypatch.delenv("HEADWATER_SEED", raising=False)


def test_as_many_seeds_as_there_are_parts_ask_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    for seed in range(7, 11):
        monkeypatch.setenv("HEADWATER_SEED", str(seed))
        asked += sampling.some(range(30), 4)
    assert sorted(asked) == [*range(30)]


def test_without_a_seed_and_where_every_question_is_wanted_all_are_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert sampling.some(range(30), 4) == [*range(30)]
    assert sampling.some_cases([*TABLE, *FEW]) == [*TABLE, *FEW]
    monkeypatch.setenv("HEADWATER_SEED", "1")
    assert sampling.some(range(30), 4) != [*range(30)]
    monkeypatch.setenv("HEADWATER_EVERY", "1")
    assert sampling.some(range(30), 4) == [*range(30)]


def test_long_tables_of_cases_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    for seed in range(sampling.PARTS):
        monkeypatch.setenv("HEADWATER_SEED", str(seed))
        found = sampling.some_cases([*TABLE, *FEW])
        assert found[-len(FEW) :] == FEW
        asked += found[: -len(FEW)]
    assert sorted(asked) == sorted(TABLE)


def test_each_risk_is_asked_by_one_of_its_spark_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[str] = set()
    for seed in range(12):
        monkeypatch.setenv("HEADWATER_SEED", str(seed))
        turn = lanes.entries_in_turn.__wrapped__()
        for risks in lanes.fast().values():
            assert all(turn.intersection(tests) for tests in risks.values())
        asked |= turn
    assert asked == lanes.entries()


def test_a_long_lane_asks_everything() -> None:
    assert all(f"test-every/{part}" in parts() for part in range(1, 5))
    assert "test-every: export HEADWATER_EVERY := 1" in (ROOT / "Makefile").read_text()
