"""``watermark()`` anywhere in a view: what is dated, what is computed anew, what the hints say."""

from __future__ import annotations

import re

import pytest

from headwater.dialect import to_sql
from headwater.errors import HeadwaterError, SqlError
from headwater.plan.explain import explain, tree
from headwater.plan.rules import clock
from tests.unit.analyze.test_recent import planned

AGO = "watermark() - INTERVAL '5' MINUTE"
LAST = "SELECT flight, max(ts) AS last FROM departures GROUP BY flight"
YOUNG = "departures.__ts_within_300000000"


def written(query: str) -> str:
    """The bound query, on one line."""
    return to_sql(planned(query).view.query, pretty=False)


@pytest.mark.parametrize(
    ("having", "stands"),
    [
        (f"max(ts) < {AGO}", f"NOT BOOL_OR({YOUNG})"),
        (f"max(ts) >= {AGO}", f"BOOL_OR({YOUNG})"),
        (f"min(ts) < {AGO}", f"NOT BOOL_AND({YOUNG})"),
        (f"max(ts) <= {AGO}", "NOT BOOL_OR(departures.__ts_within_299999999)"),
        (f"{AGO} > max(ts)", f"NOT BOOL_OR({YOUNG})"),
        ("max(ts) + INTERVAL '5' MINUTE < watermark()", f"NOT BOOL_OR({YOUNG})"),
        ("watermark() - max(ts) > INTERVAL '5' MINUTE", f"NOT BOOL_OR({YOUNG})"),
        ("INTERVAL '5' MINUTE < watermark() - max(ts)", f"NOT BOOL_OR({YOUNG})"),
        (
            "date_diff('minute', max(ts), watermark()) >= 5",
            "NOT BOOL_OR(departures.__ts_within_299999999)",
        ),
        (
            "date_diff('minute', max(ts), watermark()) < 5",
            "BOOL_OR(departures.__ts_within_299999999)",
        ),
        (
            f"coalesce(max(ts), min(ts)) < {AGO}",
            f"NOT COALESCE(BOOL_OR({YOUNG}), BOOL_AND({YOUNG}))",
        ),
        (
            f"max(ts) FILTER (WHERE distance > 1) < {AGO}",
            f"NOT BOOL_OR({YOUNG}) FILTER (WHERE departures.distance > 1)",
        ),
        ("max(ts) < watermark()", "NOT BOOL_OR(departures.__ts_within_0)"),
        (
            "max(ts) < watermark() + INTERVAL '1' SECOND",
            "NOT BOOL_OR(departures.__ts_within_minus_1000000)",
        ),
    ],
)
def test_a_comparison_goes_where_its_time_comes_from(having: str, stands: str) -> None:
    assert written(f"{LAST} HAVING {having}").endswith(f"HAVING {stands}")


@pytest.mark.parametrize(
    "query",
    [
        f"{LAST} HAVING max(ts) < {AGO}",
        f"SELECT flight, max(ts) < {AGO} AS silent FROM departures GROUP BY flight",
        f"SELECT q.flight FROM ({LAST}) q WHERE q.last < {AGO} OR q.last IS NULL",
        f"SELECT l.flight FROM landings l LEFT JOIN ({LAST}) q ON q.flight = l.flight"
        f" WHERE q.last IS NULL OR q.last < {AGO}",
        f"SELECT flight FROM departures WHERE dest = 'a' OR ts > {AGO}",
        f"SELECT flight FROM departures WHERE ts < {AGO}",
        "SELECT flight FROM departures WHERE ts = watermark()",
        f"SELECT d.flight FROM departures d WHERE NOT EXISTS (SELECT 1 FROM departures e"
        f" WHERE e.flight = d.flight AND e.ts > {AGO})",
        f"SELECT l.flight FROM landings l WHERE"
        f" (SELECT max(d.ts) FROM departures d WHERE d.flight = l.flight) < {AGO}",
        f"SELECT flight, count_if(ts > {AGO}) AS n FROM departures GROUP BY flight",
        f"SELECT ts FROM departures GROUP BY ts HAVING ts > {AGO}",
        f"SELECT DISTINCT q.ts FROM (SELECT DISTINCT ts FROM departures) q WHERE q.ts < {AGO}",
        f"SELECT q.flight FROM ({LAST} UNION ALL SELECT flight, ts FROM landings) q"
        f" WHERE q.last < {AGO}",
        "SELECT a.city FROM airports a CROSS JOIN departures d WHERE a.opened < watermark()",
        "SELECT d.flight FROM departures d FULL JOIN landings l"
        f" ON l.flight = d.flight AND l.ts < {AGO}",
        f"SELECT q.flight FROM (SELECT flight, ts, row_number() OVER (PARTITION BY flight"
        f" ORDER BY ts DESC) AS n FROM departures) q WHERE q.n = 1 AND q.ts < {AGO}",
    ],
)
def test_what_can_be_dated_is_kept_incrementally(query: str) -> None:
    plan = planned(query)
    assert plan.decision.engine == "incremental"
    assert plan.moves
    assert any(item.ages.dated for item in plan.inputs)
    assert "__" not in "".join(tree(plan)), "no column of ours is shown"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT flight, watermark() AS w FROM departures",
        "SELECT flight, date_diff('second', max(ts), watermark()) AS s FROM departures GROUP BY 1",
        "SELECT flight FROM departures WHERE ts > watermark() - INTERVAL '1' MONTH",
        "SELECT flight FROM departures WHERE ts >= date_trunc('day', watermark())",
        "SELECT count(*) AS n FROM departures WHERE CAST(ts AS DATE) = CAST(watermark() AS DATE)",
    ],
)
def test_anything_else_is_computed_anew(query: str) -> None:
    plan = planned(query)
    assert plan.decision.rule is clock.RULE
    assert plan.moves
    assert "watermark(), which moves with each commit" in explain(plan)


