"""An error within Spark is shown with the part of the SELECT at which Spark fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pytest
from pyspark.sql import SparkSession

from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.engine.incremental.failing_part import failing_part
from headwater.engine.inputs import InputTable
from headwater.lake.failures import fault_of_spark, is_fault_of_spark
from headwater.plan.planner import plan_project

FAULT = "[INTERNAL_ERROR] The Spark SQL phase optimization failed with an internal error."
TABLES = """
CREATE TABLE t (id INTEGER, a INTEGER, tags ARRAY(VARCHAR))
WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;
"""


@dataclass
class Planner:
    """Stands for a Spark session, and fails at SQL that has a text in it."""

    sign: str
    asked: str = ""

    def sql(self, text: str) -> Planner:
        self.asked = text
        return self

    @property
    def _jdf(self) -> Planner:
        return self

    def queryExecution(self) -> Planner:  # noqa: N802 - as Spark names it
        return self

    def optimizedPlan(self) -> None:  # noqa: N802 - as Spark names it
        if self.sign in self.asked:
            raise RuntimeError(FAULT)


class Table:
    """Stands for the table of an input."""

    identifier = "lake.p.t"


@pytest.mark.parametrize(
    ("query", "sign", "part"),
    [
        ("SELECT id, a / 3 AS x FROM t WHERE a > 77", "77", "WHERE"),
        ("SELECT id, a / 77 AS x FROM t", "77", 'column "x"'),
        ("SELECT t.id, s.i FROM t, UNNEST(t.tags) AS s(i)", "EXPLODE", "FROM"),
        ("SELECT id FROM t WHERE id IN (SELECT u.a FROM t AS u WHERE u.a > 77)", "77", "WHERE"),
        ("SELECT a, count(*) AS n FROM t GROUP BY a", "GROUP BY", "the SELECT"),
        ("SELECT id FROM t", "77", "the SELECT"),
    ],
)
def test_the_part_is_the_smallest_that_fails(query: str, sign: str, part: str) -> None:
    text = f"{TABLES}CREATE STREAMING VIEW v AS {query};"
    catalog = bind({"v.sql": parse(text, file="v.sql")})
    inputs = {"t": InputTable("t", cast("object", Table()), None)}  # type: ignore[arg-type]
    session = cast(SparkSession, Planner(sign))
    assert failing_part(session, plan_project(catalog)["v"], catalog, inputs) == part


def test_the_message_names_the_view_and_the_part() -> None:
    error = RuntimeError(f"An error occurred while calling o1.count.\n: {FAULT}\n\tat org.x")
    assert is_fault_of_spark(error)
    said = fault_of_spark("v", "WHERE", error)
    assert said.condition == "SPARK_INTERNAL_ERROR"
    assert 'at WHERE of view "v"' in str(said)
    assert "o1.count" not in str(said)
