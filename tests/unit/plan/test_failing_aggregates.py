"""No aggregate stops a view: the SELECT at rest has rows in DuckDB, whatever leaves its type."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import cycle

import duckdb
import pytest

from headwater.analyze.project import bind
from headwater.analyze.typing.functions import FUNCTIONS
from headwater.dialect import parse
from headwater.errors import HeadwaterError
from headwater.plan.at_rest import at_rest
from headwater.plan.planner import plan_project
from headwater.plan.view_plan import ViewPlan
from tests.support.sampling import some

COLUMNS = (
    "id INTEGER, g VARCHAR, b BIGINT, i INTEGER, k INTEGER, s VARCHAR, m DECIMAL(38, 2), d DOUBLE"
)
TABLE = (
    f"CREATE TABLE t ({COLUMNS}) WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;\n"
)
MOST, LEAST = 2**63 - 1, -(2**63)
WIDEST = Decimal("999999999999999999999999999999999999.99")
ROWS: list[tuple[object, ...]] = [
    (1, "a", MOST, 2**31 - 1, 1, "1", WIDEST, 1e308),
    (2, "a", MOST, 2**31 - 1, 0, "x", WIDEST, 1.5e308),
    (3, "a", -5, 7, 2, "3", WIDEST.copy_negate(), 1.2e308),
    (4, "b", LEAST, -(2**31), 1, "4", WIDEST.copy_negate(), -1e308),
    (5, "b", LEAST, -(2**31), 3, None, Decimal("-0.01"), 1e308),
    (6, "c", 5, 5, 1, "5", Decimal("0.05"), math.inf),
    (7, "c", None, None, None, None, None, None),
    (8, "d", None, None, None, None, None, None),
]
CALLS = {
    "any_value": "any_value({0})",
    "approx_distinct": "approx_distinct({0})",
    "approx_percentile": "approx_percentile({0}, 0.5)",
    "array_agg": "array_agg({0})",
    "avg": "avg({0})",
    "bitwise_and_agg": "bitwise_and_agg({0})",
    "bitwise_or_agg": "bitwise_or_agg({0})",
    "bitwise_xor_agg": "bitwise_xor_agg({0})",
    "bool_and": "bool_and({0} > 0)",
    "bool_or": "bool_or({0} > 0)",
    "corr": "corr({0}, {1})",
    "count": "count({0})",
    "count_if": "count_if({0} > 0)",
    "covar_pop": "covar_pop({0}, {1})",
    "covar_samp": "covar_samp({1}, {0})",
    "geometric_mean": "geometric_mean({0})",
    "listagg": "listagg(CAST({0} AS VARCHAR), ',') WITHIN GROUP (ORDER BY {0})",
    "max": "max({0})",
    "max_by": "max_by({0}, {2})",
    "min": "min({0})",
    "min_by": "min_by({0}, {2})",
    "regr_intercept": "regr_intercept({0}, {1})",
    "regr_slope": "regr_slope({0}, {1})",
    "stddev": "stddev({0})",
    "stddev_pop": "stddev_pop({0})",
    "stddev_samp": "stddev_samp({0})",
    "sum": "sum({0})",
    "var_pop": "var_pop({0})",
    "variance": "variance({0})",
    "filtered sum": "sum({0}) FILTER (WHERE {2} <> 3)",
    "sum of a choice": "sum(CASE WHEN {2} <> 3 THEN {0} END)",
    "sum of different values": "sum(DISTINCT {0})",
}
ONLY_OVER = {
    "lag": "lag({0}, 1, 0)",
    "lead": "lead({0})",
    "first_value": "first_value({0})",
    "last_value": "last_value({0})",
    "nth_value": "nth_value({0}, 2)",
}
ARGUMENTS = ("b", "m", "d", "b * 2", "i * 2", "1 / k", "CAST(s AS INTEGER)", "m + m")
GROUPED = (
    "SELECT g, {0} AS x FROM t GROUP BY g",
    "SELECT g FROM t GROUP BY g HAVING {0} IS NOT NULL",
    "SELECT g, {0} AS x FROM t GROUP BY g ORDER BY x, g LIMIT 2",
    "SELECT x, count(*) AS n FROM (SELECT g, {0} AS x FROM t GROUP BY g) AS q GROUP BY x",
)
OVER = (
    "SELECT id, {0} OVER (PARTITION BY g ORDER BY id) AS x FROM t",
    "SELECT id FROM t QUALIFY {0} OVER (ORDER BY id ROWS 1 PRECEDING) IS NOT NULL",
    "SELECT id, {0} OVER () AS x FROM t ORDER BY x, id LIMIT 2",
)
OVER_GROUPS = "SELECT g, {0} OVER (ORDER BY g) AS x FROM t GROUP BY g"
ARITHMETIC = (
    "SELECT g, sum(b) + 1 AS x FROM t GROUP BY g",
    "SELECT id, sum(b) OVER (PARTITION BY g) - sum(b) OVER (ORDER BY id) AS x FROM t",
    "SELECT g, sum(sum(b)) OVER (ORDER BY g) AS x FROM t GROUP BY g",
    "SELECT g, -sum(sum(b) + 1) OVER (ORDER BY g) AS x FROM t GROUP BY g",
    "SELECT id, CAST(sum(b) OVER () AS INTEGER) AS x FROM t",
    "SELECT id, sum(b * b) FILTER (WHERE 1 / k > 0) OVER (PARTITION BY i * i) AS x FROM t",
)


def _queries() -> Iterator[str]:
    """Each call with each argument, in two of the places, and every sum in all of them."""
    places = cycle((*GROUPED, *OVER))
    for argument in ARGUMENTS:
        for name, call in CALLS.items():
            forms = (*GROUPED, *OVER) if "sum" in name else (next(places), next(places))
            for form in forms:
                yield form.format(call.format(argument, "d", "id"))
            inner = call.format(f"max({argument})", "max(d)", "max(id)")
            if "sum" in name or name == "avg":
                yield OVER_GROUPS.format(inner)
        for call in ONLY_OVER.values():
            yield OVER[0].format(call.format(argument))
    yield from ARITHMETIC


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    found = duckdb.connect()
    found.execute(f"CREATE TABLE t ({COLUMNS})")
    found.executemany(f"INSERT INTO t VALUES ({', '.join('?' * 8)})", ROWS)
    return found


def _plan(query: str) -> tuple[ViewPlan, str]:
    text = f"{TABLE}CREATE STREAMING VIEW v AS {query};"
    catalog = bind({"v.sql": parse(text, file="v.sql")})
    plan = plan_project(catalog)["v"]
    return plan, at_rest(plan, catalog, "duckdb").text()


def test_every_aggregate_is_among_them() -> None:
    known = {function.name for function in FUNCTIONS.values() if function.kind == "aggregate"}
    assert known <= set(CALLS)


def test_none_of_them_raises_at_rest(database: duckdb.DuckDBPyConnection) -> None:
    every = [*_queries()]
    accepted, raised, queries = 0, [], some(every, 3)
    for query in queries:
        try:
            _, text = _plan(query)
        except HeadwaterError:
            continue  # refused, as a list over windows or a quotient of sums
        accepted += 1
        try:
            database.execute(text).fetchall()
        except duckdb.Error as error:
            raised.append((query, str(error)[:200]))
    assert not raised
    assert accepted > 400 * len(queries) / len(every)


@pytest.mark.parametrize("column", ["b", "m"])
@pytest.mark.parametrize("name", ["sum", "avg"])
def test_sums_are_exact_or_null(
    database: duckdb.DuckDBPyConnection, name: str, column: str
) -> None:
    if (name, column) == ("avg", "b"):
        return  # a DOUBLE
    at = 2 if column == "b" else 6
    with localcontext(prec=80):
        expected, running = [], dict[object, list[Decimal]]()
        for row in ROWS:
            values = running.setdefault(row[1], [])
            values += [] if row[at] is None else [Decimal(str(row[at]))]
            expected.append((row[0], _expected(name, column, values)))
    _, text = _plan(f"SELECT id, {name}({column}) OVER (PARTITION BY g ORDER BY id) AS x FROM t")
    found = database.execute(f"SELECT id, x FROM ({text}) ORDER BY id").fetchall()
    assert found == expected
    assert any(value is None for key, value in found if key not in (7, 8))


def _expected(name: str, column: str, values: list[Decimal]) -> Decimal | int | None:
    total = sum(values, Decimal(0))
    if not values or abs(total) > (WIDEST if column == "m" else MOST) and total != LEAST:
        return None
    if column == "b":
        return int(total)
    if name == "sum":
        return total
    units = Fraction(total * 100) / len(values)
    rounded = int(abs(units) + Fraction(1, 2))
    return (Decimal(rounded) / 100).copy_sign(total)


def test_what_is_null_is_quarantined_by_its_reason() -> None:
    over = "sum(b) OVER (PARTITION BY g ORDER BY id)"
    plan, _ = _plan(f"SELECT id, {over} + 1 AS x FROM t QUALIFY sum(m) OVER (ORDER BY id) > 0")
    assert plan.guard is not None
    assert plan.whole is None
    reasons = ("out of range: SUM(b) OVER", "out of range: SUM(m) OVER", "OVER (PARTITION BY g")
    assert all(any(each in query for query in plan.guard.combined) for each in reasons)
