"""The supervisor: once, again, with a failing view, and stopped by a signal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from headwater.config.settings import RunSection
from headwater.lake.protocol.commit import commit
from headwater.plan.planner import plan_project
from headwater.project import load_project
from headwater.runtime.backoff import BackOff
from headwater.runtime.events import EpochLanded, RunState, StateChanged
from headwater.runtime.run_metrics import Tally
from headwater.runtime.supervisor import Supervisor
from headwater.serve.status import status
from headwater.serve.verify import Verdict, verify
from headwater.testing.harness import warehouse_of

NOON = datetime(2013, 1, 1, 12, tzinfo=UTC)
SQL = """
CREATE TABLE departures (
  id INTEGER, origin VARCHAR, ts TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ts AS ts - INTERVAL '15' MINUTE
) WITH (connector = 'files', path = 'in/departures', ordering = 'name') FORMAT PLAIN ENCODE JSON;

CREATE TABLE landings (
  id INTEGER, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts - INTERVAL '15' MINUTE
) WITH (connector = 'files', path = 'in/landings', ordering = 'name') FORMAT PLAIN ENCODE JSON;

CREATE STREAMING VIEW per_hour LATE ROWS DROP INTO late AS
SELECT window_start, origin, count(*) AS n FROM TUMBLE(departures, ts, INTERVAL '1' HOUR)
GROUP BY window_start, window_end, origin EMIT ON WINDOW CLOSE;

CREATE STREAMING VIEW flights AS
SELECT d.id, d.ts AS departed, l.ts AS landed FROM departures d LEFT JOIN landings l
ON l.id = d.id AND l.ts BETWEEN d.ts AND d.ts + INTERVAL '1' HOUR;

CREATE STREAMING VIEW per_origin AS
SELECT origin, count(*) AS n, max(id) AS newest FROM departures GROUP BY origin;

