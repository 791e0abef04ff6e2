"""What `check` accepts, Spark can analyse: programs, streams, and the type of each column.

Nothing runs: each relation is a query without rows, or a stream that nobody starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import DecimalType, StructType

from headwater.analyze.definitions import Catalog
from headwater.analyze.project import bind_all
from headwater.dialect import parse_all
from headwater.dialect.syntax import RecursiveRows
from headwater.plan.planner import plan_project
from headwater.plan.program import StreamingProgram
from headwater.plan.view_plan import ViewPlan
from tests.accepted.corpus import Project, projects
from tests.accepted.queries import Question, at_rest, columns, in_motion

RANDOM = 60


def plans_of(project: Project) -> tuple[Catalog, list[ViewPlan]]:
    statements, errors = parse_all(project.text)
    catalog, more = bind_all({project.name: statements})
    assert not [*errors, *more], project.name
    return catalog, list(plan_project(catalog).values())


def analysed(spark: SparkSession, asked: Question) -> str:
    """Return what is wrong with a query, empty if nothing is."""
    try:
        found = spark.sql(asked.sql).schema
    except PySparkException as error:
        return str(error).splitlines()[0]
    return "" if asked.types is None else unlike(spark, found, asked.types)


def unlike(spark: SparkSession, found: StructType, types: tuple[str, ...]) -> str:
    """Return the first column of another type.

    Spark may need fewer digits before the point; for a product it counts one more.
    """
    wanted = spark.sql(f"SELECT {', '.join(f'CAST(NULL AS {kind})' for kind in types)}").schema
    for have, want in zip(found, wanted, strict=False):
        one, other = have.dataType, want.dataType
        if isinstance(one, DecimalType) and isinstance(other, DecimalType):
            if one.scale == other.scale and one.precision <= other.precision + 1:
                continue
        elif re.sub(r"decimal\(\d+,", "decimal(", one.simpleString()) == re.sub(
            r"decimal\(\d+,", "decimal(", other.simpleString()
        ):
            continue
        return f"{have.name} is {one.simpleString()}, not {other.simpleString()}"
    return ""


def streamed(spark: SparkSession, plan: ViewPlan, catalog: Catalog, folder: Path) -> str:
    """Return why Spark would not start a stream, empty if it would.

    Args:
        folder: an empty one, where each stream reads a folder of its own.
    """
    program = plan.program
    assert isinstance(program, StreamingProgram)
    for name in plan.view.inputs:
        held = {name: columns(name, catalog, "spark"), f"{name}__heartbeat": [("ts", "TIMESTAMP")]}
        for view, kinds in held.items():
            schema = ", ".join(f"`{column}` {kind}" for column, kind in kinds)
            place = folder / view
            place.mkdir(exist_ok=True)
            spark.readStream.schema(schema).json(str(place)).createOrReplaceTempView(view)
    try:
        query = spark.sql(program.sql)
        # what Spark asks of the plan of a stream when it starts one
        jvm = spark._jvm.org.apache.spark.sql  # type: ignore[union-attr]
        checker = jvm.catalyst.analysis.UnsupportedOperationChecker
        append = jvm.streaming.OutputMode.Append()
        checker.checkForStreaming(query._jdf.queryExecution().analyzed(), append)  # type: ignore[operator]
    except Exception as error:  # noqa: BLE001  a JVM's, too
        return str(error).splitlines()[0]
    types = tuple(column.spark_type for column in plan.columns)
    return unlike(spark, query.schema, types)


def recursions(plan: ViewPlan) -> Iterator[RecursiveRows]:
    """Yield what Spark 4.1.3 reads with UNION ALL only, where it is one query."""
    yield from plan.view.query.find_all(RecursiveRows)


def faults(spark: SparkSession, source: Iterator[Project], folder: Path) -> tuple[int, list[str]]:
    """Return how many queries were analysed, and what is wrong with some."""
    tried, wrong = 0, []
    for project in source:
        catalog, plans = plans_of(project)
        for plan in plans:
            asked = [*in_motion(plan, catalog)]
            if not any(each.this.args.get("distinct") for each in recursions(plan)):
                asked.append(at_rest(plan, catalog, "spark"))
            found = {each.what: analysed(spark, each) for each in asked}
            if isinstance(plan.program, StreamingProgram):
                found["stream"] = streamed(spark, plan, catalog, folder)
            tried += len(found)
            wrong += [f"{project.name}: {what}: {why}" for what, why in found.items() if why]
    return tried, wrong


def test_spark_analyses_every_accepted_view(spark: SparkSession, tmp_path: Path) -> None:
    tried, wrong = faults(spark, projects(RANDOM), tmp_path)
    assert not wrong, "\n".join(wrong)
    assert tried > 1_000


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT no FROM (SELECT 1 AS x)", "UNRESOLVED_COLUMN"),
        ("SELECT map('a', 1) = map('a', 1) AS x", "INVALID_ORDERING_TYPE"),
        ("SELECT CAST(1 AS INT) AS x", "x is int, not bigint"),
    ],
)
def test_a_query_that_spark_refuses_would_show(spark: SparkSession, sql: str, why: str) -> None:
    assert why in analysed(spark, Question("planted", sql, ("BIGINT",)))
