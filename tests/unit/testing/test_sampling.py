"""What one commit does not ask, others ask, and ``make fuzz`` asks everything."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import sampling

ROOT = Path(__file__).parents[3]


def test_as_many_seeds_as_there_are_parts_ask_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADWATER_EVERY", raising=False)
    asked = []
    for seed in range(7, 11):
        monkeypatch.setattr(sampling, "SEED", seed)
        asked += sampling.some(range(30), 4)
    assert sorted(asked) == [*range(30)]
    monkeypatch.setenv("HEADWATER_EVERY", "1")
    assert sampling.some(range(30), 4) == [*range(30)]


def test_a_long_lane_asks_everything_of_each_module_that_samples() -> None:
    named = re.search(r"HEADWATER_EVERY=1 \$\(PYTEST\)[^\n]*", (ROOT / "Makefile").read_text())
    assert named is not None
    sampled = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests" / "unit").rglob("test_*.py")
        if path != Path(__file__) and "support.sampling import" in path.read_text(encoding="utf-8")
    }
    assert sampled == {word for word in named[0].split() if word.endswith(".py")}
