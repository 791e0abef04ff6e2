from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from fake_lake import UTC_MICROS, FakeLake, make_lake
from why_lake import AT, CHANGES, ORDERS, ROW, Lake, order

from headwater.cli.main import main
from headwater.errors import EXIT_BAD_INPUT, EXIT_NO, EXIT_OK, ConfigError, HeadwaterError
from headwater.lake.protocol.marker import Marker
from headwater.plan.planner import plan_project
from headwater.serve.why import lineage
from headwater.serve.why.deciding import Deciding, DecidingRows, ExplainedRow
from headwater.serve.why.missing import Absent, CountedStep
from headwater.serve.why.traced import none
from tests.fuzz.why import Tried, attempt, random_question

SQL = """
CREATE TABLE orders (
  order_id BIGINT,
  customer BIGINT,
  city VARCHAR,
  amount BIGINT,
  ordered_at TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ordered_at AS ordered_at - INTERVAL '10' MINUTE
) WITH (connector = 'files', path = 'orders') FORMAT PLAIN ENCODE JSON;

CREATE TABLE customers (
  customer BIGINT, name VARCHAR, PRIMARY KEY (customer)
) WITH (connector = 'files', path = 'customers') FORMAT UPSERT ENCODE JSON (delete_field = 'op');

CREATE STREAMING VIEW large AS SELECT order_id, city, amount FROM orders WHERE amount > 100;

CREATE STREAMING VIEW per_city AS
SELECT city, count(*) AS orders, sum(amount) AS amount FROM orders GROUP BY city
HAVING count(*) > 1;

CREATE STREAMING VIEW named AS
SELECT o.order_id, c.name FROM orders o JOIN customers c ON o.customer = c.customer
WHERE o.amount < 1000;

CREATE STREAMING VIEW per_hour AS
SELECT window_start, count(*) AS orders FROM TUMBLE(orders, ordered_at, INTERVAL '1' HOUR)
GROUP BY window_start
EMIT ON WINDOW CLOSE;

CREATE STREAMING VIEW newest AS
SELECT customer, order_id FROM orders
QUALIFY row_number() OVER (PARTITION BY customer ORDER BY ordered_at DESC) = 1;

CREATE STREAMING VIEW cities AS
SELECT city FROM orders QUALIFY row_number() OVER (PARTITION BY city ORDER BY amount) = 1;

CREATE STREAMING VIEW dearest AS SELECT city, max(amount) AS amount FROM orders GROUP BY city;

CREATE STREAMING VIEW places AS
SELECT city AS place FROM orders UNION SELECT name FROM customers;

CREATE STREAMING VIEW quiet AS
SELECT city FROM orders EXCEPT SELECT city FROM orders WHERE amount > 100;

CREATE STREAMING VIEW busy AS SELECT city FROM per_city WHERE orders > 1;

CREATE STREAMING VIEW total AS SELECT count(*) AS orders FROM orders WHERE amount < 0;

CREATE STREAMING VIEW silent AS
SELECT customer FROM orders GROUP BY customer
HAVING max(ordered_at) < watermark() - INTERVAL '5' MINUTE;

CREATE STREAMING VIEW parsed AS SELECT order_id, CAST(city AS BIGINT) AS number FROM orders;
"""
QUARANTINE = pa.schema(
    {"raw": pa.binary(), "reason": pa.string(), "_arrived_at": UTC_MICROS, **ROW}
)
ROWS = [
    order(1, 1, "Oslo", 50, 1),
    order(2, 1, "Oslo", 150, 2),
    order(3, 2, "Bergen", 70, 3),
    order(4, 3, "Oslo", 2000, 4),
    order(5, 1, "Narvik", 5, 50, mark=2),  # comes when the hour has been over for one
]