CREATE STREAMING VIEW totals AS SELECT origin, sum(n) AS n FROM per_hour GROUP BY origin;
"""
BAD = "CREATE STREAMING VIEW bad AS SELECT origin FROM departures;"


def write_input(folder, files=3, rows=8):
    for number in range(files):
        lines = {"departures": [], "landings": []}
        for row in range(rows):
            flight = number * rows + row
            at = NOON + timedelta(hours=number, minutes=row * 7 - (200 if row == 3 else 0))
            origin = ("JFK", "EWR")[row % 2]
            lines["departures"].append({"id": flight, "origin": origin, "ts": at.isoformat()})
            if row % 3:
                landed = at + timedelta(minutes=50)
                lines["landings"].append({"id": flight, "ts": landed.isoformat()})
        for table, records in lines.items():
            path = folder / "in" / table / f"{number:03}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(json.dumps(record) + "\n" for record in records))


@pytest.fixture
def project(spark, lake, tmp_path):
    (tmp_path / "headwater.toml").write_text('name = "t"\n[run]\nmax_files_per_epoch = 1\n')
    (tmp_path / "views.sql").write_text(SQL)
    write_input(tmp_path)
    found = load_project(tmp_path)
    config = replace(
        found.config,
        namespace=lake.namespace,
        warehouse=warehouse_of(spark),
        run=RunSection(trigger=timedelta(milliseconds=50), max_files_per_epoch=1),
    )
    return replace(found, config=config)


def run_once(project, spark):
    events = []
    code = Supervisor(project, spark=spark, progress=events.append).run(
        once=True, end_of_input=True
    )
    return code, events


def counted(project, events):
    """What the events of a run add up to, up to the end of its input."""
    tally = Tally(project.catalog)
    for event in events:
        tally(event)
    with tally.relations() as found:
        return {
            each.name: (
                each.epoch,
                len(each.lacks or ()),
                each.rows_read() if each.inputs else each.counts["in"],
                each.counts["out"],
                each.counts["late"],
            )
            for each in found
        }


def verdicts(project):
    plans = plan_project(project.catalog)
    return {result.view: result.verdict for result in verify(project, plans, ())}


def test_once_lands_everything_closes_windows_and_does_no_work_twice(project, spark, lake):
    code, events = run_once(project, spark)
    assert code == 0
    landed = Counter(event.table for event in events if isinstance(event, EpochLanded))
    assert landed == {"departures": 3, "landings": 3}
    assert set(verdicts(project).values()) == {Verdict.EQUAL}
    assert lake.table("flights").read().count() == 22  # two departures are late
    hours = lake.table("per_hour").read().selectExpr("sum(n)").first()[0]
    assert hours + lake.table("late").read().count() == 24
    last = [event for event in events if isinstance(event, StateChanged)][-1]
    assert last.state in (RunState.STOPPED, RunState.DONE)
    assert counted(project, events) == {
        each.name: (each.epoch, each.lag or 0, each.rows_in, each.rows_out, each.late)
        for each in status(project)
    }

    views = list(project.catalog.views)
    before = {name: lake.table(name).snapshot_id() for name in views}
    code, events = run_once(project, spark)
    assert code == 0
    assert not [event for event in events if isinstance(event, EpochLanded)]
    assert {name: lake.table(name).snapshot_id() for name in views} == before


def test_views_over_few_rows_are_recomputed_as_the_settings_say(project, spark, lake):
    def measured():
        table = lake.table("per_origin")
        markers = (snapshot.marker for snapshot in table.ancestors(table.snapshot_id()))
        return next(marker.counts for marker in markers if marker and marker.counts)

    run_once(project, spark)
    folder = project.root / "in" / "departures"
    (folder / "999.json").write_text((folder / "001.json").read_text())
    run_once(project, spark)
    assert measured() == {"changed": 8, "recomputed": 1}
    (folder / "9999.json").write_text((folder / "001.json").read_text())
    never = replace(project.config, run=RunSection(recompute_below=0))
    run_once(replace(project, config=never), spark)
    assert measured() == {"changed": 8}
    assert set(verdicts(project).values()) == {Verdict.EQUAL}


def test_failing_view_harms_no_other(project, spark, lake, monkeypatch):
    def commit_others(target, marker, *rest, **more):
        if marker.view == "bad":
            raise RuntimeError("JFK is closed")
        return commit(target, marker, *rest, **more)

    monkeypatch.setattr("headwater.runtime.supervisor.ATTEMPTS_ONCE", 2)
    monkeypatch.setattr("headwater.engine.view_commit.commit", commit_others)
    (project.root / "bad.sql").write_text(BAD)
    project = replace(project, catalog=load_project(project.root).catalog)
    code, events = run_once(project, spark)
    assert code == 3
    states = [e.state for e in events if isinstance(e, StateChanged) and e.name == "bad"]
    assert RunState.BACKING_OFF in states
    assert states[-1] is RunState.FAILED
    said = json.loads((project.config.state / "run.json").read_text())["views"]
    assert said["bad"]["state"] == "failed"
    assert "JFK" in said["bad"]["error"]["message"]
    found = verdicts(project)
    assert {
        name: found[name] for name in ("per_hour", "flights", "per_origin", "totals")
    } == dict.fromkeys(("per_hour", "flights", "per_origin", "totals"), Verdict.EQUAL)


def test_back_off_grows_and_is_forgotten():
    back_off = BackOff(first=1, longest=5, attempts=5)
    assert [back_off.failed() for _ in range(5)] == [1, 2, 4, 5, None]
    back_off.worked()
    assert back_off.failed() == 1


SCRIPT = """
import sys
from pathlib import Path
from headwater.project import load_project
from headwater.runtime.events import ViewCommitted
from headwater.runtime.supervisor import Supervisor

def say(event):
    if isinstance(event, ViewCommitted):
        print(event.view, event.epoch, flush=True)

sys.exit(Supervisor(load_project(Path(sys.argv[1])), progress=say).run())
"""


def test_sigterm_finishes_the_batch_and_exits_with_0(tmp_path):
    (tmp_path / "headwater.toml").write_text('name = "t"\n[run]\nmax_files_per_epoch = 1\n')
    (tmp_path / "views.sql").write_text(SQL)
    write_input(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )
    try:
        assert process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 0, errors
    project = load_project(tmp_path)
    assert not {v for v in verdicts(project).values() if v is Verdict.DIFFERENT}
    said = json.loads((project.config.state / "run.json").read_text())["views"]
    assert {view["state"] for view in said.values()} == {"stopped"}
