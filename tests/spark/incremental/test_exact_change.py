"""Exact change: joined rows are replaced by their key; a table that another rule kept goes on."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

import duckdb
import pytest
from law import Landed
from running import Running

from headwater.engine.incremental.recompute_policy import NEVER, RECOMPUTED, RecomputeLimits
from headwater.lake.iceberg import merge
from headwater.plan.program import UNIT, AffectedGroupsProgram, ExactChangeProgram
from headwater.plan.rules import affected_groups, registry

COLUMNS = {"id": "BIGINT", "k": "STRING", "x": "BIGINT"}
TABLES = "\n".join(
    f"CREATE TABLE {name} (id BIGINT, k VARCHAR, x BIGINT)"
    f" WITH (connector = 'files', path = '{name}') FORMAT PLAIN ENCODE JSON;"
    for name in ("a", "b")
)
VIEWS = {
    "u": "SELECT id, max(k) AS k, max(x) AS x FROM a GROUP BY id HAVING count(*) < 4",
    "v": "SELECT k, count(*) AS n, sum(x) AS x FROM b GROUP BY k",
    "rows": "SELECT k, id, x + 1 AS more FROM u WHERE x > 0",
    "joined": "SELECT u.id, v.k, u.x + v.x AS both FROM u JOIN v ON u.k = v.k OR v.k IS NULL",
    "keys": "SELECT u.id, v.k FROM u JOIN v ON u.x = v.x",
    "of_itself": "SELECT l.id, r.id AS other, l.x - r.x AS apart FROM u l JOIN u r ON l.k = r.k",
    "left": "SELECT u.id, u.k, v.n FROM u LEFT JOIN v ON u.k = v.k AND v.x > u.x",
    "absent": "SELECT id FROM u WHERE NOT EXISTS (SELECT 1 FROM v WHERE v.n = u.x)",
    "other": "SELECT id, x NOT IN (SELECT n FROM v WHERE v.k <> u.k) AS other FROM u",
    "next": "SELECT id, k, count(*) OVER (PARTITION BY k) AS n FROM joined",
    "level": "SELECT k, mean, n * 2 AS twice FROM"
    " (SELECT k, avg(x) AS mean, count(*) AS n FROM b GROUP BY k) WHERE k <> 'w'",
}
EXACT = ("rows", "joined", "keys", "of_itself", "left", "absent", "other")
DEFINITIONS = TABLES + "\n".join(
    f"CREATE STREAMING VIEW {name} AS {sql};" for name, sql in VIEWS.items()
)


def rows(rnd: random.Random) -> list[tuple[object, ...]]:
    keys, numbers = [None, "u", "v", "w"], [None, 0, 1, 2, 3]
    return [
        (rnd.randint(1, 6), rnd.choice(keys), rnd.choice(numbers)) for _ in range(rnd.randint(0, 5))
    ]


def check(running: Running, landed: list[Landed]) -> None:
    with duckdb.connect() as duck:
        for table in landed:
            table.create_whole_in(duck)
        for name, sql in VIEWS.items():
            duck.execute(f'CREATE VIEW "{name}" AS {sql}')
            expected, held = duck.sql(f'FROM "{name}"').fetchall(), running.held(name)
            assert sorted(map(repr, held)) == sorted(map(repr, expected)), name


def recorded(running: Running, name: str) -> Mapping[str, int]:
    marker = running.views[name].marker
    assert marker is not None
    return marker.counts


@pytest.mark.parametrize("way", ["rewritten", "one merge", "split"])
def test_rows_equal_their_select_after_every_tick(spark, lake, monkeypatch, way):
    if way == "split":
        monkeypatch.setattr(merge, "SPLIT_ABOVE", 0)
    landed = [Landed(lake, name, COLUMNS) for name in ("a", "b")]
    limits = RecomputeLimits(1, float("inf")) if way == "rewritten" else NEVER
    running = Running(spark, lake, DEFINITIONS, lambda _: limits)
    kinds = {name: type(running.plans[name].program) for name in EXACT}
    assert set(kinds.values()) == {ExactChangeProgram}, kinds
    rnd = random.Random(way)
    for _ in range(5):
        for table in rnd.sample(landed, rnd.randint(1, 2)):
            table.land(*rows(rnd))
        assert not running.tick()
        check(running, landed)


@pytest.mark.parametrize("name", ["affected groups", "fold", ""])
def test_a_table_that_another_rule_kept_gets_the_hidden_columns_of_its_rule_and_goes_on(
    spark, lake, monkeypatch, name
):
    """Also where another program of a rule of the same name has hidden other columns, or none is
    named: releases that knew one rule for a view did not."""
    landed, rnd = [Landed(lake, name, COLUMNS) for name in ("a", "b")], random.Random(3)
    before = (replace(affected_groups.RULE, name=name),)
    with monkeypatch.context() as patch:
        patch.setattr(registry, "RULES", before)
        running = Running(spark, lake, DEFINITIONS)
        for view in ("joined", "level"):
            assert isinstance(running.plans[view].program, AffectedGroupsProgram)
        for table in landed:
            table.land(*rows(rnd), *rows(rnd))
        assert not running.tick()
        assert UNIT in running.views["joined"].target.columns()
    for number in range(3):
        running = Running(spark, lake, DEFINITIONS)
        for view in ("joined", "level"):
            assert UNIT not in running.views[view].target.columns()
        running.open()  # as after a crash between the alteration and the next commit
        for table in landed:
            table.land(*rows(rnd))
        assert not running.tick()
        check(running, landed)
        anew = {view for view in ("joined", "level") if RECOMPUTED in recorded(running, view)}
        assert anew == ({"level"} if number == 0 else set()), "it alone has new columns"
