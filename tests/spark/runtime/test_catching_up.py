"""Catching up loses no row and closes nothing: a backlog, the next day, then the end."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from headwater.config.settings import RunSection
from headwater.plan.planner import plan_project
from headwater.project import load_project
from headwater.runtime.events import InputClosed, ResultsOpen, Warned
from headwater.runtime.supervisor import Supervisor
from headwater.serve.verify import Verdict, verify
from headwater.testing.harness import warehouse_of

NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)
SQL = """
CREATE TABLE readings (
  id INTEGER, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH (connector = 'files', path = 'in/readings') FORMAT PLAIN ENCODE JSON;

CREATE TABLE repairs (
  id INTEGER, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH (connector = 'files', path = 'in/repairs') FORMAT PLAIN ENCODE JSON;

CREATE STREAMING VIEW per_hour LATE ROWS DROP INTO late_readings AS
SELECT window_start, count(*) AS n FROM TUMBLE(readings, ts, INTERVAL '1' HOUR)
GROUP BY window_start, window_end EMIT ON WINDOW CLOSE;

CREATE STREAMING VIEW repaired LATE ROWS DROP INTO late_pairs AS
SELECT r.id, r.ts AS seen, p.ts AS done FROM readings r JOIN repairs p
ON p.id = r.id AND p.ts BETWEEN r.ts AND r.ts + INTERVAL '1' HOUR;
"""


class World:
    """A project of two tables whose files land one in an epoch."""

    def __init__(self, spark, lake, folder):
        self.spark, self.lake, self.folder = spark, lake, folder
        (folder / "headwater.toml").write_text('name = "t"\n')
        (folder / "views.sql").write_text(SQL)
        found = load_project(folder)
        run = RunSection(trigger=timedelta(milliseconds=50), max_files_per_epoch=1)
        self.project = replace(
            found,
            config=replace(
                found.config, namespace=lake.namespace, warehouse=warehouse_of(spark), run=run
            ),
        )

    def drop(self, table, name, rows):
        path = self.folder / "in" / table / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps({"id": key, "ts": at.isoformat()}) + "\n" for key, at in rows)
        path.write_text("".join(lines))

    def run(self, **how):
        events = []
        assert (
            Supervisor(self.project, spark=self.spark, progress=events.append).run(once=True, **how)
            == 0
        )
        plans = plan_project(self.project.catalog)
        assert {each.verdict for each in verify(self.project, plans, ())} == {Verdict.EQUAL}
        return events

    def of(self, kind, events):
        return [event for event in events if isinstance(event, kind)]

    def hours(self):
        rows = self.lake.table("per_hour").read().collect()
        return {row.window_start.replace(tzinfo=UTC): row.n for row in rows}


def hours_of(first, count):
    """A row every ten minutes."""
    return [(n, NOON + timedelta(hours=first, minutes=10 * n)) for n in range(6 * count)]


def later(rows, minutes=30):
    return [(key, at + timedelta(minutes=minutes)) for key, at in rows]


@pytest.fixture
def world(spark, lake, tmp_path):
    return World(spark, lake, tmp_path)


def test_files_of_the_same_hours_and_a_slower_table_lose_no_row(world):
    for name in ("a.json", "b.json", "c.json"):  # three machines, each in order
        world.drop("readings", name, hours_of(0, 3))
    world.drop("repairs", "a.json", later(hours_of(0, 1)))  # two hours behind
    events = world.run()
    assert world.hours() == {NOON: 18, NOON + timedelta(hours=1): 18}
    (opened,) = [each for each in world.of(ResultsOpen, events) if each.view == "per_hour"]
    assert (opened.windows, opened.table) == (1, "readings")
    assert not world.of(InputClosed, events)
    # the next day the slower table goes on where it stopped
    world.drop("readings", "d.json", hours_of(3, 1))
    world.drop("repairs", "b.json", later(hours_of(0, 3)[6:]))
    events = world.run(end_of_input=True)
    assert world.hours() == {
        NOON + timedelta(hours=hour): 18 if hour < 3 else 6 for hour in range(4)
    }
    assert world.lake.table("late_readings").read().count() == 0
    assert world.lake.table("late_pairs").read().count() == 0
    assert world.lake.table("repaired").read().count() == 3 * 18
    closed = {each.table: each.watermark for each in world.of(InputClosed, events)}
    assert [*closed] == ["readings"]  # nothing waits for a pair of an inner join
    assert not world.of(Warned, events)


def test_rows_that_come_after_the_end_are_late_and_told(world):
    world.drop("readings", "a.json", hours_of(0, 2))
    world.drop("repairs", "a.json", hours_of(0, 1))
    world.run(end_of_input=True)
    world.drop("readings", "b.json", hours_of(1, 1))
    events = world.run()
    assert world.hours() == {NOON: 6, NOON + timedelta(hours=1): 6}
    told = {each.name: each.message for each in world.of(Warned, events)}
    assert "left out 6 of 6 rows (100.0%) as late" in told["per_hour"]


def test_a_table_of_which_most_is_refused_is_told(world):
    path = world.folder / "in" / "readings" / "a.json"
    path.parent.mkdir(parents=True)
    path.write_text("no json\n" * 3 + '{"id": 1, "ts": "2024-01-01T12:00:00Z"}\n')
    (world.folder / "in" / "repairs").mkdir()
    (told,) = world.of(Warned, world.run())
    assert told.message == 'table "readings" refuses 3 of 4 rows (75.0%); see readings__quarantine'
