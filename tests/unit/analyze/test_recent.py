"""``watermark()`` in WHERE and ON: what it marks."""

from __future__ import annotations

import pytest

from headwater.errors import SqlError
from headwater.plan.explain import explain
from headwater.plan.planner import plan_project
from headwater.plan.view_plan import ViewPlan
from tests.unit.analyze.small_project import catalog

HOUR = 3_600_000_000


def planned(query: str, head: str = "", emit: str = "") -> ViewPlan:
    project = catalog(f"CREATE STREAMING VIEW v {head} AS {query} {emit}")
    return plan_project(project)["v"]


def ages(query: str) -> dict[str, int | None]:
    plan = planned(query)
    return {
        item.name: item.ages.recent.length if item.ages.recent else None for item in plan.inputs
    }


@pytest.mark.parametrize(
    ("term", "length"),
    [
        ("ts > watermark() - INTERVAL '1' HOUR", HOUR - 1),
        ("ts >= watermark() - INTERVAL '1' HOUR", HOUR),
        ("watermark() - INTERVAL '1' HOUR < ts", HOUR - 1),
        ("ts + INTERVAL '1' HOUR >= watermark()", HOUR),
        ("ts >= date_add('hour', -1, watermark())", HOUR),
        ("ts >= watermark()", 0),
        ("ts > watermark() + INTERVAL '1' HOUR", -HOUR - 1),
        ("distance > 3 AND ts >= watermark() - INTERVAL '1' HOUR", HOUR),
        ("ts >= watermark() - INTERVAL '1' HOUR AND ts >= watermark() - INTERVAL '2' HOUR", HOUR),
    ],
)
def test_a_bound_is_a_mark_of_its_table(term: str, length: int) -> None:
    assert ages(f"SELECT flight FROM departures WHERE {term}") == {"departures": length}


RECENT = "WHERE ts >= watermark() - INTERVAL '1' HOUR"


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT flight FROM (SELECT * FROM departures) AS d {RECENT}",
        f"SELECT d.flight FROM departures d JOIN (SELECT * FROM departures {RECENT}) AS e"
        f" ON e.flight = d.flight {RECENT.replace('ts', 'd.ts')}",
        f"SELECT date_trunc('hour', ts) AS h, count(*) AS n FROM departures {RECENT} GROUP BY 1",
        "SELECT window_end, count(*) AS n FROM TUMBLE(departures, ts, INTERVAL '1' HOUR)"
        f" {RECENT} GROUP BY 1",
        f"SELECT flight FROM departures {RECENT} ORDER BY distance LIMIT 3",
        "SELECT l.flight FROM landings l LEFT JOIN departures d ON d.flight = l.flight"
        " AND d.ts >= watermark() - INTERVAL '1' HOUR WHERE d.flight IS NULL",
    ],
)
def test_it_reaches_the_table_below(query: str) -> None:
    found = ages(query)
    assert found.pop("departures") == HOUR
    assert not any(found.values())


def test_it_is_read_through_views_that_filter() -> None:
    below = "CREATE STREAMING VIEW a AS SELECT flight, ts AS at FROM departures"
    above = "CREATE STREAMING VIEW v AS SELECT flight FROM a WHERE at >= watermark()"
    plan = plan_project(catalog(f"{below};{above}"))["v"]
    assert [(item.name, item.ages.recent is not None) for item in plan.inputs] == [
        ("departures", True)
    ]


def test_rows_that_leave_are_not_final() -> None:
    with pytest.raises(SqlError, match="rows leave as the watermark moves"):
        planned(f"SELECT flight FROM departures {RECENT}", emit="EMIT ON WINDOW CLOSE")
    with pytest.raises(SqlError, match="drops late rows"):
        planned(f"SELECT flight FROM departures {RECENT}", head="LATE ROWS DROP")


def test_explain_says_what_is_kept() -> None:
    text = explain(planned(f"SELECT flight FROM departures {RECENT}"))
    assert "the landed rows of at most 1 h behind the watermark" in text
    assert "Scan departures where ts >= watermark() - INTERVAL '1' HOUR" in text
