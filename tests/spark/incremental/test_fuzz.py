"""Queries that the fuzz found wrong once, in Spark, over the same tables and ticks as then."""

from __future__ import annotations

from random import Random

import pytest

from tests.fuzz.run import TICKS, Batch, View
from tests.fuzz.schemas import random_schema

FOUND = {
    "equal values of INT and BIGINT in a set operation": 0,
    "constraints of a correlated subquery below UNION ALL": 1,
}
CASES = (
    (
        "20261122-150",
        "((SELECT t0.c1 AS c0, t0.c0 AS c1 FROM (SELECT max_by(t2.k, cardinality(t2.items)) "
        "AS c0, cardinality(t2.items) AS c1, min_by(t0.k, t2.id) AS c2 FROM p t0 JOIN b t1 ON "
        "t0.f = t1.x FULL JOIN a t2 ON t0.id = t2.k AND t1.id >= t2.k GROUP BY "
        "cardinality(t2.items) ORDER BY c1, c0, c2 LIMIT 2) t0 ORDER BY c0 NULLS FIRST, c1 "
        "LIMIT 3) INTERSECT ALL SELECT DISTINCT t0.id AS c0, t0.f AS c1 FROM u t0) UNION ALL "
        "SELECT t0.id AS c0, CASE WHEN t0.c0 IS NULL THEN CAST(7 AS INTEGER) END AS c1 FROM p "
        "t0 RIGHT JOIN (SELECT DISTINCT coalesce(t0.x, 'none') AS c0 FROM b t0 JOIN c t1 ON "
        "t0.v = t1.id AND t0.id >= t1.x WHERE t0.x <> 'v') t1 ON t0.x = t1.c0 CROSS JOIN "
        "UNNEST(split(t1.c0, 'v')) AS t1u(v)",
    ),
    (
        "20261122-175",
        "SELECT t0.c0 AS c0 FROM (SELECT t0.c0 AS c0, (SELECT min_by(s1.x, s2.s) FROM u s0 "
        "JOIN a s1 ON s0.f = s1.x JOIN p s2 ON s1.n = s2.s AND s0.id < s2.c1 WHERE s2.id = "
        "t0.id AND (s1.x > DATE '2026-01-01' AND s2.unit IS NULL)) AS c1, t0.id AS c2 FROM u "
        "t0) t0 ORDER BY c0 NULLS FIRST LIMIT 4",
    ),
)
"""Seed of the tables and rows, and the query; the fuzz is run for new ones."""


@pytest.mark.parametrize("number", FOUND.values(), ids=[*FOUND])
def test_a_query_that_was_wrong_once_stays_right(spark, number: int) -> None:
    seed, query = CASES[number]
    schema = random_schema(Random(f"{seed}-schema"))
    batch = Batch(spark, f"found_{number}", schema, [View("v", query)])
    rnd = Random(f"{seed}-rows")
    for _ in range(TICKS):
        batch.tick(rnd)
        assert not batch.failed
