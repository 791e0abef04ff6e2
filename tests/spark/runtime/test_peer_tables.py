"""Tables that a view reads together: one is idle and the other goes on, or one waits."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from headwater.config.settings import RunSection
from headwater.intake import idle
from headwater.plan.planner import plan_project
from headwater.project import load_project
from headwater.runtime.board import Board
from headwater.runtime.events import InputIdle
from headwater.runtime.supervisor import Supervisor
from headwater.serve.verify import Verdict, verify
from headwater.testing.harness import warehouse_of
from tests.support.waiting import LaterClock

NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)
SQL = """
CREATE TABLE readings (
  id INTEGER, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH (connector = 'files', path = 'in/readings', ordering = 'name'{drift})
FORMAT PLAIN ENCODE JSON;

CREATE TABLE repairs (
  id INTEGER, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts - INTERVAL '10' SECOND{idle}
) WITH (connector = 'files', path = 'in/repairs', ordering = 'name') FORMAT PLAIN ENCODE JSON;

CREATE STREAMING VIEW repaired LATE ROWS DROP INTO late_pairs AS
SELECT r.id, r.ts AS seen, p.ts AS done FROM readings r LEFT JOIN repairs p
ON p.id = r.id AND p.ts BETWEEN r.ts AND r.ts + INTERVAL '1' HOUR;
"""


class World:
    """A project of two tables whose files land one in an epoch."""

    def __init__(self, spark, lake, folder, **clauses):
        self.spark, self.lake, self.folder = spark, lake, folder
        (folder / "headwater.toml").write_text('name = "t"\n')
        (folder / "views.sql").write_text(SQL.format(**{"idle": "", "drift": "", **clauses}))
        found = load_project(folder)
        run = RunSection(trigger=timedelta(milliseconds=50), max_files_per_epoch=1)
        self.project = replace(
            found,
            config=replace(
                found.config, namespace=lake.namespace, warehouse=warehouse_of(spark), run=run
            ),
        )

    def drop(self, table, name, hours):
        path = self.folder / "in" / table / name
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [(round(hour * 60), NOON + timedelta(hours=hour)) for hour in hours]
        lines = (json.dumps({"id": key, "ts": at.isoformat()}) + "\n" for key, at in rows)
        path.write_text("".join(lines))

    def run(self):
        events = []
        supervisor = Supervisor(self.project, spark=self.spark, progress=events.append)
        assert supervisor.run(once=True) == 0
        plans = plan_project(self.project.catalog)
        assert {each.verdict for each in verify(self.project, plans, ())} == {Verdict.EQUAL}
        return [each for each in events if isinstance(each, InputIdle)]

    def rows(self):
        rows = self.lake.table("repaired").read().collect()
        return {row.id / 60: row.done is not None for row in rows}


def test_an_idle_table_holds_no_view_back_and_what_it_closed_stays_closed(
    spark, lake, tmp_path, monkeypatch
):
    clock = LaterClock()
    monkeypatch.setattr(idle, "time", clock)
    world = World(spark, lake, tmp_path, idle=" IDLE TIMEOUT INTERVAL '1' HOUR")
    world.drop("readings", "a.json", [0, 1, 2, 3])
    world.drop("repairs", "a.json", [0, 1])
    world.run()
    assert world.rows() == {0: True, 1: True}  # the others wait for repairs
    clock.ahead = 3600 * 2
    (event,) = world.run()
    marker = lake.table("repairs").marker()
    assert event == InputIdle("repairs", timedelta(hours=1), marker.watermark)
    assert marker.idle
    assert world.rows() == {0: True, 1: True}  # the next is not final before 15:00
    world.drop("readings", "b.json", [4, 5])
    assert not world.run()  # it is said once
    assert world.rows() == {0: True, 1: True, 2: False, 3: False}
    # its rows come again: what a view has closed stays as it is
    world.drop("repairs", "b.json", [2, 3, 5])
    world.run()
    rows = lake.table("repairs").read().where("ts = timestamp'2024-01-01 14:00:00'").collect()
    assert all(row._watermark.replace(tzinfo=UTC) >= NOON + timedelta(hours=4) for row in rows)
    assert world.rows() == {0: True, 1: True, 2: False, 3: False, 5: True}
    late = {row.id / 60 for row in lake.table("late_pairs").read().collect()}
    assert late == {2, 3}


def test_a_table_that_is_ahead_waits_and_nothing_is_lost(spark, lake, tmp_path, monkeypatch):
    world = World(spark, lake, tmp_path, drift=", max_drift = '1 hour'")
    hours = [half / 2 for half in range(20)]
    for number in range(4):
        world.drop("readings", f"{number}.json", hours[5 * number : 5 * number + 5])
    for number, hour in enumerate(hours):
        world.drop("repairs", f"{number:02}.json", [hour])
    notes = []
    note = Board.note
    monkeypatch.setattr(
        Board, "note", lambda self, name, text: (notes.append((name, text)), note(self, name, text))
    )
    world.run()
    waits = [text for name, text in notes if name == "readings" and text]
    assert waits
    assert all(
        text.startswith("waits for repairs, whose watermark is 2024-01-01") for text in waits
    )
    assert notes[-1][1] == "" or notes[-1][0] == "repairs"
    assert {hour for hour, matched in world.rows().items() if matched} == set(hours)
    assert lake.table("late_pairs").read().count() == 0
