"""Views over views in Delta, whose folder somebody has removed."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headwater.errors import HeadwaterError
from headwater.plan.planner import plan_project
from headwater.project import load_project
from headwater.runtime.supervisor import Supervisor
from headwater.serve.doctor.diagnosis import diagnose
from headwater.testing.harness import warehouse_of

pytestmark = pytest.mark.spark

SQL = """
CREATE TABLE orders (id BIGINT, amount BIGINT)
WITH (connector = 'files', path = 'orders') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW kept WITH (format = 'delta') AS SELECT id, amount FROM orders;
CREATE STREAMING VIEW total AS SELECT sum(amount) AS amount FROM kept;
"""


@pytest.mark.parametrize("ticks", [1, 3])  # as many versions as the new table has, and more
def test_a_view_does_not_go_on_in_another_table(
    spark: Any, lake: Any, tmp_path: Path, ticks: int
) -> None:
    (tmp_path / "headwater.toml").write_text('name = "t"\n')
    (tmp_path / "views.sql").write_text(SQL)
    (tmp_path / "orders").mkdir()
    found = load_project(tmp_path)
    config = replace(found.config, namespace=lake.namespace, warehouse=warehouse_of(spark))
    project = replace(found, config=config)
    supervisor = Supervisor(project, spark=spark)
    for number in range(ticks):
        (tmp_path / "orders" / f"{number}.json").write_text('{"id": 1, "amount": 2}\n')
        supervisor.tick()
    supervisor.stop()
    spark.sql(f"DROP TABLE spark_catalog.{lake.namespace}.kept")  # as a new process begins
    shutil.rmtree(Path(config.warehouse) / lake.namespace / "kept")
    again = Supervisor(project, spark=spark)
    try:
        with pytest.raises(HeadwaterError, match='of table "kept" is not in the history'):
            again.tick()
    finally:
        again.stop()
    plans = plan_project(project.catalog)
    (finding,) = [each for each in diagnose(project, plans) if each.check == "input"]
    assert finding.name == "total"
