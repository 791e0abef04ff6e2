"""The race of `make race`, short: two live processes, and one stopped past its lease."""

from __future__ import annotations

import random
from pathlib import Path

from tests.faults.race import run


def test_two_live_writers_and_a_stopped_one_commit_every_epoch_once(tmp_path: Path) -> None:
    random.seed(4)
    tally = run(starts=10, stops=1, uri=None, folder=tmp_path)
    assert not tally.violations
    assert tally.ends["committed"] == 11
    assert tally.ends.total() == 22
