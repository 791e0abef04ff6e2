"""Top: which queries it takes, and that its SQL is right."""

from __future__ import annotations

import pytest

from headwater.plan.program import AffectedGroupsProgram
from tests.algebra.query import wrong
from tests.fuzz.cases import Case, random_ticks
from tests.fuzz.schemas import STANDARD, Draw
from tests.spark.running import planned

PLACE = "row_number() OVER (PARTITION BY k ORDER BY x DESC, id)"
FIRST = [
    "SELECT t.id, t.x FROM a t ORDER BY t.x DESC, t.id LIMIT 3",
    "SELECT t.k FROM a t ORDER BY t.x NULLS FIRST, t.k LIMIT 4",
    "SELECT t.k AS c0, t.x + 1 AS c1 FROM a t WHERE t.k <> 'u' ORDER BY c1, c0 DESC LIMIT 2",
    "SELECT t.x FROM a t ORDER BY t.x LIMIT 0",
    "SELECT t.id, s.x FROM a t JOIN b s ON s.k = t.k ORDER BY s.x DESC, t.id LIMIT 3",
    "SELECT q.k, q.x FROM (SELECT k, x FROM a UNION ALL SELECT k, x FROM b) q"
    " ORDER BY q.x, q.k LIMIT 5",
    f"SELECT id, k, x FROM a QUALIFY {PLACE} <= 2",
    f"SELECT id FROM a QUALIFY {PLACE} = 1",
    f"SELECT k AS c0, id AS c1, {PLACE} AS c2 FROM a QUALIFY 3 > c2",
    "SELECT k, x, rank() OVER (PARTITION BY k ORDER BY x) AS place FROM a QUALIFY place <= 2",
    "SELECT x FROM a QUALIFY dense_rank() OVER (PARTITION BY k ORDER BY x NULLS FIRST) < 3",
    "SELECT id FROM a QUALIFY row_number() OVER (ORDER BY x, id) <= 3",
    f"SELECT q.k, q.n FROM (SELECT k, id, {PLACE} AS n FROM a) q WHERE q.n <= 2",
    f"SELECT q.id + 1 AS c0 FROM (SELECT id, {PLACE} AS n FROM a) q WHERE q.n <= 2",
    "SELECT q.y * 2 AS c0 FROM (SELECT x + 1 AS y, rank() OVER (PARTITION BY k ORDER BY x, id) AS n"
    " FROM a) q WHERE q.n <= 2",
    "SELECT q.id FROM (SELECT id, rank() OVER (PARTITION BY k, x ORDER BY id DESC) AS n FROM a"
    " WHERE x > 0) q WHERE q.n <= 1",
]
OTHERS = [
    "SELECT t.id FROM u t ORDER BY t.id LIMIT 3",
    "SELECT t.id FROM a t ORDER BY t.id LIMIT 3 OFFSET 1",
    "SELECT DISTINCT t.k AS k FROM a t ORDER BY k LIMIT 3",
    "SELECT t.k, count(*) AS n FROM a t GROUP BY t.k ORDER BY n LIMIT 3",
    "SELECT t.id FROM a t LEFT JOIN b s ON s.k = t.k ORDER BY t.id LIMIT 3",
    "SELECT t.id FROM a t WHERE t.x IN (SELECT s.x FROM b s) ORDER BY t.id LIMIT 3",
    "SELECT t.id, (SELECT max(s.k) FROM b s) AS c1 FROM a t ORDER BY c1, t.id LIMIT 3",
    "SELECT t.id FROM a t ORDER BY t.x * 0.1, t.id LIMIT 3",  # a column could round it
    f"SELECT id FROM a QUALIFY {PLACE} = 2",
    f"SELECT id FROM a QUALIFY {PLACE} >= 2",
    f"SELECT id FROM a QUALIFY {PLACE} <= 2 OR x = 1",
    f"SELECT id, sum(x) OVER (PARTITION BY k) AS s FROM a QUALIFY {PLACE} <= 2",
    "SELECT id FROM a QUALIFY count(*) OVER (PARTITION BY k ORDER BY x) <= 2",
    "SELECT id FROM a QUALIFY ntile(4) OVER (PARTITION BY k ORDER BY x) <= 2",
    f"SELECT q.id FROM (SELECT id, x, {PLACE} AS n FROM a) q WHERE q.n <= 2 AND q.x > 1",
    f"SELECT q.id FROM (SELECT id, {PLACE} AS n FROM a) q JOIN b ON b.id = q.id WHERE q.n <= 2",
]


def rule(text: str) -> str:
    _, plans = planned(f"{STANDARD.definitions}CREATE STREAMING VIEW v AS {text};")
    return plans["v"].decision.rule.name


@pytest.mark.parametrize("text", FIRST)
def test_the_first_rows_are_right_after_every_tick(text: str) -> None:
    assert rule(text) == "top"
    assert wrong(Case(text, random_ticks(Draw(f"first-{len(text)}"), 10))) == ""


@pytest.mark.parametrize("text", OTHERS)
def test_what_held_rows_do_not_tell_is_kept_by_all_units(text: str) -> None:
    assert rule(text) == "affected groups"


def test_order_and_groups_that_are_not_shown_are_kept_in_hidden_columns() -> None:
    text = f"SELECT id FROM a QUALIFY {PLACE} <= 2"
    _, plans = planned(f"{STANDARD.definitions}CREATE STREAMING VIEW v AS {text};")
    hidden = [column.spark_type for column in plans["v"].columns if column.hidden]
    assert hidden == ["STRING", "BIGINT", "DOUBLE", "BIGINT"]


def test_a_guard_leaves_the_columns_of_the_table_as_they_are() -> None:
    text = "SELECT 10 / x AS c0 FROM a ORDER BY 10 / (x - 1), c0 LIMIT 3"
    _, plans = planned(f"{STANDARD.definitions}CREATE STREAMING VIEW v AS {text};")
    plain, guarded = plans["v"].program, plans["v"].guarded_program
    assert isinstance(plain, AffectedGroupsProgram) and isinstance(guarded, AffectedGroupsProgram)
    assert plain.hidden == guarded.hidden and plain.state
    assert plain.all_sql != guarded.all_sql
