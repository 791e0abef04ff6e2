"""A project whose table evolves: views that do not see the change go on, others stop by name."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from headwater.config.settings import RunSection
from headwater.engine import follow_definition
from headwater.plan.planner import plan_project
from headwater.project import load_project
from headwater.runtime.events import RunState, StateChanged
from headwater.runtime.supervisor import Supervisor
from headwater.serve.forecast import will_stop
from headwater.serve.status import status
from headwater.serve.verify import Verdict, verify
from headwater.testing.harness import warehouse_of
from tests.spark.crash import Crash

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

    def run(definitions):
        (tmp_path / "views.sql").write_text(definitions)
        found = load_project(tmp_path)
        config = replace(
            found.config,
            namespace=lake.namespace,
            warehouse=warehouse_of(spark),
            run=RunSection(trigger=timedelta(milliseconds=50)),
        )
        project, failed = replace(found, config=config), {}

        def tell(event):
            if isinstance(event, StateChanged) and event.state is RunState.FAILED:
                failed[event.name] = event.error

        Supervisor(project, spark=spark, progress=tell).run(once=True, end_of_input=True)
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
    project, failed = world(TABLE.format(columns=BEFORE) + VIEWS + CHANGED)
    assert not failed and set(verdicts(project).values()) == {Verdict.EQUAL}
    (row, *_) = status(project)
    assert (row.unknown, row.added) == ({"price": 8}, {})
    started = lake.table("per_who").marker()

    drop(tmp_path, 1)
    (tmp_path / "views.sql").write_text(TABLE.format(columns=AFTER) + VIEWS + CHANGED + NEWER)
    newer = replace(load_project(tmp_path), config=project.config)
    forecast = will_stop(newer, plan_project(newer.catalog))
    project, failed = world(TABLE.format(columns=AFTER) + VIEWS + CHANGED + NEWER)
    assert {name: reason.partition(":")[0] for name, reason in forecast.items()} == {
        name: error.condition for name, error in failed.items()
    }
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
    project, _ = world(TABLE.format(columns=AFTER) + VIEWS + NEWER)
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
    world(TABLE.format(columns=BEFORE) + view)
    with pytest.raises(Exception, match='column "note"') as refused:
        world(TABLE.format(columns=AFTER) + view)
    assert refused.value.condition == "UNKNOWN_COLUMN"


KEYED = """
CREATE TABLE stock ({columns}, PRIMARY KEY (id)) WITH (connector = 'files', path = 'in')
FORMAT DEBEZIUM ENCODE JSON (truncate = 'apply') ON SCHEMA CHANGE {policy};
"""
KEYED_BEFORE = "id INTEGER, who VARCHAR, note VARCHAR, qty INTEGER"
KEYED_AFTER = "price BIGINT, id INTEGER, memo VARCHAR, who VARCHAR, qty BIGINT"
KEYED_VIEWS = """
CREATE STREAMING VIEW owned AS SELECT who, count(*) AS n, max(id) AS newest FROM stock GROUP BY who;
CREATE STREAMING VIEW pairs AS SELECT a.who, count(*) AS pairs FROM stock AS a
JOIN stock AS b ON a.id = b.id - 2 GROUP BY a.who;
"""
KEYED_CHANGED = """
CREATE STREAMING VIEW everything AS SELECT * FROM stock;
CREATE STREAMING VIEW quantities AS SELECT qty, count(*) AS n FROM stock GROUP BY qty;
"""
KEYED_NEWER = """
CREATE STREAMING VIEW prices AS SELECT who, sum(price) AS price, max(memo) AS memo
FROM stock GROUP BY who;
"""
LEFT_OUT = "__debezium_unavailable_value"


def changed(folder, name, *rows, op="u"):
    """A file of change events; files count in the order of their names, not of their arrival."""
    events = [
        {"op": "d", "before": row, "after": None}
        if op == "d"
        else {"op": op, "before": None, "after": row}
        for row in rows
    ]
    (folder / "in" / name).write_text("".join(json.dumps(event) + "\n" for event in events))


def stock(number, **more):
    return {"id": number, "who": ("ann", "bob")[number % 2], "note": "x", "qty": number, **more}


def test_a_keyed_table_follows_its_definition_and_views_over_it_go_on(
    world, tmp_path, lake, monkeypatch
):
    changed(tmp_path, "10.json", *(stock(number, price=7, memo="early") for number in range(8)))
    project, failed = world(
        KEYED.format(columns=KEYED_BEFORE, policy="IGNORE") + KEYED_VIEWS + KEYED_CHANGED
    )
    assert not failed and set(verdicts(project).values()) == {Verdict.EQUAL}
    started = lake.table("owned").marker()

    later = KEYED.format(columns=KEYED_AFTER, policy="EVOLVE")
    (tmp_path / "views.sql").write_text(later)
    (changed_only,) = verdicts(replace(project, catalog=load_project(tmp_path).catalog)).values()
    assert changed_only is Verdict.CHANGED

    def crash(point, table):
        raise Crash

    with monkeypatch.context() as patched:
        patched.setattr(follow_definition, "crash_point", crash)
        _, failed = world(later)
    assert failed.keys() == {"stock"} and "memo" in lake.table("stock").columns()

    # without a new file: rows are NULL in what was added, and stay what they are
    definitions = later + KEYED_VIEWS
    project, failed = world(definitions + KEYED_CHANGED + KEYED_NEWER)
    assert {name: error.condition for name, error in failed.items()} == {
        "everything": "SCHEMA_CHANGED",
        "quantities": "SCHEMA_CHANGED",
    }
    found = verdicts(project)
    assert {name for name, verdict in found.items() if verdict is Verdict.CHANGED} == {*failed}
    assert list(found.values()).count(Verdict.EQUAL) == len(found) - 2
    held = lake.table("stock").read().where("id < 3")
    assert sorted(map(tuple, held.select("price", "id", "memo", "who", "qty").collect())) == [
        (None, 0, None, "ann", 0),
        (None, 1, None, "bob", 1),
        (None, 2, None, "ann", 2),
    ]
    evolved = [s.marker for s in lake.table("stock").ancestors(lake.table("stock").snapshot_id())]
    (first,) = [marker for marker in evolved if marker and marker.evolved]
    assert first.evolved == {
        "price": "added as BIGINT",
        "memo": "added as STRING",
        "note": "dropped",
        "qty": "widened from INT to BIGINT",
    }
    added = {row.name: row.added for row in status(project)}["stock"]
    assert added == {"price": first.epoch, "memo": first.epoch}

    # newer changes, one that leaves a value out, and older ones that come late
    changed(tmp_path, "20.json", stock(1, price=9, memo=LEFT_OUT), stock(2, price=1, memo="two"))
    changed(tmp_path, "05.json", *(stock(number, price=-1, memo="old") for number in (1, 3, 9)))
    project, failed = world(definitions + KEYED_NEWER)
    assert not failed and set(verdicts(project).values()) == {Verdict.EQUAL}
    held = lake.table("stock").read().where("id IN (1, 2, 3, 9)").select("id", "price", "memo")
    assert sorted(map(tuple, held.collect())) == [
        (1, 9, None),
        (2, 1, "two"),
        (3, None, None),
        (9, -1, "old"),
    ]
    markers = [s.marker for s in lake.table("owned").ancestors(lake.table("owned").snapshot_id())]
    assert started in markers  # it was not computed anew

    changed(tmp_path, "30.json", stock(2), op="d")
    changed(tmp_path, "15.json", {}, op="t")  # ends what stands before it
    project, failed = world(definitions + KEYED_NEWER)
    assert not failed and set(verdicts(project).values()) == {Verdict.EQUAL}
    assert [row.id for row in lake.table("stock").read().collect()] == [1]


def test_a_keyed_table_that_does_not_say_so_or_whose_log_cannot_follow_stays_as_it_is(
    world, tmp_path, lake
):
    changed(tmp_path, "1.json", stock(1))
    world(KEYED.format(columns=KEYED_BEFORE, policy="IGNORE"))
    columns = lake.table("stock").columns()
    for definition in (
        KEYED.format(columns=KEYED_AFTER, policy="IGNORE"),
        KEYED.format(columns=f"{KEYED_BEFORE}, price BIGINT NOT NULL", policy="EVOLVE"),
        KEYED.format(columns=KEYED_AFTER.replace("qty BIGINT", "qty VARCHAR"), policy="EVOLVE"),
    ):
        _, failed = world(definition)
        assert {name: error.condition for name, error in failed.items()} == {
            "stock__changes": "SCHEMA_CHANGED",
            "stock": "SCHEMA_CHANGED",
        }
        assert lake.table("stock").columns() == columns
    project, failed = world(KEYED.format(columns=KEYED_BEFORE, policy="EVOLVE"))
    assert not failed and verdicts(project) == {"stock": Verdict.EQUAL}
    other_key = KEYED.format(columns=KEYED_AFTER, policy="EVOLVE").replace("(id)", "(id, who)")
    _, failed = world(other_key)
    assert failed["stock"].condition == "DEFINITION_CHANGED"
    assert lake.table("stock").columns() == columns
