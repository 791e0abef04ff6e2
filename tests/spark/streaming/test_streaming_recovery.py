"""Lost, old and foreign checkpoints: time may be lost, never rows."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta

import pytest
from law import Landed, check_law
from plans import planned

from headwater.errors import HeadwaterError, TerminalError
from headwater.incremental.target import Writer
from headwater.runtime.session import session_for_thread
from headwater.streaming.query import StreamingView

NOON = datetime(2013, 1, 1, 12, tzinfo=UTC)
LINEAR = "SELECT id, ts FROM d WHERE id > 0"
WINDOW = """SELECT window_start, count(*) AS n FROM TUMBLE(d, ts, INTERVAL '1' HOUR)
            GROUP BY window_start, window_end EMIT ON WINDOW CLOSE"""
HOURS = """SELECT window_start, count(*) AS n
           FROM (SELECT *, time_bucket(INTERVAL 1 HOUR, ts) AS window_start FROM d)
           WHERE (_watermark IS NULL OR window_start + INTERVAL 1 HOUR > _watermark)
             AND window_start + INTERVAL 1 HOUR <= getvariable('w')
           GROUP BY window_start"""


class Bench:
    def __init__(self, spark, lake, tmp_path, select):
        self.spark, self.lake, self.state = spark, lake, tmp_path / "v1"
        self.catalog, self.plans = planned(
            "CREATE TABLE d (id INTEGER, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts)"
            " WITH (connector = 'files', path = 'd') FORMAT PLAIN ENCODE JSON;"
            f" CREATE STREAMING VIEW v AS {select};"
        )
        self.landed = Landed(lake, "d", {"id": "INT", "ts": "TIMESTAMP"}, "ts")
        self.hour = 0

    def land(self, rows=3):
        self.hour += 1
        self.landed.land(*((n, NOON + timedelta(hours=self.hour, minutes=n)) for n in range(rows)))

    def view(self, **options):
        own = self.lake.using(session_for_thread(self.spark))
        poll = timedelta(milliseconds=20)
        return StreamingView(own, self.plans["v"], self.catalog, self.state, poll=poll, **options)

    def run(self, **options):
        view = self.view(**options)
        view.start()
        try:
            end = {"d": self.landed.table.snapshot_id()}
            assert view.drain(end, self.landed.watermark_after, timeout=timedelta(seconds=120))
        finally:
            view.stop()

    def check(self, oracle, *columns):
        return check_law(self.lake, "v", columns, oracle, [self.landed])


def test_stateless_view_goes_on_from_the_marker_without_its_checkpoint(spark, lake, tmp_path):
    bench = Bench(spark, lake, tmp_path, LINEAR)
    for _ in range(2):
        bench.land()
    bench.run()
    shutil.rmtree(bench.state)
    for _ in range(2):
        bench.land()
    bench.run()
    bench.check("SELECT id, ts FROM d WHERE id > 0", "id", "ts")


def test_dropped_table_is_filled_again_from_the_beginning(spark, lake, tmp_path):
    bench = Bench(spark, lake, tmp_path, WINDOW)
    for _ in range(3):
        bench.land()
    bench.run()
    spark.sql(f"DROP TABLE {lake.identifier('v')}")
    bench.run()
    bench.check(HOURS, "window_start", "n")


def test_batch_that_failed_after_its_commit_is_not_committed_twice(
    spark, lake, tmp_path, monkeypatch
):
    bench = Bench(spark, lake, tmp_path, WINDOW)
    bench.land()
    bench.run()

    def fail(committed):
        raise RuntimeError("fault")

    bench.land()
    with pytest.raises(HeadwaterError, match="fault"):
        bench.run(on_commit=fail)
    bench.land()
    bench.run()
    bench.check(HOURS, "window_start", "n")
    assert lake.table("v").read().count() == 2


def test_older_token_may_not_commit(spark, lake, tmp_path):
    bench = Bench(spark, lake, tmp_path, LINEAR)
    bench.land()
    bench.run(writer=Writer(token=2))
    bench.land()
    with pytest.raises(TerminalError) as raised:
        bench.run(writer=Writer(token=1))
    assert raised.value.condition == "FENCED"
