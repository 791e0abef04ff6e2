"""Event times, changelog modes, stream keys and join bounds of bound queries."""

from datetime import timedelta

import pytest

from headwater.analyze.definitions import ChangelogMode, Emit
from headwater.analyze.rules.changelog import changelog_mode, effective_emit
from headwater.analyze.time.bounds import time_bounds
from headwater.analyze.time.event_time import interval, source_watermark
from headwater.analyze.time.finality import event_time_columns
from headwater.dialect import parse
from tests.unit.analyze.small_project import catalog, view

HOUR = timedelta(hours=1)
PER_HOUR = (
    "CREATE STREAMING VIEW per_hour AS SELECT date_trunc('hour', ts) AS hour, origin,"
    " count(*) AS n FROM departures GROUP BY 1, 2 EMIT ON WINDOW CLOSE;"
)
PER_ORIGIN = (
    "CREATE STREAMING VIEW per_origin AS SELECT origin, count(*) AS n FROM departures GROUP BY 1;"
)
JOIN = (
    "SELECT d.flight, d.ts, l.ts AS landed FROM departures d {} JOIN landings l"
    " ON l.flight = d.flight AND l.ts BETWEEN d.ts AND d.ts + INTERVAL '1' DAY"
)


def times(query: str, before: str = "") -> dict[str, tuple[str, tuple[str, ...], timedelta]]:
    project = catalog(f"{before} CREATE STREAMING VIEW v AS {query}")
    found = event_time_columns(project.views["v"].query, project)
    return {name: (time.kind, time.inputs, time.lag) for name, time in found.items()}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT flight, ts FROM departures", {"ts": ("time", ("departures",), 0 * HOUR)}),
        ("SELECT ts AS at FROM departures", {"at": ("time", ("departures",), 0 * HOUR)}),
        ("SELECT ts + INTERVAL '1' HOUR AS at FROM departures", {}),
        ("SELECT opened FROM airports", {}),
        (
            "SELECT at FROM (SELECT ts AS at FROM departures WHERE dep_delay > 0) AS d",
            {"at": ("time", ("departures",), 0 * HOUR)},
        ),
        (
            "SELECT ts FROM departures UNION ALL SELECT ts FROM landings",
            {"ts": ("time", ("departures", "landings"), 0 * HOUR)},
        ),
        (
            "SELECT ts FROM departures UNION ALL SELECT CAST(opened AS TIMESTAMP WITH TIME ZONE)"
            " FROM airports",
            {},
        ),
        (
            "SELECT window_start, window_end, count(*) AS n"
            " FROM TUMBLE(departures, ts, INTERVAL '1' HOUR) GROUP BY 1, 2",
            {
                "window_start": ("window_start", ("departures",), HOUR),
                "window_end": ("window_end", ("departures",), 0 * HOUR),
            },
        ),
        ("SELECT origin, max(ts) AS newest FROM departures GROUP BY origin", {}),
        (
            "SELECT ts, tag FROM departures CROSS JOIN UNNEST(tags) AS t(tag)",
            {"ts": ("time", ("departures",), 0 * HOUR)},
        ),
        (
            JOIN.format(""),
            {
                "ts": ("time", ("departures", "landings"), 24 * HOUR),
                "landed": ("time", ("departures", "landings"), 0 * HOUR),
            },
        ),
        (JOIN.format("LEFT"), {"ts": ("time", ("departures", "landings"), 24 * HOUR)}),
    ],
)
def test_event_time_columns(query: str, expected: dict[str, object]) -> None:
    assert times(query) == expected


def test_event_time_goes_through_views_and_lags_by_the_windows() -> None:
    assert times("SELECT hour FROM per_hour", PER_HOUR) == {
        "hour": ("window_start", ("per_hour",), HOUR)
    }
    daily = "SELECT date_trunc('day', hour) AS day, sum(n) AS n FROM per_hour GROUP BY 1"
    assert times(daily, PER_HOUR) == {"day": ("window_start", ("per_hour",), 25 * HOUR)}


