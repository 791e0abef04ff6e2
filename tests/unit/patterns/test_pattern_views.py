"""A view with patterns equals its SELECT at rest at every commit, whatever comes in which order.

The program of a tick runs in DuckDB, over random clauses, rows, cuts and late rows. What a commit
appends was not final before, and stays: no row that a view has shown is ever missing afterwards.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from sqlglot import exp, parse_one

from headwater.patterns import tables
from headwater.patterns.recent import RecentRows
from headwater.plan.at_rest import at_rest
from headwater.plan.program import UNIT, AffectedGroupsProgram, AppendProgram, PatternStep
from headwater.plan.rules import recent_matches
from headwater.serve.pattern_rows import create_matches
from tests.algebra.translate import duckdb_sql, duckdb_type
from tests.algebra.world import in_schema
from tests.patterns.at_rest import land
from tests.patterns.views import SECOND, View, arrivals, random_view
from tests.support.sampling import some


def _rows(duck: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    """Rows as DuckDB gives them: SORT BY within a task becomes ORDER BY."""
    select = parse_one(sql, dialect="spark")
    assert isinstance(select, exp.Select)
    select.set("distribute", None)
    select.set("order", exp.Order(expressions=select.args.pop("sort").expressions))
    return duck.sql(duckdb_sql(select.sql("spark"))).to_arrow_table()


def _fill(duck: duckdb.DuckDBPyConnection, step: PatternStep, counts: Counter[str]) -> None:
    """Fill the table of a step as the engine does it in Spark."""
    names = [name for name, _ in step.columns]
    if step.recent is None:
        counts["whole"] += 1
        found = tables.MatchedTables(step.clause, names).of(_rows(duck, step.sql))
    else:
        counts["recent"] += 1
        recent = RecentRows(step.recent.since, step.recent.until)
        searched = tables.MatchedTables(step.clause, names, recent)
        found = searched.of(_rows(duck, step.recent.sql))
        unsure = pc.equal(found["_match"], tables.UNSURE)
        if pc.any(unsure).as_py():
            counts["unsure"] += 1
            duck.register(step.name + "__unsure", found.filter(unsure))
            rest = _rows(duck, step.recent.rest_sql)
            more = tables.MatchedTables(step.clause, names).of(rest)
            found = pa.concat_tables([found.filter(pc.invert(unsure)), more.cast(found.schema)])
    duck.execute(f"DROP TABLE IF EXISTS {step.name}")
    duck.register(step.name, found)


def _wrong(view: View, random: Random, counts: Counter[str]) -> str:
    kinds = ", ".join(f'"{c.name}" {duckdb_type(c.spark_type)}' for c in view.plan.columns)
    with in_schema() as (duck, _):
        duck.execute(
            "CREATE TABLE t (k VARCHAR, ts TIMESTAMPTZ, v VARCHAR, x BIGINT,"
            " _watermark TIMESTAMPTZ)"
        )
        duck.execute(f"CREATE TABLE v ({kinds})")
        last: int | None = None
        for landed, watermark in arrivals(random):
            land(duck, landed)
            tick = view.plan.program.between(last, watermark)
            if isinstance(tick, AppendProgram):
                for step in tick.patterns:
                    _fill(duck, step, counts)
                duck.execute(f"INSERT INTO v {duckdb_sql(tick.sql)}")
                for step in tick.patterns:
                    duck.unregister(step.name)
            last = watermark
            rest = at_rest(view.plan, view.catalog, "duckdb", watermark=watermark)
            create_matches(duck, rest.patterns)
            found = duck.execute(
                f"(SELECT 'missing', * FROM (({rest.sql}) EXCEPT ALL FROM v)) UNION ALL"
                f" (SELECT 'surplus', * FROM (FROM v EXCEPT ALL ({rest.sql})))"
            ).fetchall()
            if found:
                return f"{view.plan.view.text} at {watermark}: {found[:3]}"
        everything = at_rest(view.plan, view.catalog, "duckdb", final=False)
        create_matches(duck, everything.patterns)
        shown = duck.execute(f"FROM v EXCEPT ALL ({everything.sql})").fetchall()
        return f"{view.plan.view.text}: no match any more: {shown[:3]}" if shown else ""


def _wrong_corrected(view: View, random: Random, counts: Counter[str]) -> str:
    """Bring a corrected view up to what lands, as affected groups does it."""
    program = view.plan.program
    assert isinstance(program, AffectedGroupsProgram)
    assert not program.steps
    table = "(k VARCHAR, ts TIMESTAMPTZ, v VARCHAR, x BIGINT, _watermark TIMESTAMPTZ)"
    kinds = ", ".join(f'"{c.name}" {duckdb_type(c.spark_type)}' for c in view.plan.columns)
    shown = ", ".join(f'"{field.name}"' for field in view.plan.view.fields)
    with in_schema() as (duck, _):
        duck.execute(f"CREATE TABLE t {table}; CREATE TABLE v ({kinds})")
        for landed, watermark in arrivals(random):
            before = duck.sql("SELECT count(*) FROM t").fetchall()[0][0]
            land(duck, landed)
            duck.execute(f"CREATE OR REPLACE TABLE t__change AS FROM t OFFSET {before}")
            for step in program.patterns:
                _fill(duck, step, counts)
            duck.execute(f"CREATE OR REPLACE TABLE __units AS {duckdb_sql(program.units_sql)}")
            duck.execute(f"DELETE FROM v WHERE {UNIT} IN (SELECT unit FROM __units)")
            duck.execute(f"INSERT INTO v {duckdb_sql(program.rows_sql)}")
            duck.execute(f"CREATE OR REPLACE TABLE anew AS {duckdb_sql(program.all_sql)}")
            for step in program.patterns:
                duck.unregister(step.name)
            rest = at_rest(view.plan, view.catalog, "duckdb", watermark=watermark)
            create_matches(duck, rest.patterns)
            for have in (f"(SELECT {shown} FROM v)", f"(SELECT {shown} FROM anew)"):
                found = duck.execute(
                    f"(SELECT 'missing', * FROM (({rest.sql}) EXCEPT ALL {have})) UNION ALL"
                    f" (SELECT 'surplus', * FROM ({have} EXCEPT ALL ({rest.sql})))"
                ).fetchall()
                if found:
                    return f"{view.plan.view.text} at {watermark}: {found[:3]}"
            keys = "SELECT count(DISTINCT coalesce(k, '')) FROM"
            ((touched, known),) = duck.sql(f"SELECT ({keys} t__change), ({keys} t)").fetchall()
            counts["some keys"] += touched < known
            counts["rows"] += duck.sql("SELECT count(*) FROM v").fetchall()[0][0]
    return ""


@pytest.mark.parametrize("part", some(range(4), 4))
def test_random_views_are_corrected_at_every_commit(part: int) -> None:
    counts = Counter[str]()
    for number in range(15):
        random = Random(f"corrected/{part}/{number}")
        view = random_view(random, f"corrected/{part}/{number}", final=False)
        if view is not None:
            counts["views"] += 1
            assert not (wrong := _wrong_corrected(view, random, counts)), wrong
    assert counts["views"] >= 4, counts
    assert counts["some keys"] > 10, counts
    assert counts["rows"] > 20, counts


@pytest.mark.parametrize("part", some(range(4), 4))
def test_random_views_hold_at_every_commit(part: int) -> None:
    counts = Counter[str]()
    for number in range(15):
        random = Random(f"views/{part}/{number}")
        view = random_view(random, f"views/{part}/{number}")
        if view is not None:
            counts["views"] += 1
            assert not (wrong := _wrong(view, random, counts)), wrong
    assert counts["views"] >= 4, counts


@pytest.mark.parametrize("room", some([0, 1, 4], 3))
def test_recent_rows_are_enough(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_matches, "ROOM", room)
    counts = Counter[str]()
    for number in range(2000):
        random = Random(f"recent/{room}/{number}")
        view = random_view(random, f"recent/{room}/{number}")
        if view is None or not view.recent:
            continue
        counts["views"] += 1
        assert not (wrong := _wrong(view, random, counts)), wrong
        if counts["views"] == 12:
            break
    assert counts["recent"] > counts["unsure"] > 0, counts


def test_the_test_notices_what_is_shown_too_early(monkeypatch: pytest.MonkeyPatch) -> None:
    actual = tables._times
    monkeypatch.setattr(tables, "_times", lambda closes: actual(pc.subtract(closes, 2 * SECOND)))
    found, counts = [], Counter[str]()
    for number in range(20):
        random = Random(f"hasty/{number}")
        view = random_view(random, f"hasty/{number}")
        if view is not None:
            found.append(_wrong(view, random, counts))
    assert any(found)
