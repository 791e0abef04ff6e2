"""Incremental views that append, fold, re-run keys and are recomputed: the law at every commit,
random cuts, restarts."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest
from law import Landed, catalog_of, check_law
from plans import hand_made, relation

from headwater.engine.incremental.tick import Ticks
from headwater.engine.incremental.view import IncrementalView
from headwater.lake.iceberg import merge
from headwater.plan.full_program import FullProgram
from headwater.plan.program import (
    AffectedKeysProgram,
    AppendProgram,
    FoldProgram,
    StateColumn,
)
from headwater.runtime.session import session_for_thread

NOON = datetime(2013, 1, 1, 12, tzinfo=UTC)
IN_TIME = "(_watermark IS NULL OR ts >= _watermark)"


def key(name, kind):
    return StateColumn(name, kind, f"s.{name}", f"s.{name}")


def count(name):
    return StateColumn(name, "BIGINT", f"s.{name}", f"t.{name} + s.{name}")


PROGRAMS = {
    "linear": (
        AppendProgram("SELECT k * 2 AS k, explode(tags) AS tag FROM events__change WHERE k > 0"),
        {"k": "INT", "tag": "STRING"},
        "SELECT k * 2 AS k, unnest(tags) AS tag FROM events WHERE k > 0",
    ),
    "linear, late rows left out": (
        AppendProgram(
            f"SELECT k, ts FROM events__change WHERE {IN_TIME}",
            {"events": f"SELECT * FROM events__change WHERE NOT {IN_TIME}"},
        ),
        {"k": "INT", "ts": "TIMESTAMP"},
        f"SELECT k, ts FROM events WHERE {IN_TIME}",
    ),
    "aggregate": (
        FoldProgram(
            "SELECT k, count(*) AS n, max(ts) AS newest FROM events__change GROUP BY k",
            ("k",),
            (
                key("k", "INT"),
                count("n"),
                StateColumn("newest", "TIMESTAMP", "s.newest", "greatest(t.newest, s.newest)"),
            ),
        ),
        {"k": "INT", "n": "BIGINT", "newest": "TIMESTAMP"},
        "SELECT k, count(*) AS n, max(ts) AS newest FROM events GROUP BY k",
    ),
    "global aggregate": (
        FoldProgram("SELECT count(*) AS n FROM events__change", (), (count("n"),)),
        {"n": "BIGINT"},
        "SELECT count(*) AS n FROM events",
    ),
    "hidden state": (
        FoldProgram(
            "SELECT k, sum(length(name)) AS _state_sum, count(name) AS _state_n"
            " FROM events__change GROUP BY k",
            ("k",),
            (
                key("k", "INT"),
                StateColumn(
                    "whole",
                    "BIGINT",
                    "CAST(s._state_sum AS BIGINT) div nullif(s._state_n, 0)",
                    "coalesce(t._state_sum + s._state_sum, t._state_sum, s._state_sum)"
                    " div nullif(t._state_n + s._state_n, 0)",
                ),
                StateColumn(
                    "_state_sum",
                    "BIGINT",
                    "s._state_sum",
                    "coalesce(t._state_sum + s._state_sum, t._state_sum, s._state_sum)",
                ),
                count("_state_n"),
            ),
        ),
        {"k": "INT", "whole": "BIGINT", "_state_sum": "BIGINT", "_state_n": "BIGINT"},
        "SELECT k, CAST(sum(length(name)) // count(name) AS BIGINT) AS whole"
        " FROM events GROUP BY k",
    ),
    "distinct": (
        FoldProgram(
            "SELECT DISTINCT k, name FROM events__change",
            ("k", "name"),
            (key("k", "INT"), key("name", "STRING")),
        ),
        {"k": "INT", "name": "STRING"},
        "SELECT DISTINCT k, name FROM events",
    ),
    "affected keys": (
        AffectedKeysProgram(
            "SELECT DISTINCT k FROM events__change",
            "SELECT e.k, count(DISTINCT name) AS n FROM events e"
            " LEFT SEMI JOIN __keys ON e.k <=> __keys.k"
            " GROUP BY e.k HAVING count(DISTINCT name) < 3",
            "SELECT k, count(DISTINCT name) AS n FROM events"
            " GROUP BY k HAVING count(DISTINCT name) < 3",
            ("k",),
        ),
        {"k": "INT", "n": "BIGINT"},
        "SELECT k, count(DISTINCT name) AS n FROM events GROUP BY k HAVING n < 3",
    ),
    "full": (
        FullProgram("SELECT name, count(*) AS n FROM events GROUP BY name ORDER BY n DESC LIMIT 2"),
        {"name": "STRING", "n": "BIGINT"},
        None,
    ),
}


def landed(lake, name="events"):
    columns = {"k": "INT", "name": "STRING", "ts": "TIMESTAMP", "tags": "ARRAY<STRING>"}
    return Landed(lake, name, columns, "ts", timedelta(minutes=15))


def events(rnd, clock, most=12):
    return [
        (
            rnd.choice([None, 0, 1, 2, 3]),
            rnd.choice([None, "a", "bb", "ccc", "dddd"]),
            clock - timedelta(minutes=rnd.choice([0, 5, 50])),
            rnd.choices(["x", "y", "z"], k=rnd.randint(0, 3)),
        )
        for _ in range(rnd.randint(1, most))
    ]


def own_view(spark, lake, plan, *tables):
    return IncrementalView(lake.using(session_for_thread(spark)), plan, catalog_of(*tables))


def pins(*tables):
    for each in tables:
        each.table.refresh()
    return {each.name: each.table.snapshot_id() for each in tables}


@pytest.mark.parametrize("way", ["one merge", "split merge", "delta"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_table_equals_select_at_every_commit(spark, lake, monkeypatch, name, way):
    program, columns, oracle = PROGRAMS[name]
    if way == "split merge" and not isinstance(program, FoldProgram | AffectedKeysProgram):
        pytest.skip("has no MERGE")
    if way != "one merge":  # a Delta table is never split, however large
        monkeypatch.setattr(merge, "SPLIT_ABOVE", 0)
    table = landed(lake)
    stored = "delta" if way == "delta" else "iceberg"
    plan = hand_made(
        "v", program, columns, relation(table), into="late_events", table_format=stored
    )
    view = own_view(spark, lake, plan, table)
    rnd = random.Random(name)
    clock = NOON
    for number in range(5):
        for _ in range(rnd.randint(1, 2)):
            clock += timedelta(minutes=rnd.choice([10, 60]))
            table.land(*events(rnd, clock))
        if number == 2:  # a new object goes on from the marker alone
            view = own_view(spark, lake, plan, table)
        assert view.step(pins(table))
    if oracle is None:
        assert view.target.read().count() == 2
        return
    visible = [column for column in columns if not column.startswith("_")]
    markers = check_law(lake, "v", visible, oracle, [table], view.target)
    assert markers[-1].watermark == table.watermark_after
    if getattr(program, "late", None):
        late = sum(marker.counts["late"] for marker in markers)
        assert late == lake.table("late_events").read().count() > 0


def test_nothing_new_is_no_commit_and_a_new_empty_snapshot_is_one(spark, lake):
    table = landed(lake)
    program, columns, oracle = PROGRAMS["aggregate"]
    view = own_view(spark, lake, hand_made("v", program, columns, relation(table)), table)
    table.land(*events(random.Random(1), NOON))
    assert view.step(pins(table))
    assert view.step(pins(table)) is None
    table.close(NOON + timedelta(hours=1))
    done = view.step(pins(table))
    assert done and done.rows == 0
    assert done.marker.watermark == table.watermark_after
    assert view.step(pins(table)) is None
    check_law(lake, "v", list(columns), oracle, [table])


def test_union_of_two_inputs_reads_both_changes(spark, lake):
    one, two = landed(lake, "one"), landed(lake, "two")
    program = AppendProgram("SELECT k FROM one__change UNION ALL SELECT k FROM two__change")
    view = own_view(
        spark, lake, hand_made("v", program, {"k": "INT"}, relation(one), relation(two)), one, two
    )
    rnd = random.Random(3)
    for _ in range(4):
        for table in rnd.sample([one, two], rnd.randint(1, 2)):
            table.land(*events(rnd, NOON))
        view.step(pins(one, two))
    check_law(lake, "v", ["k"], "SELECT k FROM one UNION ALL SELECT k FROM two", [one, two])


def test_views_of_a_tick_share_the_cut_and_read_each_other(spark, lake):
    table = landed(lake)
    odd = hand_made(
        "odd",
        AppendProgram("SELECT k, name FROM events__change WHERE k % 2 = 1"),
        {"k": "INT", "name": "STRING"},
        relation(table),
    )
    total = hand_made(
        "total",
        FoldProgram(
            "SELECT k, count(*) AS n FROM odd__change GROUP BY k",
            ("k",),
            (key("k", "INT"), count("n")),
        ),
        {"k": "INT", "n": "BIGINT"},
        views=("odd",),
    )
    program, columns, _ = PROGRAMS["aggregate"]
    other = hand_made("other", program, columns, relation(table))
    views = [own_view(spark, lake, plan, table) for plan in (odd, other, total)]
    ticks = Ticks(lake, ["events"])
    rnd = random.Random(4)
    try:
        for _ in range(3):
            table.land(*events(rnd, NOON))
            result = ticks.run(views, ticks.pin())
            assert not result.failed
            by_view = {done.view: done.marker for done in result.committed}
            assert (
                by_view["odd"].cut_to
                == by_view["other"].cut_to
                == {"events": str(result.pins["events"])}
            )
            assert by_view["total"].cut_to == {"odd": str(lake.table("odd").snapshot_id())}
    finally:
        ticks.close()
    check_law(lake, "odd", ["k", "name"], "SELECT k, name FROM events WHERE k % 2 = 1", [table])
    expected = lake.table("odd").read().groupBy("k").count().collect()
    assert sorted(lake.table("total").read().collect()) == sorted(expected)


def test_a_failing_view_harms_no_other(spark, lake):
    table = landed(lake)
    program, columns, oracle = PROGRAMS["aggregate"]
    bad = hand_made(
        "bad",
        AppendProgram("SELECT CAST(name AS INT) AS k FROM events__change"),
        {"k": "INT"},
        relation(table),
    )
    views = [
        own_view(spark, lake, bad, table),
        own_view(spark, lake, hand_made("v", program, columns, relation(table)), table),
    ]
    table.land((1, "not a number", NOON, []))
    ticks = Ticks(lake, ["events"])
    try:
        result = ticks.run(views, ticks.pin())
    finally:
        ticks.close()
    assert list(result.failed) == ["bad"]
    check_law(lake, "v", list(columns), oracle, [table])
    assert lake.table("bad").marker() is None