def test_watermark_of_a_source() -> None:
    project = catalog(PER_ORIGIN)
    assert source_watermark("departures", project) == "ts"
    assert source_watermark("airports", project) is None
    assert source_watermark("per_origin", project) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("INTERVAL '90' SECOND", timedelta(seconds=90)),
        ("INTERVAL '2' WEEK", timedelta(weeks=2)),
        ("INTERVAL '1' MONTH", None),
    ],
)
def test_intervals(text: str, expected: timedelta | None) -> None:
    (query,) = parse(f"CREATE STREAMING VIEW v AS SELECT {text} AS x FROM t")
    assert interval(query.expression.selects[0].this) == expected


FIRST = "QUALIFY row_number() OVER (PARTITION BY flight ORDER BY ts)"


@pytest.mark.parametrize(
    ("query", "emit", "mode", "key"),
    [
        ("SELECT flight FROM departures", "", "append", None),
        ("SELECT DISTINCT origin, dest FROM departures", "", "append", ("origin", "dest")),
        ("SELECT origin, count(*) AS n FROM departures GROUP BY 1", "", "upsert", ("origin",)),
        ("SELECT count(*) AS n FROM departures", "", "upsert", ()),
        (
            "SELECT date_trunc('hour', ts) AS h, origin, count(*) AS n FROM departures"
            " GROUP BY 1, 2",
            "EMIT ON WINDOW CLOSE",
            "append",
            ("h", "origin"),
        ),
        (
            "SELECT window_end, count(*) AS n FROM TUMBLE(departures, ts, INTERVAL '1' HOUR)"
            " GROUP BY window_start, window_end",
            "EMIT CHANGES",
            "upsert",
            ("window_end",),
        ),
        (
            "SELECT window_start, window_end, count(*) AS n"
            " FROM TUMBLE(departures, ts, INTERVAL '1' HOUR) GROUP BY 1, 2",
            "",
            "upsert",
            ("window_start",),
        ),
        (JOIN.format(""), "", "append", None),
        (JOIN.format("LEFT"), "", "append", None),
        ("SELECT flight FROM departures UNION ALL SELECT flight FROM landings", "", "append", None),
        ("SELECT origin, n FROM per_origin WHERE n > 1", "", "upsert", ("origin",)),
        ("SELECT n FROM per_origin", "", "retract", None),
        ("SELECT hour, n FROM per_hour", "", "append", None),
        ("SELECT hour, origin, n FROM per_hour", "", "append", ("hour", "origin")),
        ("SELECT sum(n) AS n FROM per_origin", "", "upsert", ()),
        (f"SELECT flight, origin FROM departures {FIRST} = 1", "", "upsert", ("flight",)),
        (f"SELECT origin FROM departures {FIRST} = 1", "", "retract", None),
        (f"SELECT flight, origin FROM departures {FIRST} <= 2", "", "retract", None),
        (
            "SELECT flight, count(*) OVER () AS n"
            f" FROM (SELECT flight FROM departures {FIRST} = 1)",
            "",
            "upsert",
            ("flight",),
        ),
        (
            "SELECT origin, n FROM per_origin UNION ALL SELECT origin, n FROM per_hour",
            "",
            "retract",
            None,
        ),
    ],
)
def test_changelog_mode_and_stream_key(
    query: str, emit: str, mode: str, key: tuple[str, ...] | None
) -> None:
    project = catalog(f"{PER_HOUR} {PER_ORIGIN} CREATE STREAMING VIEW v AS {query} {emit}")
    v = project.views["v"]
    assert changelog_mode(v, project) is ChangelogMode(mode)
    assert v.key == key


