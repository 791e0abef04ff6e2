"""The passes of the binder: what they need is given before, and nothing else about their order
matters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from headwater.analyze.bind import passes
from headwater.analyze.bind.passes import PASSES, Pass
from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.errors import HeadwaterError
from tests.fuzz.schemas import Draw

FOLDER = Path(__file__).parents[2] / "golden" / "plan"
TABLES = FOLDER / "tables.sql"
CASES = sorted(file for file in FOLDER.glob("*.sql") if file != TABLES)
ORDERS = 7
VARIED = (
    "SELECT * FROM orders",
    "SELECT o.*, p.name FROM orders o JOIN (SELECT DISTINCT customer AS name FROM orders) p"
    " ON p.name = o.customer WHERE o.quantity > 1",
    "SELECT date_add('hour', 2, ordered_at) AS later, customer FROM orders ORDER BY 1 DESC LIMIT 3",
    "SELECT customer, row_number() OVER (PARTITION BY customer ORDER BY price) AS nth FROM orders"
    " QUALIFY nth <= 2",
    "SELECT customer AS c, count(*) AS n FROM orders GROUP BY c HAVING count(*) > 1",
    "SELECT date_trunc('hour', ordered_at) AS hour, sum(quantity) AS s FROM orders GROUP BY 1",
    "SELECT customer, (SELECT max(i.quantity) FROM orders i WHERE i.customer = o.customer) AS most"
    " FROM orders o WHERE EXISTS (SELECT 1 AS x FROM orders e WHERE e.quantity = o.quantity)",
    "SELECT customer, array_agg(quantity) AS all_of FROM orders GROUP BY customer",
    "SELECT customer, n FROM (SELECT customer, count(*) AS n FROM orders GROUP BY customer) q"
    " WHERE n > (SELECT avg(quantity) FROM orders)",
    "SELECT customer, count(*) AS n, rank() OVER (ORDER BY count(*), customer) AS r FROM orders"
    " GROUP BY customer",
    "SELECT l.twice, customer FROM orders o CROSS JOIN LATERAL (SELECT o.quantity * 2 AS twice) l",
    "SELECT a.customer, b.quantity FROM orders a, orders b"
    " WHERE a.order_id = b.order_id AND a.quantity > 2",
)
"""Queries that need each of the passes."""


def missing(order: Sequence[Pass]) -> list[str]:
    """What a pass needs and no earlier one gives."""
    given: set[str] = set()
    found = []
    for each in order:
        found += [f"{each.name} needs {need}" for need in each.needs if need not in given]
        given.update(each.gives)
    return found


def drawn(seed: int) -> tuple[Pass, ...]:
    """Another order in which everything that is needed is given."""
    rnd, left, given = Draw(f"order-{seed}"), list(PASSES), set[str]()
    order: list[Pass] = []
    while left:
        ready = [each for each in left if given.issuperset(each.needs)]
        order.append(rnd.choice(ready))
        left.remove(order[-1])
        given.update(order[-1].gives)
    return tuple(order)


TEXTS = [
    *(file.read_text(encoding="utf-8") for file in CASES),
    *(f"CREATE STREAMING VIEW v AS {query};" for query in VARIED),
]


def bound(text: str) -> list[object]:
    texts = {"tables": TABLES.read_text(encoding="utf-8"), "views": text}
    views = bind({name: parse(each, file=name) for name, each in texts.items()}).views
    return [(name, repr(view.query), view.fields, view.inputs) for name, view in views.items()]


def test_what_a_pass_needs_is_given_before() -> None:
    assert missing(PASSES) == []
    assert len({each.name for each in PASSES}) == len(PASSES)
    assert missing((*PASSES[1:], PASSES[0]))


@pytest.fixture(scope="module")
def right() -> list[list[object]]:
    return [bound(text) for text in TEXTS]


@pytest.mark.parametrize("seed", range(ORDERS))
def test_any_order_that_gives_what_is_needed_binds_alike(
    monkeypatch: pytest.MonkeyPatch, right: list[list[object]], seed: int
) -> None:
    order = drawn(seed)
    assert order != PASSES and missing(order) == []
    monkeypatch.setattr(passes, "PASSES", order)
    assert [bound(text) for text in TEXTS[seed::ORDERS]] == right[seed::ORDERS]


@pytest.mark.parametrize("name", ["stars", "date_add", "qualify", "merge", "ties", "lift groups"])
def test_the_test_sees_a_pass_that_is_left_out(
    monkeypatch: pytest.MonkeyPatch, right: list[list[object]], name: str
) -> None:
    rest = tuple(each for each in PASSES if each.name != name)
    monkeypatch.setattr(passes, "PASSES", rest)

    def differs(text: str, before: list[object]) -> bool:
        try:
            return bound(text) != before
        except HeadwaterError:
            return True

    assert any(map(differs, TEXTS, right))
