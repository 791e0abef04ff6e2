"""The fingerprint of a view: what it takes for the same, what for another, and that it stays."""

from __future__ import annotations

import json

import pytest
from sqlglot import exp

from headwater.analyze.project import bind
from headwater.dialect import parse, to_sql
from headwater.plan.identity import FORMAT, Identity
from headwater.plan.planner import plan_project
from tests.support.golden_files import check_golden
from tests.unit.plan.test_plan_golden import CASES, FOLDER, TABLES, plan_of

FINGERPRINTS = FOLDER.parent / "fingerprints.json"
ORDERS = """
CREATE TABLE orders (id BIGINT, product VARCHAR, quantity INTEGER, price DOUBLE,
  ordered_at TIMESTAMP WITH TIME ZONE, WATERMARK FOR ordered_at AS ordered_at - INTERVAL '2' MINUTE)
WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;
CREATE TABLE products (name VARCHAR, maker VARCHAR)
WITH (connector = 'files', path = 'products') FORMAT PLAIN ENCODE JSON;
"""


def identity(view: str) -> Identity:
    found = plan_project(bind({"test.sql": parse(ORDERS + view, file="test.sql")}))
    return found["v"].identity


SAME = [
    (
        "SELECT product, sum(quantity) AS items FROM orders GROUP BY product",
        "select ORDERS.product,   Sum(quantity) items /* all */ from Orders group by 1",
    ),
    (
        "SELECT o.id FROM orders AS o JOIN products AS p ON o.product = p.name",
        "SELECT a.id FROM orders a INNER JOIN products b ON b.name = a.product",
    ),
    (
        "SELECT id FROM orders WHERE id > 3 AND price * id < 9 AND product IN ('a', 'b')",
        "SELECT id FROM orders WHERE (product IN ('b', 'a')) AND (3 < id AND id * price < 9)",
    ),
    (
        "SELECT items FROM (SELECT id, sum(quantity) AS items FROM orders GROUP BY id) AS t",
        "WITH s AS (SELECT id, sum(quantity) AS n FROM orders GROUP BY id) SELECT n items FROM s",
    ),
    (
        "SELECT id, count(*) OVER (PARTITION BY product) AS n FROM orders",
        "SELECT id, count(*) OVER w AS n FROM orders WINDOW w AS (PARTITION BY product)",
    ),
    ("SELECT * FROM products", "SELECT name, maker FROM products"),
    ("SELECT id FROM orders WHERE id >= 3", "SELECT id FROM orders WHERE 3 <= id"),
    (
        "SELECT id FROM orders UNION SELECT quantity FROM orders",
        "SELECT o.id FROM orders AS o UNION SELECT quantity AS y FROM orders AS p",
    ),
    (
        "SELECT product, quantity, count(*) AS n FROM orders GROUP BY product, quantity",
        "SELECT product, quantity, count(*) AS n FROM orders GROUP BY quantity, product",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_means_the_same_has_one_fingerprint(one: str, other: str) -> None:
    first, second = (identity(f"CREATE STREAMING VIEW v AS {each}") for each in (one, other))
    assert first.differs(second) == []
    assert first.fingerprint == second.fingerprint


BASE = (
    "CREATE STREAMING VIEW v AS SELECT o.product AS a, max(o.price) AS b FROM orders AS o "
    "JOIN products AS p ON o.product = p.name WHERE o.quantity > 1 GROUP BY o.product "
    "HAVING max(o.price) > 2 EMIT CHANGES"
)
OTHER = [
    ("AS b", "AS c", "SELECT"),
    ("max(o.price) AS b", "min(o.price) AS b", "SELECT"),
    ("JOIN products", "LEFT JOIN products", "FROM"),
    ("o.product = p.name", "o.product = p.maker", "FROM"),
    ("quantity > 1", "quantity > 2", "WHERE"),
    ("quantity > 1", "quantity < 1", "WHERE"),
    ("GROUP BY o.product", "GROUP BY o.product, o.quantity", "GROUP BY"),
    ("> 2", ">= 2", "HAVING"),
    ("HAVING max(o.price) > 2", "", "HAVING"),
    ("CREATE STREAMING VIEW v", "CREATE STREAMING VIEW v PARTITIONED BY (a)", "PARTITIONED BY"),
    (" AS SELECT", " WITH (format = 'delta') AS SELECT", "format"),
    ("o.product AS a, max(o.price) AS b", "max(o.price) AS b, o.product AS a", "SELECT"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "part"), OTHER)
def test_what_means_something_else_has_another(old: str, new: str, part: str) -> None:
    assert old in BASE
    first, second = identity(BASE), identity(BASE.replace(old, new, 1))
    assert first.fingerprint != second.fingerprint
    assert second.differs(first) == [part]


def test_how_old_rows_may_be_is_a_part_of_the_meaning() -> None:
    base = "CREATE STREAMING VIEW v AS SELECT id FROM orders WHERE ordered_at > watermark() - {}"
    hour, other, day = (
        identity(base.format(f"INTERVAL {length}"))
        for length in ("'1' HOUR", "'60' MINUTE", "'1' DAY")
    )
    assert hour.fingerprint == other.fingerprint != day.fingerprint
    assert day.differs(hour) == ["FROM"]


@pytest.mark.parametrize(
    ("text", "with_a", "added"),
    [
        ("SELECT id FROM orders", "SELECT id, price FROM orders", ("price",)),
        ("SELECT id FROM orders", "SELECT price, id FROM orders", ("price",)),
        ("SELECT id FROM orders", "SELECT id, price FROM orders WHERE id > 1", ()),
        ("SELECT id, price FROM orders", "SELECT price, id, quantity FROM orders", ()),
        ("SELECT id, price FROM orders", "SELECT id FROM orders", ()),
        ("SELECT id FROM orders", "SELECT id + 1 AS id, price FROM orders", ()),
    ],
)
def test_columns_that_are_only_added(text: str, with_a: str, added: tuple[str, ...]) -> None:
    old, new = (identity(f"CREATE STREAMING VIEW v AS {each}") for each in (text, with_a))
    assert new.adds(old) == added


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_other_names_of_relations_change_nothing(case) -> None:
    catalog, plan = plan_of(case)
    statements = {file.name: parse(file.read_text(), file=file.name) for file in (TABLES, case)}
    view = next(each for each in statements[case.name] if each.name == plan.view.name)
    for alias in view.find_all(exp.TableAlias):
        if alias.this is not None and not isinstance(alias.parent, exp.CTE):
            _renamed(alias.this)
    aliases = {alias.name.removesuffix("_x") for alias in view.find_all(exp.TableAlias)}
    for column in view.find_all(exp.Column):
        if column.table in aliases:
            _renamed(column.args["table"])
    printed = parse(to_sql(view), file=case.name)
    others = [each for each in statements[case.name] if each is not view]
    again = bind({TABLES.name: statements[TABLES.name], case.name: [*others, *printed]})
    assert plan_project(again)[plan.view.name].identity == plan.identity


def _renamed(name: exp.Expression) -> None:
    name.set("this", f"{name.name}_x")


def test_fingerprints_stay() -> None:
    """A new sqlglot or a new pass of the binder must not change them.

    If one has to, raise ``FORMAT``: what a lake of an older format holds is bound again then.
    """
    found = {case.stem: plan_of(case)[1].fingerprint for case in CASES}
    assert all(each.startswith(f"{FORMAT}:") for each in found.values())
    check_golden(FINGERPRINTS, json.dumps(found, indent=1) + "\n")
