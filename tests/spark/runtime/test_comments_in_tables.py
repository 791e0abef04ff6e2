"""Comments of a project's definitions stand in its tables, and follow them at the next start."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from headwater.config.settings import RunSection
from headwater.lake.iceberg.comments import set_comments
from headwater.lake.spec import TableSpec
from headwater.plan.planner import plan_project
from headwater.project import load_project
from headwater.runtime.events import RunState, StateChanged
from headwater.runtime.supervisor import Supervisor
from headwater.serve.verify import Verdict, verify
from headwater.testing.harness import warehouse_of

DEFINITIONS = """
CREATE TABLE orders (
  id BIGINT NOT NULL COMMENT '{id}', amount BIGINT COMMENT 'in cents',
  euros AS amount / 100 COMMENT 'it''s a \\ whole number', ts TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ts AS ts - INTERVAL '15' MINUTE
) COMMENT '{table}' WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;

CREATE TABLE customers (id BIGINT COMMENT 'of the customer', name VARCHAR, PRIMARY KEY (id))
COMMENT 'who buys' WITH (connector = 'files', path = 'customers') FORMAT UPSERT ENCODE JSON;

CREATE STREAMING VIEW per_hour (n COMMENT '{n}')
LATE ROWS DROP INTO late_orders
AS SELECT window_start, id, count(*) AS n FROM TUMBLE(orders, ts, INTERVAL '1' HOUR)
GROUP BY window_start, window_end, id EMIT ON WINDOW CLOSE;

CREATE STREAMING VIEW per_id (mean COMMENT 'of an order')
COMMENT 'orders by id' AS
SELECT id AS number, avg(amount) AS mean FROM orders GROUP BY id;

CREATE STREAMING VIEW in_delta COMMENT 'a copy' WITH (format = 'delta')
AS SELECT id, ts FROM orders;

CREATE STREAMING VIEW shares AS SELECT 100 / amount AS share FROM orders;
"""
BEFORE = DEFINITIONS.format(id="of the order", table="what was bought", n="orders")
AFTER = DEFINITIONS.format(id="number of the order", table="", n="orders in the hour")


@pytest.fixture
def run(spark, lake, tmp_path):
    """Run the project over one more file; return it."""
    (tmp_path / "headwater.toml").write_text('name = "t"\n')
    (tmp_path / "in").mkdir()
    (tmp_path / "customers").mkdir()
    (tmp_path / "customers" / "1.json").write_text('{"id": 1, "name": "Ann"}\n')

    def run(definitions, hour):
        row = {"id": hour % 2, "amount": hour % 2, "ts": f"2013-01-01T{hour:02}:00:00Z"}
        (tmp_path / "in" / f"{hour:02}.json").write_text(f"{json.dumps(row)}\n{{}}\n")
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
        assert failed == {}
        return project

    return run


def described(spark, identifier):
    """What DESCRIBE says: the comments of the columns that have one, that of the table under ''."""
    rows = spark.sql(f"DESCRIBE TABLE EXTENDED {identifier}").collect()
    ends = next(at for at, row in enumerate(rows) if not row.col_name or row.col_name[0] == "#")
    table = [row.data_type for row in rows[ends:] if row.col_name == "Comment"]
    return {row.col_name: row.comment for row in rows[:ends] if row.comment} | {
        "": table[0] if table else ""
    }


def test_comments_stand_in_the_tables_and_follow_their_definition(run, spark, lake):
    run(BEFORE, 8)

    def comments(name):
        return described(spark, lake.identifier(name))

    system = {
        "_watermark": "watermark of the table when the row arrived",
        "_arrived_at": "when the row arrived",
        "_path": "the file, topic and partition, or entry of a stream that the row is from",
        "_row": "place of the row in its input",
    }
    own = {"id": "of the order", "amount": "in cents", "euros": "it's a \\ whole number"}
    assert comments("orders") == {"": "what was bought", **own, **system}
    assert comments("customers").items() >= {"": "who buys", "id": "of the customer"}.items()
    assert comments("customers__changes")["_change_type"] == "UPSERT, DELETE or TRUNCATE"
    assert comments("per_hour") == {"": "", "id": "of the order", "n": "orders"}
    late = {"": "rows too late for per_hour", **own, **system}
    assert comments("late_orders") == late
    refused = {name: text for name, text in system.items() if name != "_watermark"}
    assert comments("orders__quarantine") == {
        **refused,
        "": "rows of orders that could not be decoded",
        "reason": "why it could not be decoded",
        "raw": "the record as it came; of Parquet the row as JSON",
    }
    assert comments("shares__quarantine") == {
        **refused,
        "": "rows on which shares fails",
        "reason": "why it failed",
        "raw": "the row as JSON",
        "_input": "the input of the view that the row is from",
        "_snapshot": "snapshot of that input in which the row was read",
    }
    state = "state of the view, no part of its rows"
    per_id = comments("per_id")
    hidden = [column for column in per_id if column.startswith("_state")]
    assert [per_id.pop(column) for column in hidden] == [state] * len(hidden) != []
    assert per_id == {"": "orders by id", "number": "of the order", "mean": "of an order"}
    delta = lake.written("in_delta")
    lake.define_delta(delta)
    assert described(spark, delta.identifier) == {"": "a copy", "id": "of the order"}

    begun = {name: lake.table(name).marker().epoch for name in ("per_hour", "per_id")}
    project = run(AFTER, 9)
    changed = {**own, "id": "number of the order"}
    assert comments("orders") == {"": "", **changed, **system}
    assert comments("late_orders") == {**late, **changed}
    assert comments("per_hour") == {"": "", "id": changed["id"], "n": "orders in the hour"}
    assert comments("per_id")["number"] == changed["id"]
    results = verify(project, plan_project(project.catalog), ())
    assert {result.verdict for result in results} == {Verdict.EQUAL}
    assert {name: lake.table(name).marker().epoch > begun[name] for name in begun} == {
        "per_hour": True,
        "per_id": True,
    }


def test_only_comments_that_differ_cost_a_commit_of_metadata_and_never_a_snapshot(spark, lake):
    columns = (("k", "INT", True), ("v", "INT", True))
    spec = TableSpec("t", columns, comment="a", column_comments={"k": "it's"})
    table = lake.ensure(spec)

    def states():
        table.refresh()
        return table.java.operations().current().metadataFileLocation(), table.snapshot_id()

    metadata, snapshot = states()
    set_comments(table, spec)
    assert states() == (metadata, snapshot)
    set_comments(table, replace(spec, comment="", column_comments={"v": "b"}))
    changed, still = states()
    assert changed != metadata
    assert still == snapshot
    assert len(table.metadata()["metadata-log"]) == 2  # the first is that of the first snapshot
    assert described(spark, table.identifier) == {"": "", "v": "b"}
