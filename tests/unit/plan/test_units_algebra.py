"""Affected groups as algebra: queries that were wrong once; how one that fails is made small."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from headwater.algebra.nodes import RowsRead
from headwater.plan.rules.join_patterns import LATERAL, PatternItem, patterns
from tests.algebra.query import wrong
from tests.fuzz import cases
from tests.fuzz.cases import Case, keep, kept, random_ticks, smallest
from tests.fuzz.schemas import Draw, random_schema
from tests.fuzz.shrink import shrink

TICKS = 10

KNOWN = [
    # what a row that an outer join leaves unmatched would be missed by
    "SELECT t0.x AS c0 FROM u t0 FULL JOIN c t1 ON t0.x = t1.id",
    "SELECT t1.k AS c0, count(*) AS c1 FROM a t0 LEFT JOIN u t1 ON t0.k = t1.k GROUP BY t1.k",
    "SELECT t2.k AS c0 FROM a t0 LEFT JOIN u t1 ON t0.k = t1.k"
    " LEFT JOIN b t2 ON coalesce(t1.x, 1) = t2.x",
    "SELECT t0.k AS c0 FROM a t0 WHERE t0.x NOT IN (SELECT s.x FROM u s)",
    "SELECT count(*) AS c0 FROM a t0 WHERE t0.x > (SELECT count(*) FROM u s WHERE s.k = t0.k)",
    "SELECT t0.k AS c0, coalesce(t0.k, 'none') AS c1 FROM u t0"
    " GROUP BY CUBE (t0.k, coalesce(t0.k, 'none'))",
    "SELECT t0.k AS c0 FROM u t0 GROUP BY CUBE (t0.k)",
    # several SELECTs that are one side of a set operation
    "(SELECT t0.x AS c0 FROM u t0 EXCEPT SELECT t0.x AS c0 FROM c t0 GROUP BY ROLLUP (t0.x))"
    " UNION ALL SELECT t0.x AS c0 FROM b t0",
    "(SELECT t0.k AS c0 FROM u t0 GROUP BY ROLLUP (t0.k) INTERSECT SELECT t0.k AS c0 FROM c t0)"
    " UNION ALL SELECT t0.k AS c0 FROM b t0",
    # what a subquery in the SELECT list says of a row, and of one that an outer join matched
    "SELECT DISTINCT t0.k AS c0, (SELECT max(s.x) FROM u s) AS c1 FROM a t0",
    "SELECT t0.k AS c0, count(*) OVER (PARTITION BY (SELECT max(s.x) FROM u s)) AS c1 FROM a t0",
    "SELECT t0.id AS c0, (SELECT count(*) FROM u s WHERE s.k = t1.k) AS c1"
    " FROM a t0 LEFT JOIN b t1 ON t1.id = t0.x",
    "SELECT t0.id AS c0 FROM a t0 WHERE EXISTS (SELECT 1 FROM u s WHERE s.x > 2)",
    "SELECT t0.id AS c0, t0.x NOT IN (SELECT s.x FROM u s WHERE s.x > 1) AS c1 FROM u t0",
    "SELECT t0.id AS c0, t0.x IN (SELECT s.x FROM u s UNION SELECT s.id FROM b s) AS c1 FROM a t0",
    "SELECT t0.id AS c0, t0.x IN (SELECT s.x FROM u s WHERE s.k = t0.k) AS c1 FROM a t0",
    "SELECT t0.id AS c0 FROM a t0 WHERE (t0.x IN (SELECT s.x FROM u s)) IS NULL",
    # what a subquery says of groups
    "SELECT t0.k AS c0, count(*) AS c1 FROM u t0 GROUP BY t0.k"
    " HAVING count(*) NOT IN (SELECT s.x FROM u s WHERE s.x IS NOT NULL)",
    "SELECT t0.k AS c0, count(*) AS c1 FROM a t0 GROUP BY t0.k"
    " HAVING count(*) > (SELECT count(*) FROM u s WHERE s.k = t0.k)",
    "SELECT t0.k AS c0, EXISTS (SELECT 1 FROM u s WHERE s.k = t0.k) AS c1,"
    " sum(count(*)) OVER (ORDER BY t0.k) AS c2 FROM a t0 GROUP BY t0.k",
    "SELECT count(*) AS c0, max(t0.x) IN (SELECT s.x FROM u s) AS c1 FROM a t0",
    "SELECT t0.k AS c0, min(t0.x) AS c1 FROM a t0 GROUP BY t0.k HAVING t0.k IN"
    " (SELECT s.k FROM u s GROUP BY s.k HAVING count(*) IN (SELECT r.x FROM b r))",
    # named windows, and what passes over NULL
    "SELECT t0.id AS c0, lag(t0.x IGNORE NULLS) OVER (w ORDER BY t0.id) AS c1,"
    " first_value(t0.x IGNORE NULLS) OVER v AS c2, count(*) OVER w AS c3 FROM a t0"
    " WINDOW w AS (PARTITION BY t0.k), v AS (w ORDER BY t0.id DESC)",
    # joins after UNNEST, one of a subquery that has an alias of its own t0; none
    "SELECT t.v AS c0, count(s.x) AS c1 FROM u t0 CROSS JOIN UNNEST(split(t0.k, ',')) AS t(v)"
    " FULL JOIN b s ON s.k = t.v GROUP BY t.v",
    "SELECT t0.id AS c0, s.x AS c1, r.x AS c2 FROM u t0 CROSS JOIN UNNEST(split(t0.k, ',')) AS t(v)"
    " LEFT JOIN u s ON s.k = t.v AND s.x > t0.x CROSS JOIN UNNEST(split(s.k, ',')) AS w(v)"
    " LEFT JOIN b r ON r.k = w.v",
    "SELECT t0.id AS c0, s.c1 AS c1 FROM u t0 CROSS JOIN UNNEST(split(t0.k, ',')) AS t(v)"
    " JOIN (SELECT t0.x AS c0, count(*) AS c1 FROM b t0 GROUP BY t0.x) s ON s.c0 = t0.x",
    "SELECT t.v AS c0, w.v AS c1 FROM u t0 CROSS JOIN UNNEST(split(t0.k, ',')) AS t(v)"
    " CROSS JOIN UNNEST(split(t.v, 'v')) AS w(v)",
    # an UNNEST in a subquery has the alias of one around it
    "SELECT t0.id AS c0 FROM a t0 CROSS JOIN UNNEST(split(t0.k, ',')) AS t(v) WHERE EXISTS"
    " (SELECT 1 FROM u s CROSS JOIN UNNEST(split(s.k, ',')) AS t(w) WHERE t.w = t0.k)",
    # sets as one side of a set operation
    "(SELECT t0.x AS c0, t0.k AS c1 FROM a t0 INTERSECT ALL SELECT t0.x, max(t0.k) FROM b t0"
    " GROUP BY ROLLUP (t0.x)) EXCEPT ALL SELECT t0.id, t0.k FROM c t0",
    # what a FILTER says of rows, of which every key is known
    "SELECT t0.k AS c0, count(*) FILTER (WHERE t0.k = 'u') AS c1 FROM u t0 GROUP BY CUBE (t0.k)",
    "SELECT count(*) AS c0 FROM u t0 UNION ALL SELECT count(*) FROM a t0 WHERE t0.x > 100",
    # what a subquery says of a row that is there without any row of FROM
    "SELECT (SELECT count(*) FROM u s0) AS c0, max(t0.f) AS c1 FROM c t0",
    "SELECT max(t0.x) AS c0 FROM c t0 WHERE t0.x > 100 HAVING (SELECT count(*) FROM u s0) > 1",
    # IN takes its value from the optional side of a join within the subquery
    "SELECT t0.k AS c0 FROM u t0 WHERE t0.x NOT IN"
    " (SELECT s0.id FROM c s0 RIGHT JOIN c s1 ON s0.id = s1.id WHERE s1.x = t0.x)",
    "SELECT t0.k AS c0 FROM a t0 WHERE t0.x IN"
    " (SELECT s1.x FROM b s0 LEFT JOIN u s1 ON s0.x = s1.x WHERE s0.k = t0.k)",
    # a scalar subquery beside grouping sets had no name
    "SELECT t0.k AS c0, (SELECT min(s0.f) FROM u s0) AS c1 FROM a t0 GROUP BY ROLLUP (t0.k)",
    # the sets together are one side of a set operation
    "(SELECT t0.k AS c0, t0.x AS c1 FROM b t0 INTERSECT ALL"
    " SELECT t0.k AS c0, count(DISTINCT t0.f) AS c1 FROM u t0 GROUP BY CUBE (t0.k))"
    " UNION ALL SELECT t0.k AS c0, t0.x AS c1 FROM c t0",
    # FILTER looks at rows, in which a key is there that the set has not
    "SELECT min(t0.f) FILTER (WHERE t0.x IS NOT NULL) AS c0 FROM u t0 GROUP BY ROLLUP (t0.x)",
    # LATERAL: aggregates of no rows, first rows, groups, windows and values of each row
    "SELECT t0.id AS c0, l.n AS c1, l.m AS c2 FROM a t0 CROSS JOIN LATERAL (SELECT"
    " count(s.x) + t0.x AS n, max(s.x) FILTER (WHERE s.id > 1) AS m FROM u s WHERE s.k = t0.k) l",
    "SELECT t0.id AS c0, l.x AS c1 FROM u t0 LEFT JOIN LATERAL"
    " (SELECT * FROM b s WHERE s.k = t0.k ORDER BY s.x DESC, id LIMIT 2) l ON TRUE",
    "SELECT t0.id AS c0, l.x AS c1 FROM a t0, LATERAL"
    " (SELECT s.x FROM u s WHERE s.k = t0.k ORDER BY s.x LIMIT 1 OFFSET 1) l",
    "SELECT t0.id AS c0, l.k AS c1, l.n AS c2 FROM a t0 JOIN LATERAL (SELECT s.k, count(*) AS x"
    " FROM u s WHERE t0.x = s.x GROUP BY s.k ORDER BY x DESC, 1 LIMIT 1) l (k, n) ON l.n > 1",
    "SELECT t0.id AS c0, l.n AS c1 FROM a t0, LATERAL"
    " (SELECT row_number() OVER (ORDER BY s.x, s.id) AS n FROM b s WHERE s.k = t0.k) l",
    "SELECT t0.id AS c0, l.x AS c1 FROM a t0, LATERAL (SELECT DISTINCT x FROM u WHERE k = t0.k) l",
    "SELECT t0.id AS c0, l.id AS c1 FROM a t0 JOIN LATERAL (SELECT id FROM u"
    " WHERE t0.x > 0 AND (u.x = t0.x OR u.k = t0.k)) l ON l.id <> t0.id",
    "SELECT m.y AS c0, n.z AS c1, count(*) AS c2 FROM a t0, LATERAL (SELECT t0.x + 1 AS y) m,"
    " LATERAL (SELECT count(*) AS z FROM u WHERE u.x = m.y) n GROUP BY m.y, n.z",
    "SELECT t0.id AS c0, l.n AS c1 FROM a t0, LATERAL (SELECT count(*) + t0.x AS n FROM u) l",
    "SELECT t0.id AS c0 FROM u t0, LATERAL (SELECT t0.x + 1 AS y) l"
    " WHERE EXISTS (SELECT 1 FROM b WHERE b.x = l.y)",
    # the name of an output that what stands before has too, and one within another
    "SELECT t0.z AS c0, l.z AS c1 FROM (SELECT k, id AS z FROM a) t0 LEFT JOIN LATERAL"
    " (SELECT s.x AS z FROM b s WHERE s.k = t0.k ORDER BY z DESC LIMIT 2) l ON TRUE",
    "SELECT t0.z AS c0, l.z AS c1 FROM (SELECT k, id AS z FROM a) t0, LATERAL"
    " (SELECT s.x AS z FROM b s ORDER BY z LIMIT 1) l",
    "SELECT t0.id AS c0, l.n AS c1 FROM a t0, LATERAL (SELECT m.n FROM b s,"
    " LATERAL (SELECT count(*) + s.x AS n FROM u WHERE u.k = s.k) m WHERE s.k = t0.k) l",
    "SELECT t0.id AS c0, l.id AS c1 FROM a t0 LEFT JOIN LATERAL (SELECT m.id FROM b s JOIN"
    " LATERAL (SELECT id FROM u WHERE u.x = s.x ORDER BY id LIMIT 2) m ON TRUE"
    " WHERE s.k = t0.k ORDER BY m.id DESC LIMIT 1) l ON TRUE",
    "SELECT t0.id AS c0, l.n AS c1 FROM a t0, LATERAL (SELECT max(m.y) AS n FROM b s, LATERAL"
    " (SELECT s.x + 1 AS y) m WHERE s.k = t0.k) l",
]


@pytest.mark.parametrize("text", KNOWN)
def test_a_query_that_was_wrong_once_stays_right(text: str) -> None:
    assert wrong(Case(text, random_ticks(Draw(len(text)), TICKS))) == ""


@pytest.mark.parametrize("case", kept(), ids=lambda case: case.query[:60])
def test_a_case_that_the_fuzz_kept_stays_right(case: Case) -> None:
    assert wrong(case) == "", case


def test_the_test_sees_a_unit_that_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "headwater.plan.rules.affected_groups.patterns",
        lambda sides, unused=(): tuple(
            [p for p in found if all(part.null_after is None for part in p)]
            for found in patterns(sides, unused)
        ),
    )
    tried = [Case(text, random_ticks(Draw(seed))) for text in KNOWN[:2] for seed in range(5)]
    assert any(map(wrong, tried))


def test_patterns_of_an_inner_join_replace_one_item_each() -> None:
    _, touched = patterns(["", "", LATERAL])
    change, any_ = PatternItem(RowsRead.CHANGE), PatternItem(RowsRead.ANY)
    assert touched == [(change, any_, any_), (any_, change, any_)]


def test_a_query_shrinks_to_what_makes_it_fail() -> None:
    text = (
        "SELECT q.c0 AS c0, a.k AS c1 FROM (SELECT t0.k AS c0 FROM b t0 FULL JOIN c t1"
        " ON t0.k = t1.k AND t0.x > t1.x WHERE t0.x > 1) q JOIN a ON a.k = q.c0 WHERE a.x > 1"
    )
    small = shrink(text, lambda candidate: "FULL JOIN" in candidate)
    assert small == "SELECT t0.k AS c0 FROM b AS t0 FULL JOIN c AS t1 ON t0.k = t1.k"
    text = (
        "SELECT max(t0.x) FILTER (WHERE t0.k = 'v') OVER (PARTITION BY t0.k, t0.x) AS c0 FROM a t0"
    )
    small = shrink(text, lambda candidate: "OVER" in candidate and "MAX(" in candidate)
    assert small == "SELECT MAX(t0.x) OVER () AS c0 FROM a AS t0"


def test_the_rows_of_a_case_shrink_to_those_that_make_it_fail() -> None:
    case = Case("SELECT t0.k AS c0 FROM a t0 WHERE t0.x > 1", random_ticks(Draw(3)))

    def fails(candidate: Case) -> bool:
        *_, last = ({name: [*rows] for name, rows in held.items()} for held in candidate.contents())
        return any(x == 2 for _, _, x, _ in last["a"]) and bool(last["u"])

    assert fails(case)
    small = smallest(case, fails)
    assert small.query == "SELECT t0.k AS c0 FROM a AS t0"
    assert len(small.ticks) == 1
    assert [len(rows) for name, rows in sorted(small.ticks[0].items())] == [1, 0, 0, 0, 1]


def test_a_case_that_is_kept_comes_back_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cases, "KEPT", tmp_path / "kept.jsonl")
    case = Case("SELECT t0.f AS c0 FROM u t0", random_ticks(Draw(4)))
    keep(case)
    keep(case)
    assert [repr([*each.contents()]) for each in kept()] == [repr([*case.contents()])] * 2
    keep(replace(case, query="SELECT t0.id AS c0 FROM u t0", schema=random_schema(Draw(4))))
    assert kept()[-1].schema == random_schema(Draw(4))
