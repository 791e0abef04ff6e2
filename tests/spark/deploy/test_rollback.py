"""An earlier version comes back, whole, and goes on from where it had read its inputs."""

from __future__ import annotations

import pytest

from headwater.deploy.changes import Kind
from headwater.deploy.rollback import rollback, versions
from headwater.errors import ConfigError
from headwater.serve.lake_reader import LakeReader
from tests.spark.deploy.world import all_equal


def test_back_and_on(world):
    before, columns = world.rows("per_who"), world.lake.table("per_who").columns()
    world.change("max(id) AS newest", "CAST(max(id) AS DOUBLE) AS newest, min(id) AS oldest")
    world.apply()
    world.drop(1)
    world.run()
    assert all_equal(world)

    done = rollback(world.project, ["per_who"], spark=world.spark)
    assert done["per_who"].version == 3
    assert world.rows("per_who") == before
    assert world.lake.table("per_who").columns() == columns
    assert {name: each.kind for name, each in world.due.items()} == {"per_who": Kind.REBUILD}
    world.run()  # with the definition that was brought back
    assert [row[1] for row in world.rows("per_who")] == [8, 8]

    table = LakeReader(world.project.config).table("per_who")
    kept = versions(table)
    assert [(each.number, each.current) for each in kept] == [(3, True), (2, False), (1, False)]
    assert "oldest" in kept[1].definition and "oldest" not in kept[0].definition
    world.apply()  # the files again
    assert not world.due and all_equal(world)
    kept = versions(LakeReader(world.project.config).table("per_who"))
    assert [each.number for each in kept] == [4, 3, 2]  # keep_versions is 2
    rollback(world.project, ["per_who"], 3, spark=world.spark)
    assert [row[1] for row in world.rows("per_who")] == [8, 8]


def test_views_that_only_gain_rows_go_back_together(world):
    before = world.rows("per_hour"), world.rows("busy")
    world.change("count(*) AS n FROM TUMBLE", "count(*) + 1 AS n FROM TUMBLE")
    world.apply()
    with pytest.raises(ConfigError, match="both|reads") as refused:
        rollback(world.project, ["per_hour"], spark=world.spark)
    assert refused.value.condition == "ROLLBACK_ALONE"
    rollback(world.project, ["per_hour", "busy"], spark=world.spark)
    assert (world.rows("per_hour"), world.rows("busy")) == before
    world.change("count(*) + 1 AS n FROM TUMBLE", "count(*) AS n FROM TUMBLE")
    assert not world.due and all_equal(world)
    world.drop(1)
    world.run()
    assert all_equal(world)


@pytest.mark.parametrize("to", [None, 1, 7])
def test_a_version_that_is_not_kept(world, to):
    with pytest.raises(ConfigError) as refused:
        rollback(world.project, ["whos"], to, spark=world.spark)
    assert refused.value.condition == "UNKNOWN_VERSION"
