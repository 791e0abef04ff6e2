"""Affected groups: any query over changing tables equals what DuckDB says after every tick."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import duckdb
import pytest
from law import Landed, check_law
from running import Running

from headwater.lake.protocol import commit as protocol
from headwater.plan.program import AffectedGroupsProgram

COLUMNS = {"id": "BIGINT", "k": "STRING", "x": "BIGINT"}
TABLES = "\n".join(
    f"CREATE TABLE {name} (id BIGINT, k VARCHAR, x BIGINT)"
    f" WITH (connector = 'files', path = '{name}') FORMAT PLAIN ENCODE JSON;"
    for name in ("a", "b", "c")
)
SUMS = "SELECT k, count(*) AS n, sum(x) AS x FROM b GROUP BY k"
VIEWS = {
    "sums": SUMS,
    "inner_join": "SELECT a.k, a.x, b.id FROM a JOIN b ON a.k = b.k AND b.x < a.x",
    "left_join": "SELECT a.k, a.x, b.x AS y FROM a LEFT JOIN b ON a.k = b.k AND a.x = b.x",
    "right_join": "SELECT a.x, b.k, b.id FROM a RIGHT JOIN b ON a.k = b.k AND a.x > b.x",
    "full_join": "SELECT a.id, b.id AS other FROM a FULL JOIN b ON a.k = b.k AND a.x = b.x",
    "three": "SELECT a.k, b.x, c.x AS z, count(*) AS n FROM a LEFT JOIN b ON a.k = b.k"
    " LEFT JOIN c ON b.x = c.x WHERE a.x > 1 GROUP BY a.k, b.x, c.x",
    "mixed": "SELECT a.k, b.id, c.id AS third FROM a JOIN b ON a.x = b.x"
    " FULL JOIN c ON b.k = c.k AND c.x = a.x",
    "with_itself": "SELECT l.id, r.id AS later FROM a l LEFT JOIN a r ON l.k = r.k AND r.id > l.id",
    "unmatched": "SELECT a.id, a.k FROM a LEFT JOIN b ON a.k = b.k WHERE b.id IS NULL",
    "of_groups": "SELECT q.n, count(*) AS keys FROM (SELECT k, count(*) AS n FROM a GROUP BY k) q"
    " GROUP BY q.n",
    "joined_groups": "SELECT b.id, q.n, q.least FROM b LEFT JOIN"
    " (SELECT k, count(*) AS n, min(x) AS least FROM a GROUP BY k) q ON q.k = b.k",
    "global_of_groups": "SELECT max(q.n) AS most, count(*) AS keys FROM"
    " (SELECT k, count(*) AS n FROM a GROUP BY k HAVING count(*) > 1) q",
    "two_kinds": "SELECT k, count(*) AS n FROM a GROUP BY k"
    " UNION ALL SELECT k, max(x) FROM b GROUP BY k"
    " UNION ALL SELECT 'all', count(*) FROM c",
    "distinct_join": "SELECT DISTINCT a.k, b.x FROM a LEFT JOIN b ON a.k = b.k",
    "of_distinct": "SELECT count(*) AS kinds FROM (SELECT DISTINCT k, x FROM a) q WHERE q.x > 1",
    "on_corrected": "SELECT k, n * 2 AS twice FROM sums WHERE n > 1",
    "group_corrected": "SELECT n, count(*) AS keys, max(x) AS x FROM sums GROUP BY n",
    "join_corrected": "SELECT a.id, s.n FROM a LEFT JOIN sums s ON s.k = a.k",
    "third_level": "SELECT g.keys, min(g.n) AS n FROM group_corrected g GROUP BY g.keys",
    "distinct_corrected": "SELECT DISTINCT s.n, a.x FROM sums s LEFT JOIN a ON a.k = s.k",
    "union_corrected": "SELECT n FROM sums UNION ALL SELECT x FROM a",
    "said_of_rows": "SELECT DISTINCT a.k, (SELECT max(x) FROM b) AS most FROM a",
    "said_of_optional": "SELECT a.id, (SELECT count(*) FROM c WHERE c.k = b.k) AS n"
    " FROM a LEFT JOIN b ON b.x = a.x",
    "while_any": "SELECT a.id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.x > 2)",
    "joined_subqueries": "SELECT l.k, r.k AS other FROM (SELECT k, x FROM a WHERE x > 1) l JOIN"
    " (SELECT u.k, u.x FROM (SELECT k, x FROM b UNION ALL SELECT k, x FROM c) u) r ON l.x = r.x",
}
OTHERS = {
    "sums": "fold",
    "inner_join": "append",
    "joined_subqueries": "append",
    "three": "fold",
    "distinct_join": "fold",
    "on_corrected": "exact change",
    "distinct_corrected": "fold",
    "of_groups": "fold",
    "of_distinct": "fold",
}
"""The views that another rule keeps."""


def rows(rnd: random.Random, ids: list[int]) -> list[tuple[object, ...]]:
    keys, numbers = [None, "u", "v", "w"], [None, 0, 1, 2, 3]
    return [(ids.pop(), rnd.choice(keys), rnd.choice(numbers)) for _ in range(rnd.randint(0, 4))]


def tables(lake):
    return {name: Landed(lake, name, COLUMNS) for name in "abc"}


def check(running, landed, views=VIEWS):
    with duckdb.connect() as duck:
        for table in landed.values():
            table.create_whole_in(duck)
        for name, sql in views.items():
            duck.execute(f"CREATE VIEW {name} AS {sql}")
            expected = duck.sql(f"FROM {name}").fetchall()
            held = running.held(name)
            assert sorted(map(repr, held)) == sorted(map(repr, expected)), name


def test_every_view_equals_its_select_after_every_tick(spark, lake):
    landed = tables(lake)
    views = "\n".join(f"CREATE STREAMING VIEW {name} AS {sql};" for name, sql in VIEWS.items())
    running = Running(spark, lake, TABLES + views)
    rnd, ids = random.Random(5), list(range(1000))
    for number in range(4):
        for table in rnd.sample(list(landed.values()), rnd.randint(1, 3)):
            table.land(*rows(rnd, ids))
        if number == 2:  # new objects go on from the markers alone
            running.open()
        assert not running.tick()
        check(running, landed)
    rules = {name: plan.decision.rule.name for name, plan in running.plans.items()}
    assert {name: rule for name, rule in rules.items() if rule != "affected groups"} == OTHERS


@pytest.mark.parametrize("format_", ["iceberg", "delta"])
def test_only_the_units_that_a_change_touches_are_replaced(spark, lake, format_):
    landed = tables(lake)
    running = Running(
        spark,
        lake,
        f"{TABLES}CREATE STREAMING VIEW v WITH (format = '{format_}') AS"
        " SELECT a.id, b.id AS other FROM a LEFT JOIN b ON a.k = b.k;",
    )
    target = running.views["v"].target
    landed["a"].land((1, "u", 0), (2, "v", 0), (3, "w", 0))
    assert not running.tick()
    before = files(target)
    landed["b"].land((7, "v", 0))
    assert not running.tick()
    after = files(target)
    assert sorted(running.held("v")) == [(1, None), (2, 7), (3, None)]
    if format_ == "iceberg":  # Delta may write a file anew to remove a row from it
        assert {key for key in after if after[key] != before[key]} == {2}


NOON, MINUTE = datetime(2026, 1, 1, 12, tzinfo=UTC), timedelta(minutes=1)
TIMED = "\n".join(
    f"CREATE TABLE {name} (id BIGINT, k VARCHAR, ts TIMESTAMP WITH TIME ZONE,"
    " WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)"
    f" WITH (connector = 'files', path = '{name}') FORMAT PLAIN ENCODE JSON;"
    for name in ("e", "r")
)
OF_TIMED = {
    "answered": "SELECT e.id, e.k, r.id AS reply FROM {e} LEFT JOIN {r} ON r.k = e.k",
    "newest": "SELECT e.k, e.id FROM {e}"
    " QUALIFY row_number() OVER (PARTITION BY e.k ORDER BY e.ts DESC, e.id) <= 2",
}


@pytest.mark.parametrize("minutes", [0, 2], ids=["drop", "accept for"])
def test_late_rows_stay_out_whatever_dies_between_staging_and_publishing(
    spark, lake, minutes, monkeypatch
):
    columns = {"id": "BIGINT", "k": "STRING", "ts": "TIMESTAMP"}
    e, r = landed = [Landed(lake, name, columns, "ts", MINUTE) for name in ("e", "r")]
    late = f"ACCEPT FOR INTERVAL '{minutes}' MINUTE" if minutes else "DROP"
    views = "".join(
        f"CREATE STREAMING VIEW {name} LATE ROWS {late} INTO late_{name} AS"
        f" {select.format(e='e', r='r')};"
        for name, select in OF_TIMED.items()
    )
    running = Running(spark, lake, TIMED + views)
    assert all(isinstance(plan.program, AffectedGroupsProgram) for plan in running.plans.values())

    def land(table, first, *at):
        """Rows of some minutes after noon; late are those a minute older than the newest before."""
        table.land(*((first + n, "uv"[n % 2], NOON + m * MINUTE) for n, m in enumerate(at)))

    land(e, 1, 0, 5)
    land(r, 51, 4)
    assert not running.tick()
    land(e, 10, 1, 2.5, 3.5, 6)
    land(r, 60, 0, 9)

    class Killed(Exception):
        pass

    def die(point, table=""):
        if point == "5-staged":
            raise Killed

    with monkeypatch.context() as dying:
        dying.setattr(protocol, "crash_point", die)
        assert {type(error) for error in running.tick().values()} == {Killed}
    land(e, 20, 3, 7, 1)
    land(r, 70, 2, 8)
    running.open()
    assert not running.tick()
    land(r, 80, 7.5, 12)
    assert not running.tick()

    counts = f"ts + INTERVAL '{minutes}' MINUTE >= coalesce(_watermark, '-infinity')"
    at_rest = {name: f"(SELECT * FROM {name} WHERE {counts}) {name}" for name in ("e", "r")}
    for name, select in OF_TIMED.items():
        names = [field.name for field in running.plans[name].view.fields]
        markers = check_law(lake, name, names, select.format(**at_rest), landed)
        # the epoch that died was repeated as it was, what came later is in the next
        assert len(markers) == (4 if name == "answered" else 3)
        kept = [row["id"] for row in lake.table(f"late_{name}").read().collect()]
        assert len(kept) == len(set(kept)) == sum(marker.counts["late"] for marker in markers) > 0


def files(target):
    """The file that each row stands in."""
    target.refresh()
    column = "_metadata.file_path" if target.one_statement else "_file"
    return dict(map(tuple, target.read().selectExpr("id", column).collect()))


def test_a_view_without_inputs_is_computed_once(spark, lake):
    running = Running(spark, lake, "CREATE STREAMING VIEW one AS SELECT 1 AS x;")
    one = running.views["one"]
    assert not one.reached({}, {}), "a run would end before it is computed"
    assert not running.tick()
    assert one.reached({}, {})
    assert not running.tick()
    assert one.marker.epoch == 0


def test_a_view_of_empty_inputs_makes_no_commit(spark, lake):
    landed = tables(lake)
    views = {
        "held": SUMS,
        "counted": "SELECT count(*) AS n FROM b",
        "above": "SELECT n, count(*) AS keys FROM held GROUP BY n",
    }
    text = "\n".join(f"CREATE STREAMING VIEW {name} AS {sql};" for name, sql in views.items())
    running = Running(spark, lake, TABLES + text)
    assert not running.tick()
    made = {name: view.marker for name, view in running.views.items()}
    assert [name for name, marker in made.items() if marker] == ["counted"]
    pins = {"b": landed["b"].table.snapshot_id()}
    assert running.views["held"].reached(pins, {}), "a run that ends with its inputs ends"
    landed["b"].land((1, "u", 2))
    assert not running.tick()
    assert {view.marker.epoch for view in running.views.values()} == {0, 1}
    check(running, landed, views)
