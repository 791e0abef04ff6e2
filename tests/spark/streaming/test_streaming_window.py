"""Window views: the law at every commit, heartbeats, late rows, restarts."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest
from law import Landed, catalog_of, check_law, micros
from plans import hand_made, relation

from headwater.engine.streaming.query import StreamingView
from headwater.plan.program import StreamingProgram
from headwater.plan.windows import TimeWindow
from headwater.runtime.session import session_for_thread
from tests.support.waiting import wait_for

NOON = datetime(2013, 1, 1, 12, tzinfo=UTC)
HOUR = 3_600_000_000
SECOND = timedelta(seconds=1)
POLL = timedelta(milliseconds=20)


def window_program(call: str, delay: int, allowed: int = 0) -> StreamingProgram:
    sql = f"""
        SELECT w.start AS window_start, w.end AS window_end, origin, count(*) AS n
        FROM (SELECT *, {call} AS w FROM (
                SELECT origin, ts, _watermark FROM departures WHERE k > 0
                UNION ALL SELECT NULL, ts, TIMESTAMP '9999-12-31' FROM departures__heartbeat
              ) WATERMARK ts DELAY OF INTERVAL {delay + allowed} SECONDS)
        WHERE _watermark IS NULL OR w.end + INTERVAL {allowed} SECOND > _watermark
        GROUP BY w, origin"""
    late = f"""
        SELECT * FROM departures__change
        WHERE k > 0 AND NOT (_watermark IS NULL OR
                             date_trunc('HOUR', ts) + INTERVAL 1 HOUR
                             + INTERVAL {allowed} SECOND > _watermark)"""
    return StreamingProgram(
        sql,
        {"departures": delay * SECOND},
        allowed * SECOND,
        stateful=True,
        late={} if "'20 minutes'" in call else {"departures": late},
    )


def window_oracle(slides: int, allowed: int = 0) -> str:
    slide = 60 // slides
    return f"""
        SELECT s AS window_start, s + INTERVAL 1 HOUR AS window_end, origin, count(*) AS n
        FROM (SELECT *, unnest([time_bucket(INTERVAL {slide} MINUTE, ts, TIMESTAMPTZ '2000-01-01')
                                - i * INTERVAL {slide} MINUTE for i in range({slides})]) AS s
              FROM departures WHERE k > 0)
        WHERE (_watermark IS NULL OR s + INTERVAL '1 hour {allowed} seconds' > _watermark)
          AND s + INTERVAL 1 HOUR <= getvariable('w')
        GROUP BY s, origin"""


class Bench:
    """A window view over one landed table, which can be stopped and started anew."""

    def __init__(
        self, spark, lake, tmp_path, call="window(ts, '1 hour')", slides=1, into=None, allowed=0
    ):
        columns = {"origin": "STRING", "k": "INT", "ts": "TIMESTAMP"}
        self.spark, self.lake, self.state = spark, lake, tmp_path / "state"
        self.landed = Landed(lake, "departures", columns, "ts", timedelta(minutes=15))
        program = window_program(call, 900, allowed)
        self.oracle = window_oracle(slides, allowed)
        self.plan = hand_made(
            "per_hour",
            program,
            {
                "window_start": "TIMESTAMP",
                "window_end": "TIMESTAMP",
                "origin": "STRING",
                "n": "BIGINT",
            },
            relation(self.landed, TimeWindow("hop", "ts", HOUR, HOUR // slides)),
            into=into,
            allowed=allowed * SECOND,
        )

    def view(self, **options) -> StreamingView:
        return StreamingView(
            self.lake.using(session_for_thread(self.spark)),
            self.plan,
            catalog_of(self.landed),
            self.state,
            poll=POLL,
            **options,
        )

    def drain(self, view, watermark=None):
        end = {"departures": self.landed.table.snapshot_id()}
        assert view.drain(end, watermark, timeout=timedelta(seconds=60))

    def close(self, view, moment):
        self.landed.close(moment)
        self.drain(view, micros(moment))

    def check(self):
        columns = [column.name for column in self.plan.columns]
        return check_law(self.lake, "per_hour", columns, self.oracle, [self.landed])


def late_randomly(rnd, clock):
    return (
        clock
        - rnd.choice([0, 60, 600, 1200, 7200, 100]) * SECOND
        + rnd.randint(-2, 2) * timedelta(microseconds=500)
    )


@pytest.mark.parametrize(
    ("call", "slides", "allowed"),
    [
        ("window(ts, '1 hour')", 1, 0),
        ("window(ts, '1 hour')", 1, 1800),
        ("window(ts, '1 hour', '20 minutes')", 3, 0),
    ],
)
def test_table_equals_select_at_every_commit(spark, lake, tmp_path, call, slides, allowed):
    bench = Bench(spark, lake, tmp_path, call, slides, allowed=allowed)
    rnd = random.Random(slides)
    view = bench.view()
    view.start()
    clock = NOON
    for number in range(10):
        clock += rnd.choice([300, 1800, 3600, 5000]) * SECOND
        bench.landed.land(
            *(
                (
                    rnd.choice(["JFK", "EWR"]),
                    0 if number in (4, 5) else rnd.choice([0, 1, 2]),
                    late_randomly(rnd, clock),
                )
                for _ in range(rnd.randint(1, 6))
            )
        )
        if number == 6:  # a new object goes on where the old one stopped
            view.stop()
            view = bench.view()
            view.start()
        if number % 3 == 0:
            bench.drain(view)
    bench.close(view, clock + timedelta(hours=4))
    view.stop()
    markers = bench.check()
    assert markers[-1].watermark == micros(clock + timedelta(hours=4)) - allowed * 1_000_000
    assert bench.lake.table("per_hour").read().count() > 3


def test_rows_that_the_filter_removes_still_close_windows(spark, lake, tmp_path):
    bench = Bench(spark, lake, tmp_path)
    view = bench.view()
    view.start()
    bench.landed.land(("JFK", 1, NOON))
    bench.landed.land(("JFK", 0, NOON + timedelta(hours=3)))
    bench.drain(view, bench.landed.watermark_after)
    view.stop()
    bench.check()
    assert [row.n for row in lake.table("per_hour").read().collect()] == [1]


def test_heartbeats_are_removed_once_they_are_read(spark, lake, tmp_path):
    bench = Bench(spark, lake, tmp_path)
    view = bench.view()
    view.start()
    for hour in range(4):
        bench.landed.land(("JFK", 0, NOON + timedelta(hours=3 * hour)))
        bench.drain(view, bench.landed.watermark_after)
    folder = tmp_path / "state" / "heartbeat" / "departures"
    # Spark removes them in a thread of its own
    wait_for(lambda: len(list(folder.iterdir())) < 2, "the heartbeats to be removed")
    view.stop()
    assert len(list(folder.iterdir())) < 2


def test_the_checkpoint_forgets_heartbeats_of_long_ago(spark, lake, tmp_path, monkeypatch):
    monkeypatch.setattr("headwater.engine.streaming.query.TIDY_EVERY", 1)
    monkeypatch.setattr("headwater.checkpoints.file_log._TRIMMED", 2)
    spark.conf.set("spark.sql.streaming.fileSource.log.compactInterval", "3")
    try:
        bench = Bench(spark, lake, tmp_path)
        for start in range(2):  # a restart goes on with what is left of the log
            view = bench.view()
            view.start()
            for hour in range(5):
                bench.landed.land(("JFK", 1, NOON + timedelta(hours=3 * (5 * start + hour))))
                bench.drain(view, bench.landed.watermark_after)
            view.stop()
    finally:
        spark.conf.unset("spark.sql.streaming.fileSource.log.compactInterval")
    bench.check()
    assert lake.table("per_hour").read().count() == 9
    logs = (tmp_path / "state" / "checkpoint" / "sources").glob("*/*.compact")
    newest = max(logs, key=lambda file: int(file.stem))
    assert int(newest.stem) >= 8
    assert len(newest.read_text().splitlines()) < 8


def test_late_rows_are_kept_and_counted(spark, lake, tmp_path):
    bench = Bench(spark, lake, tmp_path, into="late_departures")
    view = bench.view()
    view.start()
    late, in_time = ("JFK", 1, NOON + timedelta(minutes=1)), ("JFK", 1, NOON + timedelta(hours=2))
    bench.landed.land(("JFK", 1, NOON), ("EWR", 1, NOON + timedelta(hours=2)))
    bench.landed.land(late, in_time, ("JFK", 0, NOON))
    bench.close(view, NOON + timedelta(hours=9))
    view.stop()
    markers = bench.check()
    assert sum(marker.counts["late"] for marker in markers) == 1
    kept = [
        (row.origin, row.k, row.ts.replace(tzinfo=UTC))
        for row in lake.table("late_departures").read().collect()
    ]
    assert kept == [late]