def filled(folder: Path) -> Lake:
    """Return a project whose tables hold what they should."""
    lake = Lake(folder, SQL)
    lake.land("orders", ORDERS, ROWS)
    names = ("customer", "name", "_change_type", "_path", "_row")
    changes = [
        (1, "Ann", "UPSERT", "c", 0),
        (3, "Bo", "UPSERT", "c", 1),
        (3, None, "DELETE", "c", 2),
    ]
    lake.land(
        "customers__changes", CHANGES, [dict(zip(names, row, strict=True)) for row in changes]
    )
    lake.write("customers", [{"customer": 1, "name": "Ann"}])
    large = ((2, 150), (4, 2000))
    lake.write("large", [{"order_id": n, "city": "Oslo", "amount": of} for n, of in large])
    lake.write("per_city", [{"city": "Oslo", "orders": 3, "amount": 2200}])
    lake.write("named", [{"order_id": number, "name": "Ann"} for number in (1, 2, 5)])
    lake.write("per_hour", [], AT.replace(minute=50))
    newest = ((1, 5), (2, 3), (3, 4))
    lake.write("newest", [{"customer": c, "order_id": o} for c, o in newest])
    lake.write("cities", [{"city": city} for city in ("Oslo", "Bergen", "Narvik")])
    dearest = (("Oslo", 2000), ("Bergen", 70), ("Narvik", 5))
    lake.write("dearest", [{"city": city, "amount": amount} for city, amount in dearest])
    places = ("Oslo", "Bergen", "Narvik", "Ann")
    lake.write("places", [{"place": place} for place in places])
    lake.write("quiet", [{"city": "Bergen"}, {"city": "Narvik"}])
    lake.write("busy", [{"city": "Oslo"}])
    lake.write("total", [{"orders": 0}])
    lake.write("silent", [{"customer": 2}, {"customer": 3}], AT.replace(minute=50))
    lake.write("parsed", [])
    return lake


def why(lake: Lake, view: str, *, deep: bool = False, **pairs: str) -> tuple[ExplainedRow, ...]:
    return Deciding(lake.project, lake.plans, deep=deep).explain(view, pairs).rows


def steps_of(lake: Lake, view: str, **pairs: str) -> tuple[CountedStep, ...]:
    found = Absent(lake.project, lake.plans).explain(view, pairs)
    assert not found.present
    (steps,) = found.branches
    return steps


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    return filled(tmp_path_factory.mktemp("lake"))


def ids(rows: DecidingRows, key: str = "order_id") -> list[object]:
    return [row[key] for row in rows.shown]


def test_a_filtered_row_is_decided_by_its_own_row(lake: Lake) -> None:
    (row,) = why(lake, "large", order_id="2")
    (orders,) = row.inputs
    assert (orders.input, orders.kind, orders.rows) == ("orders", "table", 1)
    assert orders.shown[0]["_path"] == "orders/1.json" and orders.shown[0]["_row"] == 2
    assert row.row == {"order_id": 2, "city": "Oslo", "amount": 150}


def test_a_group_is_decided_by_its_rows(lake: Lake) -> None:
    (row,) = why(lake, "per_city", city="Oslo")
    assert ids(row.inputs[0]) == [1, 2, 4]


def test_a_maximum_is_decided_by_the_rows_that_have_it(lake: Lake) -> None:
    (row,) = why(lake, "dearest", city="Oslo")
    assert ids(row.inputs[0]) == [4]


def test_a_join_is_decided_by_the_pair(lake: Lake) -> None:
    (row,) = why(lake, "named", order_id="2")
    assert [(each.input, each.rows) for each in row.inputs] == [("orders", 1), ("customers", 1)]
    assert row.inputs[1].shown == ({"customer": 1, "name": "Ann"},)


def test_the_first_row_of_a_partition_stands_without_the_others(lake: Lake) -> None:
    (row,) = why(lake, "newest", customer="1")
    assert ids(row.inputs[0]) == [5]


def test_an_equal_row_that_takes_the_place_is_named_too(lake: Lake) -> None:
    (row,) = why(lake, "cities", city="Oslo")
    assert ids(row.inputs[0]) == [1, 2, 4] and not row.stays


def test_deep_goes_through_views_to_landed_rows(lake: Lake) -> None:
    (row,) = why(lake, "busy", deep=True, city="Oslo")
    (per_city,) = row.inputs
    assert per_city.kind == "view"
    (below,) = per_city.because
    assert ids(below.inputs[0]) == [1, 2, 4]


def test_deep_says_of_which_view_it_knows_nothing(tmp_path: Path) -> None:
    lake = filled(tmp_path)
    cut = {"orders": str(lake.fake.snapshot("orders"))}
    lake.fake.append("per_city", [], Marker("per_city", 1, 1, {}, cut, fingerprint="v2:other"))
    lake.write("busy", [])
    (row,) = why(lake, "busy", deep=True)
    assert row.inputs[0].rows == 1 and not row.inputs[0].because
    assert "was written by another definition" in row.inputs[0].unknown


def test_deep_goes_through_keyed_tables_to_their_changes(lake: Lake) -> None:
    (row,) = why(lake, "named", deep=True, order_id="1")
    (customer,) = row.inputs[1].because
    (change,) = customer.inputs
    assert [(each["_path"], each["_row"]) for each in change.shown] == [("c", 0)]


