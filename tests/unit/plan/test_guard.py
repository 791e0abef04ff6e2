"""Which rows of which input a view's guard keeps out, and what is refused."""

from __future__ import annotations

import pytest

from headwater.analyze.project import bind
from headwater.dialect import parse, to_sql
from headwater.errors import HeadwaterError
from headwater.plan.at_rest import at_rest
from headwater.plan.planner import plan_project
from headwater.plan.view_plan import ViewPlan

TABLES = """
CREATE TABLE t (id INTEGER, a INTEGER, d DOUBLE, k INTEGER NOT NULL, s VARCHAR,
  tags ARRAY(VARCHAR), ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;
CREATE TABLE u (id INTEGER, k INTEGER NOT NULL, s VARCHAR, ts TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
WITH (connector = 'files', path = 'u') FORMAT PLAIN ENCODE JSON;
"""
SOURCE = """
CREATE SOURCE o (id INTEGER, k INTEGER, s VARCHAR)
WITH (connector = 'files', path = 'o') FORMAT PLAIN ENCODE JSON;
"""
JOIN = "t {} JOIN u ON t.id = u.id AND u.ts BETWEEN t.ts AND t.ts + INTERVAL '1' MINUTE"
FRAME = "ORDER BY id, k ROWS BETWEEN"
INNER, LEFT = JOIN.format(""), JOIN.format("LEFT")
WINDOW = "TUMBLE(t, ts, INTERVAL '1' MINUTE)"
HOP = "HOP(t, ts, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)"
IN_TIME = "(_watermark IS NULL OR ts >= _watermark) AND (k = 0)"
MICROS = "UNIX_MICROS(CAST(ts AS TIMESTAMP))"


def window_in_time(slide: int, size: int) -> str:
    """The condition that the last window of a row is open, lengths in seconds."""
    begun = f"{MICROS} - PMOD({MICROS} - 0, {slide}000000)"
    close = f"TIMESTAMP_MICROS({begun} + {size}000000)"
    return f"(_watermark IS NULL OR {close} > _watermark) AND (k = 0)"


def plan(query: str, clauses: str = "", before: str = "") -> ViewPlan:
    view = f"CREATE STREAMING VIEW v {clauses} AS {query};"
    catalog = bind({"v.sql": parse(f"{TABLES}{before}{view}", file="v.sql")})
    return plan_project(catalog)["v"]


