"""Maintenance of a project: the law holds before and after, and whoever reads goes on."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from headwater.config import Maintenance
from headwater.lake import maintenance
from headwater.plan.planner import plan_project
from headwater.project import load_project
from headwater.runtime.supervisor import Supervisor
from headwater.runtime.upkeep import maintain_project
from headwater.serve.lake import LakeReader
from headwater.serve.verify import Verdict, verify
from headwater.testing.harness import warehouse_of

NOON = datetime(2013, 1, 1, 12, tzinfo=UTC)
SQL = """
CREATE TABLE orders (
  id INTEGER, who VARCHAR, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts - INTERVAL '15' MINUTE
) WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;

CREATE STREAMING VIEW per_hour LATE ROWS DROP INTO late AS
SELECT window_start, count(*) AS n FROM TUMBLE(orders, ts, INTERVAL '1' HOUR)
GROUP BY window_start, window_end EMIT ON WINDOW CLOSE;

CREATE STREAMING VIEW some AS SELECT id, ts FROM orders WHERE id % 2 = 0;

CREATE STREAMING VIEW per_who AS SELECT who, count(*) AS n, max(id) AS newest FROM orders GROUP BY who;

CREATE STREAMING VIEW totals AS SELECT count(*) AS n, max(id) AS newest FROM some;
"""
HARD = Maintenance.model_construct(
    every=timedelta(minutes=10),
    retain=timedelta(0),
    keep_snapshots=2,
    target_file_size=128 * 10**6,
    orphan_age=timedelta(days=3),
)


@pytest.fixture(autouse=True)
def few_files_are_many(monkeypatch):
    monkeypatch.setattr(maintenance, "MIN_FILES", 2)
    monkeypatch.setattr(maintenance, "MIN_MANIFESTS", 3)
    monkeypatch.setattr(maintenance, "_LEVELS", ((3 / 4, 2),))


@pytest.fixture
def project(spark, lake, tmp_path):
    (tmp_path / "headwater.toml").write_text('name = "t"\n')
    (tmp_path / "views.sql").write_text(SQL)
    (tmp_path / "in").mkdir()
    found = load_project(tmp_path)
    config = replace(
        found.config,
        namespace=lake.namespace,
        warehouse=warehouse_of(spark),
        trigger=timedelta(milliseconds=50),
        maintenance=HARD,
    )
    return replace(found, config=config)


class Orders:
    """Writes files, each an epoch."""

    def __init__(self, project):
        self.folder, self.files = project.root / "in", 0

    def more(self, rows=4):
        lines = []
        for row in range(rows):
            number = self.files * rows + row
            # the last row of each file but the first is late for the window before
            back = 200 if self.files and row == rows - 1 else 0
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


def count(project, name):
    scan = LakeReader(project.config).table(name).scan()
    return scan.to_arrow().num_rows


def test_a_project_goes_on_after_maintenance(spark, project):
    orders = Orders(project)
    for _ in range(2):
        supervisor = Supervisor(project, spark=spark)
        try:
            for _ in range(3):
                orders.more()
                supervisor.tick()
        finally:
            supervisor.stop()
        check(project)
        results = dict(maintain_project(project, spark=spark))
        print(results)
        check(project)
    supervisor = Supervisor(project, spark=spark)
    supervisor.tick()
    supervisor.close()
    supervisor.stop()
    check(project)
