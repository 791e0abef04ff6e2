"""A table whose clauses or columns change: its rows stay, the views over it equal their SELECT."""

from __future__ import annotations

import errno
import json
from datetime import timedelta

import pytest

from headwater.deploy import versions
from headwater.deploy.changes import Kind
from headwater.errors import HeadwaterError, TerminalError
from headwater.runtime.lease import Lease
from tests.spark.deploy.world import NOON, all_equal

PER_WHO = """
CREATE STREAMING VIEW per_who AS
SELECT who, count(*) AS n, max(id) AS newest FROM orders GROUP BY who;
"""
KEYED = """
CREATE TABLE orders (
  id INTEGER, who VARCHAR, PRIMARY KEY (id)
) WITH (connector = 'files', path = 'in') FORMAT UPSERT ENCODE JSON;
"""


def late_by(world, number, *ages):
    """A file with one row for each age, before the newest event time of the first file."""
    rows = (
        {"id": number * 8 + row, "who": "ann", "qty": 3, "ts": (NOON - age).isoformat()}
        for row, age in enumerate(ages)
    )
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (world.folder / "in" / f"{number}.json").write_text(text)


@pytest.mark.parametrize("delay", ["'3' HOUR", "'1' SECOND"])
def test_a_watermark_goes_on_from_where_it_is(world, delay):
    reached = world.lake.table("per_hour").marker().watermark
    world.change("INTERVAL '15' MINUTE", f"INTERVAL {delay}")
    due = world.due
    assert {name: each.kind for name, each in due.items()} == {"orders": Kind.ONWARD}
    assert "WATERMARK differs" in due["orders"].reason
    assert due["orders"].old == "ts - 15 min" and due["orders"].behind
    world.apply()
    assert not world.due and world.lake.table("per_hour").marker().version == 1
    # rows of a window that the old clause has closed, and of one that it has not
    late_by(world, 1, timedelta(hours=1.5), timedelta(minutes=10))
    world.run()
    assert all_equal(world)
    assert world.lake.table("orders").marker().watermark == reached
    world.drop(2)
    world.run()
    world.drop(3)
    world.run()
    assert all_equal(world)


def test_columns_come_widen_and_go(world):
    world.change("qty INTEGER, price DECIMAL(9, 2)", "qty BIGINT, note VARCHAR")
    world.change(
        "VIEW whos", "VIEW notes AS SELECT id, note FROM orders;\nCREATE STREAMING VIEW whos"
    )
    due = {name: each.kind for name, each in world.due.items()}
    assert due == {"orders": Kind.ONWARD, "inverse": Kind.REBUILD, "notes": Kind.NEW}
    assert world.due["orders"].reason == (
        "column note is new, NULL in rows that are landed; column price goes, with its values; "
        "column qty was INT, is BIGINT"
    )
    world.drop(1)
    assert set(world.apply()) == {"inverse"}
    assert not world.due and all_equal(world)
    world.drop(2)
    world.run()
    assert all_equal(world) and len(world.rows("notes")) == 24


def test_options_hold_for_what_is_read_next_and_a_run_takes_them(world):
    world.change("path = 'in'", "path = 'more'")
    world.change("ENCODE JSON", "ENCODE JSON ON ERROR FAIL")
    assert {name: each.kind for name, each in world.due.items()} == {"orders": Kind.ONWARD}
    world.folder.joinpath("in").rename(world.folder / "more")
    world.run()
    assert not world.due and all_equal(world)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("DECIMAL(9, 2)", "DECIMAL(9, 4)", "does not hold all of its values"),
        ("qty INTEGER", "qty INTEGER, more VARCHAR NOT NULL", "NOT NULL"),
        (
            "WATERMARK FOR ts AS ts",
            "other TIMESTAMP WITH TIME ZONE, WATERMARK FOR other AS other",
            "",
        ),
        (
            "connector = 'files', path = 'in'",
            "connector = 'kafka', topic = 'x', bootstrap_servers = 'y:9092'",
            "connector differs",
        ),
    ],
)
def test_what_a_table_cannot_follow(world, old, new, why):
    head = world.lake.table("orders").snapshot_id()
    world.change(old, new)
    if "other" in new:
        world.views = PER_WHO
    refused = [each for each in world.due.values() if each.kind is Kind.REFUSED]
    assert len(refused) == 1 and why in refused[0].reason
    with pytest.raises(TerminalError) as error:
        world.apply()
    assert error.value.condition == "SCHEMA_CHANGED" and error.value.hint
    assert world.lake.table("orders").snapshot_id() == head


def test_a_table_does_not_become_a_keyed_one(world):
    world.table, world.views = KEYED, PER_WHO
    with pytest.raises(TerminalError, match="not kept alike"):
        world.apply()


def test_late_rows_go_into_another_table(world):
    world.drop(1)
    world.run()
    world.change("LATE ROWS DROP INTO late", "LATE ROWS ACCEPT FOR INTERVAL '10' HOUR INTO later")
    assert world.due["per_hour"].reason == "LATE ROWS differs"
    world.apply()
    assert all_equal(world)
    world.drop(2)
    world.run()
    assert all_equal(world) and world.lake.exists("later")


def test_a_full_disk_and_another_process_lose_nothing(world, monkeypatch):
    world.change("max(id) AS newest", "min(id) AS newest")
    before = world.rows("per_who")

    def full(*arguments, **more):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(versions, "take_over", full)
    with pytest.raises(HeadwaterError) as failed:
        world.apply()
    assert failed.value.condition == "DISK_FULL" and world.rows("per_who") == before
    monkeypatch.undo()
    lease = Lease.acquire(world.project.config)
    try:
        with pytest.raises(HeadwaterError) as refused:
            world.apply()
    finally:
        lease.release()
    assert refused.value.condition == "ALREADY_RUNNING" and world.rows("per_who") == before
    world.apply()
    assert not world.due and all_equal(world)
