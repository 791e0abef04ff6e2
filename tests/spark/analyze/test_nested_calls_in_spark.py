"""Calls within calls in Spark: what they answer, and on which rows they fail, is that of steps."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp

from headwater.analyze.failing.failing_rows import fails
from headwater.analyze.portable.rewrites import portable
from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.plan.tolerant import tolerant
from tests.fuzz.schemas import KINDS, spark_type
from tests.nesting.calls import VALUES, Nesting

STEPS = 3
CALLS = [
    *(Nesting(f"log({base}, {{float}})", "float", 0) for base in (2, "abs({float})")),
    *(Nesting(call, "float", 0) for call in ("log2({float})", "round({float}, 2)")),
    *(Nesting(call, "float", 0) for call in ("floor({float})", "{float} / {float}")),
    *(Nesting(call, "float", 1) for call in ("{float} / {float}", "{float} % {float}")),
    *(Nesting(call, "text", 0) for call in ("upper({text})", "json_extract_scalar({text}, '$')")),
    *(Nesting(call, "text", 0) for call in ("greatest({text}, {text})", "url_decode({text})")),
    *(Nesting("{number} / {small}", "number", at) for at in (0, 1)),
    Nesting("bitwise_left_shift({number}, {small})", "number", 0),
    Nesting("coalesce({number} / {small}, {number})", "number", 0),
    Nesting("CAST({text} AS BIGINT)", "number", 0),
    Nesting("date_add('month', {small}, {moment})", "moment", 1),
]
TABLES = (
    f"CREATE TABLE t (id BIGINT, {', '.join(f'{kind} {KINDS[kind].type}' for kind in VALUES)},"
    f" {', '.join(f'given_{at} {KINDS[each.kind].type}' for at, each in enumerate(CALLS))})"
    " WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;"
)


def spark_sql(depth: int) -> str:
    """All calls within themselves, and the conditions that they fail."""
    items = [f"{each.sql(depth, f'given_{at}')} AS x{at}" for at, each in enumerate(CALLS)]
    view = f"CREATE STREAMING VIEW v ON ERROR FAIL AS SELECT id, {', '.join(items)} FROM t;"
    query = bind({"v.sql": parse(TABLES + view, file="v.sql")}).views["v"].query
    for at, item in enumerate(query.selects[1:]):
        condition = fails(item.unalias()) or exp.false()
        query.append("expressions", exp.alias_(condition, f"bad{at}"))
    return str(portable(tolerant(query), "spark").sql("spark"))


def given(spark: SparkSession) -> DataFrame:
    """The rows, in which the innermost argument of a call is the column of its kind."""
    columns: list[list[object]] = [[*range(9)], *map(list, VALUES.values())]
    names = ["id", *(f"_{kind}" for kind in VALUES)]
    types = {"day": "DATE", "moment": "TIMESTAMP_NTZ", "flag": "BOOLEAN", "float": "DOUBLE"}
    types |= {"number": "BIGINT", "small": "INT", "instant": "TIMESTAMP_NTZ"}
    schema = ", ".join(f"{name} {types.get(name[1:], 'STRING')}" for name in names[1:])
    rows = [tuple(each[at] for each in columns) for at in range(9)]
    raw = spark.createDataFrame(rows, f"id BIGINT, {schema}")
    items = [f"CAST(_{kind} AS {spark_type(kind)}) AS {kind}" for kind in VALUES]
    items += [
        f"CAST(_{each.kind} AS {spark_type(each.kind)}) AS given_{at}"
        for at, each in enumerate(CALLS)
    ]
    return raw.selectExpr("id", *items)


def test_nested_calls_answer_and_fail_as_steps_do(spark: SparkSession) -> None:
    rows = given(spark).localCheckpoint()
    rows.createOrReplaceTempView("t")
    nested = spark.sql(spark_sql(STEPS)).orderBy("id").collect()
    bad: list[set[int]] = [set() for _ in CALLS]
    step = spark_sql(1)
    for _ in range(STEPS):
        answers = spark.sql(step).localCheckpoint()
        found = answers.orderBy("id").collect()
        for at, failed in enumerate(bad):
            failed |= {row["id"] for row in found if row[f"bad{at}"]}
        kept = ["id", *VALUES]
        items = [f"x{at} AS given_{at}" for at in range(len(CALLS))]
        rows = rows.select(*kept).join(answers.selectExpr("id", *items), "id")
        rows.localCheckpoint().createOrReplaceTempView("t")
    for at, each in enumerate(CALLS):
        assert [str(row[f"x{at}"]) for row in nested] == [str(row[f"x{at}"]) for row in found], each
        failed = {row["id"] for row in nested if row[f"bad{at}"]}
        assert failed <= bad[at] if each.is_lazy else failed == bad[at], each
