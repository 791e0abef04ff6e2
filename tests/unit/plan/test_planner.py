"""What the planner refuses, with a condition, and when it says that windows are closed."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.errors import HeadwaterError
from headwater.plan.planner import close_after, plan_project
from headwater.plan.view_plan import ViewPlan

TABLES = Path(__file__).parents[2] / "golden" / "plan" / "tables.sql"
MINUTE = 60_000_000
NOON = 1357041600000000  # 2013-01-01 12:00:00 UTC


def plan(sql: str) -> ViewPlan:
    """Return the plan of the last view of some definitions."""
    files = {"tables.sql": TABLES.read_text(), "view.sql": sql}
    catalog = bind({file: parse(text, file=file) for file, text in files.items()})
    *_, last = plan_project(catalog).values()
    return last


def view(query: str, clauses: str = "") -> str:
    """Return the definition of a view named v."""
    return f"CREATE STREAMING VIEW v {clauses} AS {query};"


WINDOW = (
    "SELECT window_start, count(*) AS n FROM TUMBLE(orders, ordered_at, INTERVAL '1' MINUTE)"
    " GROUP BY window_start EMIT {}"
)
JOIN = (
    "SELECT o.order_id, s.order_id AS other FROM orders AS o {} JOIN {} AS s"
    " ON s.order_id = o.order_id"
    " AND s.{} BETWEEN o.ordered_at AND o.ordered_at + INTERVAL {}"
)
COUNT = "SELECT {0}, count(*) AS many FROM {1} GROUP BY {0}"
UPDATING = "CREATE STREAMING VIEW u AS " + COUNT.format("customer", "orders") + ";"
DELTA = (
    "CREATE STREAMING VIEW d WITH (format = 'delta') AS SELECT customer, ordered_at FROM orders;"
)
REFUSED = {
    "late rows of a source": (
        view(
            "SELECT window_start, count(*) AS n FROM TUMBLE(clicks, at, INTERVAL '1' MINUTE)"
            " GROUP BY window_start EMIT ON WINDOW CLOSE",
            "LATE ROWS DROP INTO tardy",
        ),
        "NOT_YET",
    ),
    "corrections of a source": (view(COUNT.format("url", "clicks")), "UNBOUNDED_STATE"),
    "final rows of a view whose rows are corrected": (
        UPDATING + view("SELECT customer, many FROM u EMIT ON WINDOW CLOSE"),
        "NOT_YET",
    ),
    "a sketch within a subquery": (
        view(
            "SELECT max(q.n) AS n FROM"
            " (SELECT approx_distinct(customer) AS n FROM orders GROUP BY order_id) AS q"
        ),
        "NOT_YET",
    ),
    "a sketch that decides which rows there are": (
        view(
            "SELECT customer, approx_distinct(order_id) AS n FROM orders GROUP BY customer"
            " ORDER BY n DESC LIMIT 3"
        ),
        "NOT_YET",
    ),
    "an engine that cannot": (
        view(COUNT.format("customer", "orders"), "WITH (engine = 'streaming')"),
        "ENGINE_CANNOT",
    ),
    "a stream of a Delta view": (
        DELTA + view("SELECT customer FROM d", "WITH (engine = 'streaming')"),
        "ENGINE_CANNOT",
    ),
    "lateness finer than a millisecond": (
        view(
            WINDOW.format("ON WINDOW CLOSE"),
            "LATE ROWS ACCEPT FOR INTERVAL '0.0005' SECOND",
        ),
        "INVALID_WATERMARK",
    ),
}


@pytest.mark.parametrize(("sql", "condition"), REFUSED.values(), ids=REFUSED.keys())
def test_what_no_engine_keeps_is_refused(sql: str, condition: str) -> None:
    with pytest.raises(HeadwaterError) as raised:
        plan(sql)
    assert raised.value.condition == condition
    assert raised.value.hint


def test_a_delta_view_is_read_by_ticks() -> None:
    query = "SELECT customer FROM {}"
    engines = [plan(DELTA + view(query.format(name))).decision.engine for name in ("orders", "d")]
    assert engines == ["incremental", "incremental"]


def test_the_watermark_that_closes_a_window_lies_just_past_it() -> None:
    closing = close_after(plan(view(WINDOW.format("ON WINDOW CLOSE"))), NOON + 1)
    assert closing == NOON + MINUTE + 1000


def test_the_watermark_that_closes_waits_for_allowed_lateness() -> None:
    late = plan(view(WINDOW.format("ON WINDOW CLOSE"), "LATE ROWS ACCEPT FOR INTERVAL '1' MINUTE"))
    assert close_after(late, NOON) == NOON + 2 * MINUTE + 1000


def test_the_watermark_that_closes_a_left_join_is_past_its_upper_bound() -> None:
    joined = plan(view(JOIN.format("LEFT", "shipments", "shipped_at", "'1' MINUTE")))
    assert joined.shape.join is not None
    assert joined.shape.join.wait == MINUTE + 1000
    for newest in (NOON, NOON + 1, NOON + 999):
        closing = close_after(joined, newest)
        assert closing >= newest + joined.shape.join.wait
        assert closing % 1000 == 0


@pytest.mark.parametrize("operation", ["UNION", "EXCEPT", "INTERSECT", "EXCEPT ALL"])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT id FROM t {0} SELECT id FROM u",
        "SELECT q.id FROM (SELECT id FROM t {0} SELECT id FROM u) AS q",
        "SELECT q.id FROM (SELECT id FROM (SELECT id FROM t {0} SELECT id FROM u) AS p) AS q",
        "SELECT id FROM u UNION ALL SELECT q.id FROM (SELECT id FROM t {0} SELECT id FROM u) AS q",
        "SELECT q.id FROM (SELECT id FROM t {0} SELECT id FROM u) AS q JOIN t ON t.id = q.id",
        "WITH q AS (SELECT id FROM t {0} SELECT id FROM u) SELECT id FROM q WHERE id > 1",
    ],
)
def test_rows_that_look_at_others_are_not_passed_on_one_by_one(query: str, operation: str) -> None:
    tables = "".join(
        f"CREATE {{what}} {name} (id BIGINT, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts)"
        f" WITH (connector = 'files', path = '{name}') FORMAT PLAIN ENCODE JSON;\n"
        for name in "tu"
    )
    reader = tables + view(query.format(operation))
    rule = plan(reader.format(what="TABLE")).decision.rule.name
    assert not rule.startswith("append"), rule
    with pytest.raises(HeadwaterError) as refused:
        plan(reader.format(what="SOURCE"))
    assert refused.value.condition in ("NOT_YET", "UNBOUNDED_STATE")


SUMS = "SELECT customer, sum(amount) AS total, count(*) AS n FROM orders GROUP BY customer"
LEVELS = {
    f"WITH t AS ({SUMS}) SELECT customer, total FROM t": "fold",
    f"SELECT * FROM ({SUMS})": "fold",
    f"SELECT customer, total / n AS mean FROM (SELECT * FROM ({SUMS}))": "fold",
    f"WITH t AS ({SUMS}) SELECT customer, total FROM t WHERE customer <> 'x'": "fold",
    f"{SUMS} HAVING customer <> 'x'": "fold",
    f"SELECT customer, total FROM ({SUMS}) WHERE total > 5": "affected keys",
    "SELECT customer FROM (SELECT DISTINCT customer, paid FROM orders)": "fold",
    "SELECT customer, paid FROM (SELECT DISTINCT customer, paid FROM orders)": "fold",
    "SELECT customer FROM orders UNION SELECT customer FROM orders WHERE paid": "fold",
    "SELECT order_id FROM (SELECT order_id, rank() OVER (ORDER BY amount) AS r FROM orders)": (
        "append"
    ),
    "SELECT * FROM (SELECT customer, amount, paid FROM orders)"
    " PIVOT (sum(amount) FOR paid IN (true AS paid, false AS open))": "fold",
    f"SELECT customer FROM ({SUMS}) ORDER BY total DESC LIMIT 3": "affected groups",
    "SELECT customer, id + 1 AS next FROM (SELECT customer, order_id AS id FROM (SELECT customer,"
    " order_id, rank() OVER (PARTITION BY customer ORDER BY amount) AS n FROM orders)"
    " WHERE n = 1)": "top",
    "SELECT o.customer, array_agg(o.amount ORDER BY o.order_id) AS amounts FROM orders o"
    " JOIN orders p ON p.order_id = o.order_id GROUP BY o.customer": "affected keys",
}


@pytest.mark.parametrize(("query", "rule"), LEVELS.items(), ids=range(len(LEVELS)))
def test_levels_that_only_name_or_filter_do_not_choose_the_rule(query: str, rule: str) -> None:
    assert plan(view(query)).decision.rule.name == rule


OF_DELTA = {
    SUMS: "fold",
    f"SELECT * FROM ({SUMS})": "affected groups",
    "SELECT l.customer, count(*) AS n FROM orders l LEFT JOIN orders r ON l.customer = r.customer"
    " GROUP BY 1": "affected groups",
    "SELECT l.customer, count(r.amount) AS n FROM orders l LEFT JOIN orders r"
    " ON l.order_id = r.order_id GROUP BY 1": "fold",
    "SELECT r.customer FROM orders l RIGHT JOIN orders r ON l.order_id = r.order_id GROUP BY 1": (
        "affected groups"
    ),
    "SELECT customer, array_agg(amount ORDER BY amount) AS a FROM orders GROUP BY 1": (
        "affected keys"
    ),
    "SELECT l.customer, array_agg(l.amount ORDER BY l.amount) AS a FROM orders l JOIN orders r"
    " ON l.order_id = r.order_id GROUP BY 1": "affected groups",
    "SELECT order_id FROM orders ORDER BY order_id LIMIT 3": "top",
    "SELECT * FROM (SELECT order_id FROM orders ORDER BY order_id LIMIT 3)": "affected groups",
    "SELECT order_id FROM (SELECT order_id, rank() OVER (ORDER BY amount) AS r FROM orders)"
    " WHERE r < 3": "top",
    "SELECT order_id FROM (SELECT order_id, rank() OVER (ORDER BY amount) AS r FROM orders)": (
        "affected groups"
    ),
}
"""How earlier releases keep views in Delta tables, which cannot get other hidden columns."""


@pytest.mark.parametrize(("query", "rule"), OF_DELTA.items(), ids=range(len(OF_DELTA)))
def test_a_delta_table_is_kept_by_the_rule_of_its_hidden_columns(query: str, rule: str) -> None:
    stored = view(query).replace(" AS SELECT", " WITH (format = 'delta') AS SELECT", 1)
    assert plan(stored).decision.rule.name == rule


def test_a_view_that_is_kept_by_its_tree_is_identified_by_its_query() -> None:
    nested, plain = (plan(view(text)) for text in (f"SELECT * FROM ({SUMS})", SUMS))
    assert nested.program == plain.program
    assert nested.fingerprint != plain.fingerprint


def test_groups_over_an_outer_join_on_a_condition_are_folded() -> None:
    outer = "SELECT l.customer, count(*) AS n FROM orders l LEFT JOIN orders r ON {} GROUP BY 1"
    rules = {
        on: plan(view(outer.format(on))).decision.rule.name
        for on in ("l.customer = r.customer", "true")
    }
    assert rules == {"l.customer = r.customer": "fold", "true": "affected groups"}
