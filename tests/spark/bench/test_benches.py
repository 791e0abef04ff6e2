"""The benchmarks of ticks run, and their views equal plain Spark's."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from bench.growth import ticks
from bench.incremental import CASES, Bench, run_case
from headwater.engine.incremental.recompute_policy import NEVER, RecomputeLimits


def test_growth_has_a_point_for_each_size(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ticks, "ROWS", (10_000_000, 20_000_000))
    monkeypatch.setattr(ticks, "KEYS", ticks.KEYS[:2])
    for sizes in ("CHANGES", "COUNTS"):
        monkeypatch.setattr(ticks, sizes, (1, 2))
    for times in ("WARM", "TIMES"):
        monkeypatch.setattr(ticks, times, 1)
    curves = [*ticks.Growth(spark, scale=1e-4).curves()]
    assert [len(curve.points) for curve in curves] == [2, 2, 2, 2, 2]
    assert all(point.cpu > 0 for curve in curves for point in curve.points)


@pytest.mark.parametrize("limits", [NEVER, RecomputeLimits(10_000)])
def test_a_tick_and_plain_spark_make_the_same_rows(
    spark: SparkSession, limits: RecomputeLimits
) -> None:
    bench = Bench(spark, 500 + limits.small % 7, limits)  # a namespace of its own
    line = run_case(bench, CASES["DAG of three"], change=50, times=1, warm=0)
    assert "  0  fold" in line