def test_a_row_of_no_rows_says_so(lake: Lake) -> None:
    (row,) = why(lake, "total")
    assert row.stays and row.is_right and not row.inputs


def test_a_row_that_its_select_does_not_return_says_so(tmp_path: Path) -> None:
    lake = filled(tmp_path)
    lake.write("large", [{"order_id": 9, "city": "Oslo", "amount": 9}])
    (row,) = why(lake, "large", order_id="9")
    assert not row.is_right and not row.inputs


def test_no_input_has_the_values(lake: Lake) -> None:
    assert steps_of(lake, "large", order_id="77") == (
        CountedStep("input", "orders: order_id = 77", None, 0),
    )


def test_deep_asks_the_view_that_lacks_the_row(lake: Lake) -> None:
    found = Absent(lake.project, lake.plans, deep=True).explain("busy", {"city": "Bergen"})
    assert found.branches[0][-1].on == "per_city: city = Bergen"
    (below,) = found.below
    assert (below.view, below.branches[0][-1].name) == ("per_city", "having")


def test_a_filter_removes_the_row(lake: Lake) -> None:
    *_, step = steps_of(lake, "large", order_id="1")
    assert (step.name, step.on, step.before, step.after) == ("filter", "orders.amount > 100", 1, 0)
    assert step.examples[0]["amount"] == 50


def test_a_join_has_no_match_as_the_row_was_deleted(lake: Lake) -> None:
    *_, step = steps_of(lake, "named", order_id="3")
    assert (step.name, step.on) == ("join", "customers ON o.customer = c.customer")
    assert (step.before, step.after, step.examples[0]["customer"]) == (1, 0, 2)
    asked = steps_of(lake, "customers", customer="3")
    assert [step.name for step in asked] == ["input", "deleted"]
    assert asked[-1].examples[0] | {"name": 0} == {
        "_change_type": "DELETE", "_path": "c", "_row": 2, "customer": 3, "name": 0,
    }  # fmt: skip


def test_rows_of_a_deleted_key_are_missing_downstream(lake: Lake) -> None:
    steps = steps_of(lake, "named", name="Bo")
    assert [step.name for step in steps] == ["input"]


def test_a_late_row_shows_the_watermark_that_it_met(lake: Lake) -> None:
    steps = steps_of(lake, "per_hour", window_start="2026-01-01 10:00:00", orders="5")
    late = next(step for step in steps if step.name == "late")
    assert (late.before, late.after) == (5, 4)


def test_a_row_that_is_late_alone(tmp_path: Path) -> None:
    lake = filled(tmp_path)
    lake.fake.append(
        "orders", [order(8, 1, "Oslo", 1, 5, mark=3) | {"ordered_at": AT.replace(hour=8)}]
    )
    lake.write("per_hour", [], AT.replace(hour=13))
    *_, late = steps_of(lake, "per_hour", window_start="2026-01-01 08:00:00")
    assert (late.name, late.before, late.after) == ("late", 1, 0)
    assert late.examples[0]["_watermark"] == AT.replace(hour=13)
    assert late.examples[0]["order_id"] == 8


def test_a_window_that_is_not_final_yet(lake: Lake) -> None:
    *_, step = steps_of(lake, "per_hour", window_start="2026-01-01 10:00:00")
    assert (step.name, step.before, step.after) == ("not final yet", 1, 0)
    assert "2026-01-01 10:50" in step.on


def test_having_removes_a_group(lake: Lake) -> None:
    *_, step = steps_of(lake, "per_city", city="Bergen")
    assert (step.name, step.on, step.before, step.after) == ("having", "COUNT(*) > 1", 1, 0)
    assert step.examples == ({"city": "Bergen", "orders": 1, "amount": 70},)


def test_a_condition_on_the_watermark_reads_as_it_is_written(lake: Lake) -> None:
    *_, step = steps_of(lake, "silent", customer="1")
    assert (step.name, step.before, step.after) == ("having", 1, 0)
    assert "orders.ordered_at >= watermark() - INTERVAL '5' MINUTE" in step.on


def test_every_branch_of_a_union_says_what_it_lacks(lake: Lake) -> None:
    found = Absent(lake.project, lake.plans).explain("places", {"place": "Rome"})
    ends = [steps[-1].on for steps in found.branches]
    assert ends == ["orders: city = Rome", "customers: name = Rome"]


