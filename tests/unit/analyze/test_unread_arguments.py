"""No argument of a parsed view is left unread: it changes what is bound, or the view is refused."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest
from sqlglot import exp

from headwater.analyze.definitions import Catalog
from headwater.analyze.project import bind, bind_all
from headwater.analyze.rules import read_clauses
from headwater.dialect import parse, parse_all, syntax
from tests.accepted.corpus import projects
from tests.fuzz.odd_shapes import DECLARED, texts
from tests.support.unread import Part, outcome, unread

TABLES = "".join(
    f"CREATE TABLE {name} (x BIGINT, y BIGINT, z VARCHAR, xs ARRAY(BIGINT), ts TIMESTAMP,"
    " WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)"
    f" WITH (connector = 'files', path = '{name}') FORMAT PLAIN ENCODE JSON;\n"
    for name in ("g", "h")
)
SHAPES, PER_SHAPE, PER_VIEW, SHARE = 12, 20, 3, 0.07

REFUSED = """
SELECT x FROM g TABLESAMPLE BERNOULLI (10)
SELECT x FROM (SELECT x FROM g) TABLESAMPLE BERNOULLI (10)
SELECT g.x FROM (g JOIN h ON g.x = h.x) TABLESAMPLE BERNOULLI (10)
(SELECT x FROM g) TABLESAMPLE BERNOULLI (10)
SELECT x FROM g FOR UPDATE
SELECT x FROM (SELECT x FROM g FOR SHARE) AS q
SELECT x FROM g ORDER BY x LIMIT 10 PERCENT
SELECT x FROM g ORDER BY x LIMIT 1 BY x
(SELECT x FROM g) WHERE x > 1
(SELECT x FROM g) GROUP BY x
SELECT x FROM (g WHERE x > 1)
SELECT x FROM (g ORDER BY x)
SELECT * ILIKE 'x%' FROM g
SELECT * RENAME (x AS q) FROM g
SELECT x FROM g WITH ORDINALITY
SELECT x FROM g SORT BY x
SELECT x FROM g CLUSTER BY x
SELECT x FROM g DISTRIBUTE BY x
SELECT x FROM g START WITH x = 1 CONNECT BY PRIOR x = y
SELECT AS STRUCT x FROM g
SELECT z COLLATE de AS z FROM g
SELECT x FROM g WHERE x BETWEEN SYMMETRIC 3 AND 1
SELECT x FROM g UNION ALL BY NAME SELECT x FROM h
SELECT sum(x) OVER (ORDER BY ts ROWS 1 PRECEDING EXCLUDE TIES) AS n FROM g
SELECT listagg(z, ',' ON OVERFLOW ERROR) WITHIN GROUP (ORDER BY x) AS n FROM g
SELECT CAST(x AS VARCHAR FORMAT 'YYYY') AS d FROM g
SELECT x FROM g FOR VERSION AS OF 3
SELECT x FROM g PIVOT (sum(x) FOR y IN (1))
SELECT x FROM g ORDER BY w
SELECT x FROM g ORDER BY 2
SELECT y, count(*) AS n FROM g GROUP BY y ORDER BY sum(w), n
SELECT x, y FROM g UNION SELECT y, x FROM g ORDER BY w
SELECT x FROM (SELECT x FROM g ORDER BY w) AS q
SELECT x FROM g WHERE EXISTS (SELECT y FROM h WHERE h.x = g.x ORDER BY w)
"""

READ = """
SELECT x FROM g ORDER BY x FETCH FIRST 2 ROWS WITH TIES
SELECT x FROM g ORDER BY x DESC NULLS FIRST LIMIT 2 OFFSET 1
SELECT x FROM (SELECT x FROM g ORDER BY x LIMIT 3) ORDER BY x DESC LIMIT 1
(SELECT x FROM g) ORDER BY x LIMIT 1
SELECT x FROM g QUALIFY row_number() OVER (PARTITION BY x ORDER BY y) = 1
SELECT count(*) FILTER (WHERE x > 1) AS n, sum(DISTINCT y) AS m FROM g
SELECT first_value(x) IGNORE NULLS OVER (PARTITION BY y ORDER BY ts) AS n FROM g
SELECT sum(x) OVER w AS n FROM g WINDOW w AS (PARTITION BY y ORDER BY ts)
SELECT DISTINCT ON (x) x, y FROM g ORDER BY y, z
SELECT listagg(z, ',') WITHIN GROUP (ORDER BY x) AS n, array_agg(y ORDER BY x DESC) AS m FROM g
SELECT n FROM g CROSS JOIN UNNEST(xs) WITH ORDINALITY AS u (e, n)
SELECT a FROM g AS t (a, b, c, d, e)
SELECT w.s FROM TUMBLE(g, ts, INTERVAL '1' HOUR) AS w (a, b, c, d, e, s, t)
SELECT a.x, l.q FROM g a LEFT JOIN LATERAL (SELECT b.y AS q FROM h b WHERE b.x = a.x) l ON l.q > 1
WITH a AS (SELECT x, ts FROM g) SELECT h.x FROM h JOIN a FOR SYSTEM_TIME AS OF h.ts v ON v.x = h.x
SELECT x FROM g WHERE z LIKE 'a!_' ESCAPE '!' AND z NOT LIKE 'b%'
SELECT * EXCEPT (x, xs) REPLACE (y + 1 AS y) FROM g
SELECT x FROM g INTERSECT ALL SELECT x FROM h
SELECT TRIM(LEADING 'a' FROM z) AS d, lag(x, 1, 0) OVER (ORDER BY ts) AS e FROM g
SELECT g.y AS p, h.y AS q FROM g LEFT JOIN (h JOIN g k USING (x)) USING (x)
SELECT x AS n FROM g ORDER BY n DESC, g.y
SELECT y, sum(x) AS n FROM g GROUP BY ROLLUP (y) ORDER BY n, 1
SELECT x, y FROM g UNION SELECT y, x FROM g ORDER BY 1, y
SELECT v.p FROM g RIGHT JOIN ((VALUES (1, 2)) AS v (p, q)) ON g.x = v.q
"""

CLAUSES = frozenset(kind.__name__ for kind in read_clauses.READ)
NAMES = {
    *("Identifier.this", "Column.table", "Table.alias", "Values.alias", "Alias.this"),
    *("TableAlias.this", "TableAlias.columns"),
}
"""Names that nobody has to mention: of what is not read, or of what is the only one there is."""


def view(text: str) -> syntax.CreateStreamingView:
    (found,) = parse(f"CREATE STREAMING VIEW v AS {text}")
    assert isinstance(found, syntax.CreateStreamingView)
    return found


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return bind({"tables.sql": parse(TABLES)})


def shown(found: list[Part]) -> list[str]:
    """What is unread, but for names, keys that are there twice and outputs that nobody reads."""
    kept = [each for each in found if ".".join(each.name) not in NAMES]
    return [f"{'.'.join(each.name)}: {each.text}" for each in kept if not _is_listed(each)]


def _is_listed(part: Part) -> bool:
    key = part.name == ("Group", "expressions") and part.at is not None
    if part.name[1] == "joins" and "Lateral" in part.text:
        return True  # one row, of which nothing is read
    return key or part.name == ("Select", "expressions") and bool(part.path)


@pytest.mark.parametrize("text", REFUSED.strip().splitlines())
def test_what_nobody_reads_is_refused(text: str, catalog: Catalog) -> None:
    statements, errors = parse_all(f"CREATE STREAMING VIEW v AS {text}")
    if not errors:
        (statement,) = statements
        assert isinstance(statement, syntax.CreateStreamingView)
        assert isinstance(outcome(statement, catalog), list)


@pytest.mark.parametrize("text", READ.strip().splitlines())
def test_every_argument_changes_what_is_bound(text: str, catalog: Catalog) -> None:
    statement = view(text)
    assert isinstance(outcome(statement, catalog), tuple)
    assert shown(unread(statement, catalog, Random(text), most=10_000)) == []


def test_arguments_of_odd_shapes_are_read() -> None:
    tables, rnd = bind({"tables.sql": parse(DECLARED)}), Random("shapes")
    found = [
        (text, part)
        for text in islice(texts(97), SHAPES)
        for part in shown(unread(view(text), tables, rnd, PER_SHAPE))
    ]
    assert found == []


def _views() -> Iterator[tuple[syntax.CreateStreamingView, Catalog]]:
    for project in projects(0):
        statements, _ = parse_all(project.text)
        tables, _ = bind_all({project.name: statements})
        for each in statements:
            if isinstance(each, syntax.CreateStreamingView) and each.this.name in tables.views:
                yield each, tables


def test_arguments_of_accepted_views_are_read() -> None:
    rnd, tried, found = Random("views"), 0, []
    for statement, tables in _views():
        if rnd.random() < SHARE and isinstance(outcome(statement, tables), tuple):
            tried += 1
            for part in shown(unread(statement, tables, rnd, PER_VIEW, only=CLAUSES)):
                found.append((statement.this.name, part))
    assert found == []
    assert tried > 50


def test_distinct_of_group_by_is_read(catalog: Catalog) -> None:
    text = "SELECT y, sum(x) AS n FROM g GROUP BY {} ROLLUP (y), CUBE (y, z)"
    plain, distinct = (outcome(view(text.format(word)), catalog) for word in ("", "DISTINCT"))
    assert isinstance(distinct, tuple)
    assert str(plain).count("Union") > str(distinct).count("Union") == 3


def test_an_argument_that_a_pass_forgets_is_seen(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "SELECT x FROM (SELECT x FROM g) TABLESAMPLE BERNOULLI (10)"
    more = {exp.Subquery: read_clauses.READ[exp.Subquery] | {"sample"}}
    monkeypatch.setattr(read_clauses, "READ", {**read_clauses.READ, **more})
    found = shown(unread(view(text), catalog, Random(1), most=10_000))
    assert any(each.startswith("Subquery.sample") for each in found)
