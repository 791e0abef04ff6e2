"""Fold over inputs that are joined and corrected: the table equals the SELECT at every tick."""

from __future__ import annotations

import random
from decimal import Decimal

import duckdb
import pytest
from law import Landed
from running import Running

from headwater.engine.incremental.recompute_policy import NEVER, RecomputeLimits
from headwater.lake.iceberg import merge
from headwater.plan.program import FoldProgram

COLUMNS = {"id": "BIGINT", "k": "STRING", "x": "BIGINT", "d": "DECIMAL(20, 10)"}
TABLES = "\n".join(
    f"CREATE TABLE {name} (id BIGINT, k VARCHAR, x BIGINT, d DECIMAL(20, 10))"
    f" WITH (connector = 'files', path = '{name}') FORMAT PLAIN ENCODE JSON;"
    for name in ("a", "b", "fed")
)
CORRECTED = {
    # rows come, change and go; and the same without a key, so that some are there several times
    "u": "SELECT id, max(k) AS k, max(x) AS x, max(d) AS d FROM fed GROUP BY id"
    " HAVING count(*) < 4",
    "kinds": "SELECT k, x FROM u",
}
FOLDS = (
    "count(*) AS n, count(x) AS known, sum(x) AS x, sum(d) AS d, avg(x) AS mean,"
    " count_if(x > 1) AS most, bool_and(x > 1) AS each, bool_or(x > 1) AS any_one,"
    " sum(x) FILTER (WHERE k <> 'u') AS some"
)
FOLDED = {
    "groups": f"SELECT k, {FOLDS} FROM u GROUP BY k",
    "all_rows": f"SELECT {FOLDS} FROM u",
    "hidden_key": "SELECT count(*) AS n, sum(x) + 1 AS more FROM u GROUP BY k",
    "of_duplicates": "SELECT k, count(*) AS n, sum(x) AS x FROM kinds GROUP BY k",
    "different": "SELECT DISTINCT k, x FROM kinds",
    "joined": "SELECT u.k, count(*) AS n, sum(a.x) AS x, sum(u.d) AS d FROM a JOIN u ON u.x = a.x"
    " WHERE a.id > 2 GROUP BY u.k",
    "with_itself": "SELECT l.x, count(*) AS n, sum(r.x) AS y FROM kinds l JOIN kinds r ON l.k = r.k"
    " GROUP BY l.x",
    "together": "SELECT q.k, count(q.x) AS n, avg(q.x) AS mean FROM"
    " (SELECT k, x FROM u UNION ALL SELECT a.k, b.x FROM a JOIN b ON b.x = a.x) q GROUP BY q.k",
    "third_level": "SELECT n, count(*) AS groups, sum(d) AS d FROM groups GROUP BY n",
    "appended": "SELECT a.k, count(*) AS n, sum(b.d) AS d, min(b.x) AS least, max(a.x) AS most"
    " FROM a JOIN b ON a.x = b.x GROUP BY a.k",
    "appended_different": "SELECT DISTINCT a.k, b.k AS other FROM a JOIN b ON a.x = b.x",
    "left_join": "SELECT a.k, count(b.id) AS n, sum(b.x + 1) AS x, max(b.d) AS most"
    " FROM a LEFT JOIN b ON a.x = b.x WHERE a.id > 2 GROUP BY a.k",
    "sizes": "SELECT n, count(*) AS groups, sum(x) AS x FROM"
    " (SELECT k, count(*) AS n, sum(x) AS x FROM kinds GROUP BY k) q GROUP BY n",
    "ranks": "SELECT r, count(*) AS n, sum(x) AS x FROM"
    " (SELECT x, rank() OVER (PARTITION BY k ORDER BY x) AS r FROM kinds) q GROUP BY r",
    "lacking": "SELECT count(*) AS n FROM (SELECT k FROM kinds EXCEPT SELECT k FROM a) q",
    "of_different": "SELECT x, count(*) AS n FROM (SELECT DISTINCT k, x FROM a) q GROUP BY x",
    "digits": "SELECT k, sum(d) AS d FROM a GROUP BY k",
}


