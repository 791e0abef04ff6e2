"""Rows on which a view's expressions fail: quarantined, and the law over the others."""

from __future__ import annotations

import json
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta

import pytest
from law import Landed, check_law
from plans import planned

from headwater.engine.incremental.tick import Ticks
from headwater.engine.incremental.view import IncrementalView
from headwater.engine.streaming.query import StreamingView
from headwater.errors import TerminalError
from headwater.lake.protocol import commit as protocol
from headwater.runtime.session import session_for_thread
from tests.streamed import streams_first

NOON = datetime(2013, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
KINDS = {"id": "INT", "a": "INT", "b": "INT", "s": "STRING", "ts": "TIMESTAMP"}
SOURCES = """
CREATE TABLE t (id INTEGER, a INTEGER, b INTEGER, s VARCHAR, ts TIMESTAMP WITH TIME ZONE,
                WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;
CREATE TABLE u (id INTEGER, a INTEGER, b INTEGER, s VARCHAR, ts TIMESTAMP WITH TIME ZONE,
                WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
WITH (connector = 'files', path = 'u') FORMAT PLAIN ENCODE JSON;
"""
NOT_0 = "b IS DISTINCT FROM 0"
NUMBER = r"regexp_full_match(s, '\s*[+-]?[0-9]+\s*')"
TUMBLED = "TUMBLE(t, ts, INTERVAL '1' MINUTE)"
WINDOWED = """SELECT time_bucket(INTERVAL 1 MINUTE, ts) AS window_start, sum(a // b) AS x,
    count(*) AS n FROM (SELECT *, time_bucket(INTERVAL 1 MINUTE, ts) + INTERVAL 1 MINUTE AS close
    FROM t WHERE {good}) WHERE (_watermark IS NULL OR close > _watermark)
    AND close <= getvariable('w') GROUP BY 1"""
HELD = f"""SELECT t.id, t.a // t.b AS x, u.s::INTEGER AS y
    FROM (FROM t WHERE {NOT_0} AND (_watermark IS NULL OR ts >= _watermark)) t
    JOIN (FROM u WHERE {NUMBER} AND (_watermark IS NULL OR ts >= _watermark)) u ON t.id = u.id
    AND u.ts BETWEEN t.ts AND t.ts + INTERVAL 10 MINUTE"""
CASES = {
    "linear": (
        "SELECT id, a / b AS x FROM t WHERE CAST(s AS INTEGER) > 0",
        f"SELECT id, a // b AS x FROM t WHERE {NUMBER} AND TRY_CAST(s AS INT) > 0 AND {NOT_0}",
        {2: "division by zero: a / b", 3: "not valid as INTEGER: CAST(s AS INTEGER)"},
    ),
    "window": (
        f"SELECT window_start, sum(a / b) AS x, count(*) AS n FROM {TUMBLED}"
        " GROUP BY window_start EMIT ON WINDOW CLOSE",
        WINDOWED.format(good=NOT_0),
        dict.fromkeys((2, 5), "division by zero: a / b"),
    ),
    "join": (
        "SELECT t.id, t.a / t.b AS x, CAST(u.s AS INTEGER) AS y FROM t JOIN u ON t.id = u.id"
        " AND u.ts BETWEEN t.ts AND t.ts + INTERVAL '10' MINUTE",
        HELD,
        dict.fromkeys((2, 5), "division by zero: a / b")
        | {13: "not valid as INTEGER: CAST(s AS INTEGER)"},
    ),
    "join of what passes": (
        "SELECT t.id, u.s AS y FROM t JOIN u ON t.id = u.id"
        " AND u.ts BETWEEN t.ts AND t.ts + INTERVAL '10' MINUTE WHERE t.a / t.b > 0",
        f"""SELECT t.id, u.s AS y FROM (FROM t WHERE {NOT_0} AND a // b > 0) t
        JOIN (FROM u WHERE _watermark IS NULL OR ts >= _watermark) u ON t.id = u.id
        AND u.ts BETWEEN t.ts AND t.ts + INTERVAL 10 MINUTE
        WHERE t._watermark IS NULL OR t.ts >= t._watermark""",
        dict.fromkeys((2, 5), "division by zero: a / b"),
    ),
    "left join": (
        "SELECT t.id, t.a / t.b AS x, u.s AS y FROM t LEFT JOIN u ON t.id = u.id"
        " AND u.ts BETWEEN t.ts AND t.ts + INTERVAL '10' MINUTE",
        f"""WITH g AS (FROM t WHERE {NOT_0} AND (_watermark IS NULL OR ts >= _watermark)),
        h AS (FROM u WHERE _watermark IS NULL OR ts >= _watermark)
        SELECT g.id, a // b AS x, y FROM (
          SELECT g.*, h.s AS y FROM g JOIN h ON g.id = h.id
          AND h.ts BETWEEN g.ts AND g.ts + INTERVAL 10 MINUTE
          UNION ALL SELECT g.*, NULL FROM g
          WHERE g.ts + INTERVAL '600000001 microseconds' <= getvariable('w') AND NOT EXISTS (
            FROM h WHERE g.id = h.id AND h.ts BETWEEN g.ts AND g.ts + INTERVAL 10 MINUTE)) g""",
        dict.fromkeys((2, 5), "division by zero: a / b"),
    ),
    "folded": (
        "SELECT a, sum(a / b) AS x, sum(b) / count(*) AS y FROM t GROUP BY a",
        f"SELECT a, sum(a // b) AS x, sum(b) // count(*) AS y FROM t WHERE {NOT_0} GROUP BY a",
        dict.fromkeys((2, 5), "division by zero: a / b"),
    ),
    "affected keys": (
        "SELECT a, count(DISTINCT a / b) AS x FROM t GROUP BY a",
        f"SELECT a, count(DISTINCT a // b) AS x FROM t WHERE {NOT_0} GROUP BY a",
        dict.fromkeys((2, 5), "division by zero: a / b"),
    ),
    "recomputed": (
        "SELECT id, a / b AS x FROM t",
        f"SELECT id, a // b AS x FROM t WHERE {NOT_0}",
        dict.fromkeys((2, 5), "division by zero: a / b"),
    ),
}
CASES |= {f"{name} as a stream": CASES[name] for name in ("linear", "window", "join")}
_LEFT, _TICKED, _BAD = CASES["left join"]
_STREAMED = _TICKED.replace("600000001 microseconds", "600001 milliseconds")
CASES["left join as a stream"] = (_LEFT, _STREAMED, _BAD)  # Spark counts in milliseconds
HEADS = {"recomputed": "WITH (engine = 'full')"}
ROWS = (
    ((1, 10, 2, "7"), (4, 10, 5, " 8 ")),
    ((2, 10, 0, "5"), (3, 20, 4, "x"), (6, 20, None, "-1")),
    ((5, 30, 0, "-5"), (7, 10, 3, None)),
    ((8, 10, 1, "+3"),),
)
OTHERS = (
    ((1, 0, 0, "11"), (12, 0, 0, "3")),
    ((2, 0, 0, "4"), (13, 0, 0, "1.5"), (4, 0, 0, "12")),
    (),
    ((8, 0, 0, "44"),),
)


class Kept:
    """One view over two tables, whichever engine keeps it."""

    def __init__(self, spark, lake, folder, name, head="", late=""):
        text = f"{SOURCES} CREATE STREAMING VIEW v {late} {head} AS {CASES[name][0]};"
        self.oracle = CASES[name][1]
        with streams_first() if name.endswith("as a stream") else nullcontext():
            self.catalog, plans = planned(text)
        self.plan = plans["v"]
        self.lake = lake
        sides = {name: Landed(lake, name, KINDS, "ts", MINUTE) for name in ("t", "u")}
        self.sides = {name: sides[name] for name in self.plan.view.inputs}
        self._spark, self._folder = spark, folder
        self.view = None
        self.open()

    @property
    def streams(self):
        return self.plan.decision.engine == "streaming"

    def open(self):
        own = self.lake.using(session_for_thread(self._spark))
        if self.streams:
            self.view = StreamingView(
                own, self.plan, self.catalog, self._folder, poll=timedelta(milliseconds=20)
            )
            self.view.start()
        else:
            self.view = IncrementalView(own, self.plan, self.catalog)

    def stop(self):
        if self.streams:
            self.view.stop()

    def land(self, number):
        at = NOON + number * 2 * MINUTE
        for side, rows in zip(self.sides.values(), (ROWS, OTHERS), strict=False):
            if rows[number]:
                side.land(
                    *((*row, at + index * MINUTE / 4) for index, row in enumerate(rows[number]))
                )

    def close(self):
        for side in self.sides.values():
            side.close(NOON + timedelta(hours=2))

    def drain(self):
        ends = {name: side.table.snapshot_id() for name, side in self.sides.items()}
        if not self.streams:
            ticks = Ticks(self.lake, list(self.sides), 1)
            result = ticks.run([self.view], ticks.pin())
            ticks.close()
            for error in result.failed.values():
                raise error
            return
        known = [side.watermark_after for side in self.sides.values()]
        watermark = None if None in known else min(known)
        assert self.view.drain(ends, watermark, timeout=timedelta(seconds=120))

    def end(self):
        """The end of all input."""
        self.close()
        self.drain()
        self.stop()

    def quarantined(self):
        table = self.lake.table("v__quarantine")
        return [(json.loads(row["raw"]), row) for row in table.read().collect()]


@pytest.mark.parametrize("name", CASES)
def test_bad_rows_leave_and_the_law_holds_over_the_others(spark, lake, tmp_path, name):
    bad = CASES[name][2]
    kept = Kept(spark, lake, tmp_path, name, HEADS.get(name, ""))
    for number in range(len(ROWS)):
        kept.land(number)
        if number == 3:
            kept.stop()
            kept.open()
        kept.drain()
    kept.end()
    columns = [field.name for field in kept.plan.view.fields]
    markers = check_law(lake, "v", columns, kept.oracle, list(kept.sides.values()))
    assert {raw["id"]: row.reason for raw, row in kept.quarantined()} == bad
    assert len(kept.quarantined()) == len(bad)
    assert sum(marker.counts.get("quarantined", 0) for marker in markers) == len(bad)
    for raw, row in kept.quarantined():
        side = kept.sides[row["_input"]]
        assert raw["id"] in {r[1] for r in side.rows if r[0] <= side.cuts[str(row["_snapshot"])]}


@pytest.mark.parametrize("name", ["window", "window as a stream", "folded"])
def test_good_rows_run_without_the_guard(spark, lake, tmp_path, name, monkeypatch):
    monkeypatch.setitem(globals(), "ROWS", (((1, 10, 2, "7"),), ((4, 10, 5, "8"),)))
    kept = Kept(spark, lake, tmp_path, name)
    for number in range(2):
        kept.land(number)
        kept.drain()
    kept.stop()
    assert not kept.view._guarded.on
    assert not lake.exists("v__quarantine")
    assert kept.plan.guard is not None


class Killed(Exception):
    pass


@pytest.mark.parametrize("name", ["window", "window as a stream", "folded"])
def test_death_between_the_quarantine_and_the_view_leaves_one_copy(
    spark, lake, tmp_path, name, monkeypatch
):
    bad = CASES[name][2]
    fired = []

    def die(point, table=""):
        if point == "4-sides" and table.endswith("v") and lake.exists("v__quarantine"):
            fired.append(point)
            monkeypatch.setattr(protocol, "crash_point", lambda point, table="": None)
            raise Killed

    monkeypatch.setattr(protocol, "crash_point", die)
    kept = Kept(spark, lake, tmp_path, name)
    kept.land(0)
    kept.drain()
    kept.land(1)
    kept.land(2)  # closes the window of a bad row
    with pytest.raises(Exception):  # noqa: B017, PT011 - in the query's thread, or in this one
        kept.drain()
    assert fired
    assert len(kept.quarantined()) > 0
    kept.stop()
    kept.land(3)
    kept.open()
    kept.drain()
    kept.end()
    columns = [field.name for field in kept.plan.view.fields]
    check_law(lake, "v", columns, kept.oracle, list(kept.sides.values()))
    assert sorted(raw["id"] for raw, _ in kept.quarantined()) == sorted(bad)


@pytest.mark.parametrize("name", ["window", "window as a stream"])
def test_a_row_late_and_bad_is_late_in_every_attempt(spark, lake, tmp_path, name):
    kept = Kept(spark, lake, tmp_path, name, late="LATE ROWS DROP INTO late_v")
    side = kept.sides["t"]
    for rows in (
        [(1, 10, 2, "", NOON + 5 * MINUTE)],
        [(2, 10, 0, "", NOON), (3, 10, 5, "", NOON)],  # late, and one of them bad
        [(4, 10, 0, "", NOON), (5, 10, 0, "", NOON + 6 * MINUTE)],  # bad: late, and in time
        [(6, 10, 0, "", NOON), (7, 10, 1, "", NOON + 7 * MINUTE)],
    ):
        side.land(*rows)
        kept.drain()
    kept.end()
    assert kept.view._guarded.on
    columns = [field.name for field in kept.plan.view.fields]
    markers = check_law(lake, "v", columns, kept.oracle, [side])
    late = [row["id"] for row in lake.table("late_v").read().collect()]
    assert sorted(late) == [2, 3, 4, 6]
    assert [raw["id"] for raw, _ in kept.quarantined()] == [5]
    assert sum(marker.counts["late"] for marker in markers) == 4


@pytest.mark.parametrize("name", ["linear", "linear as a stream", "folded"])
def test_on_error_fail_stops_the_view_and_says_why(spark, lake, tmp_path, name):
    kept = Kept(spark, lake, tmp_path, name, "ON ERROR FAIL")
    kept.land(1)
    with pytest.raises(TerminalError) as failure:
        kept.drain()
    kept.stop()
    assert failure.value.condition == "BAD_ROW"
    assert not lake.exists("v__quarantine")


def test_what_windows_drop_is_counted_once(spark, lake, tmp_path):
    kept = Kept(spark, lake, tmp_path, "window", "ON ERROR DROP")
    for number in range(len(ROWS)):
        kept.land(number)
        kept.drain()
        kept.open()
    kept.end()
    markers = check_law(lake, "v", ["window_start", "x", "n"], kept.oracle, [kept.sides["t"]])
    assert sum(marker.counts.get("dropped", 0) for marker in markers) == len(CASES["window"][2])
    assert not lake.exists("v__quarantine")


def test_on_error_drop_counts_only(spark, lake, tmp_path):
    kept = Kept(spark, lake, tmp_path, "folded", "ON ERROR DROP")
    kept.land(1)
    kept.drain()
    assert kept.view.marker.counts == {"dropped": 1}
    assert not lake.exists("v__quarantine")
