"""When a running project maintains what, and what it tells: with tables that are made up."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

import pytest
from pyspark.errors import PySparkException

from headwater.analyze.project import bind_all
from headwater.config.settings import Config, Maintenance
from headwater.dialect import parse
from headwater.errors import ServiceError, TerminalError
from headwater.lake.protocol.commit_lock import CommitLock
from headwater.lake.protocol.maintenance import MaintenanceResult, Size
from headwater.lake.protocol.marker import Marker
from headwater.plan.planner import plan_project
from headwater.project import Project
from headwater.runtime import maintenance_job
from headwater.runtime.board import Board
from headwater.runtime.events import RunState
from headwater.runtime.maintenance_job import Maintainer, MaintenanceSchedule, Tables

SQL = """
CREATE TABLE orders (id INTEGER, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;
CREATE SOURCE clicks (id INTEGER) WITH (connector = 'files', path = 'c') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW per_hour LATE ROWS DROP INTO late AS
SELECT window_start, count(*) AS n FROM TUMBLE(orders, ts, INTERVAL '1' HOUR)
GROUP BY window_start, window_end EMIT ON WINDOW CLOSE;
CREATE STREAMING VIEW some AS SELECT id FROM orders;
CREATE STREAMING VIEW total AS SELECT count(*) AS n FROM some;
CREATE STREAMING VIEW clicked AS SELECT id FROM clicks;
"""
SIZE = Size(1, 1, 0, 1, 1)


@pytest.fixture
def tables(tmp_path):
    catalog, errors = bind_all({"a.sql": parse(SQL, file="a.sql")})
    assert not errors
    settings = Maintenance.model_construct(every=timedelta(microseconds=1))
    config = Config(tmp_path, "t", "t", tmp_path, tmp_path, maintenance=settings)
    return Tables(Project(tmp_path, config, catalog, ()), plan_project(catalog))


class Lake:
    """Tables that are there, with the cut of their newest marker."""

    def __init__(self, **cuts):
        self.cuts = cuts

    def written(self, name):
        if name not in self.cuts:
            return None
        cut = self.cuts[name]
        marker = Marker(name, 1, 7, *cut) if cut else None
        return SimpleNamespace(marker=lambda: marker, name=name)


def test_a_worker_maintains_its_side_tables_too(tables):
    assert tables.of("orders") == ["orders", "orders__files", "orders__quarantine"]
    assert tables.of("clicks") == ["clicks", "clicks__files", "clicks__quarantine"]
    assert tables.of("per_hour") == ["per_hour", "late"]
    assert tables.names() == ["orders", "clicks", "per_hour", "some", "clicked", "total"]


def test_every_reader_keeps_where_it_ends_and_where_its_last_batch_began(tables):
    lake = Lake(
        orders=None,
        per_hour=({"orders": "3"}, {"orders": "4"}),
        some=({}, {"orders": "9"}),
        clicked=({"clicks": "x"}, {"clicks": "y"}),
    )
    assert tables.needed(lake, "orders") == {3, 4, 9}
    assert tables.needed(lake, "some") == set()
    assert tables.needed(Lake(total=({"some": "5"}, {"some": "6"})), "some") == {5, 6}


@pytest.fixture
def keeper(tables, monkeypatch):
    found = Maintainer(tables, None, "t")
    found._lake = Lake(some=None, total=None)
    found.jobs, found.errors = [], {}

    def maintain(job):
        found.jobs.append(job)
        if error := found.errors.get(job.table.name):
            raise error
        return MaintenanceResult(job.table.name, {"expiry": "1 snapshots"}, SIZE, SIZE)

    monkeypatch.setattr(maintenance_job, "maintain", maintain)
    return found


@pytest.fixture
def told(tmp_path):
    events = []
    return SimpleNamespace(board=Board(tmp_path, events.append), events=events)


def test_a_failure_is_told_tried_again_and_forgotten_when_it_is_over(keeper, told):
    keeper.errors["some"] = PySparkException("the catalog is away")
    own = MaintenanceSchedule(keeper, ["some", "total"], told.board)
    own.run_if_due(CommitLock())
    assert [job.table.name for job in keeper.jobs] == ["some", "total"]
    (event,) = told.events
    assert (event.name, event.state, event.error.condition) == (
        "some", RunState.RUNNING, "SERVICE_FAILED",
    )  # fmt: skip
    keeper.errors.clear()
    own.run_if_due(CommitLock())
    own.run_if_due(CommitLock())
    assert [event.error for event in told.events[1:]] == [None]


def test_a_lost_marker_of_a_reader_stops_the_maintenance_of_what_it_reads(keeper, told):
    def lost():
        raise TerminalError("MARKER_LOST", "it is gone")

    tables = {"some": SimpleNamespace(name="some"), "total": SimpleNamespace(marker=lost)}
    keeper._lake = SimpleNamespace(written=tables.get)
    MaintenanceSchedule(keeper, ["some"], told.board).run_if_due(CommitLock())
    assert (keeper.jobs, told.events[0].error.condition) == ([], "MARKER_LOST")


def test_orphans_are_looked_for_once_a_day_and_the_longest_batch_is_known(keeper, told):
    gate = CommitLock()
    gate.longest = timedelta(hours=3)
    own = MaintenanceSchedule(keeper, ["some"], told.board)
    own.run_if_due(gate)
    own.run_if_due(gate)
    assert [("orphans" in job.steps, job.longest_batch) for job in keeper.jobs] == [
        (True, timedelta(hours=3)),
        (False, timedelta(hours=3)),
    ]


def test_snapshots_expire_by_the_number_of_commits_too(keeper, told, tables):
    tables.settings = Maintenance.model_construct(every=timedelta(hours=1), max_snapshots=30)
    own = MaintenanceSchedule(keeper, ["some"], told.board)
    for _ in range(29):
        own.run_if_due(CommitLock(), committed=True)
        own.run_if_due(CommitLock(), committed=False)
    assert [job.steps for job in keeper.jobs] == [("expiry",), ("expiry",)]
    tables.settings = Maintenance.model_construct(every=None, max_snapshots=30)
    for _ in range(29):
        own.run_if_due(CommitLock(), committed=True)
    assert len(keeper.jobs) == 2


def test_one_worker_maintains_at_a_time_and_none_before_it_is_due(keeper, told, tables):
    own = MaintenanceSchedule(keeper, ["some"], told.board)
    assert keeper.try_turn()
    own.run_if_due(CommitLock())
    assert keeper.jobs == []
    keeper.end_turn()
    own.run_if_due(CommitLock())
    assert len(keeper.jobs) == 1
    tables.settings = Maintenance.model_construct(every=timedelta(hours=1))
    MaintenanceSchedule(keeper, ["some"], told.board).run_if_due(CommitLock())
    assert len(keeper.jobs) == 1


def test_a_run_waits_for_the_commit_that_is_going_on(keeper, told):
    # the gate is held while tables are maintained: a commit would have to wait
    held = []
    gate = CommitLock()
    original = keeper.maintain

    def watched(*arguments, **options):
        held.append(gate._lock.locked())
        return original(*arguments, **options)

    keeper.maintain = watched
    MaintenanceSchedule(keeper, ["some"], told.board).run_if_due(gate)
    assert (held, gate._lock.locked()) == ([True], False)


def test_an_error_of_ours_is_told_as_it_is(keeper, told):
    keeper.errors["some"] = ServiceError("DISK_FULL", "the disk is full")
    MaintenanceSchedule(keeper, ["some"], told.board).run_if_due(CommitLock())
    assert told.events[0].error.condition == "DISK_FULL"
