"""Recompute: ticks that compute the whole view, mixed with those that replace what changed."""

from __future__ import annotations

import random

import pytest
from running import Running
from test_units import TABLES, check, rows, tables

from headwater.engine.incremental.recompute_policy import (
    CHANGED,
    NEVER,
    RECOMPUTED,
    TOUCHED,
    RecomputeLimits,
)

ALWAYS = RecomputeLimits(10**9)
"""Every tick computes the whole view."""

PLACE = "row_number() OVER (PARTITION BY k ORDER BY x DESC, id)"
VIEWS = {
    "sums": "SELECT k, count(*) AS n, sum(x) AS x, avg(x) AS mean FROM a GROUP BY k",
    "everything": "SELECT count(*) AS n, max(x) AS most FROM a",
    "kinds": "SELECT k, count(DISTINCT x) AS n FROM a GROUP BY k",
    "left_join": "SELECT a.id, b.id AS other FROM a LEFT JOIN b ON a.k = b.k",
    "of_sums": "SELECT n, count(*) AS keys FROM sums GROUP BY n",
    "most_sums": "SELECT k, n FROM sums ORDER BY n DESC, k LIMIT 2",
    "first_of_all": "SELECT id, x FROM a ORDER BY x DESC, id LIMIT 3",
    "first_of_each": f"SELECT id, {PLACE} AS n FROM a QUALIFY n <= 2",
    "distinct_rows": "SELECT DISTINCT k, x FROM b",
}


@pytest.mark.parametrize("format_", ["iceberg", "delta"])
def test_ticks_of_both_kinds_follow_each_other(spark, lake, format_):
    landed, rnd, ids = tables(lake), random.Random(3), list(range(1000))
    # a Delta view is read by no other
    views = {n: sql for n, sql in VIEWS.items() if format_ == "iceberg" or " sums" not in sql}
    text = "\n".join(
        f"CREATE STREAMING VIEW {name} WITH (format = '{format_}') AS {sql};"
        for name, sql in views.items()
    )
    turns = {name: rnd.sample([NEVER, ALWAYS] * 4, 7) for name in views}
    world = Running(spark, lake, TABLES + text, lambda name: turns[name].pop())
    kinds = {name: set() for name in views}
    for _ in range(6):
        for table in landed.values():
            table.land(*rows(rnd, ids))
        assert not world.tick()
        check(world, landed, views)
        for name, view in world.views.items():
            kinds[name].add(RECOMPUTED in view.marker.counts)
        world.open()
    recomputed = {name for name, found in kinds.items() if True in found}
    assert all(False in found for found in kinds.values())
    # readers of distinct rows take what is appended; Delta counts no rows, so the change decides
    expected = {*views} - {"distinct_rows"}
    assert recomputed == expected if format_ == "iceberg" else set() < recomputed < expected


def test_what_was_measured_decides_and_stands_in_the_marker(spark, lake):
    landed = tables(lake)
    limits = RecomputeLimits(small=10, share=0.4)
    text = f"CREATE STREAMING VIEW v AS {VIEWS['kinds']};"
    world = Running(spark, lake, TABLES + text, lambda _: limits)

    def counts(*new):
        landed["a"].land(*new)
        assert not world.tick()
        check(world, landed, {"v": VIEWS["kinds"]})
        return world.views["v"].marker.counts

    assert counts(*((n, f"k{n % 8}", n) for n in range(8))) == {}  # the first computes all anyway
    assert counts((8, "k0", 8)) == {CHANGED: 1, RECOMPUTED: 1}  # 9 rows are few
    assert counts((9, "k1", 9), (10, "k1", 10)) == {CHANGED: 2, TOUCHED: 1}
    touched = [(n, f"k{n % 4}", n) for n in range(11, 16)]
    assert counts(*touched) == {CHANGED: 5, TOUCHED: 4, RECOMPUTED: 1}  # 4 of 8 keys
    assert counts(*((n, "k5", n) for n in range(16, 40))) == {CHANGED: 24, RECOMPUTED: 1}
    assert counts((40, "new", 1)) == {CHANGED: 1, TOUCHED: 1}


def test_a_change_of_corrected_rows_costs_the_files_that_differ(spark, lake):
    landed = tables(lake)
    views = {name: VIEWS[name] for name in ("sums", "of_sums")}
    text = "".join(f"CREATE STREAMING VIEW {name} AS {sql};" for name, sql in views.items())
    world = Running(spark, lake, TABLES + text, lambda _: RecomputeLimits(0, 0.5))
    landed["a"].land(*((n, f"k{n % 10}", n) for n in range(100)))
    assert not world.tick()
    landed["a"].land((100, "k3", 1))
    assert not world.tick()
    # one row of ten was replaced, for which both sides of its file have to be read
    assert world.views["of_sums"].marker.counts[RECOMPUTED] == 1
    assert world.views["sums"].marker.counts == {CHANGED: 1}
    check(world, landed, views)
