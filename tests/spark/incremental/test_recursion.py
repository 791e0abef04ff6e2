"""The rounds of WITH RECURSIVE in Spark, over random graphs, against DuckDB's own recursion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.engine.recursion import registered_recursion
from headwater.errors import TerminalError
from headwater.plan.at_rest import at_rest
from headwater.plan.full_program import FullProgram
from headwater.plan.planner import plan_project

TABLE = """
CREATE TABLE edges (src BIGINT, dst BIGINT, w BIGINT)
WITH (connector = 'files', path = 'edges') FORMAT PLAIN ENCODE JSON;
"""
CLOSURE = """
WITH RECURSIVE r (src, dst) AS (
  SELECT src, dst FROM edges UNION SELECT r.src, e.dst FROM r JOIN edges e ON e.src = r.dst
) SELECT src, dst FROM r"""
ROUTES = """
WITH RECURSIVE r (node, w, depth) AS (
  SELECT 1, CAST(0 AS DOUBLE), 0 UNION ALL
  SELECT e.dst, r.w + e.w, r.depth + 1 FROM r JOIN edges e ON e.src = r.node WHERE r.depth < 3
) SELECT node, w, depth FROM r"""
TWICE = """
WITH RECURSIVE r AS (
  SELECT dst AS node FROM edges WHERE src = 1 UNION
  SELECT e.dst FROM r LEFT JOIN edges e ON e.src = r.node
), s AS (
  SELECT node, 1 AS n FROM r UNION ALL
  SELECT e.dst, s.n + 1 FROM s, edges e WHERE e.src = s.node AND s.n < 3
) SELECT a.node, b.n FROM r a JOIN s b ON b.node = a.node"""
LONG = """
WITH RECURSIVE r AS (
  SELECT 1 AS node UNION SELECT e.dst FROM r JOIN edges e ON e.src = r.node
) SELECT node FROM r"""


def graph(random: Random, nodes: int, edges: int) -> pa.Table:
    def node() -> int | None:
        return random.choice([*range(1, nodes + 1), None])

    rows = [(node(), node(), random.randrange(5)) for _ in range(edges)]
    return pa.table(dict(zip(("src", "dst", "w"), map(list, zip(*rows, strict=True)), strict=True)))


def both(spark: SparkSession, select: str, edges: pa.Table, options: str = "") -> Iterator[Counter]:
    """Yield the rows that Spark finds round by round, and those of the SELECT at rest."""
    catalog = bind({"v.sql": parse(f"{TABLE}CREATE STREAMING VIEW v {options} AS {select};")})
    plan = plan_project(catalog)["v"]
    program = plan.program
    assert isinstance(program, FullProgram)
    spark.createDataFrame(edges).createOrReplaceTempView("edges")
    with registered_recursion(spark, "v", program.recursions):
        yield Counter(map(tuple, spark.sql(program.sql).collect()))
    with duckdb.connect() as duck:
        duck.register("edges", edges)
        yield Counter(duck.sql(at_rest(plan, catalog, "duckdb").text()).fetchall())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("select", [CLOSURE, ROUTES, TWICE])
def test_random_graphs_are_what_duckdb_makes_of_them(
    spark: SparkSession, select: str, seed: int
) -> None:
    random = Random(seed)
    ours, theirs = both(spark, select, graph(random, 6, random.randrange(2, 12)))
    assert ours == theirs


def test_more_rounds_than_tables_are_kept_apart(spark: SparkSession) -> None:
    chain = pa.table({"src": [*range(1, 15)], "dst": [*range(2, 16)], "w": [1] * 14})
    ours, theirs = both(spark, LONG, chain)
    assert ours == theirs and len(ours) == 15


def test_the_last_round_may_find_nothing_more(spark: SparkSession) -> None:
    chain = pa.table({"src": [1, 2], "dst": [2, 3], "w": [1, 1]})
    ours, _ = both(spark, LONG, chain, "WITH (max_recursion_depth = 2)")
    assert len(ours) == 3
    with pytest.raises(TerminalError) as caught:
        next(both(spark, LONG, chain, "WITH (max_recursion_depth = 1)"))
    assert caught.value.condition == "RECURSION_LIMIT"
    assert "max_recursion_depth = 10" in caught.value.hint


def test_a_cycle_of_union_all_has_no_end(spark: SparkSession) -> None:
    cycle = pa.table({"src": [1, 2], "dst": [2, 1], "w": [1, 1]})
    select = LONG.replace("UNION", "UNION ALL")
    with pytest.raises(TerminalError) as caught:
        next(both(spark, select, cycle, "WITH (max_recursion_depth = 5)"))
    assert caught.value.message == 'view "v": "r" has 6 rows after 5 rounds, and more would come'
    assert "write UNION" in caught.value.hint


def test_nothing_stays_in_memory(spark: SparkSession) -> None:
    java = spark.sparkContext._jsc.sc()  # noqa: SLF001
    before = java.getPersistentRDDs().size()
    list(both(spark, CLOSURE, graph(Random(7), 6, 12)))
    assert java.getPersistentRDDs().size() <= before
