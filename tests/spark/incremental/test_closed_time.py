"""Closed time: what is final is appended once, late rows are counted, whatever dies in between."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from law import Landed, check_law
from running import Running

from headwater.engine.incremental.recompute_policy import RecomputeLimits
from headwater.lake.protocol import commit as protocol
from headwater.plan.program import ClosedTimeProgram

NOON = datetime(2013, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
COLUMNS = {"id": "BIGINT", "k": "STRING", "ts": "TIMESTAMP"}
DEFINITIONS = """
CREATE TABLE e (id BIGINT, k VARCHAR, ts TIMESTAMP WITH TIME ZONE,
                WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
WITH (connector = 'files', path = 'e') FORMAT PLAIN ENCODE JSON;
CREATE TABLE r (id BIGINT, k VARCHAR, ts TIMESTAMP WITH TIME ZONE,
                WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
WITH (connector = 'files', path = 'r') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW hours LATE ROWS DROP INTO late_hours AS
SELECT window_start, k, count(*) AS n FROM TUMBLE(e, ts, INTERVAL '1' HOUR)
GROUP BY window_start, k EMIT ON WINDOW CLOSE;
CREATE STREAMING VIEW busy AS SELECT k, n FROM hours WHERE n > 1;
CREATE STREAMING VIEW answered LATE ROWS DROP INTO late_answered AS
SELECT e.id, r.id AS reply FROM e LEFT JOIN r
ON r.k = e.k AND r.ts BETWEEN e.ts AND e.ts + INTERVAL '30' MINUTE;
"""
HOURS = """SELECT s AS window_start, k, count(*) AS n
    FROM (SELECT *, time_bucket(INTERVAL 1 HOUR, ts) AS s FROM e)
    WHERE (_watermark IS NULL OR s + INTERVAL 1 HOUR > _watermark)
      AND s + INTERVAL 1 HOUR <= getvariable('w') GROUP BY s, k"""
ANSWERED = """WITH x AS (FROM e WHERE _watermark IS NULL OR ts >= _watermark),
    y AS (FROM r WHERE _watermark IS NULL OR ts >= _watermark),
    pairs AS (SELECT x.id, y.id AS reply FROM x JOIN y
              ON x.k = y.k AND y.ts BETWEEN x.ts AND x.ts + INTERVAL 30 MINUTE)
    FROM pairs UNION ALL SELECT id, NULL FROM x
    WHERE ts + INTERVAL 30 MINUTE < getvariable('w') AND id NOT IN (SELECT id FROM pairs)"""


class Killed(Exception):
    pass


@pytest.mark.parametrize("point", ["4-published", "5-staged", "5-published"])
def test_results_are_appended_once_whatever_dies(spark, lake, monkeypatch, point):
    e, r = landed = [Landed(lake, name, COLUMNS, "ts", MINUTE) for name in ("e", "r")]
    running = Running(spark, lake, DEFINITIONS)
    timed = {name for name in running.plans if name != "busy"}
    for name in timed:
        assert isinstance(running.plans[name].program, ClosedTimeProgram)

    def land(table, first, *at):
        """Rows of some minutes after noon."""
        table.land(*((first + n, "uv"[n % 2], NOON + m * MINUTE) for n, m in enumerate(at)))

    def die(here, table=""):
        if here == point:
            raise Killed

    land(e, 1, 0, 5, 10, 70)
    land(r, 51, 4, 30, 80)
    assert not running.tick()
    land(e, 10, 20, 65, 130, 131)  # the first is late
    land(r, 60, 15, 100, 140)  # so is the first
    with monkeypatch.context() as dying:
        dying.setattr(protocol, "crash_point", die)
        failed = running.tick()
    assert {type(failed[name]) for name in timed} == {Killed}
    land(e, 20, 80, 75, 200, 260)  # two are late
    land(r, 70, 210, 150)
    running.open()
    assert not running.tick()
    for table in landed:
        table.close(NOON + timedelta(hours=9))
    assert not running.tick()

    check_law(lake, "answered", ("id", "reply"), ANSWERED, landed)
    markers = check_law(lake, "hours", ("window_start", "k", "n"), HOURS, [e])
    late = [row["id"] for row in lake.table("late_hours").read().collect()]
    assert sorted(late) == [10, 20, 21]
    assert sum(marker.counts["late"] for marker in markers) == len(late)
    hours = running.held("hours")
    assert len(hours) > 4
    assert sorted(running.held("busy")) == sorted((k, n) for _, k, n in hours if n > 1)


def test_a_tick_between_two_ends_appends_nothing_and_keeps_the_watermark(spark, lake):
    e, _ = (Landed(lake, name, COLUMNS, "ts", MINUTE) for name in ("e", "r"))
    running = Running(spark, lake, DEFINITIONS)
    for minutes in (10, 20, 50, 70, 90):
        e.land((minutes, "u", NOON + minutes * MINUTE))
        assert not running.tick()
        marker = running.views["hours"].marker
        assert marker is not None and marker.watermark == e.watermark_after
        assert len(running.held("hours")) == (minutes > 61)


ONCE = """
CREATE STREAMING VIEW once AS
SELECT h, count(*) AS n FROM (
  SELECT DISTINCT window_start AS h, id, k FROM TUMBLE(e, ts, INTERVAL '1' HOUR)) AS d
GROUP BY h EMIT ON WINDOW CLOSE;
CREATE STREAMING VIEW visits AS
SELECT k, window_start AS h, count(*) AS n
FROM SESSION((SELECT DISTINCT id, k, ts FROM e) PARTITION BY k, ts, INTERVAL '20' MINUTE)
GROUP BY k, window_start, window_end EMIT ON WINDOW CLOSE;
"""


def test_what_was_final_stays_if_recomputing_would_cost_less(spark, lake):
    e, _ = (Landed(lake, name, COLUMNS, "ts", MINUTE) for name in ("e", "r"))
    limits = RecomputeLimits(10**9)
    running = Running(spark, lake, DEFINITIONS + ONCE, lambda _: limits)
    for minutes in (10, 70, 130, 190):
        row = (minutes, "u", NOON + minutes * MINUTE)
        e.land(row, row)
        assert not running.tick()
    noon = NOON.replace(tzinfo=None)
    assert sorted(running.held("once")) == [(noon + n * 60 * MINUTE, 1) for n in range(3)]
    assert sorted(running.held("visits")) == [("u", noon + n * MINUTE, 1) for n in (10, 70, 130)]
