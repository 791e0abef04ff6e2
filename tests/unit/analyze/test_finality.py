"""When rows are final: what dates them, how far past it the watermark is, and what is refused."""

from __future__ import annotations

from datetime import timedelta

import pytest

from headwater.analyze.query_parts import union_branches
from headwater.analyze.time.finality import Finality
from headwater.analyze.time.settling import Settled, Unsettled
from tests.unit.analyze.small_project import catalog

UNIT, HOUR, DAY = timedelta(microseconds=1), timedelta(hours=1), timedelta(days=1)
NONE = timedelta(0)
PER_HOUR = (
    "(SELECT window_start, window_end, origin, count(*) AS n"
    " FROM TUMBLE(departures, ts, INTERVAL '1' HOUR) GROUP BY 1, 2, 3)"
)
LANDED = "JOIN landings l ON l.flight = d.flight AND l.ts BETWEEN d.ts AND d.ts + INTERVAL '1' DAY"


def settled(query: str) -> Settled | Unsettled | None:
    project = catalog(f"CREATE STREAMING VIEW v AS {query}")
    (branch,) = union_branches(project.views["v"].query)
    return Finality(project).settled(branch)


FINAL = {
    "a window": (
        "SELECT window_end, count(*) AS n FROM TUMBLE(departures, ts, INTERVAL '1' HOUR)"
        " GROUP BY window_end",
        ("departures.window_end", NONE),
    ),
    "an hour": (
        "SELECT date_trunc('hour', ts) AS h, count(DISTINCT origin) AS n FROM departures"
        " GROUP BY 1",
        ("departures.window_end", NONE),
    ),
    "a month of the calendar": (
        "SELECT window_end, count(*) AS n FROM"
        " TUMBLE(departures, ts, INTERVAL '1' MONTH, 'Europe/Berlin') GROUP BY window_end",
        ("departures.window_end", NONE),
    ),
    "a session": (
        "SELECT window_start, window_end, origin, count(*) AS n FROM"
        " SESSION(departures PARTITION BY origin, ts, INTERVAL '30' MINUTE) GROUP BY 1, 2, 3",
        ("departures.window_end", NONE),
    ),
    "a time": (
        "SELECT ts, count(*) AS n FROM departures GROUP BY ts",
        ("departures.ts", UNIT),
    ),
    "a day of hours, by their start": (
        f"SELECT date_trunc('day', window_start) AS d, sum(n) AS n FROM {PER_HOUR} AS h GROUP BY 1",
        ("DATE_TRUNC('DAY', h.window_start)", DAY + HOUR),
    ),
    "a frame": (
        "SELECT flight, sum(distance) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING"
        " AND CURRENT ROW) AS s FROM departures",
        ("departures.ts", UNIT),
    ),
    "a frame over rows of windows, which are late for their window only": (
        "SELECT flight, count(*) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND"
        " CURRENT ROW) AS s FROM TUMBLE(departures, ts, INTERVAL '1' HOUR) AS t",
        ("t.ts", HOUR),
    ),
    "a frame that looks ahead": (
        "SELECT flight, count(*) OVER (ORDER BY ts RANGE BETWEEN CURRENT ROW AND INTERVAL '1' HOUR"
        " FOLLOWING) AS s FROM departures",
        ("departures.ts", HOUR + UNIT),
    ),
    "ranks of a window": (
        f"SELECT window_end, origin FROM {PER_HOUR} AS h"
        " QUALIFY rank() OVER (PARTITION BY window_end ORDER BY n DESC) <= 3",
        ("h.window_end", NONE),
    ),
    "a filter over groups": (
        f"SELECT window_end, n FROM {PER_HOUR} AS h WHERE n > 2",
        ("h.window_end", NONE),
    ),
    "an outer join": (
        f"SELECT d.flight, l.ts FROM departures d LEFT {LANDED}",
        ("d.ts", DAY + UNIT),
    ),
    "groups of a join, by the first time": (
        f"SELECT date_trunc('hour', d.ts) AS h, count(*) AS n FROM departures d {LANDED}"
        " GROUP BY 1",
        ("d.window_end", DAY + UNIT),
    ),
    "groups of a join, by the last time": (
        f"SELECT date_trunc('hour', l.ts) AS h, count(*) AS n FROM departures d {LANDED}"
        " GROUP BY 1",
        ("l.window_end", UNIT),
    ),
    "groups of a join of subqueries, by the first time": (
        "SELECT d.window_end, count(*) AS n FROM TUMBLE((SELECT ts, flight FROM (SELECT ts, flight"
        " FROM departures UNION ALL SELECT ts, flight FROM departures) AS i), ts,"
        f" INTERVAL '1' HOUR) AS d {LANDED} GROUP BY d.window_end",
        ("d.window_end", DAY + UNIT),
    ),
    "hours of a union": (
        "SELECT date_trunc('hour', u.ts) AS h, count(*) AS n FROM (SELECT ts FROM departures UNION"
        " ALL SELECT ts FROM landings) AS u GROUP BY 1",
        ("u.window_start", HOUR),
    ),
    "hours of groups by time": (
        "SELECT date_trunc('hour', u.ts) AS h, sum(n) AS n FROM (SELECT ts, count(*) AS n FROM"
        " departures GROUP BY ts) AS u GROUP BY 1",
        ("u.window_start", HOUR),
    ),
    "hours of different rows": (
        "SELECT date_trunc('hour', u.ts) AS h, count(*) AS n FROM (SELECT DISTINCT ts, flight FROM"
        " departures) AS u GROUP BY 1",
        ("u.window_start", HOUR),
    ),
    "hours of rows that are ranked": (
        "SELECT date_trunc('hour', u.ts) AS h, max(n) AS n FROM (SELECT ts, rank() OVER (ORDER BY"
        " ts) AS n FROM departures) AS u GROUP BY 1",
        ("DATE_TRUNC('HOUR', u.ts)", HOUR),
    ),
    "a full join": (
        f"SELECT d.flight, l.ts FROM departures d FULL {LANDED}",
        ("d.ts, l.ts", DAY + UNIT),
    ),
    "no row of another table": (
        "SELECT d.flight, d.ts FROM departures d WHERE NOT EXISTS (SELECT 1 FROM landings l"
        " WHERE l.flight = d.flight AND l.ts BETWEEN d.ts AND d.ts + INTERVAL '1' DAY)",
        ("d.ts", DAY + UNIT),
    ),
    "different rows": ("SELECT DISTINCT origin, ts FROM departures", ("departures.ts", UNIT)),
}