@pytest.mark.parametrize(
    "query",
    [
        "SELECT h, count(*) AS n FROM (SELECT DISTINCT window_start AS h, flight"
        " FROM TUMBLE(departures, ts, INTERVAL '1' HOUR)) AS d GROUP BY h",
        "SELECT origin, window_start, count(*) AS n"
        " FROM SESSION((SELECT DISTINCT flight, origin, ts FROM departures) PARTITION"
        " BY origin, ts, INTERVAL '1' HOUR) GROUP BY origin, window_start, window_end",
        "SELECT d.flight, d.ts, l.ts AS landed FROM (SELECT DISTINCT flight, ts FROM departures) d"
        " LEFT JOIN landings l ON l.flight = d.flight"
        " AND l.ts BETWEEN d.ts AND d.ts + INTERVAL '1' DAY",
        "SELECT window_start, flight FROM TUMBLE(departures, ts, INTERVAL '1' HOUR)"
        " QUALIFY row_number() OVER (PARTITION BY window_start ORDER BY flight) <= 3",
    ],
)
def test_rows_that_are_final_stay_whatever_the_query_does_inside(query: str) -> None:
    project = catalog(f"CREATE STREAMING VIEW v AS {query} EMIT ON WINDOW CLOSE")
    assert changelog_mode(project.views["v"], project) is ChangelogMode.APPEND


def test_a_declared_key_wins() -> None:
    project = catalog(
        "CREATE STREAMING VIEW v (PRIMARY KEY (flight)) AS SELECT flight FROM landings"
    )
    assert project.views["v"].key == ("flight",)
    assert project.views["v"].proven_key is None


@pytest.mark.parametrize(
    ("query", "emit", "expected"),
    [
        ("SELECT flight FROM departures", "", Emit.CHANGES),
        (JOIN.format("LEFT"), "", Emit.ON_WINDOW_CLOSE),
        (JOIN.format(""), "EMIT ON WINDOW CLOSE", Emit.ON_WINDOW_CLOSE),
        ("SELECT origin, count(*) AS n FROM departures GROUP BY 1", "", Emit.CHANGES),
        (JOIN.format("FULL"), "", Emit.CHANGES),
        ("SELECT d.flight FROM departures d LEFT JOIN landings l USING (flight)", "", Emit.CHANGES),
    ],
)
def test_default_emission(query: str, emit: str, expected: Emit) -> None:
    project = catalog(f"CREATE STREAMING VIEW v AS {query} {emit}")
    assert effective_emit(project.views["v"], project) is expected


@pytest.mark.parametrize(
    ("condition", "lower", "upper"),
    [
        ("l.ts BETWEEN d.ts AND d.ts + INTERVAL '2' HOUR", 0, 2),
        ("d.ts BETWEEN l.ts - INTERVAL '2' HOUR AND l.ts + INTERVAL '1' HOUR", -1, 2),
        ("l.ts >= d.ts - INTERVAL '1' HOUR AND (l.ts < d.ts + INTERVAL '3' HOUR)", -1, 3),
        ("l.ts - INTERVAL '1' HOUR <= d.ts AND d.ts <= l.ts", 0, 1),
        ("l.ts = d.ts", 0, 0),
        ("l.ts > d.ts", 0, None),
        ("l.ts < INTERVAL '1' HOUR + d.ts", None, 1),
        (
            "l.ts > d.ts AND l.ts > d.ts + INTERVAL '1' HOUR AND l.ts < d.ts + INTERVAL '9' HOUR",
            1,
            9,
        ),
        ("l.ts >= d.ts OR l.ts <= d.ts", "none", None),
        ("l.ts >= d.ts + INTERVAL '1' MONTH", "none", None),
        ("l.flight = d.flight", "none", None),
    ],
)
def test_time_bounds(condition: str, lower: int | str | None, upper: int | None) -> None:
    v = view(
        "SELECT d.flight FROM departures d JOIN landings l"
        f" ON l.flight = d.flight AND ({condition})",
        head="WITH (allow_unbounded_state = TRUE)",
    )
    (join,) = v.query.args["joins"]
    bounds = time_bounds(join.args["on"], [("d", "ts")], [("l", "ts")])
    if lower == "none":
        assert bounds is None
        return
    assert bounds is not None
    # a strict bound is a microsecond narrower
    hours = [None if b is None else round(b / HOUR, 6) for b in (bounds.lower, bounds.upper)]
    assert hours == [lower, upper]
    assert bounds.closed == (None not in hours)
