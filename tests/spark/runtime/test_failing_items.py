"""What waits for a failed view says so, and Spark judges what DuckDB cannot run."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from headwater.config.settings import RunSection
from headwater.lake.protocol.commit import commit
from headwater.lake.spec import TableSpec
from headwater.plan.planner import plan_project
from headwater.project import Project, load_project
from headwater.runtime.events import Event, RunState, StateChanged
from headwater.runtime.supervisor import Supervisor
from headwater.serve.forecast import will_stop
from headwater.serve.verify import Verdict, verify
from headwater.testing.harness import warehouse_of
from headwater.testing.spark_judge import SparkJudge

SQL = """
CREATE TABLE sales (
  id INTEGER, shop VARCHAR, price DOUBLE, tags MAP(VARCHAR, INTEGER), parts ARRAY(VARCHAR),
  sum DECIMAL(9, 2), day DATE, at TIMESTAMP, ts TIMESTAMP WITH TIME ZONE, raw VARBINARY,
  line ROW(a BIGINT, b VARCHAR), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
) WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW bad AS SELECT shop, count(*) AS n FROM sales GROUP BY shop;
CREATE STREAMING VIEW above AS SELECT n, count(*) AS shops FROM bad GROUP BY n;
CREATE STREAMING VIEW top AS SELECT shops FROM above;
CREATE STREAMING VIEW prices AS
SELECT shop, sum(price) AS price, avg(sum) AS mean FROM sales GROUP BY shop;
CREATE STREAMING VIEW everything AS SELECT * FROM sales WHERE id > 1;
CREATE STREAMING VIEW hours AS
SELECT window_start, count(*) AS n FROM TUMBLE(sales, ts, INTERVAL '1' HOUR)
GROUP BY window_start, window_end EMIT ON WINDOW CLOSE;
"""


@pytest.fixture
def project(spark: Any, lake: Any, tmp_path: Path) -> Project:
    (tmp_path / "headwater.toml").write_text('name = "t"\n')
    (tmp_path / "views.sql").write_text(SQL)
    (tmp_path / "in").mkdir()
    rows = [
        {
            "id": number, "shop": "ab"[number % 2], "price": number / 3, "tags": {"x": number},
            "parts": ["p", None], "sum": "1.25", "day": "2024-01-02", "at": "2024-01-02T03:04:05",
            "ts": f"2024-01-01T1{number}:30:00Z", "line": {"a": number, "b": "y"},
        }
        for number in range(6)
    ]  # fmt: skip
    (tmp_path / "in" / "1.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = load_project(tmp_path)
    config = replace(
        found.config,
        namespace=lake.namespace,
        warehouse=warehouse_of(spark),
        run=RunSection(trigger=timedelta(milliseconds=50)),
    )
    return replace(found, config=config)


def run_once(project: Project, spark: Any) -> tuple[int, dict[str, list[StateChanged]]]:
    states: dict[str, list[StateChanged]] = {}

    def tell(event: Event) -> None:
        if isinstance(event, StateChanged) and event.error:
            states.setdefault(event.name, []).append(event)

    return Supervisor(project, spark=spark, progress=tell).run(once=True), states


def test_spark_judges_as_duckdb_does(project: Project, spark: Any, lake: Any) -> None:
    assert run_once(project, spark) == (0, {})
    plans = plan_project(project.catalog)
    assert will_stop(project, plans) == {}
    judge = SparkJudge(project.config, spark)

    def judged(compare: Any) -> dict[str, Verdict]:
        return {each.view: each.verdict for each in verify(project, plans, (), compare=compare)}

    assert set(judged(judge.compare).values()) == {Verdict.EQUAL}
    spark.sql(f"DELETE FROM {lake.identifier('everything')} WHERE id = 3")
    spark.sql(f"UPDATE {lake.identifier('prices')} SET mean = 7 WHERE shop = 'a'")
    found = judged(judge.compare)
    assert found == judged(None)
    different = [name for name, verdict in found.items() if verdict is Verdict.DIFFERENT]
    assert different == ["prices", "everything"]


@pytest.mark.parametrize("when", ["at its start", "later"])
def test_what_reads_a_failed_view_waits_for_it_and_is_not_tried(
    when: str, project: Project, spark: Any, lake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def commit_others(target: Any, marker: Any, *rest: Any, **more: Any) -> Any:
        if marker.view == "bad":
            raise RuntimeError("the shop is closed")
        return commit(target, marker, *rest, **more)

    monkeypatch.setattr("headwater.runtime.supervisor.ATTEMPTS_ONCE", 2)
    if when == "later":
        monkeypatch.setattr("headwater.engine.view_commit.commit", commit_others)
    else:  # a table in its way
        lake.ensure(TableSpec("bad", (("other", "STRING", True),)))
    code, states = run_once(project, spark)
    assert code == 3
    reason = "the shop is closed" if when == "later" else "SCHEMA_CHANGED"
    assert states.keys() == {"bad", "above", "top"}
    for name in ("above", "top"):
        (event,) = states[name]
        assert event.state is RunState.FAILED and event.error is not None
        assert event.error.condition == "INPUT_STOPPED"
        assert event.error.message.startswith('waits for "bad", which stopped: ')
        assert reason in event.error.message
