"""A table that somebody else writes, and a project whose views read it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from headwater.engine.incremental.recompute_policy import RECOMPUTED
from headwater.plan.planner import plan_project
from headwater.project import Project, load_project
from headwater.runtime.supervisor import Supervisor
from headwater.serve.embedded import Embedded
from headwater.serve.lake_reader import LakeReader
from headwater.serve.verify import Verdict, verify
from headwater.testing.harness import warehouse_of

SQL = """
CREATE TABLE orders (id BIGINT NOT NULL, customer VARCHAR, amount DECIMAL(10, 2))
WITH ({where});
CREATE TABLE cities (customer VARCHAR, city VARCHAR)
WITH (connector = 'files', path = 'cities') FORMAT PLAIN ENCODE JSON;

CREATE STREAMING VIEW large AS SELECT id, customer FROM orders WHERE amount > 10;
CREATE STREAMING VIEW per_city AS
SELECT city, count(*) AS orders, sum(amount) AS revenue
FROM orders o LEFT JOIN cities c ON c.customer = o.customer GROUP BY city;
CREATE STREAMING VIEW best AS
SELECT city, revenue FROM per_city ORDER BY revenue DESC NULLS LAST LIMIT 1;
"""


class Shop:
    """Who writes the table, and the project that reads it.

    Args:
        spark: the session of both.
        project: the project.
        table: full name of the table.
        ddl: what creates it, with places for ``table`` and ``mode``.
    """

    def __init__(self, spark: Any, project: Project, table: str, ddl: str) -> None:
        self.spark, self.project, self.table, self.ddl = spark, project, table, ddl
        self.plans = plan_project(project.catalog)
        self.supervisor = Supervisor(project, spark=spark)

    def create(self, mode: str) -> None:
        self.spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {self.table.rsplit('.', 1)[0]}")
        self.spark.sql(self.ddl.format(table=self.table, mode=mode))

    def insert(self, *rows: str) -> None:
        self.spark.sql(f"INSERT INTO {self.table} (id, customer, amount) VALUES {', '.join(rows)}")

    def tick(self) -> None:
        """Process what is there; every view must equal its SELECT then."""
        self.supervisor.tick()
        results = verify(self.project, self.plans, ())
        assert [r for r in results if r.verdict is not Verdict.EQUAL] == []

    def recomputed(self, view: str) -> int:
        """How often a view was computed anew."""
        table = LakeReader(self.project.config).table(view)
        assert table is not None
        return sum(RECOMPUTED in commit.marker.counts for commit in table.commits())

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with Embedded(self.project).query(sql) as result:
            return list(result.rows)


@contextmanager
def opened(spark: Any, lake: Any, folder: Path, where: str, table: str, ddl: str) -> Iterator[Shop]:
    """Give the shop of a test.

    Args:
        spark: the session.
        lake: the namespace of the test.
        folder: folder of the project.
        where: options of the table in the project.
        table: full name of the table.
        ddl: as for :class:`Shop`.
    """
    (folder / "headwater.toml").write_text('name = "t"\n[run]\nrecompute_below = 0\n')
    (folder / "views.sql").write_text(SQL.format(where=where))
    (folder / "cities").mkdir()
    (folder / "cities" / "a.json").write_text(
        '{"customer": "ann", "city": "Oslo"}\n{"customer": "bob", "city": "Rome"}\n'
    )
    found = load_project(folder)
    config = replace(found.config, namespace=lake.namespace, warehouse=warehouse_of(spark))
    shop = Shop(spark, replace(found, config=config), table, ddl)
    try:
        yield shop
    finally:
        shop.supervisor.stop()
