"""A changed view is built beside the old one and swapped, whatever dies meanwhile."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from headwater.deploy import apply as apply_module
from headwater.deploy.changes import INTERRUPTED, Kind
from headwater.deploy.preview import preview
from headwater.engine import side_tables
from headwater.serve.lake_reader import LakeReader
from headwater.serve.verify import Verdict, verify
from tests.spark.crash import Crash
from tests.spark.deploy.world import all_equal


def multiset_difference(old, new):
    """How many rows appear, vanish, and change under one key, which is the first column."""
    gone, come = Counter(old) - Counter(new), Counter(new) - Counter(old)
    both = {row[0] for row in gone} & {row[0] for row in come}
    return come.total() - len(both), gone.total() - len(both), len(both)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("count(*) AS n, max(id)", "count(*) * 2 AS n, max(id)"),
        ("FROM orders GROUP BY who", "FROM orders WHERE who = 'ann' GROUP BY who"),
        ("FROM orders GROUP BY who", "FROM orders GROUP BY who HAVING max(id) > 14"),
        ("count(*) AS n FROM TUMBLE", "count(*) + 1 AS n FROM TUMBLE"),
        ("n > 2", "n > 7"),
    ],
)
def test_plan_says_which_rows_appear_vanish_and_change(world, old, new):
    world.drop(1)
    world.run()
    world.change(old, new)
    changes = world.changes
    names = [each.name for each in changes.due]
    before = {name: world.rows(name) for name in names}
    predicted = {each.view: (each.appear, each.vanish, each.change) for each in preview(changes)}
    world.apply()
    actual = {name: multiset_difference(before[name], world.rows(name)) for name in names}
    assert predicted == actual and any(any(each) for each in actual.values())


def test_a_changed_view_and_what_reads_it(world):
    assert all_equal(world) and not world.due
    before = world.lake.table("per_who").snapshot_id()
    world.change("max(id) AS newest", "min(id) AS oldest, max(CAST(id AS BIGINT)) AS newest")
    due = world.due
    assert {name: each.kind for name, each in due.items()} == {"per_who": Kind.REBUILD}
    assert due["per_who"].behind == ("whos",)

    world.drop(1)
    world.run()  # until it is applied, the old definition is kept
    assert world.rows("per_who") == [("ann", 8, 14), ("bob", 8, 15)]
    done = world.apply()
    assert done["per_who"].version == 2 and done["per_who"].verdict == "equal"
    assert world.rows("per_who") == [("ann", 8, 0, 14), ("bob", 8, 1, 15)]
    assert not world.due
    world.run()
    assert all_equal(world)
    world.drop(2)
    world.run()
    assert all_equal(world)

    table = world.lake.table("per_who")
    assert table.marker().version == 2 and table.ref("headwater-v1") is not None
    assert "newest" in table.columns(before) and "oldest" not in table.columns(before)
    assert not world.lake.exists("per_who__next")


def test_views_that_only_gain_rows_are_swapped_with_what_reads_them(world):
    world.change("count(*) AS n FROM TUMBLE", "count(*) + 1 AS n FROM TUMBLE")
    due = world.due
    assert {name: each.kind for name, each in due.items()} == {
        "per_hour": Kind.REBUILD,
        "busy": Kind.REBUILD,
    }
    world.drop(1)
    assert set(world.apply()) == {"per_hour", "busy"}
    assert all_equal(world)
    assert world.lake.table("busy").marker().cut_to == {
        "per_hour": str(world.lake.table("per_hour").snapshot_id())
    }
    world.drop(2)
    world.run()
    assert all_equal(world)
    commits = [c.marker for c in world.lake.table("per_hour").commits() if c.marker.version == 2]
    counted = sum(marker.counts.get("late", 0) for marker in commits)
    assert world.lake.table("late").read().count() == counted > 0


def test_the_quarantine_is_that_of_the_new_version(world):
    bad = world.lake.table("inverse__quarantine").read().count()
    assert bad == 1  # qty 0
    world.change("60 / qty AS share FROM", "60 / (qty - 2) AS share FROM")
    world.drop(1)
    world.apply()
    rows = world.lake.table("inverse__quarantine").read().collect()
    assert sorted(json.loads(row.raw)["qty"] for row in rows) == [2, 2]
    assert all_equal(world)


def test_only_comments(world):
    world.change("VIEW busy AS", "VIEW busy COMMENT 'hours' AS")
    assert {name: each.kind for name, each in world.due.items()} == {"busy": Kind.METADATA}
    head = world.lake.table("busy").snapshot_id()
    world.apply()
    assert world.lake.table("busy").snapshot_id() == head and not world.due


def test_new_and_removed(world):
    world.change("VIEW busy AS SELECT", "VIEW idle AS SELECT n * 1 AS m,")
    kinds = {name: each.kind for name, each in world.due.items()}
    assert kinds == {"idle": Kind.NEW, "busy": Kind.REMOVED}
    world.apply()
    assert not world.due and not world.lake.exists("busy") and all_equal(world)


@pytest.mark.parametrize("point", ["1-shadows", "4-begun", "5-swapped", "6-done"])
def test_a_killed_apply_goes_on(world, monkeypatch, point):
    world.change("count(*) AS n FROM TUMBLE", "count(*) + 1 AS n FROM TUMBLE")

    def die(name, table=""):
        if name == point:
            raise Crash(point)

    monkeypatch.setattr(apply_module, "crash_point", die)
    with pytest.raises(Crash):
        world.apply()
    monkeypatch.undo()
    begun = point in ("4-begun", "5-swapped")
    assert any(each.reason == INTERRUPTED for each in world.due.values()) is begun
    if point != "6-done":
        world.drop(1)
        world.apply()
    assert not world.due and all_equal(world)
    names = LakeReader(world.project.config).names()
    assert not [name for name in names if name.endswith("__next")]


def test_a_side_table_that_a_killed_apply_has_written(world, monkeypatch):
    world.change("count(*) AS n FROM TUMBLE", "count(*) + 1 AS n FROM TUMBLE")
    world.drop(1)
    real = side_tables.commit_side

    def die(*arguments):
        real(*arguments)
        raise Crash("sides")

    monkeypatch.setattr(side_tables, "commit_side", die)
    with pytest.raises(Crash):
        world.apply()
    monkeypatch.undo()
    world.drop(2)
    world.apply()
    assert all_equal(world)


def test_a_new_version_that_is_not_its_select_is_not_shown(world, monkeypatch):
    world.change("max(id) AS newest", "min(id) AS newest")
    before = world.rows("per_who")

    def lies(project, plans, names):
        return [replace(each, verdict=Verdict.DIFFERENT) for each in verify(project, plans, names)]

    monkeypatch.setattr(apply_module, "verify", lies)
    with pytest.raises(apply_module.Unequal):
        world.apply()
    assert world.rows("per_who") == before
    assert [each.kind for each in world.due.values()] == [Kind.REBUILD]
