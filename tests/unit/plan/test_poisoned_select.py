"""One poison row among good ones, for everything in the language that can fail."""

from __future__ import annotations

import duckdb
import pytest
from sqlglot import exp

from headwater.analyze.fallibility.fallible import FALLIBLE, can_fail
from headwater.analyze.fallibility.total import TOTAL
from headwater.analyze.project import bind
from headwater.analyze.rules.allowed_syntax import ALLOWED
from headwater.analyze.typing.functions import FUNCTIONS
from headwater.dialect import parse
from headwater.plan.at_rest import at_rest
from headwater.plan.planner import plan_project
from tests.support import poison


def test_every_node_of_the_language_is_classified() -> None:
    unknown = {
        node for node in {*ALLOWED, *FUNCTIONS} if node not in TOTAL and node not in FALLIBLE
    }
    assert unknown == set(), "add them to headwater/analyze/fallibility/total.py or fallible.py"
    assert not TOTAL & FALLIBLE.keys()


def test_what_nobody_has_classified_is_guarded() -> None:
    assert can_fail(exp.Soundex(this=exp.column("x")))


@pytest.fixture(scope="module")
def duck() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    kinds = poison.COLUMNS.format(text="VARCHAR", texts="VARCHAR[]", time="TIMESTAMPTZ")
    connection.execute(f"CREATE TABLE t ({kinds})")
    for row in poison.ROWS:
        connection.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(row))})", [*row.values()])
    return connection


def found(duck: duckdb.DuckDBPyConnection, selects: list[str]) -> dict[str, object]:
    """The rows of every SELECT at rest by its text, or what DuckDB says."""
    catalog = bind({"p.sql": parse(poison.views(selects))})
    plans = plan_project(catalog)
    rows: dict[str, object] = {}
    for number, text in enumerate(selects):
        sql = at_rest(plans[f"v{number}"], catalog, "duckdb", final=False).text()
        try:
            rows[text] = sorted(row[0] for row in duck.sql(sql).fetchall())
        except duckdb.Error as error:
            rows[text] = str(error)
    return rows


def test_good_rows_are_shown_and_the_poison_row_is_not(duck: duckdb.DuckDBPyConnection) -> None:
    selects = [f"SELECT id, {text} AS x FROM t" for text in poison.scalars()]
    assert len(selects) > 100
    assert {k: v for k, v in found(duck, selects).items() if v != [1, 2, 4]} == {}


def test_what_is_not_computed_does_not_fail(duck: duckdb.DuckDBPyConnection) -> None:
    selects = [f"SELECT id, {text} AS x FROM t" for text in poison.listed(poison.NOT_TAKEN)]
    assert {k: v for k, v in found(duck, selects).items() if v != [1, 2, 3, 4]} == {}


def test_aggregates_are_computed_of_the_good_rows(duck: duckdb.DuckDBPyConnection) -> None:
    selects = [
        f"SELECT count(*) AS n, {text} AS x FROM t HAVING count(*) > 0"
        for text in poison.aggregates()
    ]
    assert len(selects) > 15
    assert {k: v for k, v in found(duck, selects).items() if v != [3]} == {}
