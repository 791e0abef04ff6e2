"""Which views rest in a tick: paused ones, and those that are fresh enough."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from headwater.analyze.definitions import View
from headwater.errors import SqlError
from headwater.plan.planner import plan_project
from headwater.project import load_project
from headwater.runtime.turns import LOOK_EVERY, Turns, wishes

TABLE = """
CREATE TABLE orders (id BIGINT, who VARCHAR)
WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;
"""


def views(folder: Path, **freshness: str) -> dict[str, View]:
    """Four views: b reads a, c reads b, d reads a."""
    reads = {"a": "orders", "b": "a", "c": "b", "d": "a"}
    text = TABLE + "".join(
        f"CREATE STREAMING VIEW {name} {freshness.get(name, '')} AS SELECT id, who FROM {read};"
        for name, read in reads.items()
    )
    (folder / "headwater.toml").write_text('name = "t"\n')
    (folder / "all.sql").write_text(text)
    return dict(load_project(folder).catalog.views)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_shortest_wish_reaches_up(tmp_path: Path) -> None:
    found = views(
        tmp_path,
        a="FRESHNESS INTERVAL '1' HOUR",
        c="FRESHNESS INTERVAL '5' MINUTE",
        d="FRESHNESS INTERVAL '10' MINUTE",
    )
    assert wishes(found) == {"a": 600, "c": 300, "d": 600}  # b ticks always, so a wish ends there
    found = views(tmp_path, a="FRESHNESS INTERVAL '1' HOUR", d="FRESHNESS = INTERVAL '2' DAYS")
    assert wishes(found) == {"a": 3600, "d": 172800}


def test_a_view_ticks_when_it_is_due_with_what_it_reads(tmp_path: Path) -> None:
    found = views(tmp_path, a="FRESHNESS INTERVAL '40' SECOND", d="FRESHNESS INTERVAL '60' SECOND")
    clock, names = Clock(), ["a", "b", "c", "d"]
    turns = Turns(found, lambda: (), hurry=False, now=clock)
    seen = {}
    for clock.now in range(0, 130, 10):
        due = set(names) - turns.resting(names)
        turns.took(due)
        seen[clock.now] = "".join(sorted(due))
    assert seen[0] == "abcd" and seen[10] == seen[30] == "bc"
    assert seen[40] == "abc"
    assert seen[60] == "abcd"  # d is due, so a is
    assert seen[100] == "abc" and seen[120] == "abcd"
    assert not Turns(found, lambda: (), hurry=True, now=clock).resting(names)


def test_paused_views_rest_whatever_reads_them(tmp_path: Path) -> None:
    found = views(tmp_path, d="FRESHNESS INTERVAL '60' SECOND")
    clock, names, paused = Clock(), ["a", "b", "c", "d"], set[str]()
    turns = Turns(found, lambda: set(paused), hurry=True, now=clock)
    assert turns.resting(names) == set()
    paused |= {"a", "c"}
    assert not turns.is_paused("a")  # it was looked at a moment ago
    clock.now += LOOK_EVERY
    assert turns.resting(names) == {"a", "c"} and turns.is_paused("a")


def test_freshness_is_no_part_of_what_a_view_means(tmp_path: Path) -> None:
    def plan(**freshness: str) -> tuple[str, str]:
        views(tmp_path, **freshness)
        found = plan_project(load_project(tmp_path).catalog)["a"]
        return found.fingerprint, found.view.definition

    without, with_one = plan(), plan(a="FRESHNESS INTERVAL '5' MINUTE")
    assert without[0] == with_one[0] and without[1] != with_one[1]
    assert views(tmp_path, a="FRESHNESS INTERVAL '5' MINUTE")["a"].freshness == timedelta(minutes=5)


def test_months_have_no_length(tmp_path: Path) -> None:
    with pytest.raises(SqlError) as refused:
        views(tmp_path, a="FRESHNESS INTERVAL '1' MONTH")
    assert refused.value.condition in ("SYNTAX_ERROR", "INVALID_FRESHNESS")
