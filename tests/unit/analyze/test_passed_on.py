"""Views that only filter and compute, under views that need the watermark of each row."""

from __future__ import annotations

import pytest

from headwater.errors import SqlError
from headwater.plan.planner import plan_project
from tests.unit.analyze.small_project import catalog

COUNT = "SELECT {t}.window_end, count(*) AS n FROM TUMBLE({t}, ts, INTERVAL '1' HOUR) GROUP BY 1"
CLOSING = f"CREATE STREAMING VIEW v AS {COUNT} EMIT ON WINDOW CLOSE"


def inputs(*views: str) -> tuple[str, ...]:
    project = catalog(";".join(views))
    return tuple(item.name for item in plan_project(project)["v"].inputs)


LINEAR = {
    "a filter": "SELECT ts FROM departures WHERE distance > 100",
    "all columns": "SELECT * FROM departures",
    "a union": "SELECT ts FROM departures UNION ALL SELECT ts FROM landings",
    "an element per row": "SELECT ts, tag FROM departures CROSS JOIN UNNEST(tags) AS u(tag)",
    "a subquery": "SELECT ts FROM (SELECT ts, upper(flight) AS f FROM landings) AS q WHERE f > 'M'",
}


@pytest.mark.parametrize("name", LINEAR)
def test_views_that_filter_are_read_through(name: str) -> None:
    below = f"CREATE STREAMING VIEW a AS {LINEAR[name]}"
    twice = "CREATE STREAMING VIEW b AS SELECT ts FROM a"
    expected = tuple(each for each in ("departures", "landings") if each in LINEAR[name])
    assert inputs(below, CLOSING.format(t="a")) == expected
    assert inputs(below, twice, CLOSING.format(t="b")) == expected


@pytest.mark.parametrize(
    "below",
    [
        "CREATE STREAMING VIEW a LATE ROWS DROP AS SELECT ts FROM departures",
        "CREATE STREAMING VIEW a ON ERROR FAIL AS SELECT ts FROM departures",
        "CREATE STREAMING VIEW a AS SELECT ts, count(*) AS n FROM departures GROUP BY ts",
        "CREATE STREAMING VIEW a AS SELECT ts FROM departures WHERE flight IN"
        " (SELECT code FROM airports)",
        "CREATE STREAMING VIEW a AS SELECT at AS ts FROM clicks",
        "CREATE STREAMING VIEW a AS SELECT opened AS ts FROM airports",
    ],
)
def test_other_views_are_read_as_they_are(below: str) -> None:
    with pytest.raises(SqlError, match="view a do not say|a, whose rows are corrected"):
        inputs(below, CLOSING.format(t="a"))


def test_a_view_that_counts_every_row_reads_the_view() -> None:
    below = "CREATE STREAMING VIEW a AS SELECT ts FROM departures"
    above = f"CREATE STREAMING VIEW v AS {COUNT.format(t='a')}"
    assert inputs(below, above) == ("a",)


def test_late_rows_can_be_dropped_over_a_view() -> None:
    below = "CREATE STREAMING VIEW a AS SELECT ts FROM departures"
    above = f"CREATE STREAMING VIEW v LATE ROWS DROP AS {COUNT.format(t='a')}"
    assert inputs(below, above) == ("departures",)
