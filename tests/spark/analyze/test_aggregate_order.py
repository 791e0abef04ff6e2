"""What Spark answers does not depend on the order of rows, their partitions, or its settings.

Every aggregate of the allow-list runs over the same rows in several orders and numbers of
partitions, in one job; texts of users reach Spark as the data that they are.
"""

from __future__ import annotations

import math
import random
from functools import reduce
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from sqlglot import exp

from headwater.analyze.definitions import View
from headwater.analyze.portable.rewrites import portable
from headwater.analyze.project import bind
from headwater.analyze.typing.functions import AGGREGATES
from headwater.dialect import parse
from headwater.lake.spec import TableSpec, create_table_sql
from headwater.lake.storage.warehouse import WAREHOUSE
from headwater.plan.sql.render import print_sql
from headwater.plan.sql.spark_text import name, text

TABLE = """
CREATE TABLE t (way INTEGER, i BIGINT, d DOUBLE, p DECIMAL(10, 2), s VARCHAR,
  ts TIMESTAMP WITH TIME ZONE, dt DATE, ok BOOLEAN)
WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;
"""
EXACT = """
count(*) | count(s) | count(DISTINCT s) | count_if(ok) | sum(i) | sum(p) | min(i) | max(d) | min(p)
max(s) | min(ts) | max(dt) | bool_and(ok) | bool_or(ok) | avg(i) | any_value(s) | min_by(i, s)
max_by(ts, ok) | array_agg(s ORDER BY dt) | array_agg(ok)
listagg(s, '') WITHIN GROUP (ORDER BY ok)
bitwise_and_agg(i) | bitwise_or_agg(i) | bitwise_xor_agg(i)
"""
FLOATS = """
sum(d) | avg(d) | stddev(d) | stddev_samp(i) | stddev_pop(d) | variance(d) | var_pop(i)
corr(p, i) | covar_pop(d, p) | covar_samp(p, i) | regr_slope(p, i) | regr_intercept(p, i)
geometric_mean(p)
"""
SKETCHES = "approx_distinct(s) | approx_percentile(i, 0.5)"
WAYS = ((1, None), (2, None), (7, 1), (3, 2), (13, 3))
"""Number of partitions, and the seed of the order (None: as made, and the other way round)."""


def items(*blocks: str) -> list[str]:
    return [item.strip() for b in blocks for line in b.split("\n") for item in line.split(" | ")]


def view_of(body: str) -> View:
    text_ = f"{TABLE} CREATE STREAMING VIEW v AS {body}"
    return bind({"t": parse(text_)}).views["v"]


def spark_sql(view: View) -> str:
    return print_sql(portable(view.query, "spark"), "spark")


def rows() -> list[tuple[Any, ...]]:
    chance = random.Random(7)
    made: list[tuple[Any, ...]] = [
        (
            chance.randrange(-(10**9), 10**9),
            chance.choice((-0.0, 0.0, math.nan, 1e-9, 1e9 * chance.random(), -chance.random())),
            f"{chance.randrange(10**8) / 100:.2f}",
            chance.choice(("a", "B", "é", "", "ı", "\U0001f600", f"k{chance.randrange(300)}")),
            f"2013-{1 + chance.randrange(12):02}-05 10:00:00.{chance.randrange(10**6):06}",
            f"20{chance.randrange(10, 40)}-02-03",
            chance.random() < 0.7,
        )
        for _ in range(600)
    ]
    return [*made, *[(None,) * 7] * 5]


def in_every_way(spark: SparkSession) -> DataFrame:
    frames = []
    for way, (parts, seed) in enumerate(WAYS):
        ordered = rows()
        if seed is not None:
            random.Random(seed).shuffle(ordered)
        elif way:
            ordered.reverse()
        schema = "i long, d double, p string, s string, ts string, dt string, ok boolean"
        frame = spark.createDataFrame(
            spark.sparkContext.parallelize(ordered, parts), schema
        ).selectExpr(
            *(f"{way} AS way", "i", "d", "CAST(p AS DECIMAL(10,2)) AS p", "s"),
            *("CAST(ts AS TIMESTAMP) AS ts", "CAST(dt AS DATE) AS dt", "ok"),
        )
        frames.append(frame)
    return reduce(DataFrame.unionAll, frames)


def test_no_aggregate_depends_on_order_or_partitions(spark: SparkSession) -> None:
    exact, floats, sketches = items(EXACT), items(FLOATS), items(SKETCHES)
    columns = [item for item in (*exact, *floats, *sketches) if item]
    exact, floats = [e for e in exact if e], [f for f in floats if f]
    body = ", ".join(f"{item} AS x{at}" for at, item in enumerate(columns))
    view = view_of(f"SELECT way, {body} FROM t GROUP BY way")
    tried = {type(node) for node in view.query.walk()}
    assert AGGREGATES.keys() - {exp.AnyValue} <= tried  # which is min by now
    in_every_way(spark).createOrReplaceTempView("t")
    answers = [tuple(row)[1:] for row in spark.sql(spark_sql(view)).collect()]
    assert len(answers) == len(WAYS)
    first = answers[0]
    for other in answers[1:]:
        for at, item in enumerate(columns):
            left, right = first[at], other[at]
            if item in exact:
                assert repr(left) == repr(right), item
            elif item in floats:
                assert same(left, right, 1e-12), (item, left, right)
    distinct, median = columns.index(sketches[0]), columns.index(sketches[1])
    truth = len({row[3] for row in rows()} - {None})
    ranks = sorted(row[0] for row in rows() if row[0] is not None)
    for answer in answers:
        assert abs(answer[distinct] - truth) <= 0.08 * truth
        assert abs(ranks.index(answer[median]) / len(ranks) - 0.5) <= 0.025