GUARDED = {
    "a column": ("SELECT 1 / k AS x FROM t", {"t": ["k = 0"]}, False),
    "after WHERE": (
        "SELECT 1 / k AS x FROM t WHERE id > 1",
        {"t": ["COALESCE((id > 1), FALSE) AND k = 0"]},
        False,
    ),
    "in WHERE": ("SELECT id FROM t WHERE id > 1 AND 1 / k > 0",
                 {"t": ["COALESCE((id > 1), TRUE) AND k = 0"]}, False),
    "an argument": ("SELECT id, sum(1 / k) AS x FROM t GROUP BY id", {"t": ["k = 0"]}, False),
    "an argument with FILTER": (
        "SELECT id, sum(1 / k) FILTER (WHERE id > 1) AS x FROM t GROUP BY id",
        {"t": ["COALESCE((id > 1), FALSE) AND k = 0"]},
        False,
    ),
    "a group key": ("SELECT 1 / k AS x, count(*) AS n FROM t GROUP BY 1", {"t": ["k = 0"]}, False),
    "of a group key": (
        "SELECT k, 1 / k AS x, count(*) AS n FROM t GROUP BY k", {"t": ["k = 0"]}, True
    ),
    "what Spark may leave out": (
        "SELECT id, count(1 / k) AS n FROM t GROUP BY id", {"t": ["k = 0"]}, True
    ),
    "in ORDER BY": ("SELECT id FROM t ORDER BY 1 / k, id LIMIT 2", {"t": ["k = 0"]}, True),
    "in QUALIFY": (
        "SELECT id FROM t QUALIFY 1 / k > 0 AND row_number() OVER (ORDER BY id) < 9",
        {"t": ["k = 0"]},
        True,
    ),
    "both branches": (
        "SELECT 1 / k AS x FROM t UNION ALL SELECT 2 / k FROM u",
        {"t": ["k = 0"], "u": ["k = 0"]},
        False,
    ),
    "one side of a join": (f"SELECT t.id, 1 / u.k AS x FROM {INNER}", {"u": [IN_TIME]}, True),
    "before a join": (f"SELECT t.id FROM {INNER} WHERE 1 / t.k > 0", {"t": ["k = 0"]}, False),
    "left of a LEFT JOIN": (f"SELECT t.id, 1 / t.k AS x FROM {LEFT}", {"t": [IN_TIME]}, True),
    "under a window": (
        f"SELECT window_start, sum(1 / k) AS x FROM {WINDOW} GROUP BY 1 EMIT ON WINDOW CLOSE",
        {"t": [window_in_time(60, 60)]},
        False,
    ),
    "under windows that overlap": (
        f"SELECT window_start, sum(1 / k) AS x FROM {HOP} GROUP BY 1 EMIT ON WINDOW CLOSE",
        {"t": [window_in_time(60, 300)]},
        False,
    ),
    "WHERE under a window, late or not": (
        f"SELECT window_start, count(*) AS n FROM {WINDOW} WHERE 1 / k > 0"
        " GROUP BY 1 EMIT ON WINDOW CLOSE",
        {"t": ["k = 0"]},
        False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GUARDED)
def test_rows_kept_out(name: str) -> None:
    query, expected, always = GUARDED[name]
    guard = plan(query).guard
    assert guard is not None
    found = {bad.input: [condition for condition, _ in bad.causes] for bad in guard.bad}
    assert (found, guard.always) == (expected, always)


@pytest.mark.parametrize(
    ("where", "same"), [("", True), ("WHERE d > 0", True), ("WHERE 1 / a > 0", False)]
)
def test_a_late_row_is_late_with_the_guard_and_without(where: str, *, same: bool) -> None:
    select = f"SELECT window_start, sum(1 / k) AS x FROM {WINDOW} {where} GROUP BY 1"
    view = plan(f"{select} EMIT ON WINDOW CLOSE")
    late, guarded = view.program.late["t"], view.guarded_program.late["t"]  # type: ignore[union-attr]
    assert (guarded == late) is same
    assert "k" not in guarded.replace("_watermark", "")
    assert ("a = 0" in guarded) is not same


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id, a / 2 AS x FROM t",
        "SELECT 1 / k AS x FROM t WHERE k > 0",
        "SELECT CASE WHEN k <> 0 THEN 1 / k END AS x FROM t",
        "SELECT sum(1 / k) FILTER (WHERE k <> 0) AS x FROM t",
        "SELECT CAST(sum(a) OVER (PARTITION BY k) AS BIGINT) AS x FROM t",  # of no row alone
        "SELECT id, sum(a) / count(*) AS x, sum(d) / count(d) AS y FROM t GROUP BY id",
        "SELECT sum(a) / count(*) AS x FROM t",
        "SELECT id, sum(a) % sum(k) AS x FROM t GROUP BY id HAVING sum(k) > 0",
        "SELECT id, CASE WHEN sum(k) <> 0 THEN sum(a) % sum(k) END AS x FROM t GROUP BY id",
        "SELECT id, sum(d) / sum(k) AS x FROM t GROUP BY id",  # of DOUBLE
        "SELECT id, x FROM (SELECT id, id AS x, 1 / k AS y FROM t) AS q",
        f"SELECT t.id, t.a % u.k AS x FROM {INNER} WHERE u.k > 0",
        # of rows and groups that are there
        "SELECT id, a * 1.0 / count(*) OVER (PARTITION BY k) AS x FROM t",
        f"SELECT id, 7 % count(*) OVER ({FRAME} 3 PRECEDING AND CURRENT ROW) AS x FROM t",
    ],
)
def test_nothing_to_guard(query: str) -> None:
    assert plan(query).guard is None


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id, 100.0 * count(*) / sum(count(*)) OVER () AS x FROM t GROUP BY id",
        "SELECT id, 7 % sum(n) OVER () AS x FROM (SELECT id, count(*) AS n FROM t GROUP BY id)",
    ],
)
def test_a_sum_of_counts_of_rows_that_are_there_is_no_zero(query: str) -> None:
    plan(query)  # sums that leave their type are guarded; a division by 0 would be refused


