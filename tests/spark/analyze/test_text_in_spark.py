"""Functions over text give in Spark what Trino gives, at their edges."""

from __future__ import annotations

from pyspark.sql import SparkSession

from headwater.analyze.portable.rewrites import portable
from tests.support.text_cases import ROWS, text_view
from tests.unit.analyze.test_text_answers import differences


def test_spark_gives_the_answers_of_trino(spark: SparkSession) -> None:
    rows = [(at, *row) for at, row in enumerate(ROWS)]
    frame = spark.createDataFrame(rows, "id int, s string, u string, i int")
    frame.coalesce(1).createOrReplaceTempView("t")
    query = portable(text_view().query, "spark").sql("spark", identify=True)
    assert differences([tuple(row) for row in spark.sql(f"{query} ORDER BY id").collect()]) == []