def same(left: Any, right: Any, tolerance: float) -> bool:
    return math.isclose(left, right, rel_tol=tolerance) or (math.isnan(left) and math.isnan(right))


def test_a_time_without_a_date_is_no_time(spark: SparkSession) -> None:
    texts = ("12:30", "T1:02:03", " 12:30:00Z", "now", "today", "", None, "2013-01-02 03:04:05Z")
    frame = spark.createDataFrame([(t,) for t in texts], "s string")
    frame.createOrReplaceTempView("t")
    view = view_of("SELECT s, TRY_CAST(s AS TIMESTAMP WITH TIME ZONE) AS x FROM t")
    found = {
        row.s: row.x for row in spark.sql(spark_sql(view)).selectExpr("s", "string(x) x").collect()
    }
    assert {key: value for key, value in found.items() if value} == {
        "2013-01-02 03:04:05Z": "2013-01-02 03:04:05"
    }
    branches = "CASE WHEN s = '12:30' THEN 'now' ELSE 'today' END"
    view = view_of(f"SELECT TRY_CAST({branches} AS DATE) AS x FROM t")
    assert {row.x for row in spark.sql(spark_sql(view)).collect()} == {None}


def test_the_language_of_the_machine_does_not_matter(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("IĞ", "ıi")], "s string, u string")
    lower, upper = frame.selectExpr("lower(s)", "upper(u)").head()
    assert (lower, upper) == ("iğ", "II")
    conf = spark.sparkContext.getConf()
    for process in ("driver", "executor"):
        options = conf.get(f"spark.{process}.extraJavaOptions")
        assert "-Duser.language=en" in options and "-Duser.timezone=UTC" in options


HOSTILE = (
    *("'", "''", "\\", "\\\\", "\\'", "a\\", "\n", "\r\n", "\t", "\x1a", "\x7f", "%_\\%", "`"),
    *("'; DROP TABLE t; --", "' OR '1'='1", "\\'; SELECT 1; --", "/*+ BROADCAST(t) */", "*/ x /*"),
    *("${env:HOME}", "${system:user.home}", "${spark.app.name}", ":p", "?", "{0}", "{t}", "$$"),
    *("\\u0041", "\\x41", "\\0", "\\n", "\u2028", "\u202e", "\ufeff", "\U0001f600", "é", "e\u0301"),
    *("-- x", "#", "\\Z", "\\b", "\\_", "0x27", "X'27'", "r'x'", '"', '"; x', '\\"', "now"),
)


def quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


@pytest.fixture
def _one_row(spark: SparkSession) -> None:
    spark.range(1).select(F.lit("x").alias("s"), F.lit(1).alias("i")).createOrReplaceTempView("t")


@pytest.mark.usefixtures("_one_row")
def test_texts_in_a_query_arrive_as_they_are(spark: SparkSession) -> None:
    body = ", ".join(f"concat(s, {quoted(value)}) AS x{at}" for at, value in enumerate(HOSTILE))
    view = view_of(f"SELECT {body} FROM t")
    # the ends of lines of a SQL text are made one kind when it is read, also inside literals
    arrived = [f"x{value}".replace("\r\n", "\n") for value in HOSTILE]
    assert list(spark.sql(spark_sql(view)).head()) == arrived


@pytest.mark.usefixtures("_one_row")
def test_texts_and_names_of_the_intake_arrive_as_they_are(spark: SparkSession) -> None:
    body = ", ".join(f"{text(value)} AS {name(value + 'x')}" for value in HOSTILE)
    row = spark.sql(f"SELECT {body} FROM t").head()
    assert row.asDict() == {value + "x": value for value in HOSTILE}


def test_properties_and_comments_of_a_table_arrive_as_they_are(spark: SparkSession) -> None:
    # not "key": Spark would not show their values
    properties = {f"property{at}": value for at, value in enumerate(HOSTILE)}
    spec = TableSpec("t", (("k", "INT", True),), properties=properties, comment="".join(HOSTILE))
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.hostile")
    location = f"{spark.conf.get(WAREHOUSE)}/hostile/t"
    spark.sql(create_table_sql("lake.hostile.t", spec, location))
    found = dict(spark.sql("SHOW TBLPROPERTIES lake.hostile.t").collect())
    assert {key: found[key] for key in properties} == properties
    described = spark.sql("DESCRIBE TABLE EXTENDED lake.hostile.t").collect()
    (comment,) = (row.data_type for row in described if row.col_name == "Comment")
    assert comment == "".join(HOSTILE)
