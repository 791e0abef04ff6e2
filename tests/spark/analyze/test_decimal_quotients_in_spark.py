"""Spark divides decimals as Trino does: random ones, and those next to half of the last digit."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest
from pyspark.sql import SparkSession

from headwater.analyze.portable.rewrites import portable
from headwater.plan.sql.render import print_sql
from tests.unit.analyze.test_decimal_quotients import Kind, catalog, exact

KINDS: list[tuple[Kind, Kind]] = [
    ((3, 2), (2, 0)),
    ((10, 2), (12, 4)),
    ((18, 0), (18, 0)),
    ((12, 4), (19, 0)),
    ((18, 9), (10, 9)),
    ((20, 2), (8, 8)),
]


def pairs(left: Kind, right: Kind, chance: random.Random) -> list[tuple[Decimal, Decimal]]:
    """Random operands, and dividends within one unit of an odd number of halves of the divisor."""
    found = []
    scale = max(left[1], right[1])
    for _ in range(400):
        a = chance.randrange(10 ** chance.randint(1, left[0])) * chance.choice((1, -1))
        b = chance.randrange(1, 10 ** chance.randint(1, right[0])) * chance.choice((1, -1))
        dividend, divisor = Decimal(a).scaleb(-left[1]), Decimal(b).scaleb(-right[1])
        found.append((dividend, divisor))
        half = Decimal(2 * chance.randrange(10**4) + 1).scaleb(-scale) / 2 * divisor
        near = half.quantize(Decimal(1).scaleb(-left[1]))
        found += [(near + Decimal(k).scaleb(-left[1]), divisor) for k in (-1, 0, 1)]
    most = Decimal(10) ** (left[0] - left[1])
    return [(a, b) for a, b in found if abs(a) < most]


@pytest.mark.parametrize(("left", "right"), KINDS)
def test_spark_divides_as_trino_does(spark: SparkSession, left: Kind, right: Kind) -> None:
    rows = pairs(left, right, random.Random(1))
    assert len(rows) > 400
    scale = max(left[1], right[1])
    schema = f"a DECIMAL{left}, b DECIMAL{right}"
    spark.createDataFrame(rows, schema).createOrReplaceTempView("t")
    query = catalog(left, right, "SELECT a, b, a / b AS q").views["v"].query
    answers = spark.sql(print_sql(portable(query, "spark"), "spark")).collect()
    assert [tuple(row) for row in answers if row[2] != exact(row[0], row[1], scale)] == []
