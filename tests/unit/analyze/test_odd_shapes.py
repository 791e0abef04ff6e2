"""FROM clauses that are odd but legal: our SELECT at rest and the author's own text are equal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

import duckdb
import pytest
from sqlglot import exp

from headwater.analyze.ddl import views
from headwater.analyze.shapes import bracketed_joins
from tests.fuzz.odd_shapes import compare, open_tables, ours, texts

RANDOM = 300

WRITTEN = """
SELECT a, y FROM ((SELECT x AS a FROM g) s JOIN h ON s.a = h.x)
SELECT count(*) AS n FROM ((SELECT x AS a FROM g) CROSS JOIN (SELECT z FROM h))
SELECT a, y FROM (((SELECT x AS a FROM g) CROSS JOIN h))
SELECT count(*) AS n FROM ((SELECT 'foo') RIGHT JOIN (SELECT x FROM g) ON true)
SELECT a.x AS p, c.y AS q FROM ((g a JOIN h b ON a.x = b.x) JOIN k c ON c.x = a.x)
SELECT c.y AS p, d.z AS q FROM ((g a JOIN h b ON a.x = b.x) LEFT JOIN k c ON c.x = a.x) CROSS JOIN h d
SELECT g.y AS p, h.y AS q FROM ((g JOIN h ON g.x = h.x))
SELECT k.x AS p, a3.x AS q FROM ((g a2 RIGHT JOIN h a3 ON a2.x = a3.x)) LEFT JOIN (((k))) ON a2.x = k.x
SELECT a.x AS p, c.y AS q FROM g a JOIN (h b LEFT JOIN k c ON b.x = c.x) ON a.x = b.x AND c.x IS NULL
SELECT a.x AS p, b.x AS q FROM g a LEFT JOIN (h b JOIN k c ON b.x = c.x) ON a.x = b.x
SELECT a.x AS p, c.x AS q FROM g a FULL JOIN (h b LEFT JOIN k c ON b.x = c.x) ON a.x = b.x
SELECT a.x AS p, b.x AS q FROM g a LEFT JOIN h b JOIN k c ON b.x = c.x ON a.x = b.x
SELECT a.x AS p, b.y AS q FROM g a, (h b JOIN k c ON b.x = c.x) RIGHT JOIN h d ON c.x = d.x
SELECT a.x AS p FROM g a JOIN (h b JOIN (SELECT x AS e, y AS f FROM k) c ON e = b.x) ON a.x = f
SELECT x AS p, g.y AS q, h.y AS r, k.y AS s FROM g FULL JOIN (h FULL JOIN k USING (x)) USING (x)
SELECT x AS p, g.y AS q, h.y AS r, k.y AS s FROM (g RIGHT JOIN h USING (x)) FULL JOIN k USING (x)
SELECT x AS p, y AS q FROM (g NATURAL LEFT JOIN h) NATURAL FULL JOIN k
SELECT x AS p FROM g NATURAL JOIN (h NATURAL JOIN k)
SELECT j.p AS c, j.w AS d FROM (g a LEFT JOIN h b USING (x)) AS j (p, q, r, v, w)
SELECT * FROM (g a JOIN h b ON a.x = b.x) AS j
SELECT d.* FROM g a LEFT JOIN (k c JOIN h d ON c.x = d.x) ON a.x = c.x
SELECT a.x AS c FROM (((((((g a)))))))
SELECT a.p AS c FROM ((g AS a (p, q, r)))
SELECT * FROM (((((((SELECT x FROM g) a)) JOIN (((h b))) USING (x)))))
SELECT p FROM ((VALUES (1, 2)) AS v (p, q))
SELECT a.x AS c, v.p AS d FROM g a RIGHT JOIN (VALUES (1), (7)) AS v (p) ON a.x = v.p
SELECT a.x AS c, v.p AS d FROM g a FULL JOIN (VALUES (1), (7), (7)) AS v (p) ON a.x = v.p
SELECT a.y AS c, v.q AS d FROM g a NATURAL LEFT JOIN (VALUES (1, 2), (2, 7)) AS v (x, q)
SELECT * FROM (VALUES (1, 'a'), (2, 'b'))
VALUES (1, 'a'), (2, 'b')
SELECT x, z FROM g UNION ALL VALUES (1, 'a')
SELECT p FROM (SELECT x AS o, y FROM g ORDER BY o, y LIMIT 2) AS s (p, q)
SELECT u.x AS p FROM ((SELECT x FROM g ORDER BY x LIMIT 3) ORDER BY x DESC LIMIT 1) AS u
SELECT u.x AS p FROM (SELECT x FROM g EXCEPT (SELECT x FROM h UNION ALL SELECT x FROM k)) u
WITH w AS (SELECT x FROM g) SELECT a.p AS c FROM h LEFT JOIN (w a (p) JOIN (w) b ON a.p = b.x) ON h.x = a.p
SELECT a.x AS p FROM g a WHERE EXISTS (SELECT 1 FROM (h b LEFT JOIN k c ON b.x = c.x) WHERE b.x = a.x)
SELECT c.x AS o, (SELECT max(h.y) FROM h WHERE h.x = c.x) AS m FROM g a LEFT JOIN (k c JOIN h d ON c.x = d.x) ON a.x = c.x
SELECT c.x AS p, count(*) AS n FROM g a LEFT JOIN (k c JOIN h d ON c.x = d.x) ON a.x = c.x GROUP BY c.x
SELECT a.x AS c, l.w AS d FROM g a CROSS JOIN LATERAL (SELECT coalesce(a.x, 0) AS w) l RIGHT JOIN h b ON a.x = b.y
SELECT b.x AS c, l.w AS d FROM g a LEFT JOIN LATERAL (SELECT 1 AS w) l ON true FULL JOIN h b ON l.w = b.y
SELECT a.x AS c, l.e AS d FROM h b LEFT JOIN (g a CROSS JOIN UNNEST(ARRAY[a.x, 1]) AS l (e)) ON a.x = b.y
SELECT 7 AS p FROM h a, UNNEST(ARRAY[1, 2]) AS u (e) FULL JOIN k b ON u.e = b.x
SELECT y AS p, count(*) AS n FROM g GROUP BY ROLLUP (y)
"""


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with open_tables() as connection:
        yield connection


@pytest.mark.parametrize("text", WRITTEN.strip().splitlines())
def test_a_written_shape_means_what_it_says(text: str, duck: duckdb.DuckDBPyConnection) -> None:
    assert compare(duck, text) == ("equal", "")


def test_random_shapes_mean_what_they_say(duck: duckdb.DuckDBPyConnection) -> None:
    outcomes, wrong = Counter[str](), []
    for text in islice(texts(41), RANDOM):
        outcome, why = compare(duck, text)
        outcomes[outcome] += 1
        if outcome == "wrong":
            wrong.append(f"{text}\n{why}")
    assert not wrong, "\n".join(wrong)
    assert outcomes["equal"] > RANDOM * 0.97


def without_joins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plant the fault of a reader that forgets the joins of a subquery in brackets."""
    right = bracketed_joins._opened

    def forgetful(node: exp.Expr) -> tuple[exp.Expr, list[exp.Join]]:
        if isinstance(node, exp.Subquery):
            node.set("joins", None)
        return right(node)

    monkeypatch.setattr(bracketed_joins, "_opened", forgetful)


def test_a_table_that_is_lost_is_refused(
    duck: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_joins(monkeypatch)
    text = "SELECT a.x AS p FROM ((g a JOIN h b ON a.x = b.x) JOIN k c ON c.x = a.x)"
    assert compare(duck, text) == ("refused", "NOT_YET not supported: this table where it stands")


def test_the_oracle_sees_joins_that_are_lost(
    duck: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_joins(monkeypatch)
    monkeypatch.setattr(views, "lost_tables", lambda *_: None)
    outcomes = [compare(duck, text)[0] for text in islice(texts(41), 60)]
    assert "wrong" in outcomes


def test_names_of_other_tables_do_not_reach_into_brackets() -> None:
    text = "SELECT a.x AS p FROM g a JOIN (h JOIN (SELECT y AS w FROM k) c ON x = w) ON a.x = h.y"
    assert '"h"."x" = ' in ours(text)
