"""What a person is told of a view with patterns, and what nobody can ask of it."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import cast

import pytest

from headwater.analyze.definitions import Catalog, ChangelogMode
from headwater.analyze.time.finality import event_time_columns
from headwater.analyze.typing.types import sql_type
from headwater.errors import SqlError
from headwater.patterns.grammar import read
from headwater.patterns.program import PatternProgram
from headwater.patterns.tree import written
from headwater.plan.at_rest import at_rest
from headwater.plan.explain import facts, program_sql, tree
from headwater.plan.program import AffectedGroupsProgram
from headwater.plan.view_plan import ViewPlan
from headwater.serve.trino.verify import compare_in_trino
from headwater.serve.verify import Case, Unseen
from tests.algebra.world import planned
from tests.patterns.random_clauses import random_pattern

_TABLE = """
CREATE TABLE t (k VARCHAR NOT NULL, ts TIMESTAMP(6) WITH TIME ZONE, x BIGINT, d DECIMAL(10, 2),
  WATERMARK FOR ts AS ts) WITH (connector = 'datagen');
"""


def _planned(
    measures: str, pattern: str = "(a b+) WITHIN INTERVAL '5' MINUTE", rows: str = ""
) -> tuple[Catalog, ViewPlan]:
    clause = (
        f"PARTITION BY k ORDER BY ts MEASURES {measures} {rows} PATTERN {pattern}"
        " DEFINE a AS x > 1, b AS x < a.x"
    )
    catalog, plans = planned(
        f"{_TABLE}CREATE STREAMING VIEW v AS SELECT * FROM t MATCH_RECOGNIZE ({clause})"
        " EMIT ON WINDOW CLOSE;"
    )
    return catalog, plans["v"]


def test_explain_says_when_a_match_appears_and_what_a_tick_reads() -> None:
    said = facts(_planned("FIRST(ts) AS began")[1])
    assert said["final"] == (
        "once the watermark is at the last row that can change a match,"
        " at most 5 min after its first row"
    )
    assert said["state"].startswith("the landed rows; a tick reads 25 min 1 µs of event time")
    assert said["late rows"] == "drop and count"
    for measures in ("MATCH_NUMBER() AS n", "NEXT(x) AS n"):
        said = facts(_planned(measures)[1])
        assert said["state"] == "the landed rows; a tick may read all of them"


@pytest.mark.parametrize("where", ["", " WHERE x > 1"])
def test_corrected_matches_are_searched_where_rows_came(where: str) -> None:
    read = f"(SELECT k, ts, x FROM t{where}) AS t"
    _, plans = planned(
        f"{_TABLE}CREATE STREAMING VIEW v AS SELECT * FROM {read} MATCH_RECOGNIZE (PARTITION BY k"
        " ORDER BY ts MEASURES count(*) AS n PATTERN (a b+) DEFINE b AS x < a.x);"
    )
    program = plans["v"].program
    assert isinstance(program, AffectedGroupsProgram)
    touched, everything = program.patterns
    assert program.whole_patterns == (everything,)
    assert "t__change" in touched.sql
    assert "t__change" not in everything.sql
    assert not program.complete  # a key may have rows and no match
    assert (touched.name in program.rows_sql, everything.name in program.all_sql) == (True, True)
    assert tree(plans["v"])[2].startswith("└─ Match A, B by k order ts")
    assert plans["v"].mode is ChangelogMode.RETRACT


def test_corrected_matches_of_groups_are_found_among_all_rows() -> None:
    groups = "SELECT k, date_trunc('minute', ts) AS at, sum(x) AS x FROM t GROUP BY 1, 2"
    _, plans = planned(
        f"{_TABLE}CREATE STREAMING VIEW v AS SELECT * FROM ({groups}) MATCH_RECOGNIZE (PARTITION BY"
        " k ORDER BY at MEASURES count(*) AS n PATTERN (a b+) DEFINE b AS x < a.x);"
    )
    program = plans["v"].program
    assert isinstance(program, AffectedGroupsProgram)
    # which groups changed is known once the tables of matches are there
    assert program.steps
    assert not any("__change" in step.sql for step in program.patterns)


def test_columns_are_those_of_the_clause_in_trinos_order() -> None:
    measures = "sum(d) AS s, avg(x) AS m, CLASSIFIER() AS c, count(*) AS n, array_agg(x) AS l"
    _, plan = _planned(measures)
    assert [(each.name, sql_type(each.type), each.nullable) for each in plan.view.fields] == [
        ("k", "VARCHAR", False),
        ("s", "DECIMAL(38, 2)", True),
        ("m", "DOUBLE", True),
        ("c", "VARCHAR", True),
        ("n", "BIGINT", False),
        ("l", "ARRAY(BIGINT)", True),
    ]
    _, plan = _planned("x - 1 AS y", rows="ALL ROWS PER MATCH")
    assert [each.name for each in plan.view.fields] == ["k", "ts", "y", "x", "d"]


def test_times_of_a_match_are_event_times_only_if_its_close_is_bounded() -> None:
    catalog, plan = _planned("FIRST(ts) AS began, LAST(ts) AS ended, PREV(ts) AS p")
    assert {*event_time_columns(plan.view.query, catalog)} == {"began", "ended"}
    catalog, plan = _planned("FIRST(ts) AS began, NEXT(x) AS n")
    assert event_time_columns(plan.view.query, catalog) == {}


def test_no_text_of_another_engine_has_the_matches() -> None:
    catalog, plan = _planned("FIRST(ts) AS began")
    with pytest.raises(SqlError) as refused:
        at_rest(plan, catalog, "duckdb", final=False).text()
    assert (refused.value.condition, refused.value.hint) == (
        "QUERY_REFUSED",
        "run: headwater explain v --at-rest trino",
    )
    assert at_rest(plan, catalog, "duckdb").patterns[0].name == "__matched1"
    assert {*program_sql(plan.program)} == {"rows of __matched1", "closed", "late rows of t"}


@pytest.mark.parametrize(
    ("pattern", "rows", "why"),
    [
        ("(a b) WITHIN INTERVAL '5' MICROSECOND", "", "no interval of microseconds"),
        ("((^ a b) | ())", "", "at which row a preferred empty match is"),
        ("(a b | b ^ a)", "", "a part of the pattern can never match"),
        (
            "(a | {- b b -})",
            "ALL ROWS PER MATCH AFTER MATCH SKIP TO NEXT ROW",
            "matches whose rows are all excluded",
        ),
    ],
)
def test_what_trino_cannot_tell_is_not_verified_there(pattern: str, rows: str, why: str) -> None:
    catalog, plan = _planned("FIRST(ts) AS began", pattern, rows)
    with pytest.raises(Unseen, match=why):
        compare_in_trino(cast(Case, SimpleNamespace(plan=plan)), 1)
    with pytest.raises(SqlError, match=why) as refused:
        at_rest(plan, catalog, "trino", watermark=1_000_000)
    assert refused.value.condition == "QUERY_REFUSED"
    if "microseconds" not in why:
        assert "MATCH_RECOGNIZE" in at_rest(plan, catalog, "trino", final=False).text()


def test_trino_shows_no_match_before_there_is_a_watermark() -> None:
    catalog, plan = _planned("FIRST(ts) AS began")
    text = at_rest(plan, catalog, "trino").text()
    assert "CAST(NULL AS TIMESTAMP(6) WITH TIME ZONE) AS _close" in text
    assert text.endswith("FALSE")


@pytest.mark.parametrize(
    ("length", "text"),
    [
        ("'90' SECOND", "'90' SECOND"),
        ("'120' SECOND", "'2' MINUTE"),
        ("'2' WEEK", "'14' DAY"),
        ("'1500' MILLISECOND", "'1.5' SECOND"),
    ],
)
def test_within_is_a_condition_of_every_variable(length: str, text: str) -> None:
    catalog, plan = _planned("FIRST(ts) AS began", f"(a b* c) WITHIN INTERVAL {length}")
    found = " ".join(at_rest(plan, catalog, "trino", final=False).text().split())
    assert found.count(f"ts <= FIRST(ts) + INTERVAL {text}") == 3


@pytest.mark.parametrize(
    ("pattern", "rows"),
    [("a", 1), ("a b c", 3), ("a | b c d", 3), ("a+ b", 2), ("(a b){2,3}", 4), ("a (b c)*", 2)],
)
def test_open_rows_complete_any_match(pattern: str, rows: int) -> None:
    assert PatternProgram(read(pattern)).rows_to_end == rows


@pytest.mark.parametrize("pattern", ["a ^ b", "a b? (^ c | d ^)", "(a | b ^){2}"])
def test_a_part_that_never_matches_is_found(pattern: str) -> None:
    assert PatternProgram(read(pattern)).rows_to_end is None


@pytest.mark.parametrize("number", range(200))
def test_a_pattern_is_read_again_as_it_was(number: int) -> None:
    pattern = read(random_pattern(Random(f"written/{number}")))
    assert read(written(pattern)) == pattern


@pytest.mark.parametrize("measure", ["LAST(x) / FIRST(x)", "CAST(LAST(k) AS BIGINT)"])
def test_a_measure_that_fails_on_ordinary_data_is_refused(measure: str) -> None:
    with pytest.raises(SqlError) as refused:
        _planned(f"{measure} AS m")
    assert refused.value.condition == "FALLIBLE_EXPRESSION"
    assert "_m" not in refused.value.message
    _planned(
        f"{measure.replace('FIRST(x)', 'NULLIF(FIRST(x), 0)').replace('CAST', 'TRY_CAST')} AS m"
    )


def test_a_condition_stands_in_define_unless_trino_takes_it_in_select_only() -> None:
    catalog, plans = planned(
        "CREATE TABLE t (k VARCHAR, ts TIMESTAMP WITH TIME ZONE, x BIGINT, v VARCHAR,"
        " WATERMARK FOR ts AS ts) WITH (connector = 'datagen');"
        " CREATE STREAMING VIEW v AS SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts"
        " MEASURES count_if(x > 5) AS n PATTERN (a b c) WITHIN INTERVAL '1' HOUR"
        " DEFINE a AS x > 5, b AS json_extract_scalar(v, '$.a') = 'x', c AS NEXT(x, 2) IS NULL)"
        " EMIT ON WINDOW CLOSE;"
    )
    found = " ".join(at_rest(plans["v"], catalog, "trino", final=False).text().split())
    read, define = found.split("DEFINE")
    assert "TRY(" in read and "TRY(" not in define
    assert "t.x > 5 AS _in0" in read and "A AS x > 5 AND" in define
    assert "LEAD" not in found and "C AS NEXT(x, 2) IS NULL AND" in define
