"""Interval joins, DISTINCT and linear queries as streaming views: the law at every commit."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest
from law import Landed, check_law, micros
from plans import planned

from headwater.engine.streaming.heartbeat import Heartbeats
from headwater.engine.streaming.query import StreamingView
from headwater.runtime.session import session_for_thread
from tests.streamed import streams_first

NOON = datetime(2013, 1, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
SOURCES = """
CREATE TABLE d (id INTEGER, ts TIMESTAMP WITH TIME ZONE,
                WATERMARK FOR ts AS ts - INTERVAL '15' MINUTE)
WITH (connector = 'files', path = 'd') FORMAT PLAIN ENCODE JSON;
CREATE TABLE l (id INTEGER, ts TIMESTAMP WITH TIME ZONE,
                WATERMARK FOR ts AS ts - INTERVAL '10' MINUTE)
WITH (connector = 'files', path = 'l') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW v AS
"""
JOIN = """SELECT d.id, d.ts AS departed, l.ts AS landed FROM d {side} JOIN l
          ON l.id = d.id AND l.ts BETWEEN d.ts + INTERVAL '0' SECOND
          AND d.ts + INTERVAL '30' MINUTE"""
MATCHED = """SELECT d.id, d.ts AS departed, l.ts AS landed FROM in_d d JOIN in_l l
             ON l.id = d.id AND l.ts BETWEEN d.ts AND d.ts + INTERVAL 30 MINUTE"""
UNMATCHED = """SELECT d.id, d.ts, NULL FROM in_d d
               WHERE d.ts + INTERVAL '1800001 milliseconds' <= getvariable('w') AND NOT EXISTS
               (FROM in_l l WHERE l.id = d.id
                AND l.ts BETWEEN d.ts AND d.ts + INTERVAL 30 MINUTE)"""
IN_TIME = """WITH in_d AS (FROM d WHERE _watermark IS NULL OR ts > _watermark),
                  in_l AS (FROM l WHERE _watermark IS NULL OR ts > _watermark) """
CASES = {
    "inner join": (JOIN.format(side=""), IN_TIME + MATCHED, ("id", "departed", "landed")),
    "left join": (
        JOIN.format(side="LEFT"),
        f"{IN_TIME} {MATCHED} UNION ALL {UNMATCHED}",
        ("id", "departed", "landed"),
    ),
    "left join of which ON leaves out left rows": (
        JOIN.format(side="LEFT") + " AND d.id > 1",
        f"{IN_TIME} {MATCHED} AND d.id > 1 UNION ALL "
        + UNMATCHED.replace("l.id = d.id", "l.id = d.id AND d.id > 1"),
        ("id", "departed", "landed"),
    ),
    "distinct": (
        "SELECT DISTINCT id, ts FROM d WHERE id > 1",
        IN_TIME + "SELECT DISTINCT id, ts FROM in_d WHERE id > 1 AND ts <= getvariable('w')",
        ("id", "ts"),
    ),
    "union of filters": (
        "SELECT id, ts FROM d WHERE id = 1 UNION ALL SELECT id * 10, ts FROM l WHERE id > 2"
        " UNION ALL SELECT -id, ts FROM d",
        "SELECT id, ts FROM d WHERE id = 1 UNION ALL SELECT id * 10, ts FROM l WHERE id > 2"
        " UNION ALL SELECT -id, ts FROM d",
        ("id", "ts"),
    ),
}


class Kept:
    """A view of :data:`CASES` over tables whose rows come from the test."""

    def __init__(self, spark, lake, folder, name):
        select, self._oracle, self._columns = CASES[name]
        self._spark, self._lake, self._folder = spark, lake, folder
        with streams_first():
            self._catalog, plans = planned(SOURCES + select + ";")
        self.plan = plans["v"]
        kinds = {"id": "INT", "ts": "TIMESTAMP"}
        delays = {"d": timedelta(minutes=15), "l": timedelta(minutes=10)}
        self.sides = {
            each: Landed(lake, each, kinds, "ts", delays[each]) for each in self.plan.view.inputs
        }

    def started(self) -> StreamingView:
        own = self._lake.using(session_for_thread(self._spark))
        poll = timedelta(milliseconds=20)
        view = StreamingView(own, self.plan, self._catalog, self._folder, poll=poll)
        view.start()
        return view

    def drain(self, view, watermark=None, *, seconds=60):
        ends = {name: side.table.snapshot_id() for name, side in self.sides.items()}
        assert view.drain(ends, watermark, timeout=seconds * SECOND)

    def run_once(self, watermark=None):
        view = self.started()
        self.drain(view, watermark)
        view.stop()

    def check(self):
        check_law(self._lake, "v", self._columns, self._oracle, list(self.sides.values()))
        return self._lake.table("v").read().count()


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", CASES)
def test_table_equals_select_at_every_commit(spark, lake, tmp_path, name, order):
    """Whichever rows come together in one batch, and wherever the view is stopped in between."""
    kept = Kept(spark, lake, tmp_path, name)
    sides = kept.sides.values()
    rnd = random.Random(f"{name} {order}")

    def drain(view, *, idle=False):
        known = [side.watermark_after for side in sides]
        watermark = min(known) if idle and None not in known else None
        kept.drain(view, watermark, seconds=120)

    view = kept.started()
    clock = NOON
    for _ in range(6):
        clock += rnd.choice([300, 600, 1500]) * SECOND
        for side in sides:
            rows = range(rnd.randint(1, 6))
            side.land(*((rnd.randint(1, 4), moment(rnd, clock)) for _ in rows))
            then = rnd.choice(["go on", "go on", "read", "read and stop", "stop", "drain"])
            if then in ("read", "read and stop", "drain"):
                drain(view, idle=then == "drain")
            if then in ("read and stop", "stop"):
                view.stop()
                view = kept.started()
    for side in sides:
        side.close(clock + timedelta(hours=2))
    drain(view, idle=True)
    view.stop()
    assert kept.check() > 3


def moment(rnd, clock):
    jitter = timedelta(microseconds=rnd.choice([0, 0, -1, 1, 999, -1000]))
    return clock - rnd.choice([0, 300, 900, 1800]) * SECOND + jitter


def test_what_all_rows_of_a_batch_have_is_not_taken_for_true_of_the_state(spark, lake, tmp_path):
    """Of ``l`` the second batch has a heartbeat alone, whose ``id`` is NULL."""
    kept = Kept(spark, lake, tmp_path, "inner join")
    for side in kept.sides.values():
        side.land((1, NOON), (2, NOON), (None, NOON))
    kept.run_once()
    later = micros(NOON + timedelta(hours=2))
    beats = Heartbeats(tmp_path / "heartbeat", kept.plan.program.delays)
    beats.write(dict.fromkeys(kept.sides, later))
    kept.sides["d"].land((1, NOON - 60 * SECOND), (2, NOON - 60 * SECOND))
    kept.run_once()
    assert kept.check() == 4


def test_a_view_that_starts_anew_is_told_the_watermark_of_an_input_at_rest(spark, lake, tmp_path):
    """Spark forgets which input has which watermark, and reads a heartbeat's file only once."""
    kept = Kept(spark, lake, tmp_path, "left join")
    kept.sides["l"].land((1, NOON + timedelta(hours=9)))
    for hour in range(3):
        kept.sides["d"].land((1, NOON + timedelta(hours=hour)))
        kept.run_once(kept.sides["d"].watermark_after)
    assert kept.check() == 2