def rows(rnd: random.Random) -> list[tuple[object, ...]]:
    keys, numbers = [None, "u", "v", "w"], [None, 0, 1, 2, 3]
    parts = [None, Decimal("0.0000000001"), Decimal("-1234567890.0987654321")]
    return [
        (rnd.randint(1, 6), rnd.choice(keys), rnd.choice(numbers), rnd.choice(parts))
        for _ in range(rnd.randint(0, 5))
    ]


def plain(held: list[tuple[object, ...]]) -> list[str]:
    """Rows in an order; numbers have as many digits as they need."""
    short = ([v.normalize() if isinstance(v, Decimal) else v for v in row] for row in held)
    return sorted(map(repr, short))


def check(running: Running, landed: list[Landed]) -> None:
    with duckdb.connect() as duck:
        for table in landed:
            table.create_whole_in(duck)
        for name, sql in (CORRECTED | FOLDED).items():
            own = sql.replace("count_if(x > 1)", "count(*) FILTER (WHERE x > 1)")
            duck.execute(f"CREATE VIEW {name} AS {own}")
            expected, held = duck.sql(f"FROM {name}").fetchall(), running.held(name)
            assert plain(held) == plain(expected), name


@pytest.mark.parametrize(
    ("way", "ticks"),
    [("rewritten", 5), ("one merge", 3), ("split", 5), ("split, of a large change", 3)],
)
def test_groups_equal_their_select_after_every_tick(spark, lake, monkeypatch, way, ticks):
    if way.startswith("split"):
        monkeypatch.setattr(merge, "SPLIT_ABOVE", 0)
    if way == "split, of a large change":
        monkeypatch.setattr(merge, "BROADCAST_UP_TO", 0)
    landed = [Landed(lake, name, COLUMNS) for name in ("a", "b", "fed")]
    views = (CORRECTED | FOLDED).items()
    definitions = "\n".join(f"CREATE STREAMING VIEW {name} AS {sql};" for name, sql in views)
    limits = RecomputeLimits(1, float("inf")) if way == "rewritten" else NEVER
    running = Running(spark, lake, TABLES + definitions, lambda _: limits)
    kinds = {name: type(running.plans[name].program) for name in FOLDED}
    assert set(kinds.values()) == {FoldProgram}, kinds
    rnd = random.Random(7)
    for number in range(ticks):
        for table in rnd.sample(landed, rnd.randint(1, 3)):
            table.land(*rows(rnd))
        if number == 3:  # new objects go on from the markers alone
            running.open()
        assert not running.tick()
        check(running, landed)
    table = lake.table("groups")
    newest = table.snapshot(table.snapshot_id())
    assert newest is not None
    assert (newest.summary["total-delete-files"] == "0") == (way == "rewritten")


def test_a_group_goes_with_its_last_row_and_comes_back(spark, lake):
    fed = Landed(lake, "fed", COLUMNS)
    definitions = "\n".join(
        f"CREATE STREAMING VIEW {name} {options} AS {sql};"
        for name, options, sql in (
            ("u", "", CORRECTED["u"]),
            ("v", "", "SELECT k, count(*) AS n, sum(x) AS x FROM u GROUP BY k"),
            ("w", "WITH (format = 'delta')", "SELECT k, sum(x) AS x FROM u GROUP BY k"),
            ("total", "", "SELECT count(*) AS n, sum(x) AS x FROM u"),
        )
    )
    running = Running(spark, lake, TABLES + definitions)
    for table in ("a", "b"):
        Landed(lake, table, COLUMNS)
    for landed, groups, total in (
        ([(1, None, 5, None), (2, "v", None, None)], [(None, 1, 5), ("v", 1, None)], (2, 5)),
        ([(1, None, 4, None)] * 3, [("v", 1, None)], (1, None)),
        ([(2, "v", 1, None)] * 3, [], (0, None)),
        ([(3, None, 7, None)], [(None, 1, 7)], (1, 7)),
    ):
        fed.land(*landed)
        assert not running.tick()
        assert plain(running.held("v")) == plain(groups)
        assert plain(running.held("w")) == plain([(k, x) for k, _, x in groups])
        assert running.held("total") == [total]
