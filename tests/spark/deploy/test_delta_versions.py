"""Views that are Delta tables take another version, and an earlier one, as Iceberg tables do."""

from __future__ import annotations

import deltalake
import pytest

from headwater.deploy import apply as apply_module
from headwater.deploy.changes import Kind
from headwater.deploy.rollback import rollback, versions
from headwater.errors import TerminalError
from headwater.serve.lake_reader import LakeReader
from tests.spark.crash import Crash
from tests.spark.deploy.world import World, all_equal

PER_WHO = "VIEW per_who"
INVERSE = "VIEW inverse"
ABOVE = """
CREATE STREAMING VIEW above WITH (format = 'delta') AS SELECT id FROM inverse WHERE share > 10;
"""


@pytest.fixture
def delta(spark, lake, tmp_path):
    """The project, with a view that is corrected and two that only gain rows as Delta tables."""
    found = World(spark, lake, tmp_path)
    for name in (PER_WHO, INVERSE):
        found.change(name, f"{name} WITH (format = 'delta')")
    found.views += ABOVE
    found.run()
    return found


def rows(world, name, version=None):
    """The rows as a reader without a JVM sees them."""
    location = world.lake.readable(name).location
    table = deltalake.DeltaTable(location, version=version).to_pyarrow_dataset().to_table()
    shown = [column for column in table.column_names if not column.startswith("_")]
    return sorted(tuple(row.values()) for row in table.select(shown).to_pylist())


def stored(world, name):
    return LakeReader(world.project.config).table(name)


def test_another_version_and_back(delta):
    before, first = rows(delta, "per_who"), delta.lake.readable("per_who").snapshot_id()
    delta.change("max(id) AS newest", "CAST(max(id) AS DOUBLE) AS newest, min(id) AS oldest")
    assert {name: each.kind for name, each in delta.due.items()} == {"per_who": Kind.REBUILD}
    delta.drop(1)
    done = delta.apply()
    assert done["per_who"].version == 2 and done["per_who"].verdict == "equal"
    assert rows(delta, "per_who") == [("ann", 8, 14.0, 0), ("bob", 8, 15.0, 1)]
    assert rows(delta, "per_who", first) == before
    assert not delta.due and all_equal(delta)
    delta.drop(2)
    delta.run()
    assert all_equal(delta)

    rollback(delta.project, ["per_who"], spark=delta.spark)
    # it was kept up to date until the other version was there
    assert rows(delta, "per_who") == [("ann", 8, 14), ("bob", 8, 15)]
    assert {name: each.kind for name, each in delta.due.items()} == {"per_who": Kind.REBUILD}
    delta.run()  # with the definition that was brought back
    assert [row[1] for row in rows(delta, "per_who")] == [12, 12]
    kept = versions(stored(delta, "per_who"))
    assert [(each.number, each.rows, each.current) for each in kept] == [
        (3, 2, True),
        (2, 2, False),
        (1, 2, False),
    ]
    assert "oldest" in kept[1].definition and "oldest" not in kept[0].definition
    delta.apply()
    assert not delta.due and all_equal(delta)
    assert [each.number for each in versions(stored(delta, "per_who"))] == [4, 3, 2]


@pytest.mark.parametrize("point", ["1-shadows", "4-begun", "5-swapped", "6-done"])
def test_a_killed_apply_goes_on(delta, monkeypatch, point):
    delta.change("60 / qty AS share FROM", "who, 60 / (qty - 2) AS share FROM")
    delta.change(f"{INVERSE} WITH", f"{INVERSE} PARTITIONED BY (who) WITH")

    def die(name, table=""):
        if name == point:
            raise Crash(point)

    monkeypatch.setattr(apply_module, "crash_point", die)
    with pytest.raises(Crash):
        delta.apply()
    monkeypatch.undo()
    if point != "6-done":
        delta.drop(1)
        delta.apply()
    assert not delta.due and all_equal(delta)
    names = LakeReader(delta.project.config).names()
    assert not [name for name in names if name.endswith("__next")]
    table = delta.lake.readable("inverse")
    assert table.metadata()["partitionColumns"] == ["who"]
    assert not table.location.with_name("inverse__next").exists()
    assert not list(table.location.parent.glob("*__next*/**/*.parquet"))
    delta.drop(2)
    delta.run()
    assert all_equal(delta)


def test_what_cannot_be(delta, monkeypatch):
    delta.change(f"{PER_WHO} WITH (format = 'delta')", PER_WHO)
    with pytest.raises(TerminalError, match="changes its format"):
        delta.apply()
    delta.change(PER_WHO, f"{PER_WHO} WITH (format = 'delta')")
    delta.change("max(id) AS newest", "min(id) AS newest")
    first = delta.lake.readable("per_who")
    delta.apply()
    delta.run()
    for path in first.location.glob("*.parquet"):  # VACUUM, long after
        if path.name not in {each.rsplit("/", 1)[-1] for each in files_of(first)}:
            path.unlink()
    with pytest.raises(TerminalError) as refused:
        rollback(delta.project, ["per_who"], spark=delta.spark)
    assert refused.value.condition == "SNAPSHOT_EXPIRED"
    assert all_equal(delta)


def files_of(table):
    return deltalake.DeltaTable(table.location).file_uris()