def test_a_table_is_read_up_to_several_ages() -> None:
    query = (
        "SELECT d.flight FROM departures d WHERE d.ts > watermark() - INTERVAL '1' DAY"
        f" AND NOT EXISTS (SELECT 1 FROM departures e WHERE e.flight = d.flight AND e.ts > {AGO})"
    )
    (item,) = planned(query).inputs
    assert item.ages.recent is None
    assert {age.length for age in item.ages.dated} == {86_400_000_000 - 1, 300_000_000 - 1}


def test_inputs_without_event_times_do_not_hold_the_watermark_back() -> None:
    plan = planned("SELECT a.city FROM airports a CROSS JOIN departures d WHERE d.ts < watermark()")
    assert {item.name: item.timed for item in plan.inputs} == {
        "airports": False,
        "departures": True,
    }


@pytest.mark.parametrize(
    ("query", "emit", "why"),
    [
        ("SELECT city FROM airports WHERE opened > watermark()", "", "no input of the view"),
        ("SELECT page FROM clicks WHERE at > watermark()", "", "reads a SOURCE"),
        ("SELECT flight, watermark(1) AS w FROM departures", "", "takes no arguments"),
        ("SELECT watermark() AS w FROM departures", "EMIT ON WINDOW CLOSE", "rows that are final"),
        (
            f"SELECT flight FROM departures WHERE ts < {AGO}",
            "EMIT ON WINDOW CLOSE",
            "change as the w",
        ),
        (
            "SELECT 1 / (distance - date_diff('day', ts, watermark())) AS x FROM departures",
            "",
            "can fail beside watermark()",
        ),
    ],
)
def test_what_it_may_not_say_is_refused(query: str, emit: str, why: str) -> None:
    with pytest.raises(SqlError, match=re.escape(why)):
        _ = planned(query, emit=emit).guard


CLOCKS = ("now()", "current_timestamp", "localtimestamp", "CURRENT_TIMESTAMP()")
ASKED = (
    "SELECT flight, max(ts) AS last FROM departures GROUP BY flight HAVING {}",
    "SELECT flight, {} AS silent FROM departures GROUP BY flight",
    "SELECT flight, CASE WHEN {} THEN 'silent' ELSE 'ok' END AS state FROM departures GROUP BY 1",
)
CONDITIONS = (
    "max(ts) < {} - INTERVAL '5' MINUTE",
    "{} - max(ts) > INTERVAL '5' MINUTE",
    "date_diff('minute', max(ts), {}) > 5",
    "max(ts) BETWEEN {0} - INTERVAL '1' HOUR AND {0} - INTERVAL '5' MINUTE",
)


def hint_of(query: str) -> str:
    with pytest.raises(HeadwaterError) as caught:
        _ = planned(query).guard
    errors = getattr(caught.value, "errors", [caught.value])
    hints = {error.hint for error in errors}
    assert len(hints) == 1
    return hints.pop()


@pytest.mark.parametrize("clock_call", CLOCKS)
@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("asked", ASKED)
def test_check_accepts_what_a_hint_says(asked: str, condition: str, clock_call: str) -> None:
    hint = hint_of(asked.format(condition.format(clock_call)))
    found = re.fullmatch(r"write (.*) \(the time that the rows have reached\)", hint)
    assert found, hint
    assert planned(asked.format(found[1])).moves


@pytest.mark.parametrize(
    "query",
    [
        "SELECT flight FROM departures WHERE {}",
        "SELECT flight FROM departures WHERE dest = 'a' OR {}",
        "SELECT l.flight FROM landings l"
        " LEFT JOIN departures ON departures.flight = l.flight AND {}",
        "SELECT l.flight FROM landings l WHERE NOT EXISTS (SELECT 1 FROM departures"
        " WHERE departures.flight = l.flight AND {})",
    ],
)
@pytest.mark.parametrize(
    "condition",
    [
        "departures.ts > now() - INTERVAL '1' HOUR",
        "departures.ts BETWEEN now() - INTERVAL '1' HOUR AND now()",
        "CAST(departures.ts AS DATE) = current_date",
        "to_unixtime(departures.ts) > unix_timestamp() - 300",
    ],
)
def test_check_accepts_hints_about_rows(query: str, condition: str) -> None:
    hint = hint_of(query.format(condition))
    found = re.fullmatch(r"write (.*) \(the time that the rows have reached\)", hint)
    assert found, hint
    assert planned(query.format(found[1])).moves


def test_an_interval_is_counted_in_seconds() -> None:
    query = "SELECT flight, {} AS silent_for FROM departures GROUP BY flight"
    hint = hint_of(query.format("watermark() - max(ts)"))
    found = re.match(r"use (date_diff\(.*?watermark\(\)\)), or", hint)
    assert found, hint
    assert planned(query.format(found[1])).decision.rule is clock.RULE


def test_without_a_watermark_the_hint_is_to_declare_one() -> None:
    assert "WATERMARK FOR" in hint_of("SELECT city FROM airports WHERE opened < now()")
    assert "WATERMARK FOR" in hint_of("SELECT city FROM airports WHERE opened < watermark()")
