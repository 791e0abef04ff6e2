"""Words of other systems, imported and computed by DuckDB: the values are those of the system."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from headwater.importing import SYSTEMS, import_files
from headwater.plan.at_rest import at_rest
from headwater.plan.planner import plan_project
from headwater.project import load_project
from headwater.serve.connection import duckdb_connection

ROW = """
SELECT 'a/b/c' AS s, 'Ab1-' AS m, 2 AS i, 1500::BIGINT AS b, 0.5::DOUBLE AS d, ['x', 'y'] AS xs,
  TIMESTAMP '2024-03-03 14:05:06.789' AS ts, '2024-03-03T14:05:06' AS iso, NULL::INTEGER AS n,
  '{"a": {"b": "deep"}, "c": 3}' AS j, 'k' AS k,
  TIMESTAMPTZ '2024-03-03 14:05:06.789 UTC' AS rowtime, 7::BIGINT AS rowoffset,
  NULL::TIMESTAMP AS _watermark
"""
TABLES = {
    "flink": "CREATE TABLE t (s STRING, m STRING, i INT, b BIGINT, d DOUBLE, xs ARRAY<STRING>,"
    " ts TIMESTAMP(3), iso STRING, n INT, j STRING, k STRING)"
    " WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json')",
    "ksqldb": "CREATE STREAM t (s VARCHAR, m VARCHAR, i INT, b BIGINT, d DOUBLE, xs ARRAY<VARCHAR>,"
    " ts TIMESTAMP, iso VARCHAR, n INT, j VARCHAR, k VARCHAR)"
    " WITH (kafka_topic = 't', value_format = 'json')",
    "risingwave": "CREATE TABLE t (s VARCHAR, m VARCHAR, i INT, b BIGINT, d DOUBLE PRECISION,"
    " xs VARCHAR[], ts TIMESTAMP, iso VARCHAR, n INT, j JSONB, k VARCHAR)",
    "materialize": "CREATE TABLE t (s text, m text, i int, b bigint, d double precision,"
    " xs text[], ts timestamp, iso text, n int, j jsonb, k text)",
}
VIEWS = {
    "flink": "CREATE VIEW v AS SELECT {} AS x FROM t",
    "ksqldb": "CREATE STREAM v AS SELECT {} AS x FROM t EMIT CHANGES",
    "risingwave": "CREATE MATERIALIZED VIEW v AS SELECT {} AS x FROM t",
    "materialize": "CREATE MATERIALIZED VIEW v AS SELECT {} AS x FROM t",
}
VALUES = [
    ("flink", "SPLIT_INDEX(s, '/', 1)", "b"),
    ("flink", "DAYOFWEEK(ts)", 1),
    ("flink", "DATE_FORMAT(ts, 'dd.MM.yyyy HH:mm')", "03.03.2024 14:05"),
    ("flink", "DATE_FORMAT(ts, 'HH:mm:ss.SSS')", "14:05:06.789"),
    ("flink", "TO_TIMESTAMP_LTZ(b, 3)", datetime(1970, 1, 1, 0, 0, 1, 500_000, UTC)),
    ("flink", "FROM_UNIXTIME(b)", "1970-01-01 00:25:00"),
    ("flink", "IFNULL(n, 9)", 9),
    ("flink", "LOCATE('c', s)", 5),
    ("flink", "xs[2]", "y"),
    ("flink", "JSON_VALUE(j, '$.a.b')", "deep"),
    ("ksqldb", "MASK(m)", "Xxn-"),
    ("ksqldb", "INSTR(s, 'c')", 5),
    ("ksqldb", "REGEXP_EXTRACT('(.)/c', s, 1)", "b"),
    ("ksqldb", "'<' + s + '>'", "<a/b/c>"),
    ("ksqldb", "GREATEST(n, i, 1)", 2),
    ("ksqldb", "LEAST(n, i)", 2),
    ("ksqldb", "TIMESTAMPTOSTRING(b, 'yyyy-MM-dd HH:mm:ss')", "1970-01-01 00:00:01"),
    ("ksqldb", "TIMESTAMPTOSTRING(ROWTIME, 'HH:mm')", "14:05"),
    ("ksqldb", "UNIX_TIMESTAMP(ts) - b", 1_709_474_705_289),
    ("ksqldb", "ROUND(GEO_DISTANCE(37.4, -122.0, 37.8, -122.5), 1)", 62.6),
    (
        "ksqldb",
        "PARSE_TIMESTAMP(iso, 'yyyy-MM-dd''T''HH:mm:ss')",
        datetime.fromisoformat("2024-03-03T14:05:06"),
    ),
    ("ksqldb", "EXTRACTJSONFIELD(j, '$.c')", "3"),
    ("risingwave", "left(s, 3)", "a/b"),
    ("risingwave", "position('c' IN s)", 5),
    ("risingwave", "array_length(xs, 1)", 2),
    ("risingwave", "xs[1]", "x"),
    ("risingwave", "j -> 'a' ->> 'b'", "deep"),
    ("risingwave", "(j -> 'c')::int", 3),
    ("risingwave", "round(asin(d)::numeric, 4)", 0.5236),
    ("risingwave", "to_timestamp(b)", datetime(1970, 1, 1, 0, 25, tzinfo=UTC)),
    ("risingwave", "7 / i", 3),
    ("risingwave", "greatest(n, i)", 2),
    ("materialize", "btrim('  x ')", "x"),
    ("materialize", "extract(dow FROM ts)", 0),
    ("materialize", "split_part(s, '/', 9)", ""),
]
GROUPED = [
    ("ksqldb", "CREATE TABLE v AS SELECT k, LATEST_BY_OFFSET(i) AS x FROM t GROUP BY k", 2),
    ("ksqldb", "CREATE TABLE v AS SELECT k, EARLIEST_BY_OFFSET(n) AS x FROM t GROUP BY k", None),
    ("ksqldb", "CREATE TABLE v AS SELECT k, COUNT_DISTINCT(i) AS x FROM t GROUP BY k", 1),
    ("ksqldb", "CREATE TABLE v AS SELECT 'all' AS a, COUNT(*) AS x FROM t GROUP BY 'all'", 1),
    (
        "ksqldb",
        "CREATE TABLE v AS SELECT k, WINDOWSTART AS x FROM t"
        " WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY k",
        datetime(2024, 3, 3, 14, tzinfo=UTC),
    ),
    ("materialize", "CREATE VIEW v AS SELECT DISTINCT ON (k) i AS x FROM t ORDER BY k, ts DESC", 2),
]


def answer(system: str, view: str, folder: Path) -> object:
    """Import a table and a view of it, and return the value of the view's column ``x``."""
    (folder / "in.sql").write_text(f"{TABLES[system]};\n{view};\n")
    found = import_files([folder / "in.sql"], SYSTEMS[system], folder / "out", {})
    assert found.lost == 0, found.findings
    project = load_project(folder / "out")
    sql = at_rest(plan_project(project.catalog)["v"], project.catalog, "duckdb", final=False).sql
    with duckdb_connection() as duck:
        duck.execute(f"CREATE TABLE t AS {ROW}")
        ((value,),) = duck.sql(f"SELECT x FROM ({sql})").fetchall()
    return value


@pytest.mark.parametrize(("system", "expression", "value"), VALUES)
def test_a_word_has_the_value_that_it_has_there(
    system: str, expression: str, value: object, tmp_path: Path
) -> None:
    found = answer(system, VIEWS[system].format(expression), tmp_path)
    if isinstance(value, float):
        found = float(str(found))
        value = pytest.approx(value)
    assert found == value


@pytest.mark.parametrize(("system", "view", "value"), GROUPED)
def test_a_group_has_the_value_that_it_has_there(
    system: str, view: str, value: object, tmp_path: Path
) -> None:
    assert answer(system, view, tmp_path) == value
