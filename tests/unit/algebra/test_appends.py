"""Appends: of which trees rows never go."""

from __future__ import annotations

import pytest

from headwater.algebra.nodes import Node, from_bottom
from headwater.algebra.properties.appends import only_appends
from headwater.analyze.project import bind
from headwater.dialect import parse
from tests.unit.algebra.test_keys import CASES as EVERY_KIND
from tests.unit.algebra.test_keys import TABLES as TABLES_OF_EVERY_KIND

TABLES = """
CREATE TABLE t (id BIGINT, k VARCHAR, xs ARRAY(DOUBLE), ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;
CREATE TABLE u (id BIGINT, k VARCHAR) WITH (connector = 'files', path = 'u')
FORMAT PLAIN ENCODE JSON;
"""
COMES = """
SELECT id + 1 AS n FROM t WHERE k <> 'x'
SELECT id, u.e FROM t CROSS JOIN UNNEST(xs) AS u (e)
SELECT id FROM t UNION ALL SELECT id FROM u
SELECT DISTINCT k FROM t
SELECT k FROM t UNION SELECT k FROM u
SELECT t.id, u.k FROM t JOIN u ON t.k = u.k
SELECT k FROM (SELECT k, count(*) OVER (PARTITION BY k) AS unread FROM t) AS q
SELECT k, window_start FROM TUMBLE(t, ts, INTERVAL '1' HOUR)
"""
GOES = """
SELECT k, count(*) AS n FROM t GROUP BY k
SELECT t.id, u.k FROM t LEFT JOIN u ON t.k = u.k
SELECT t.id, u.id AS o FROM t FULL JOIN u ON t.k = u.k
SELECT id FROM t WHERE EXISTS (SELECT 1 AS n FROM u WHERE u.k = t.k)
SELECT id FROM t WHERE k NOT IN (SELECT k FROM u)
SELECT id, rank() OVER (PARTITION BY k ORDER BY id) AS r FROM t
SELECT id, watermark() AS reached FROM t
SELECT id FROM t ORDER BY id LIMIT 3
SELECT id FROM t INTERSECT SELECT id FROM u
SELECT id FROM t EXCEPT SELECT id FROM u
SELECT id FROM t WHERE ts > watermark() - INTERVAL '1' DAY
SELECT id, ts > watermark() - INTERVAL '1' DAY AS recent FROM t
SELECT k, max(ts) AS n FROM SESSION(t PARTITION BY k, ts, INTERVAL '1' HOUR) GROUP BY k, window_end
"""


def root_of(select: str, tables: str = TABLES) -> Node:
    views = bind({"v.sql": parse(f"{tables}CREATE STREAMING VIEW v AS {select};")}).views
    return views["v"].tree.root


@pytest.mark.parametrize("select", COMES.strip().splitlines())
def test_rows_stay_unless_those_of_an_input_go(select: str) -> None:
    root = root_of(select)
    assert only_appends(root, lambda name: True)
    assert not only_appends(root, lambda name: name != "t")


@pytest.mark.parametrize("select", GOES.strip().splitlines())
def test_rows_go_though_those_of_the_inputs_stay(select: str) -> None:
    assert not only_appends(root_of(select), lambda name: True)


def test_every_kind_of_node_is_asked() -> None:
    asked: set[type[Node]] = set()
    for select, _ in EVERY_KIND:
        for node in from_bottom(root_of(select, TABLES_OF_EVERY_KIND)):
            only_appends(node, lambda name: True)
            asked.add(type(node))
    assert asked == {each for each in Node.__subclasses__() if each.__name__ != "Match"}
