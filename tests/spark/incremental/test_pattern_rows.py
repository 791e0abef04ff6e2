"""Matches in Spark: recent rows are enough for most keys, older ones are read for the others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from law import Landed
from running import Running

from headwater.engine.incremental import pattern_rows
from headwater.errors import TerminalError
from headwater.lake.protocol import commit as protocol

NOON = datetime(2013, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
COLUMNS = {"id": "BIGINT", "k": "STRING", "ts": "TIMESTAMP"}
DEFINITIONS = """
CREATE TABLE e (id BIGINT, k VARCHAR, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'e') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW rises AS
SELECT m.k, m.first, m.last FROM e MATCH_RECOGNIZE (
  PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS first, LAST(id) AS last
  PATTERN (up{2}) WITHIN INTERVAL '1' MINUTE DEFINE up AS id > PREV(id)
) AS m EMIT ON WINDOW CLOSE;
"""


class Killed(Exception):
    pass


def test_older_rows_are_read_for_the_keys_that_need_them(spark, lake, monkeypatch):
    read: list[str] = []
    found = pattern_rows._found

    def noted(session, step, sql, recent=None):
        read.append("recent" if recent else "older" if "__unsure" in sql else "all")
        return found(session, step, sql, recent)

    monkeypatch.setattr(pattern_rows, "_found", noted)
    e = Landed(lake, "e", COLUMNS, "ts", timedelta(0))
    running = Running(spark, lake, DEFINITIONS)

    def tick(*rows):
        read.clear()
        e.land(*((id_, k, NOON + minutes * MINUTE) for id_, k, minutes in rows))
        assert not running.tick()
        return read

    assert tick((1, "u", 0), (2, "u", 0.5), (3, "u", 1), (10, "v", 1), (5, "v", 2)) == ["all"]
    # the first row of v was landed two hours ago, long before what a tick reads
    assert tick((20, "v", 120), (30, "v", 120.5), (1, "w", 125)) == ["recent", "older"]
    assert tick((2, "w", 125.5), (3, "w", 126), (1, "x", 130)) == ["recent", "older"]
    assert tick(*((9 - n, "y", 300 + n / 2) for n in range(7))) == ["recent", "older"]
    assert tick((1, "y", 303.5), (2, "y", 304)) == ["recent"]
    assert tick((3, "y", 304.5), (0, "y", 308)) == ["recent"]
    assert sorted(running.held("rises")) == [("u", 2, 3), ("v", 20, 30), ("w", 2, 3), ("y", 2, 3)]


def test_matches_are_appended_once_if_a_commit_dies(spark, lake, monkeypatch):
    e = Landed(lake, "e", COLUMNS, "ts", timedelta(0))
    running = Running(spark, lake, DEFINITIONS)

    def die(here, table=""):
        if here == "5-staged":
            raise Killed

    e.land(*((n, "u", NOON + n * MINUTE / 4) for n in range(6)))
    with monkeypatch.context() as dying:
        dying.setattr(protocol, "crash_point", die)
        assert type(running.tick()["rises"]) is Killed
    e.land(*((n, "u", NOON + n * MINUTE / 4) for n in range(6, 12)))
    running.open()
    assert not running.tick()
    assert sorted(running.held("rises")) == [("u", n, n + 1) for n in (1, 3, 5, 7, 9)]


def test_a_measure_that_cannot_be_computed_stops_the_view_and_says_why(spark, lake):
    e = Landed(lake, "e", COLUMNS, "ts", timedelta(0))
    text = DEFINITIONS.replace("LAST(id) AS last", "sum(id) AS last")
    running = Running(spark, lake, text)
    e.land(*((2**62 + n, "u", NOON + n * MINUTE / 4) for n in range(4)))
    failed = running.tick()["rises"]
    assert isinstance(failed, TerminalError)
    assert failed.condition == "MATCH_FAILED"
    assert "does not fit BIGINT" in failed.message
    assert "DECIMAL(38, 0)" in failed.hint
