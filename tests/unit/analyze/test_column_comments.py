"""Comments of columns: whose they are, and that a definition is the same without them."""

from __future__ import annotations

import pytest

from headwater.analyze.definitions import Catalog
from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.plan.planner import plan_project

TABLES = """
CREATE TABLE flights (
  id BIGINT COMMENT 'of the flight', origin VARCHAR COMMENT 'IATA code',
  dest VARCHAR COMMENT 'IATA code', plane ROW(tail VARCHAR),
  delay DOUBLE COMMENT 'minutes', hours AS delay / 60 COMMENT 'delay in hours',
  ts TIMESTAMP WITH TIME ZONE COMMENT 'of departure', WATERMARK FOR ts AS ts
) COMMENT 'from New York' WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;
CREATE TABLE airports (code VARCHAR COMMENT 'IATA code', name VARCHAR COMMENT 'in English')
WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;
CREATE TABLE planes (
  tail VARCHAR COMMENT 'number', model VARCHAR COMMENT 'of Boeing', PRIMARY KEY (tail)
) COMMENT 'newest of each' WITH (connector = 'kafka', topic = 'p', bootstrap_servers = 'k:1')
FORMAT DEBEZIUM ENCODE JSON;
CREATE SOURCE clicks (page VARCHAR COMMENT 'path', at TIMESTAMP COMMENT 'of the visit')
COMMENT 'of the site' WITH (connector = 'datagen');
"""


def catalog(sql: str) -> Catalog:
    return bind({"test.sql": parse(f"{TABLES};{sql}", file="test.sql")})


def comments(query: str, columns: str = "") -> dict[str, str]:
    view = catalog(f"CREATE STREAMING VIEW v {columns} AS {query}").views["v"]
    return {field.name: field.comment for field in view.fields}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT id, delay AS late FROM flights", {"id": "of the flight", "late": "minutes"}),
        ("SELECT (delay) AS a, delay + 0 AS b FROM flights", {"a": "minutes", "b": ""}),
        ("SELECT plane.tail AS tail FROM flights", {"tail": ""}),
        ("SELECT q.x FROM (SELECT delay AS x FROM flights) AS q", {"x": "minutes"}),
        ("WITH q (x) AS (SELECT delay FROM flights) SELECT * FROM q", {"x": "minutes"}),
        (
            "SELECT f.id, a.name AS city FROM flights AS f"
            " LEFT JOIN airports AS a ON a.code = f.dest",
            {"id": "of the flight", "city": "in English"},
        ),
        (
            "SELECT a.name, l.n FROM airports AS a CROSS JOIN LATERAL (SELECT a.code AS n) AS l",
            {"name": "in English", "n": "IATA code"},
        ),
        (
            "SELECT origin, max(delay) AS d FROM flights GROUP BY 1",
            {"origin": "IATA code", "d": ""},
        ),
        (
            "SELECT window_start, ts, hours FROM TUMBLE(flights, ts, INTERVAL '1' HOUR)",
            {"window_start": "", "ts": "of departure", "hours": "delay in hours"},
        ),
        (
            "SELECT date_trunc('hour', ts) AS hour, count(*) AS n FROM flights GROUP BY 1",
            {"hour": "", "n": ""},
        ),
        ("SELECT origin AS a FROM flights UNION SELECT dest FROM flights", {"a": "IATA code"}),
        ("SELECT origin AS a FROM flights UNION SELECT name FROM airports", {"a": ""}),
        (
            "SELECT origin, count(*) AS n FROM flights GROUP BY ROLLUP (origin)",
            {"origin": "IATA code", "n": ""},
        ),
        (
            "SELECT origin, count(*) AS n FROM flights GROUP BY origin"
            " HAVING origin IN (SELECT code FROM airports)",
            {"origin": "IATA code", "n": ""},
        ),
        (
            "SELECT id, u.letter FROM flights CROSS JOIN UNNEST(split(dest, 'a')) AS u (letter)",
            {"id": "of the flight", "letter": ""},
        ),
    ],
)
def test_a_column_of_an_input_brings_its_comment_along(query, expected) -> None:
    assert comments(query) == expected


def test_a_view_says_its_own_comments_for_columns_it_names() -> None:
    query = "SELECT id, delay, ts FROM flights"
    own = "(delay COMMENT 'late by', ts COMMENT '')"
    assert comments(query, own) == {"id": "of the flight", "delay": "late by", "ts": ""}


def test_views_of_views_pass_comments_on() -> None:
    views = catalog(
        "CREATE STREAMING VIEW c AS SELECT late AS min FROM b;"
        "CREATE STREAMING VIEW b (late COMMENT 'late by') AS SELECT late, id FROM a;"
        "CREATE STREAMING VIEW a AS SELECT delay AS late, id FROM flights"
    ).views
    found = {name: [field.comment for field in view.fields] for name, view in views.items()}
    assert found == {
        "planes": ["number", "of Boeing"],
        "a": ["minutes", "of the flight"],
        "b": ["late by", "of the flight"],
        "c": ["late by"],
    }


def test_tables_keep_their_comments_and_those_of_their_columns() -> None:
    found = catalog("")
    assert {name: source.comment for name, source in found.sources.items()} == {
        "flights": "from New York",
        "airports": "",
        "planes__changes": "changes of planes",
        "clicks": "of the site",
    }
    assert [field.comment for field in found.sources["clicks"].fields] == ["path", "of the visit"]
    changes = {field.name: field.comment for field in found.sources["planes__changes"].fields}
    assert changes["model"] == "of Boeing"
    assert found.views["planes"].comment == "newest of each"


def test_comments_are_no_part_of_the_definition() -> None:
    view = "CREATE STREAMING VIEW v {} AS SELECT id FROM flights"
    heads = ("", "COMMENT 'a'", "(id COMMENT 'a')", "(id COMMENT 'b') COMMENT 'b'")
    plans = [plan_project(catalog(view.format(head)))["v"] for head in heads]
    assert len({plan.fingerprint for plan in plans}) == 1
    key = plan_project(catalog(view.format("(id COMMENT 'b', PRIMARY KEY (id))")))["v"]
    assert key.fingerprint != plans[0].fingerprint
