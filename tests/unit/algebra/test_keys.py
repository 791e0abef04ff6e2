"""Keys: of every kind of node, which columns no two of its rows share."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from headwater.algebra.nodes import Node, from_bottom
from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.plan.planner import plan_project
from tests.accepted.in_algebra import differences, shared_keys
from tests.support.author_text import open_oracle

PLACE = "WITH (connector = 'files', path = '{}') FORMAT {} ENCODE JSON"
TABLES = "".join(
    f"CREATE TABLE {name} (id BIGINT, x BIGINT, v DOUBLE, k VARCHAR, ts TIMESTAMP WITH TIME ZONE,"
    f" WATERMARK FOR ts AS ts {key}) {PLACE.format(name, kind)};\n"
    for name, key, kind in (
        ("log", "", "PLAIN"),
        ("a", ", PRIMARY KEY (id)", "UPSERT"),
        ("b", ", PRIMARY KEY (id)", "UPSERT"),
        ("ab", ", PRIMARY KEY (id, x)", "UPSERT"),
    )
)
CASES: list[tuple[str, str]] = [
    ("SELECT id, x FROM log", "none"),
    ("SELECT id, x FROM a", "id"),
    ("SELECT x FROM a", "none"),
    ("SELECT id AS one, id AS other FROM a", "one"),
    ("SELECT id, x FROM a WHERE x > 1", "id"),
    ("SELECT id, v FROM ab WHERE x = 1", "id"),
    ("SELECT id, x, v FROM ab WHERE id = x", "id"),
    ("SELECT x, v FROM ab WHERE id = x", "x"),
    ("SELECT x, count(*) AS n FROM log GROUP BY x", "x"),
    ("SELECT x, x + 1 AS y, count(*) AS n FROM log GROUP BY x, x + 1", "x"),
    ("SELECT v, 1 / v AS w, count(*) AS n FROM log GROUP BY v, 1 / v", "v w"),  # 0.0 and -0.0
    ("SELECT x, count(*) AS n FROM log GROUP BY x, k", "none"),
    ("SELECT id, x, count(*) AS n FROM a GROUP BY id, x", "id"),
    ("SELECT id, upper(k) AS u, count(*) AS n FROM a GROUP BY id, upper(k)", "id"),
    ("SELECT count(*) AS n FROM log", ""),
    ("SELECT DISTINCT x, k FROM log", "x k"),
    ("SELECT DISTINCT id, k FROM a", "id"),
    ("SELECT a.id, b.x FROM a JOIN b ON a.id = b.id", "id"),
    ("SELECT b.id, a.x FROM a JOIN b ON a.id = b.id", "id"),
    ("SELECT a.id, b.v FROM a JOIN b ON a.x = b.id", "id"),
    ("SELECT a.id AS one, b.id AS two FROM a JOIN b ON a.x = b.x", "one two"),
    ("SELECT a.id, b.x FROM a JOIN b ON a.x = b.x", "none"),
    ("SELECT log.id, b.x FROM log JOIN b ON log.x = b.id", "none"),
    ("SELECT a.id, ab.v FROM a LEFT JOIN ab ON a.id = ab.id AND a.x = ab.x", "id"),
    ("SELECT a.id, ab.x, ab.v FROM a LEFT JOIN ab ON a.id = ab.id", "id x"),
    (
        "SELECT x, v, count(*) AS n FROM (SELECT a.x, log.v FROM a JOIN log"
        " ON CAST(a.x AS DOUBLE) = log.v) GROUP BY x, v",
        "x v",
    ),
    ("SELECT b.id, a.x FROM a LEFT JOIN b ON a.id = b.id", "none"),
    ("SELECT a.id AS one, b.id AS two FROM a FULL JOIN b ON a.id = b.id", "one two"),
    ("SELECT id, x FROM a WHERE x IN (SELECT x FROM log)", "id"),
    ("SELECT id, x FROM a WHERE NOT EXISTS (SELECT 1 FROM log WHERE log.x = a.x)", "id"),
    ("SELECT id, x IN (SELECT x FROM b) AS found FROM a", "id"),
    ("SELECT id, (SELECT max(x) FROM b WHERE b.k = a.k) AS most FROM a", "id"),
    ("SELECT id FROM a UNION ALL SELECT id FROM b", "none"),
    ("SELECT id, x FROM a UNION SELECT id, x FROM b", "id x"),
    ("SELECT id, x FROM a INTERSECT SELECT id, x FROM log", "id"),
    ("SELECT id, x FROM log EXCEPT SELECT id, x FROM a", "id x"),
    ("SELECT id, rank() OVER (ORDER BY x) AS place FROM a", "id"),
    ("SELECT x, k, row_number() OVER (PARTITION BY x ORDER BY id) AS place FROM log", "x place"),
    ("SELECT x, k FROM log QUALIFY row_number() OVER (PARTITION BY x ORDER BY id) = 1", "x"),
    ("SELECT x, k FROM log ORDER BY x LIMIT 1", ""),
    ("SELECT id, k FROM a ORDER BY x LIMIT 3", "id"),
    ("SELECT id, y FROM a CROSS JOIN UNNEST(ARRAY[1, 1]) AS u (y)", "none"),
    ("SELECT id, window_end FROM TUMBLE(a, ts, INTERVAL '1' HOUR)", "id"),
    (
        "SELECT id, window_end FROM HOP(a, ts, INTERVAL '1' HOUR, INTERVAL '2' HOUR)",
        "id window_end",
    ),
    (
        "SELECT window_start, count(*) AS n FROM CUMULATE(log, ts, INTERVAL '1' HOUR,"
        " INTERVAL '4' HOUR) GROUP BY window_start, window_end",
        "none",
    ),
    (
        "SELECT window_end, count(*) AS n FROM CUMULATE(log, ts, INTERVAL '1' HOUR,"
        " INTERVAL '4' HOUR) GROUP BY window_start, window_end",
        "window_end",
    ),
    (
        "SELECT k, window_start, count(*) AS n FROM SESSION(log PARTITION BY k, ts,"
        " INTERVAL '5' MINUTE) GROUP BY k, window_start, window_end",
        "k window_start",
    ),
    ("SELECT a.id, log.v FROM a ASOF LEFT JOIN log ON a.x = log.x AND a.ts >= log.ts", "id"),
    ("SELECT 1 AS one", ""),
    (
        "WITH RECURSIVE r AS (SELECT id, x FROM log UNION SELECT r.x, b.x FROM r JOIN b"
        " ON b.id = r.x) SELECT id, x FROM r",
        "id x",
    ),
    (
        "WITH RECURSIVE r AS (SELECT id FROM log UNION ALL SELECT r.id FROM r JOIN b ON b.id = r.id"
        " WHERE b.x = 1) SELECT id FROM r",
        "none",
    ),
]


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with open_oracle() as connection:
        yield connection


@pytest.mark.parametrize(("select", "key"), CASES)
def test_the_key_of_a_query(select: str, key: str) -> None:
    catalog = bind({"v.sql": parse(f"{TABLES}CREATE STREAMING VIEW v AS {select};")})
    expected = None if key == "none" else tuple(key.split())
    assert catalog.views["v"].proven_key == expected


def test_no_two_rows_share_it(duck: duckdb.DuckDBPyConnection) -> None:
    """Over random rows; tests/unit/analyze/test_relational.py asks it of all accepted views."""
    found: dict[str, str] = {}
    for select, _ in CASES:
        text = f"{TABLES}CREATE STREAMING VIEW v AS {select};"
        catalog = bind({"v.sql": parse(text)})
        asked = differences(duck, text, catalog, plan_project(catalog), endless=True)
        found |= {f"{select}: {name}": words for name, words in asked.items() if words}
    assert found == {}


def test_rows_that_share_a_key_are_seen(duck: duckdb.DuckDBPyConnection) -> None:
    assert shared_keys(duck, "(VALUES (1, 2), (1, 3)) AS t (x, y)", ("x",)) == [(1, 2)]
    assert shared_keys(duck, "(VALUES (1, 2), (1, 3)) AS t (x, y)", ("x", "y")) == []
    assert shared_keys(duck, "(VALUES (1), (2)) AS t (x)", ()) == [(2,)]


def test_every_kind_of_node_is_asked() -> None:
    """But MATCH_RECOGNIZE, of whose rows nothing is known."""
    asked: set[type[Node]] = set()
    for select, _ in CASES:
        catalog = bind({"v.sql": parse(f"{TABLES}CREATE STREAMING VIEW v AS {select};")})
        asked |= {type(node) for node in from_bottom(catalog.views["v"].tree.root)}
    kinds = {each for each in Node.__subclasses__() if each.__name__ != "Match"}
    assert asked == kinds