def test_the_other_side_of_except_removes_a_row(lake: Lake) -> None:
    *_, step = steps_of(lake, "quiet", city="Oslo")
    assert (step.name, step.before, step.after) == ("except", 3, 0)


def test_rows_of_except_are_decided_by_one_side(lake: Lake) -> None:
    (row,) = why(lake, "quiet", city="Narvik")
    assert ids(row.inputs[0]) == [5]


def test_equal_rows_of_union_are_all_named(lake: Lake) -> None:
    (row,) = why(lake, "places", place="Oslo")
    assert [(each.input, each.rows) for each in row.inputs] == [("orders", 3)]


def test_qualify_removes_an_older_row(lake: Lake) -> None:
    *_, step = steps_of(lake, "newest", customer="1", order_id="1")
    assert (step.name, step.before, step.after) == ("qualify", 1, 0)


def test_a_group_has_another_value(lake: Lake) -> None:
    *_, step = steps_of(lake, "per_city", city="Oslo", orders="7")
    assert (step.name, step.on, step.before, step.after) == ("value", "orders = 7", 1, 0)
    assert step.examples[0]["orders"] == 3


def test_a_row_on_which_the_select_fails_is_quarantined(lake: Lake) -> None:
    *_, step = steps_of(lake, "parsed", order_id="3")
    assert (step.name, step.before, step.after) == ("quarantine", 1, 0)
    assert "BIGINT" in step.on


def test_a_quarantined_record_is_found_by_its_text(tmp_path: Path) -> None:
    lake = filled(tmp_path)
    lake.fake.create("orders__quarantine", QUARANTINE)
    bad = {"raw": b'{"order_id": 77, "amount": "x"}', "reason": "amount is no number"}
    lake.fake.append("orders__quarantine", [{**bad, "_path": "orders/2.json", "_row": 4}])
    first, second = steps_of(lake, "large", order_id="77")
    assert (first.name, second.name, second.before) == ("input", "quarantine", 1)
    assert second.examples[0]["reason"] == "amount is no number"


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ({"citi": "Oslo"}, 'has no column "citi"'),
        ({"orders": "many"}, '"many" is not a value of column "orders"'),
    ],
)
def test_bad_values_are_refused(lake: Lake, pairs: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        why(lake, "per_city", **pairs)


def test_a_view_without_a_commit_is_refused(tmp_path: Path) -> None:
    fake: FakeLake = make_lake(tmp_path, SQL)
    plans = plan_project(fake.project.catalog)
    with pytest.raises(HeadwaterError, match="has no commit yet"):
        Deciding(fake.project, plans).explain("large", {})


def run(lake: Lake, *arguments: str) -> int:
    return main(["--project", str(lake.project.root), "why", *arguments])


def test_the_command_prints_rows_for_people(lake: Lake, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(lake, "per_city", "city=Oslo", "--rows", "2") == EXIT_OK
    out = capsys.readouterr().out
    assert "per_city <- orders: 3 of 5 rows, the first 2" in out
    assert run(lake, "per_city", "city=Rome") == EXIT_NO
    assert "ask: headwater why --not per_city city=Rome" in capsys.readouterr().err


def test_the_command_prints_json(lake: Lake, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(lake, "busy", "--deep", "--output", "json") == EXIT_OK
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    (row,) = document["rows"]
    assert row["inputs"][0]["because"][0]["inputs"][0]["rows"] == 3
    assert run(lake, "--not", "per_city", "city=Bergen", "--output", "json") == EXIT_OK
    (steps,) = json.loads(capsys.readouterr().out)["branches"]
    assert steps[-1]["step"] == "having" and steps[-1]["removed"][0]["orders"] == 1


def test_not_asks_for_rows_that_are_there(lake: Lake, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(lake, "--not", "per_city", "city=Oslo") == EXIT_NO
    assert "1 row has city=Oslo; ask: headwater why per_city" in capsys.readouterr().err
    assert run(lake, "--not", "per_city") == EXIT_BAD_INPUT
    assert run(lake, "per_city", "Oslo") == EXIT_BAD_INPUT


@pytest.mark.parametrize("number", range(12))
def test_what_is_named_decides_and_nothing_else(number: int) -> None:
    tried = Tried()
    attempt(random_question(f"unit-{number}"), f"unit-{number}", tried)
    assert not tried.wrong


def test_a_planted_mistake_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lineage, "_gathered", lambda _: none())
    tried = Tried()
    for number in range(8):
        attempt(random_question(f"mistake-{number}"), f"mistake-{number}", tried)
    assert tried.wrong