REFUSED = {
    "over rows without its own": (
        f"SELECT id, 7 % count(*) OVER ({FRAME} 3 PRECEDING AND 1 PRECEDING) AS x FROM t"
    ),
    "over some of the groups": (
        "SELECT id, 7 % sum(count(*) FILTER (WHERE a > 1)) OVER () AS x FROM t GROUP BY id"
    ),
    "over groups without a count": (
        "SELECT id, 7 % sum(n) OVER () AS x FROM (SELECT id, count(a) AS n FROM t GROUP BY id)"
    ),
    "over a window": "SELECT id, 1 / (sum(a) OVER (PARTITION BY k)) AS x FROM t",
    "over groups": "SELECT id, sum(a) / sum(k) AS x FROM t GROUP BY id",
    "a cast over groups": "SELECT id, CAST(max(s) AS INTEGER) AS x FROM t GROUP BY id",
    "in HAVING": "SELECT id, count(*) AS n FROM t GROUP BY id HAVING sum(a) / sum(k) > 1",
    "an outer join under an aggregate": "SELECT t.id, sum(1 / u.k) AS x FROM t LEFT JOIN u"
    " ON t.id = u.id GROUP BY t.id",
}
COMBINED = {
    "both sides of a join": (
        f"SELECT t.a / u.k AS x FROM {INNER}",
        ["division by zero: a / k"],
    ),
    "out of range": (f"SELECT t.a * u.k AS x FROM {INNER}", ["out of range: a * k"]),
    "the optional side": (f"SELECT t.id, 1 / u.k AS x FROM {LEFT}", ["division by zero: 1 / k"]),
    "elements": (
        "SELECT CAST(x.tag AS INTEGER) AS n FROM t CROSS JOIN UNNEST(tags) AS x (tag)",
        ["not valid as INTEGER: CAST(tag AS INTEGER)"],
    ),
    "elements of a subquery": (
        "SELECT 1 / length(q.tag) AS n FROM (SELECT x.tag FROM t CROSS JOIN"
        " UNNEST(tags) AS x (tag)) q JOIN u ON u.s = q.tag",
        ["division by zero: 1 / LENGTH(tag)"],
    ),
    "a group": (
        "SELECT id, sum(a) + 1 AS x FROM t GROUP BY id",
        ["out of range: SUM(a) + 1"],
    ),
    "a sum": (
        "SELECT id, sum(CAST(a AS BIGINT)) AS x FROM t GROUP BY id",
        ["out of range: SUM(CAST(a AS BIGINT))"],
    ),
}


@pytest.mark.parametrize("name", COMBINED)
def test_combined_rows_and_groups_are_found_in_the_whole_inputs(name: str) -> None:
    query, reasons = COMBINED[name]
    guard = plan(query).guard
    assert guard is not None
    assert guard.bad == ()
    assert [why for text in guard.combined for why in reasons if f"'{why}'" in text] == reasons
    assert all("__now" in text for text in guard.combined)


def test_a_sum_that_leaves_its_type_needs_a_program_without_state() -> None:
    query = "SELECT id, sum(CAST(a AS BIGINT)) + 1 AS x FROM t GROUP BY id"
    made = plan(query)
    assert made.whole is not None
    assert "CAST(NULL AS BIGINT) AS _state_0_value" in made.whole.sql
    assert made.guarded_program.hidden == made.program.hidden
    assert plan("SELECT id, sum(a) AS x FROM t GROUP BY id").whole is None


def test_rows_of_corrected_inputs_are_guarded() -> None:
    before = "CREATE STREAMING VIEW w AS SELECT id, count(*) AS k FROM t GROUP BY id;\n"
    guard = plan("SELECT id, 1 / (k - 1) AS x FROM w", before=before).guard
    assert guard is not None
    assert [bad.input for bad in guard.bad] == ["w"]


def test_what_a_sequence_of_dates_begins_with_keeps_its_guard() -> None:
    first = "date_add('day', CAST(id AS BIGINT), DATE '2026-01-01')"
    guard = plan(f"SELECT sequence({first}, DATE '2026-03-01') AS x FROM t").guard
    assert guard is not None
    assert any(each.startswith("DATE_ADD") for each in guard.expressions)
    month = "sequence(DATE '2026-01-01', DATE '2026-02-01')"
    assert plan(f"SELECT id, {month} AS x FROM t").guard is None


