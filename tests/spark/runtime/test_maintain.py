"""Maintenance of a project: the law holds before and after, and whoever reads goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headwater.config.settings import Maintenance, RunSection
from headwater.errors import HeadwaterError, ServiceError
from headwater.lake.iceberg import maintenance
from headwater.lake.iceberg.maintenance import CRASH_POINTS
from headwater.lake.protocol.crash_points import VARIABLE
from headwater.plan.planner import plan_project
from headwater.project import load_project
from headwater.runtime import maintenance_job
from headwater.runtime.lease import Lease
from headwater.runtime.maintenance_job import maintain_project
from headwater.runtime.supervisor import Supervisor
from headwater.serve.lake_reader import LakeReader
from headwater.serve.verify import Verdict, verify
from headwater.testing.harness import warehouse_of
from tests.support.waiting import wait_for

NOON = datetime(2013, 1, 1, 12, tzinfo=UTC)
ROWS = 4
SQL = """
CREATE TABLE orders (
  id INTEGER, who VARCHAR, ts TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ts AS ts - INTERVAL '15' MINUTE
) WITH (connector = 'files', path = 'in', ordering = 'name') FORMAT PLAIN ENCODE JSON;

CREATE STREAMING VIEW per_hour LATE ROWS DROP INTO late AS
SELECT window_start, count(*) AS n FROM TUMBLE(orders, ts, INTERVAL '1' HOUR)
GROUP BY window_start, window_end EMIT ON WINDOW CLOSE;

CREATE STREAMING VIEW some AS SELECT id, ts FROM orders WHERE id % 2 = 0;

