"""A project whose table evolves: views that do not see the change go on, others stop by name."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from headwater.plan.planner import plan_project
from headwater.project import load_project
from headwater.runtime.progress import State, StateChanged
from headwater.runtime.supervisor import Supervisor
from headwater.serve.status import status
from headwater.serve.verify import Verdict, verify
from headwater.testing.harness import warehouse_of

NOON = datetime(2013, 1, 1, 12, tzinfo=UTC)
TABLE = """
CREATE TABLE orders (
  {columns}, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts - INTERVAL '15' MINUTE
) WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON ON SCHEMA CHANGE EVOLVE;
"""
BEFORE = "id INTEGER, who VARCHAR, note VARCHAR, qty INTEGER"
AFTER = "price BIGINT, id INTEGER, who VARCHAR, qty BIGINT"
VIEWS = """
CREATE STREAMING VIEW per_hour LATE ROWS DROP INTO late AS
SELECT window_start, count(*) AS n FROM TUMBLE(orders, ts, INTERVAL '1' HOUR)
GROUP BY window_start, window_end EMIT ON WINDOW CLOSE;

CREATE STREAMING VIEW some AS SELECT id, ts FROM orders WHERE id % 2 = 0;

CREATE STREAMING VIEW per_who AS
SELECT who, count(*) AS n, max(id) AS newest FROM orders GROUP BY who;

CREATE STREAMING VIEW pairs AS
SELECT a.who, count(*) AS pairs FROM orders AS a JOIN orders AS b ON a.id = b.id - 2
WHERE EXISTS (SELECT 1 FROM orders AS c WHERE c.id = b.id + 2) GROUP BY a.who;
"""
CHANGED = """
CREATE STREAMING VIEW everything AS SELECT * FROM orders;
CREATE STREAMING VIEW quantities AS SELECT id, qty FROM orders;
CREATE STREAMING VIEW different AS
SELECT who, count(*) AS n FROM (SELECT DISTINCT * FROM orders) AS o GROUP BY who;
"""
NEWER = "CREATE STREAMING VIEW prices AS SELECT who, sum(price) AS price FROM orders GROUP BY who;"


@pytest.fixture
def world(spark, lake, tmp_path):
    """Run the project once with some definitions; return it and what has failed."""
    (tmp_path / "headwater.toml").write_text('name = "t"\n')
    (tmp_path / "in").mkdir()

    def run(columns, views):
        (tmp_path / "views.sql").write_text(TABLE.format(columns=columns) + views)
        found = load_project(tmp_path)
        config = replace(
            found.config,
            namespace=lake.namespace,
            warehouse=warehouse_of(spark),
            trigger=timedelta(milliseconds=50),
        )
        project, failed = replace(found, config=config), {}

        def tell(event):
            if isinstance(event, StateChanged) and event.state is State.FAILED:
                failed[event.name] = event.error

        Supervisor(project, spark=spark, progress=tell).run(once=True)
        return project, failed

    return run


def drop(folder, number):
    """Eight rows; of those of a later file two are late."""
    lines = [
        {
            "id": number * 8 + row,
            "who": ("ann", "bob")[row % 2],
            "note": "x",
            "qty": row,
            "price": number * 10**10,
            "ts": (NOON + timedelta(hours=4 * number - 9 * (row < 2), minutes=row)).isoformat(),
        }
        for row in range(8)
    ]
    (folder / "in" / f"{number}.json").write_text("".join(json.dumps(x) + "\n" for x in lines))


def verdicts(project):
    plans = plan_project(project.catalog)
    return {result.view: result.verdict for result in verify(project, plans, ())}


def test_views_go_on_over_a_table_that_evolves_or_stop_with_the_name_of_the_column(
    world, tmp_path, lake
):
    drop(tmp_path, 0)
    project, failed = world(BEFORE, VIEWS + CHANGED)
    assert not failed and set(verdicts(project).values()) == {Verdict.EQUAL}
    (row, *_) = status(project)
    assert (row.unknown, row.added) == ({"price": 8}, {})
    started = lake.table("per_who").marker()

    drop(tmp_path, 1)
    project, failed = world(AFTER, VIEWS + CHANGED + NEWER)
    assert {name: error.condition for name, error in failed.items()} == {
        "everything": "SCHEMA_CHANGED",
        "quantities": "SCHEMA_CHANGED",
        "different": "DEFINITION_CHANGED",
    }
    assert 'column "price" is missing' in failed["everything"].message
    assert 'column "qty" is INT, defined as BIGINT' in failed["quantities"].message
    assert 'it reads column "qty" of "orders"' in failed["different"].message
    found = verdicts(project)
    assert {name for name, verdict in found.items() if verdict is Verdict.CHANGED} == {
        "everything",
        "quantities",
        "different",
    }
    assert list(found.values()).count(Verdict.EQUAL) == len(found) - 3
    (row, *_) = status(project)
    assert (row.unknown, row.added) == ({"note": 8, "price": 8}, {"price": 2})

    drop(tmp_path, 2)
    project, _ = world(AFTER, VIEWS + NEWER)
    assert set(verdicts(project).values()) == {Verdict.EQUAL}
    markers = [
        s.marker for s in lake.table("per_who").ancestors(lake.table("per_who").snapshot_id())
    ]
    assert started in markers  # it was not computed anew
    prices = {r.who: r.price for r in lake.table("prices").read().collect()}
    assert prices == {"ann": 12 * 10**10, "bob": 12 * 10**10}
    late = lake.table("late").read()
    assert {"price"} <= set(late.columns) and "note" not in late.columns
    assert late.where("price IS NULL").count() == 0 < late.count()


def test_a_view_of_a_dropped_column_is_refused_at_check_by_its_name(world, tmp_path):
    drop(tmp_path, 0)
    view = "CREATE STREAMING VIEW notes AS SELECT id, note FROM orders;"
    world(BEFORE, view)
    with pytest.raises(Exception, match='column "note"') as refused:
        world(AFTER, view)
    assert refused.value.condition == "UNKNOWN_COLUMN"