@pytest.mark.parametrize("name", REFUSED)
def test_refused_where_no_row_is_to_blame_unless_the_view_may_fail(name: str) -> None:
    with pytest.raises(HeadwaterError) as failure:
        plan(REFUSED[name])
    error = failure.value
    assert error.condition == "FALLIBLE_EXPRESSION"
    assert error.span is not None
    assert plan(REFUSED[name], "ON ERROR FAIL").guard is None


def test_rows_that_are_read_once_cannot_be_quarantined() -> None:
    query = "SELECT CAST(s AS INTEGER) AS x FROM o"
    with pytest.raises(HeadwaterError) as failure:
        plan(query, before=SOURCE)
    assert failure.value.condition == "FALLIBLE_EXPRESSION"
    assert "CREATE TABLE" in failure.value.message
    assert plan(query, "ON ERROR DROP", SOURCE).guard is not None
    assert plan(query, "ON ERROR FAIL", SOURCE).guard is None
    assert plan("SELECT k + 1 AS x FROM o", before=SOURCE).guard is None, "no ordinary data"


def test_the_select_at_rest_has_the_guard_unless_the_view_may_fail() -> None:
    query = "SELECT 1 / k AS x FROM t"
    for clause, guarded in (("", True), ("ON ERROR DROP", True), ("ON ERROR FAIL", False)):
        made = plan(query, clause)
        catalog = bind({"v.sql": parse(TABLES)})
        for dialect in ("spark", "duckdb", "trino"):
            assert ("WHERE" in at_rest(made, catalog, dialect).text()) is guarded
    assert plan(query, "ON ERROR DROP").view.on_error == "drop"


def test_on_error_survives_printing() -> None:
    text = "CREATE STREAMING VIEW v ON ERROR DROP AS SELECT 1 / k AS x FROM t"
    assert "ON ERROR DROP" in to_sql(parse(text)[0])


UNREAD = {
    "a column": "SELECT id FROM (SELECT id, 1 / k AS x FROM t) q",
    "a column of groups": "SELECT id FROM (SELECT id, max(1 / k) AS x FROM t GROUP BY id) q",
    "of a level below": "SELECT id FROM (SELECT id, x + 1 AS y FROM"
    " (SELECT id, max(1 / k) AS x FROM t GROUP BY id) p) q",
    "a name of the alias": "SELECT a FROM (SELECT id, 1 / k FROM t) q (a, b)",
    "of every branch": "SELECT id FROM"
    " (SELECT id, 1 / k AS x FROM t UNION ALL SELECT id, 2 FROM u) q",
    "over groups": "SELECT id FROM (SELECT id, 1 / count(a) AS x FROM t GROUP BY id) q",
}
READ = {
    "in WHERE": "SELECT id FROM (SELECT id, max(1 / k) AS x FROM t GROUP BY id) q WHERE x > 1",
    "in a subquery": "SELECT id FROM (SELECT id, max(1 / k) AS x FROM t GROUP BY id) q"
    " WHERE EXISTS (SELECT 1 FROM u WHERE u.id = q.x)",
    "by DISTINCT": "SELECT id FROM (SELECT DISTINCT id, 1 / k AS x FROM t) q",
    "by UNION": "SELECT id FROM (SELECT id, 1 / k AS x FROM t UNION SELECT id, 2 FROM u) q",
    "by LIMIT": "SELECT id FROM (SELECT id, 1 / k AS x FROM t ORDER BY x, id LIMIT 2) q",
    "by the number of rows": "SELECT 1 AS x FROM (SELECT sum(1 / k) AS x FROM t) q",
}


@pytest.mark.parametrize("query", UNREAD.values(), ids=UNREAD.keys())
def test_what_nobody_reads_takes_no_row(query: str) -> None:
    """No engine computes it: such a row is in the view, and must be in its SELECT at rest."""
    assert plan(query).guard is None


@pytest.mark.parametrize("query", READ.values(), ids=READ.keys())
def test_what_is_read_anywhere_is_guarded(query: str) -> None:
    guard = plan(query).guard
    assert guard is not None
    assert "1 / k" in guard.expressions
