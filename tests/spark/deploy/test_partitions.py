"""The partitions of a view change with its definition, forwards and back."""

from __future__ import annotations

from headwater.deploy.changes import Kind
from headwater.deploy.rollback import rollback
from headwater.lake.shadows.iceberg import partitions_of
from tests.spark.deploy.world import all_equal

PARTITIONED = "VIEW per_who PARTITIONED BY ({})"


def parted(world):
    return partitions_of(world.lake.table("per_who"))


def test_partitions_come_change_and_go_with_their_column(world):
    before, old = world.rows("per_who"), "VIEW per_who"
    for number, (by, kept) in enumerate(
        [
            ("bucket(4, who)", ["bucket(4, who)"]),
            ("who, truncate(10, newest)", ["who", "truncate(10, newest)"]),
            ("bucket(8, who), truncate(10, newest)", ["bucket(8, who)", "truncate(10, newest)"]),
        ]
    ):
        world.change(old, PARTITIONED.format(by))
        old = PARTITIONED.format(by)
        due = world.due["per_who"]
        assert due.kind is Kind.REBUILD and due.reason == "PARTITIONED BY differs"
        world.apply()
        assert parted(world) == kept and world.rows("per_who") == before
        assert world.lake.table("per_who").marker().version == number + 2
    # the column of a partition changes its type, and the columns their order
    world.change(
        "count(*) AS n, max(id)", "max(CAST(id AS BIGINT)) AS newest, count(*) AS n, min(id)"
    )
    world.change("AS newest FROM", "AS oldest FROM")
    world.drop(1)
    world.apply()
    assert parted(world) == kept and all_equal(world)
    world.run()
    assert all_equal(world)

    rollback(world.project, ["per_who"], 3, spark=world.spark)
    assert parted(world) == ["who", "truncate(10, newest)"] and world.rows("per_who") == before
    world.run()
    assert [row[1] for row in world.rows("per_who")] == [8, 8]
    world.apply()
    world.change(old, "VIEW per_who")
    world.apply()
    assert parted(world) == [] and all_equal(world)


def test_a_partition_by_time(world):
    world.change("VIEW per_hour", "VIEW per_hour PARTITIONED BY (day(window_start))")
    assert {name: each.kind for name, each in world.due.items()} == {
        "per_hour": Kind.REBUILD,
        "busy": Kind.REBUILD,
    }
    world.apply()
    world.drop(1)
    world.run()
    assert all_equal(world)
    assert partitions_of(world.lake.table("per_hour")) == ["days(window_start)"]


def test_a_streaming_view_goes_on_with_its_new_version(world):
    world.views += (
        "CREATE STREAMING VIEW some WITH (engine = 'streaming') AS"
        " SELECT id FROM orders WHERE qty > 1;\n"
    )
    world.run()
    world.change("qty > 1", "qty > 2")
    world.apply()
    assert all_equal(world)
    world.drop(1)
    world.run()
    assert all_equal(world) and world.lake.table("some").marker().version == 2
