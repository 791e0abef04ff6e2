"""What closes a table, and what stays open: planned views over tables whose times are given."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from headwater.analyze.definitions import Catalog
from headwater.plan.planner import plan_project
from headwater.project import load_project
from headwater.runtime import end_of_input
from headwater.runtime.end_of_input import closing_watermarks, open_results

MINUTE = 60_000_000
HOUR = 60 * MINUTE
SQL = """
CREATE TABLE a (
  id BIGINT, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
)
WITH (connector = 'files', path = 'a') FORMAT PLAIN ENCODE JSON;
CREATE TABLE b (
  id BIGINT, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
)
WITH (connector = 'files', path = 'b') FORMAT PLAIN ENCODE JSON;
CREATE SOURCE s (id BIGINT, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 's') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW hours AS SELECT window_start, count(*) AS n
FROM TUMBLE(a, ts, INTERVAL '1' HOUR) GROUP BY window_start EMIT ON WINDOW CLOSE;
CREATE STREAMING VIEW pairs AS SELECT a.id, a.ts AS x, b.ts AS y FROM a LEFT JOIN b
ON a.id = b.id AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' HOUR;
CREATE STREAMING VIEW beside AS SELECT a.id, s.ts AS y FROM a JOIN s
ON a.id = s.id AND s.ts BETWEEN a.ts AND a.ts + INTERVAL '1' HOUR;
CREATE STREAMING VIEW copies AS SELECT id FROM b;
"""


@dataclass
class Landed:
    """A landed table: its newest event time since it was closed, and its watermark."""

    newest: int | None
    watermark: int | None

    def watermark_after(self, snapshot_id: int) -> int | None:
        return self.watermark


@pytest.fixture
def plans(tmp_path, monkeypatch):
    (tmp_path / "headwater.toml").write_text('name = "t"\n')
    (tmp_path / "views.sql").write_text(SQL)
    monkeypatch.setattr(end_of_input, "since_closing", lambda table, snapshot_id: table.newest)
    catalog: Catalog = load_project(tmp_path).catalog
    return plan_project(catalog)


def tables(a: Landed, b: Landed):
    return {"a": a, "b": b}, {"a": 1, "b": 1}


def test_each_table_is_closed_by_what_its_own_rows_need(plans):
    ahead, behind = Landed(10 * HOUR, 10 * HOUR - MINUTE), Landed(6 * HOUR, 6 * HOUR - MINUTE)
    closing = closing_watermarks(plans.values(), *tables(ahead, behind))
    assert closing == {"a": 11 * HOUR + 2_000, "b": 7 * HOUR + 2_000}  # the bound is inclusive


def test_a_table_without_new_rows_is_not_closed_again(plans):
    closed = Landed(None, 11 * HOUR)
    assert closing_watermarks(plans.values(), *tables(closed, closed)) == {}
    assert list(open_results(plans.values(), *tables(closed, closed))) == []


def test_what_stays_open_is_told_with_what_holds_it_back(plans):
    ahead, behind = Landed(10 * HOUR, 10 * HOUR - MINUTE), Landed(6 * HOUR, 6 * HOUR - MINUTE)
    opened = {each.view: each for each in open_results(plans.values(), *tables(ahead, behind))}
    assert set(opened) == {"hours", "pairs", "beside"}
    hours, pairs = opened["hours"], opened["pairs"]
    assert (hours.windows, hours.until, hours.table) == (2, 11 * HOUR + 1_000, "a")
    assert (pairs.windows, pairs.table, pairs.watermark) == (None, "b", 6 * HOUR - MINUTE)


def test_a_table_that_was_never_stamped_holds_everything(plans):
    ahead, new = Landed(10 * HOUR, 10 * HOUR - MINUTE), Landed(6 * HOUR, None)
    opened = {each.view: each for each in open_results(plans.values(), *tables(ahead, new))}
    assert (opened["pairs"].table, opened["pairs"].watermark) == ("b", None)


CHAIN = """
CREATE TABLE a (
  id BIGINT, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
)
WITH (connector = 'files', path = 'a') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW once AS SELECT DISTINCT id, ts FROM a EMIT ON WINDOW CLOSE;
CREATE STREAMING VIEW hours AS SELECT id, window_start, window_end, count(*) AS n
FROM TUMBLE(once, ts, INTERVAL '1' HOUR) GROUP BY id, window_start, window_end
EMIT ON WINDOW CLOSE;
"""
STARTS, ENDS = (
    f"""CREATE STREAMING VIEW days AS SELECT date_trunc('day', {column}) AS day, count(*) AS n
FROM hours GROUP BY date_trunc('day', {column}) EMIT ON WINDOW CLOSE;"""
    for column in ("window_start", "window_end")
)
TUMBLED = """
CREATE STREAMING VIEW began AS SELECT window_start AS ts, id, count(*) AS n
FROM TUMBLE(once, ts, INTERVAL '1' HOUR) GROUP BY window_start, id EMIT ON WINDOW CLOSE;
CREATE STREAMING VIEW days AS SELECT window_start, count(*) AS n
FROM TUMBLE(began, ts, INTERVAL '1' DAY) GROUP BY window_start EMIT ON WINDOW CLOSE;
"""


@pytest.mark.parametrize(
    ("chain", "newest", "until"),
    [
        # the window over the rows of another view closes, too
        (CHAIN, 10 * HOUR, 11 * HOUR),
        # an hour is known when it ends, so a day by the starts of its hours waits one more
        (CHAIN + STARTS, 23 * HOUR, 25 * HOUR),
        (CHAIN + TUMBLED, 23 * HOUR, 25 * HOUR),
        # the last hour ends at midnight: its row is of the next day
        (CHAIN + ENDS, 23 * HOUR - 1, 24 * HOUR),
        (CHAIN + ENDS, 23 * HOUR, 48 * HOUR),
    ],
)
def test_a_table_is_closed_by_what_views_of_its_views_need(
    tmp_path, monkeypatch, chain, newest, until
):
    (tmp_path / "headwater.toml").write_text('name = "t"\n')
    (tmp_path / "views.sql").write_text(chain)
    monkeypatch.setattr(end_of_input, "since_closing", lambda table, snapshot_id: table.newest)
    plans = plan_project(load_project(tmp_path).catalog).values()
    landed = {"a": Landed(newest, newest - MINUTE)}, {"a": 1}
    assert closing_watermarks(plans, *landed) == {"a": until + 1_000}
    assert {each.view: each.until for each in open_results(plans, *landed)} == {
        "once": newest // 1_000 * 1_000 + 2_000 if newest % 1_000 else newest + 2_000,
        "hours": newest // HOUR * HOUR + HOUR + 1_000,
        **({"days": until + 1_000} if "days" in chain else {}),
        **({"began": newest + HOUR + 1_000} if "began" in chain else {}),
    }
