"""Moves: which trees the watermark alone can change, wherever the clock is asked."""

from __future__ import annotations

import pytest
from sqlglot import exp

from headwater.algebra.nodes import from_bottom
from headwater.algebra.properties.moves import moves, shows_watermark
from tests.unit.algebra.test_appends import TABLES, root_of
from tests.unit.algebra.test_keys import CASES as EVERY_KIND
from tests.unit.algebra.test_keys import TABLES as TABLES_OF_EVERY_KIND

DAY = "INTERVAL '1' DAY"
SHOWS = """
SELECT id, watermark() AS reached FROM t
SELECT t.id, u.k AS o FROM t LEFT JOIN u ON t.k = u.k AND u.id > hour(watermark())
SELECT k, max(date_diff('second', ts, watermark())) AS n FROM t GROUP BY k
SELECT id, sum(hour(watermark())) OVER (PARTITION BY k) AS n FROM t
SELECT id, u.e FROM t CROSS JOIN UNNEST(ARRAY[hour(watermark())]) AS u (e)
"""
AGES = f"""
SELECT id FROM t WHERE ts > watermark() - {DAY}
SELECT id, ts > watermark() - {DAY} AS recent FROM t
SELECT k, count(*) FILTER (WHERE ts > watermark() - {DAY}) AS n FROM t GROUP BY k
SELECT k, max(ts) AS n FROM t GROUP BY k HAVING max(ts) < watermark() - {DAY}
"""
STANDS = """
SELECT id, ts FROM t WHERE ts > TIMESTAMP '2024-01-01'
SELECT id FROM (SELECT id, watermark() AS unread FROM t) AS q
"""


@pytest.mark.parametrize("select", SHOWS.strip().splitlines())
def test_a_value_of_the_clock_moves(select: str) -> None:
    root = root_of(select, TABLES)
    assert shows_watermark(root)
    assert moves(root)


@pytest.mark.parametrize("select", AGES.strip().splitlines())
def test_rows_of_an_age_move_without_showing_the_clock(select: str) -> None:
    root = root_of(select, TABLES)
    assert not shows_watermark(root)
    assert moves(root)


@pytest.mark.parametrize("select", STANDS.strip().splitlines())
def test_what_does_not_ask_the_clock_stands(select: str) -> None:
    assert not moves(root_of(select, TABLES))


def test_the_scalars_of_a_node_are_those_that_it_was_made_of() -> None:
    """Each column that a node computes has its value among them."""
    for select, _ in EVERY_KIND:
        for node in from_bottom(root_of(select, TABLES_OF_EVERY_KIND)):
            made = [each.value for each in getattr(node, "outputs", ())]
            made += [each.value for each in getattr(node, "measures", ())]
            made += [each.value for each in getattr(node, "calls", ())]
            assert all(any(value is each for each in node.scalars) for value in made)
            assert not any(isinstance(each, exp.DataType) for each in node.scalars)
