"""The names of units, computed without Spark, are those that Spark computes."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from headwater.plan.unit_name import UnitName
from headwater.serve.connection import duckdb_connection
from headwater.serve.doctor.unit_names import named_rows

MOMENT = datetime(1969, 7, 20, 20, 17, 40, 123456, tzinfo=UTC)
VALUES = {
    "BOOLEAN": [True, False],
    "INT": [0, 1, -1, 2**31 - 1, -(2**31)],
    "BIGINT": [0, 1, -1, 2**63 - 1, -(2**63)],
    "FLOAT": [0.0, -0.0, 1.5, -1.5, float("nan"), float("inf")],
    "DOUBLE": [0.0, -0.0, 0.1, -1e308, float("nan"), float("-inf")],
    "DATE": [date(1970, 1, 1), date(1, 1, 1), date(2026, 11, 28)],
    "TIMESTAMP": [MOMENT, datetime(2026, 11, 28, tzinfo=UTC)],
    "TIMESTAMP_NTZ": [MOMENT.replace(tzinfo=None)],
    "STRING": ["", "a", "é漢字", *("x" * n for n in (3, 4, 7, 8, 12, 31, 32, 33, 40, 64, 71))],
    "BINARY": [b"", b"\x00\xff", bytes(range(100))],
    "DECIMAL(9, 2)": [Decimal("0.00"), Decimal("-0.50"), Decimal("1234567.89")],
    "DECIMAL(18, 0)": [Decimal(10**17), Decimal(-(10**17))],
    "DECIMAL(38, 3)": [
        *(
            Decimal(value).scaleb(-3)
            for value in (0, 1, -1, 127, 128, -128, -129, 255, 256, 10**37)
        ),
        Decimal(-(10**37)).scaleb(-3),
    ],
}


@pytest.mark.parametrize("tag", [None, 3])
def test_units_are_named_as_spark_names_them(spark: SparkSession, tag: int | None) -> None:
    for kind, values in VALUES.items():
        rows = [(value, other) for value in [*values, None] for other in ("k", None)]
        first = "" if tag is None else f"{tag}, "
        frame = spark.createDataFrame(rows, f"v {kind}, k STRING").selectExpr(
            "v", "k", f"xxhash64({first}v, k) AS unit"
        )
        table: pa.Table = frame.toArrow()
        names = (UnitName("", tag, ("v", "k")),)
        with duckdb_connection() as connection:
            connection.register("rows", table)
            read = named_rows(connection, "SELECT * FROM rows", {"v": kind, "k": "STRING"}, names)
            for batch, (found,) in read:
                unit = np.asarray(batch.column("unit")).view(np.uint64)
                assert found.tolist() == unit.tolist(), kind