CREATE STREAMING VIEW per_who AS
SELECT who, count(*) AS n, max(id) AS newest FROM orders GROUP BY who;
"""
HARD = Maintenance.model_construct(
    every=timedelta(milliseconds=100),
    retain=timedelta(0),
    keep_snapshots=2,
    target_file_size=128 * 10**6,
    orphan_age=timedelta(days=3),
)


LEVELS = ((3 / 4, 2),)


@pytest.fixture(autouse=True)
def few_files_are_many(monkeypatch):
    monkeypatch.setattr(maintenance, "MIN_FILES", 2)
    monkeypatch.setattr(maintenance, "LEVELS", LEVELS)


def load(folder, namespace, warehouse):
    found = load_project(folder)
    config = replace(
        found.config,
        namespace=namespace,
        warehouse=warehouse,
        # what is overwritten needs no compaction
        run=RunSection(trigger=timedelta(milliseconds=50), recompute_below=0),
        maintenance=HARD,
    )
    return replace(found, config=config)


@pytest.fixture
def project(spark, lake, tmp_path):
    (tmp_path / "headwater.toml").write_text('name = "t"\n[spark]\nmaster = "local[2]"\n')
    (tmp_path / "views.sql").write_text(SQL)
    (tmp_path / "in").mkdir()
    return load(tmp_path, lake.namespace, warehouse_of(spark))


class Orders:
    """Writes files, each an epoch of four rows of one hour, the last of them too late."""

    def __init__(self, folder):
        self.folder, self.files = folder, 0

    def more(self):
        lines = []
        for row in range(ROWS):
            number = self.files * ROWS + row
            back = 200 if self.files and row == ROWS - 1 else 0
            ts = NOON + timedelta(hours=self.files, minutes=row - back)
            lines.append({"id": number, "who": f"w{number % 3}", "ts": ts.isoformat()})
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (self.folder / f"{self.files:03}.json").write_text(text)
        self.files += 1


def check(project):
    results = verify(project, plan_project(project.catalog))
    assert {r.view: r.verdict for r in results} == dict.fromkeys(
        project.catalog.views, Verdict.EQUAL
    ), results


@pytest.fixture
def maintained(monkeypatch):
    """Table → the steps that maintenance in this process has done. Its history may be expired."""
    steps = defaultdict(set)
    work = maintenance_job.maintain

    def maintain(job):
        result = work(job)
        steps[result.table] |= set(result.done)
        return result

    monkeypatch.setattr(maintenance_job, "maintain", maintain)
    return steps


def goes_on(spark, project, orders):
    """The project is started again: no row is lost or doubled."""
    supervisor = Supervisor(project, spark=spark)
    try:
        supervisor.close()
    finally:
        supervisor.stop()
    check(project)
    rows = LakeReader(project.config).table("some").iceberg.scan().to_arrow()["id"].to_pylist()
    assert sorted(rows) == list(range(0, orders.files * ROWS, 2))


def test_a_project_maintains_itself_and_goes_on(spark, project, maintained):
    """While it runs, between its commits; stopped, by the command; and started again."""
    orders = Orders(project.root / "in")
    orders.more()
    supervisor = Supervisor(project, spark=spark)
    try:
        for _ in range(4):
            supervisor.tick()
            check(project)
            orders.more()
        views = ("per_hour", "some", "per_who")
        wait_for(
            lambda: all({"compaction", "expiry"} <= maintained[view] for view in views),
            "compaction and expiry of each view",
        )
    finally:
        supervisor.stop()
    # landed tables have no worker in a tick
    assert "orders" not in maintained
    results = dict(maintain_project(project, spark=spark))
    assert {"compaction", "expiry"} <= set(results["orders"].done)
    assert not [found for found in results.values() if isinstance(found, HeadwaterError)]
    check(project)
    goes_on(spark, project, orders)


def test_a_running_project_is_not_maintained_by_another_process(spark, project):
    config = project.config
    with Lease.acquire(config):
        with pytest.raises(ServiceError) as caught:
            next(maintain_project(project, spark=spark))
        assert caught.value.condition == "ALREADY_RUNNING"
        assert list(maintain_project(project, dry_run=True, spark=spark)) == []


def killed_at(project, point):
    """Maintain in a process of its own that dies at a crash point; its exit status and output."""
    here = Path(__file__).resolve()
    path = os.pathsep.join([str(here.parents[3]), str(here.parents[1]), str(here.parent)])
    config = project.config
    done = subprocess.run(
        [sys.executable, str(here), str(project.root), config.namespace, str(config.warehouse)],
        env=os.environ | {VARIABLE: point, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def main(folder, namespace, warehouse):
    """What :func:`killed_at` runs."""
    maintenance.MIN_FILES = maintenance.MIN_MANIFESTS = 2
    # what compaction merges has no delete files left for the step after it
    maintenance.LEVELS = LEVELS if os.environ[VARIABLE] == CRASH_POINTS[0] else ()
    for table, result in maintain_project(load(Path(folder), namespace, Path(warehouse))):
        sys.stdout.write(f"{table} {result}\n")


def test_killed_after_each_step_nothing_is_lost(spark, project):
    orders = Orders(project.root / "in")
    own = replace(project.config, maintenance=replace_every(None))
    supervisor = Supervisor(replace(project, config=own), spark=spark)
    try:
        for _ in range(4):
            orders.more()
            supervisor.tick()
    finally:
        supervisor.stop()
    data = project.config.warehouse / project.config.namespace / "orders" / "data"
    stray = data / f"00000-7-{uuid.uuid4()}-00001.parquet"  # as Spark's writers name them
    old = time.time() - timedelta(days=4).total_seconds()
    for point in CRASH_POINTS:
        stray.write_bytes(b"of a write that died")
        os.utime(stray, (old, old))
        status, said = killed_at(project, point)
        assert status == -signal.SIGKILL, (point, said)
        check(project)
    assert not stray.exists()
    results = dict(maintain_project(project, spark=spark))
    assert not [found for found in results.values() if isinstance(found, HeadwaterError)]
    orders.more()
    goes_on(spark, project, orders)


def replace_every(every):
    return HARD.model_copy(update={"every": every})


if __name__ == "__main__":
    main(*sys.argv[1:])
