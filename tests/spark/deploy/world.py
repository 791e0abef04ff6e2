"""A project whose files change between runs, in the namespace of a test."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from headwater.config.settings import RunSection
from headwater.deploy.apply import apply
from headwater.deploy.changes import ProjectChanges
from headwater.deploy.rename import rename
from headwater.plan.planner import plan_project
from headwater.project import load_project
from headwater.runtime.supervisor import Supervisor
from headwater.serve.verify import Verdict, verify
from headwater.testing.harness import warehouse_of

NOON = datetime(2013, 1, 1, 12, tzinfo=UTC)
TABLE = """
CREATE TABLE orders (
  id INTEGER, who VARCHAR, qty INTEGER, price DECIMAL(9, 2),
  ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts - INTERVAL '15' MINUTE
) WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;
"""
VIEWS = """
CREATE STREAMING VIEW per_hour LATE ROWS DROP INTO late AS
SELECT window_start, count(*) AS n FROM TUMBLE(orders, ts, INTERVAL '1' HOUR)
GROUP BY window_start, window_end EMIT ON WINDOW CLOSE;

CREATE STREAMING VIEW busy AS SELECT window_start, n FROM per_hour WHERE n > 2;

CREATE STREAMING VIEW per_who AS
SELECT who, count(*) AS n, max(id) AS newest FROM orders GROUP BY who;

CREATE STREAMING VIEW whos AS SELECT count(*) AS whos, sum(n) AS orders FROM per_who;

CREATE STREAMING VIEW inverse AS SELECT id, 60 / qty AS share FROM orders WHERE who = 'ann';
"""


class World:
    """A project whose files change between runs."""

    def __init__(self, spark, lake, folder):
        self.spark, self.lake, self.folder = spark, lake, folder
        (folder / "headwater.toml").write_text('name = "t"\n')
        (folder / "in").mkdir()
        self.table, self.views = TABLE, VIEWS
        self.drop(0)

    def drop(self, number):
        """Eight rows; of those of a later file two are late, and one cannot be divided by."""
        lines = [
            {
                "id": number * 8 + row,
                "who": ("ann", "bob")[row % 2],
                "qty": row,
                "price": number + 0.5,
                "ts": (NOON + timedelta(hours=4 * number - 9 * (row < 2), minutes=row)).isoformat(),
            }
            for row in range(8)
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (self.folder / "in" / f"{number}.json").write_text(text)

    def change(self, old, new):
        if old in self.table:
            self.table = self.table.replace(old, new, 1)
            return
        assert old in self.views
        self.views = self.views.replace(old, new, 1)

    @property
    def project(self):
        (self.folder / "views.sql").write_text(self.table + self.views)
        found = load_project(self.folder)
        config = replace(
            found.config,
            namespace=self.lake.namespace,
            warehouse=warehouse_of(self.spark),
            run=RunSection(trigger=timedelta(milliseconds=50)),
        )
        return replace(found, config=config)

    @property
    def changes(self):
        project = self.project
        return ProjectChanges(project, plan_project(project.catalog))

    @property
    def due(self):
        return {each.name: each for each in self.changes.due}

    def run(self):
        project = rename(self.changes).applied
        assert Supervisor(project, spark=self.spark).run(once=True) == 0

    def apply(self):
        return {each.view: each for each in apply(self.changes, spark=self.spark)}

    def verdicts(self):
        project = self.project
        found = verify(project, plan_project(project.catalog))
        return {each.view: each.verdict for each in found}

    def rows(self, table):
        name = self.lake.identifier(table)
        columns = [each for each in self.lake.table(table).columns() if each[0] != "_"]
        found = self.spark.table(name).select(*columns).orderBy(columns[0]).collect()
        return [tuple(row) for row in found]


def all_equal(world):
    return set(world.verdicts().values()) == {Verdict.EQUAL}
