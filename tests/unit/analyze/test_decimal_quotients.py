"""Quotients of decimals have every digit right, rounded half away from zero, as in Trino."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Decimal, localcontext

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headwater.analyze.definitions import Catalog
from headwater.analyze.project import bind
from headwater.analyze.typing.types import sql_type
from headwater.dialect import parse
from headwater.errors import HeadwaterError
from headwater.plan.at_rest import at_rest
from headwater.plan.planner import plan_project

Kind = tuple[int, int]
"""Precision and scale."""


@st.composite
def decimals(draw: st.DrawFn) -> tuple[Kind, Decimal]:
    scale = draw(st.integers(0, 9))
    digits = draw(st.integers(max(scale, 1), 18))
    units = draw(st.integers(-(10**digits) + 1, 10**digits - 1))
    return (digits, scale), Decimal(units).scaleb(-scale)


def catalog(left: Kind, right: Kind, body: str) -> Catalog:
    table = f"CREATE TABLE t (a DECIMAL{left}, b DECIMAL{right}) WITH (connector = 'files', "
    table += "path = 't') FORMAT PLAIN ENCODE JSON;"
    return bind({"p": parse(f"{table} CREATE STREAMING VIEW v ON ERROR FAIL AS {body} FROM t;")})


def exact(left: Decimal, right: Decimal, scale: int) -> Decimal:
    """The quotient with so many digits after the point."""
    with localcontext() as context:
        context.prec = 100
        return (left / right).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


@given(decimals(), decimals())
@example(((3, 2), Decimal("0.01")), ((1, 0), Decimal(2)))
@example(((3, 2), Decimal("-0.01")), ((1, 0), Decimal(2)))
@example(((18, 9), Decimal("0.000000001")), ((18, 9), Decimal("999999999.999999999")))
def test_duckdb_divides_as_trino_does(
    duck: duckdb.DuckDBPyConnection, one: tuple[Kind, Decimal], other: tuple[Kind, Decimal]
) -> None:
    (left, a), (right, b) = one, other
    if not b:
        return
    found = catalog(left, right, "SELECT a / b AS q")
    query = at_rest(plan_project(found)["v"], found, "duckdb", final=False).text()
    duck.execute(f"CREATE OR REPLACE TABLE t (a DECIMAL{left}, b DECIMAL{right})")
    duck.execute("INSERT INTO t VALUES ($1, $2)", [a, b])
    assert duck.execute(query).fetchall() == [(exact(a, b, max(left[1], right[1])),)]


@pytest.mark.parametrize(
    ("body", "type_"),
    [
        ("SELECT a / b AS q", "DECIMAL(16, 4)"),
        ("SELECT b / a AS q", "DECIMAL(14, 4)"),
        ("SELECT sum(a) / count(*) AS q", "DECIMAL(38, 2)"),
        ("SELECT sum(a) / sum(sum(a)) OVER () AS q", "DECIMAL(38, 2)"),
        ("SELECT 100.0 * count(b) / count(*) AS q", "DECIMAL(23, 1)"),
        ("SELECT a / 3 AS q", "DECIMAL(10, 2)"),
    ],
)
def test_a_quotient_has_the_type_of_trino(body: str, type_: str) -> None:
    (field,) = catalog((10, 2), (12, 4), body).views["v"].fields
    assert sql_type(field.type) == type_


def test_a_quotient_of_too_many_digits_is_refused() -> None:
    with pytest.raises(HeadwaterError, match="the quotient of decimals needs 64 digits"):
        catalog((38, 10), (28, 18), "SELECT a / b AS q")


TOTALS = "(SELECT sum(a) AS s, sum(b) AS z FROM t) AS q"
DEEP: dict[str, tuple[str, Callable[[Decimal, Decimal], Decimal], int]] = {
    "a share": (
        f"SELECT 100.0 * s / z AS q FROM {TOTALS}",
        lambda s, z: Decimal("100.0") * s / z, 4,
    ),
    "a product": (f"SELECT s * 1000 - z AS q FROM {TOTALS}", lambda s, z: s * 1000 - z, 4),
    "of a union": (
        "SELECT sum(s) * 10 AS q FROM"
        " (SELECT sum(a) AS s FROM t UNION ALL SELECT sum(b) FROM t) AS q",
        lambda s, z: (s + z) * 10, 4,
    ),
    "of the greatest": (
        f"SELECT coalesce(max(s), 0) * 3 / (CASE WHEN min(z) > 0 THEN min(z) ELSE 1 END) AS q"
        f" FROM {TOTALS}",
        lambda s, z: s * 3 / z, 4,
    ),
}  # fmt: skip


def test_what_is_always_null_has_no_bound() -> None:
    assert catalog((10, 2), (12, 4), "SELECT coalesce(NULL, NULL) + a AS q").views["v"]


@pytest.mark.parametrize("name", DEEP)
def test_digits_are_counted_by_values_through_subqueries(
    duck: duckdb.DuckDBPyConnection, name: str
) -> None:
    body, expected, scale = DEEP[name]
    kinds = (7, 2), (9, 4)
    table = f"CREATE TABLE t (a DECIMAL{kinds[0]}, b DECIMAL{kinds[1]}) WITH (connector = 'files',"
    files = {"p": parse(f"{table} path = 't') FORMAT PLAIN ENCODE JSON;"
                        f" CREATE STREAMING VIEW v ON ERROR FAIL AS {body};")}  # fmt: skip
    found = bind(files)
    query = at_rest(plan_project(found)["v"], found, "duckdb", final=False).text()
    duck.execute(f"CREATE OR REPLACE TABLE t (a DECIMAL{kinds[0]}, b DECIMAL{kinds[1]})")
    values = [(Decimal("99999.99"), Decimal("12345.6789")), (Decimal("0.01"), Decimal("0.0003"))]
    duck.executemany("INSERT INTO t VALUES ($1, $2)", values)
    totals = (sum((each[at] for each in values), Decimal()) for at in (0, 1))
    with localcontext() as context:
        context.prec = 100
        wanted = expected(*totals).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        assert duck.execute(query).fetchall() == [(wanted,)]
