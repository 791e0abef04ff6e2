"""A soak that was stopped goes on after the worlds that had ended, and with its own seed only."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click
import pytest

from tests.faults.soak import Journal, Tally


def test_a_run_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    first = Journal(tmp_path / "journal.jsonl", 7)
    first.read(Tally(100))
    first.write(0, Counter(between=5, step=7), 1, 40)
    first.write(2, Counter(clock=2), 0, 3)
    tally, again = Tally(100), Journal(tmp_path / "journal.jsonl", 7)
    again.read(tally)
    assert again.ended == {0, 2}
    assert (tally.reached, tally.void, tally.snapshots) == (14, 1, 43)
    assert tally.kills == {"between": 5, "step": 7, "clock": 2}


def test_worlds_of_another_seed_are_refused(tmp_path: Path) -> None:
    Journal(tmp_path / "journal.jsonl", 7).write(0, Counter(step=12), 0, 9)
    with pytest.raises(click.ClickException, match="seed 7"):
        Journal(tmp_path / "journal.jsonl", 8).read(Tally(100))