@pytest.mark.parametrize("name", FINAL)
def test_rows_are_final_when_nothing_they_depend_on_can_come(name: str) -> None:
    query, expected = FINAL[name]
    found = settled(query)
    assert isinstance(found, Settled), found
    assert (", ".join(each.sql("trino") for each in found.anchors), found.after) == expected


@pytest.mark.parametrize(
    "query",
    [
        "SELECT flight, ts FROM departures",
        "SELECT flight, window_end FROM TUMBLE(departures, ts, INTERVAL '1' HOUR)",
        f"SELECT d.flight, l.ts FROM departures d {LANDED}",
    ],
)
def test_rows_that_cannot_change_are_final_at_once(query: str) -> None:
    assert settled(query) is None


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT origin, count(*) AS n FROM departures GROUP BY origin", "no window"),
        (
            "SELECT flight, lead(flight) OVER (ORDER BY ts, flight) AS f FROM departures",
            "lead looks ahead",
        ),
        (
            "SELECT flight, count(*) OVER (PARTITION BY origin ORDER BY ts ROWS BETWEEN CURRENT ROW"
            " AND 2 FOLLOWING) AS n FROM departures",
            "any time ahead",
        ),
        (
            "SELECT flight, sum(distance) OVER (PARTITION BY origin) AS s FROM departures",
            "neither partitions",
        ),
        (
            "SELECT d.flight FROM departures d WHERE d.origin IN (SELECT code FROM airports)",
            "airports have no event time",
        ),
        (
            "SELECT d.flight FROM departures d WHERE d.flight IN (SELECT flight FROM landings)",
            "any time later",
        ),
    ],
)
def test_what_can_change_for_ever_is_named(query: str, why: str) -> None:
    found = settled(query)
    assert isinstance(found, Unsettled), found
    assert why in found.what
