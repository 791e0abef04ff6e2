"""As-of joins: what their forms mean, when their rows are final, what they read."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlglot import exp

from headwater.analyze.query_parts import joins, relations, union_branches
from headwater.analyze.time.event_time import Reach
from headwater.analyze.time.finality import Finality
from headwater.analyze.time.settling import Settled
from headwater.dialect import parse, to_sql
from headwater.plan.explain import explain
from headwater.plan.planner import plan_project
from tests.unit.analyze.small_project import catalog

UNIT, HOUR, MINUTE = timedelta(microseconds=1), timedelta(hours=1), timedelta(minutes=1)
NONE = timedelta(0)
VERSIONS = "FOR SYSTEM_TIME AS OF"
KEY = "ON l.flight = d.flight"
FORMS = {
    "Flink": ("", f"JOIN landings {VERSIONS} d.ts AS l {KEY}"),
    "Flink, left": ("LEFT", f"LEFT JOIN landings {VERSIONS} d.ts AS l {KEY}"),
    "Flink, the name first": ("", f"JOIN landings AS l {VERSIONS} d.ts {KEY}"),
    "Flink, by one name": ("", f"JOIN landings {VERSIONS} d.ts AS l USING (flight)"),
    "Snowflake keeps all rows": (
        "LEFT",
        f"ASOF JOIN landings l MATCH_CONDITION (d.ts >= l.ts) {KEY}",
    ),
    "Snowflake's words, inner": (
        "",
        f"ASOF INNER JOIN landings l MATCH_CONDITION (d.ts >= l.ts) {KEY}",
    ),
    "turned round": ("LEFT", f"ASOF JOIN landings l MATCH_CONDITION (l.ts <= d.ts) {KEY}"),
    "DuckDB": ("", f"ASOF JOIN landings l {KEY} AND d.ts >= l.ts"),
    "DuckDB, left": ("LEFT", "ASOF LEFT JOIN landings l ON l.ts <= d.ts AND d.flight = l.flight"),
}


def select(join: str, more: str = "") -> str:
    return f"SELECT d.flight, d.ts, l.arr_delay FROM departures d {join} {more}"


@pytest.mark.parametrize("name", FORMS)
def test_the_forms_are_one_join(name: str) -> None:
    side, join = FORMS[name]
    query = catalog(f"CREATE STREAMING VIEW v AS {select(join)}").views["v"].query
    (found,) = joins(union_branches(query)[0])
    assert found.side == side
    assert (
        found.args["on"]
        .sql("trino")
        .endswith("d.ts >= l.ts AND (d.ts < l.__until OR l.__until IS NULL)")
    )
    until = found.this.this.selects[-1].sql("trino")
    assert until.startswith("LEAD(l.ts) OVER (PARTITION BY l.flight ORDER BY l.ts ASC, l._arrived")


@pytest.mark.parametrize("dialect", ["trino", "duckdb", "spark", "snowflake", "postgres"])
@pytest.mark.parametrize("name", FORMS)
def test_the_forms_are_read_in_every_dialect_and_printed_back(name: str, dialect: str) -> None:
    text = f"CREATE STREAMING VIEW v AS {select(FORMS[name][1])}"
    (statement,) = parse(text, default_dialect=dialect)
    printed = to_sql(statement)
    (again,) = parse(printed)
    assert again == statement and to_sql(again) == printed


FINAL = {
    "of an event time": (f"JOIN landings {VERSIONS} d.ts AS l {KEY}", UNIT, Reach(None, NONE)),
    "before it": (f"ASOF JOIN landings l {KEY} AND d.ts > l.ts", UNIT, Reach(None, -UNIT)),
    "of an hour before": (
        f"JOIN landings {VERSIONS} d.ts - INTERVAL '1' HOUR AS l {KEY}",
        UNIT,
        Reach(None, -HOUR),
    ),
    "of a minute after": (
        f"LEFT JOIN landings {VERSIONS} d.ts + INTERVAL '1' MINUTE AS l {KEY}",
        MINUTE + UNIT,
        Reach(None, MINUTE),
    ),
}


@pytest.mark.parametrize("name", FINAL)
def test_a_row_is_final_once_all_versions_up_to_its_time_are_there(name: str) -> None:
    join, after, reach = FINAL[name]
    project = catalog(f"CREATE STREAMING VIEW v AS {select(join)} EMIT ON WINDOW CLOSE")
    (branch,) = union_branches(project.views["v"].query)
    found = Finality(project).settled(branch)
    assert isinstance(found, Settled) and not found.unless
    assert ([a.sql("trino") for a in found.anchors], found.after) == (["d.ts"], after)
    read = relations(relations(branch)[1].this)[0]
    assert found.reads[id(read)] == reach
    assert found.reads[id(relations(branch)[0])] == Reach(NONE, NONE)


def test_a_tick_that_is_dated_by_a_version_reads_the_versions_after_it() -> None:
    # within an hour of the version: the version dates the row, too
    where = "WHERE l.ts > d.ts - INTERVAL '1' HOUR"
    text = f"SELECT l.ts AS at, l.arr_delay FROM departures d ASOF JOIN landings l {KEY}"
    project = catalog(
        f"CREATE STREAMING VIEW v AS SELECT DISTINCT at FROM ({text} AND d.ts >= l.ts {where})"
        " EMIT ON WINDOW CLOSE"
    )
    inner = next(s for s in project.views["v"].query.find_all(exp.Select) if s.args.get("joins"))
    (time,) = Finality(project).query(inner).values()
    assert (time.column, time.lag) == ("at", HOUR - UNIT)
    read = relations(relations(inner)[1].this)[0]
    assert time.reads[id(read)].highest == HOUR - UNIT


def test_explain_says_what_it_does() -> None:
    text = select(f"LEFT JOIN landings {VERSIONS} d.ts AS l {KEY}")
    plans = plan_project(catalog(f"CREATE STREAMING VIEW v AS {text} EMIT ON WINDOW CLOSE"))
    said = explain(plans["v"])
    for words in (
        "once the watermark is at d.ts + 1 µs",
        "drop and count",
        "the newest version of each key at the time of a row",
        "AsOf left: flight = flight_2, newest ts_2 up to ts",
    ):
        assert words in said, said


def test_a_row_that_is_corrected_is_the_default() -> None:
    plans = plan_project(catalog(f"CREATE STREAMING VIEW v AS {select(FORMS['Flink, left'][1])}"))
    assert plans["v"].decision.rule.name == "affected groups"


def test_engines_sort_both_sides_instead_of_comparing_them_in_pairs() -> None:
    (plan,) = plan_project(
        catalog(f"CREATE STREAMING VIEW v AS {select(FORMS['DuckDB'][1])} EMIT ON WINDOW CLOSE")
    ).values()
    (text,) = plan.program.texts().values()
    assert "JOIN" not in text and "__until" not in text
    assert text.count("UNION ALL") == 1


@pytest.mark.parametrize("emit", ["EMIT ON WINDOW CLOSE", "EMIT CHANGES"])
def test_a_row_that_is_set_aside_does_not_show_the_end_of_its_version(emit: str) -> None:
    text = "SELECT d.ts, d.distance % e.distance AS rest FROM departures d"
    versions = "(SELECT flight, distance, ts FROM departures)"
    join = f"ASOF JOIN {versions} e MATCH_CONDITION (d.ts > e.ts) ON d.flight = e.flight"
    plans = plan_project(catalog(f"CREATE STREAMING VIEW v AS {text} {join} {emit}"))
    guard = plans["v"].guard
    assert guard is not None and guard.combined
    assert not any("__until" in each for each in guard.combined)


def test_the_end_of_a_version_is_computed_wherever_it_is_asked_for() -> None:
    # no item is there in every row, so the columns of all of them name a unit
    text = (
        "SELECT a.city, d.flight, l.arr_delay FROM departures d FULL JOIN airports a"
        f" ON a.code = d.dest ASOF LEFT JOIN landings l {KEY} AND d.ts >= l.ts"
    )
    plans = plan_project(catalog(f"CREATE STREAMING VIEW v AS {text}"))
    for each in plans["v"].program.texts().values():
        assert "__until" not in each or "LEAD(" in each or "__change_" in each
