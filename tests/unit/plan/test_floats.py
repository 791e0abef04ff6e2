"""Comparisons of floating-point columns do not reach the statistics of files."""

from __future__ import annotations

import pytest

from tests.spark.running import planned

TABLE = """CREATE TABLE t (id BIGINT, x DOUBLE, y REAL) WITH (connector = 'files', path = 't')
FORMAT PLAIN ENCODE JSON;\n"""
ZERO = "CAST(0 AS DOUBLE)"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("x > 1e0", f"(t.x + {ZERO}) > 1e0"),
        ("NOT (1e0 > x)", f"(t.x + {ZERO})"),
        ("x BETWEEN 0e0 AND 1e0", f"(t.x + {ZERO}) BETWEEN"),
        ("x IN (0e0, 1e0)", f"(t.x + {ZERO}) IN"),
        ("y = CAST(0 AS REAL)", "(t.y + CAST(0 AS FLOAT)) ="),
        ("y > 1e0", "(t.y + CAST(0 AS FLOAT))"),
        ("nullif(x, 0e0) IS NULL", f"NULLIF((t.x + {ZERO})"),
        ("CASE x WHEN 0e0 THEN true ELSE false END", f"(t.x + {ZERO})"),
    ],
)
def test_a_float_is_compared_by_its_sum_with_zero(condition: str, expected: str) -> None:
    _, plans = planned(f"{TABLE}CREATE STREAMING VIEW v AS SELECT id FROM t WHERE {condition};")
    assert "".join(expected.split()) in "".join(plans["v"].program.sql.split())


def test_other_columns_are_compared_as_they_are() -> None:
    _, plans = planned(f"{TABLE}CREATE STREAMING VIEW v AS SELECT x FROM t WHERE id > 1;")
    assert "+" not in plans["v"].program.sql
