"""A view that gets another name keeps its rows, its history and its readers."""

from __future__ import annotations

import pytest

from headwater.deploy import rename as rename_module
from headwater.deploy.changes import Kind
from headwater.errors import ConfigError
from headwater.serve.lake_reader import LakeReader
from tests.spark.deploy.world import all_equal


class Crash(BaseException):
    """Nobody catches a kill."""


def rename(world, new, old, *, comment=True):
    """Give a view another name everywhere in the files."""
    world.views = world.views.replace(old, new)
    if comment:
        statement = f"CREATE STREAMING VIEW {new} "
        world.change(statement, f"-- renamed from: {old}\n{statement}")


def kinds(world):
    return {name: each.kind for name, each in world.due.items()}


def test_a_view_and_what_reads_it(world):
    rename(world, "hourly", "per_hour")
    assert kinds(world) == {"hourly": Kind.RENAMED, "busy": Kind.RENAMED}
    assert world.due["busy"].reason == "reads hourly, was per_hour"
    before = world.rows("per_hour"), world.rows("busy")
    assert world.apply() == {} and not world.due
    assert (world.rows("hourly"), world.rows("busy")) == before
    names = LakeReader(world.project.config).names()
    assert "hourly" in names and "per_hour" not in names
    assert all_equal(world)
    epochs = {name: world.lake.table(name).marker().epoch for name in ("hourly", "busy")}
    world.drop(1)
    world.drop(2)
    world.run()
    assert all_equal(world)
    for name, epoch in epochs.items():
        marker = world.lake.table(name).marker()
        assert (marker.view, marker.version) == (name, 1) and marker.epoch > epoch
        assert world.lake.table(name).newest().removed == 0  # nothing was computed anew
    counted = sum(c.marker.counts.get("late", 0) for c in world.lake.table("hourly").commits())
    assert world.lake.table("late").read().count() == counted > 0

    world.change("count(*) AS n FROM TUMBLE", "count(*) + 1 AS n FROM TUMBLE")
    world.apply()  # the comment is still there
    assert not world.due and all_equal(world)

    world.views += "CREATE STREAMING VIEW per_hour AS SELECT id FROM orders WHERE qty > 3;"
    world.run()  # the old name is free, its folder is not
    places = {world.lake.table(name).metadata()["location"] for name in ("per_hour", "hourly")}
    assert len(places) == 2
    assert not world.due and all_equal(world)


def test_the_quarantine_goes_with_it(world):
    rename(world, "shares", "inverse", comment=False)  # its definition says enough
    assert kinds(world) == {"shares": Kind.RENAMED}
    world.apply()
    assert world.lake.table("shares__quarantine").read().count() == 1
    assert not world.lake.exists("inverse__quarantine")
    world.drop(1)
    world.run()
    assert world.lake.table("shares__quarantine").read().count() == 2
    assert all_equal(world)


def test_renamed_and_changed_at_once(world):
    rename(world, "customers", "per_who")
    world.change("max(id) AS newest", "min(id) AS oldest")
    assert kinds(world) == {"customers": Kind.REBUILD, "whos": Kind.RENAMED}
    assert world.due["customers"].reason == "was per_who; column oldest differs"
    world.run()  # the name comes at once, the rest when it is applied
    assert kinds(world) == {"customers": Kind.REBUILD}
    assert world.apply()["customers"].version == 2
    assert not world.due and all_equal(world)
    world.drop(1)
    world.run()
    assert all_equal(world)


def test_two_that_read_each_other(world):
    rename(world, "hourly", "per_hour", comment=False)
    rename(world, "crowded", "busy", comment=False)
    assert kinds(world) == {"hourly": Kind.RENAMED, "crowded": Kind.RENAMED}
    world.apply()
    world.drop(1)
    world.run()
    assert not world.due and all_equal(world)


@pytest.mark.parametrize("point", rename_module.CRASH_POINTS)
def test_a_killed_rename_goes_on(world, monkeypatch, point):
    rename(world, "hourly", "per_hour")

    def die(name, table=""):
        if name == point:
            raise Crash(point)

    monkeypatch.setattr(rename_module, "crash_point", die)
    with pytest.raises(Crash):
        world.apply()
    monkeypatch.undo()
    assert set(kinds(world).values()) == {Kind.RENAMED}
    world.apply()
    assert not world.due and all_equal(world)
    world.drop(1)
    world.run()
    assert all_equal(world)


NAMED = "CREATE STREAMING VIEW {} AS SELECT id FROM orders;"


@pytest.mark.parametrize(
    ("old", "new", "further", "why"),
    [
        ("CREATE STREAMING VIEW whos ", "CREATE STREAMING VIEW people ", "per_who", "still define"),
        ("CREATE STREAMING VIEW busy ", "CREATE STREAMING VIEW idle ", "orders", "still define"),
        ("VIEW busy AS SELECT", "VIEW busy_ AS SELECT", "late", "is no view"),
    ],
)
def test_names_that_collide(world, old, new, further, why):
    world.change(old, new)
    place = world.views.rindex("CREATE", 0, world.views.index(new) + 9)
    world.views = f"{world.views[:place]}-- renamed from: {further}\n{world.views[place:]}"
    with pytest.raises(ConfigError, match=why) as refused:
        _ = world.due
    assert refused.value.condition == "RENAME_COLLIDES"


def test_two_views_from_one_and_a_table_in_the_way(world):
    world.views = world.views.replace("VIEW whos ", "VIEW one ") + NAMED.format("two")
    for name in ("one", "two"):
        world.change(
            f"CREATE STREAMING VIEW {name} ",
            f"-- renamed from: whos\nCREATE STREAMING VIEW {name} ",
        )
    with pytest.raises(ConfigError, match="another view"):
        _ = world.due
    world.views = world.views.replace("VIEW one ", "VIEW busy2 ").replace("VIEW two ", "VIEW b3 ")
    world.views = world.views.replace("-- renamed from: whos", "", 1)
    world.views = world.views.replace(
        "CREATE STREAMING VIEW inverse ", "-- renamed from: whos\nCREATE STREAMING VIEW inverse "
    ).replace("-- renamed from: whos\nCREATE STREAMING VIEW b3", "CREATE STREAMING VIEW b3")
    with pytest.raises(ConfigError, match="already"):
        _ = world.due
