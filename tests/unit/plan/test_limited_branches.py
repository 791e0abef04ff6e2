"""Branches of set operations with ORDER BY and LIMIT hold the rows of the author's own text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import cycle, product

import duckdb
import pytest

from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.errors import SqlError
from headwater.plan.at_rest import at_rest
from headwater.plan.planner import plan_project

COLUMNS = "id INTEGER, x INTEGER, b BIGINT, d DOUBLE, s VARCHAR"
TABLES = "".join(
    f"CREATE TABLE {name} ({COLUMNS})"
    f" WITH (connector = 'files', path = '{name}') FORMAT PLAIN ENCODE JSON;\n"
    for name in "gh"
)
ROWS = f"""
CREATE TABLE g ({COLUMNS}); CREATE TABLE h ({COLUMNS});
INSERT INTO g VALUES (1, 5, 9007199254740993, 1.5, 'b'), (2, 3, 9007199254740992, 2.5, 'a'),
  (3, 3, 1, 0.5, 'c'), (4, NULL, 2, 3.5, 'd');
INSERT INTO h VALUES (9, 5, 9007199254740993, 1.5, 'b'), (8, 3, 9007199254740992, 2.5, 'a'),
  (7, 7, 1, 0.5, 'c'), (6, NULL, 2, 3.5, NULL);
"""
ONE_COLUMN = (
    "(SELECT x AS o FROM g ORDER BY o LIMIT 1)",
    "(SELECT x AS p FROM h ORDER BY p DESC LIMIT 2)",
    "(SELECT x FROM h ORDER BY 1 LIMIT 2)",
    "(SELECT b AS x FROM h ORDER BY x LIMIT 1)",  # orders by the output, not by h.x
    "(SELECT b AS p FROM h ORDER BY -p LIMIT 2)",
    "(SELECT x + 1 FROM h ORDER BY 1 OFFSET 1 ROWS FETCH FIRST 1 ROW ONLY)",
    "(SELECT x AS p FROM h ORDER BY p OFFSET 1)",
    "(SELECT DISTINCT x AS p FROM h ORDER BY p LIMIT 2)",
    "(SELECT sum(x) AS p FROM h GROUP BY s ORDER BY p DESC LIMIT 2)",
    "(SELECT row_number() OVER (ORDER BY id) AS p FROM h ORDER BY p LIMIT 2)",
    "((SELECT d AS p FROM h) ORDER BY p LIMIT 2)",
    "((SELECT x AS p FROM h UNION ALL SELECT x FROM g) ORDER BY p, 1 LIMIT 3)",
    "((SELECT x AS p FROM h ORDER BY p LIMIT 3) ORDER BY p DESC LIMIT 1)",
)
TWO_COLUMNS = (
    "(SELECT id AS a, x AS b FROM g ORDER BY a LIMIT 2)",
    "(SELECT id AS b, x AS a FROM h ORDER BY a, b LIMIT 2)",  # the names of the first, exchanged
    "(SELECT b AS q, id AS r FROM h ORDER BY q DESC, r LIMIT 1)",  # ties as DOUBLE
    "(SELECT id + 1, d FROM h ORDER BY 2 LIMIT 2)",
    "(SELECT x AS q, x AS q FROM h ORDER BY 2, id LIMIT 2)",
    "(SELECT x AS q, count(*) AS r FROM h GROUP BY x ORDER BY r DESC, q LIMIT 2)",
)
OPERATIONS = ("UNION ALL", "EXCEPT", "UNION ALL", "UNION", "INTERSECT")
NESTED = (
    "({0} UNION ALL {1}) EXCEPT {2}",
    "{0} UNION ALL ({1} INTERSECT {2})",
    "WITH w AS ({0} UNION ALL {1}) SELECT o FROM w WHERE o > 0",
    "SELECT id FROM g WHERE x IN ({0} UNION ALL {1})",
)


def _queries() -> Iterator[str]:
    operations = cycle(OPERATIONS)
    for branches in (ONE_COLUMN, TWO_COLUMNS):
        for left, right in product(branches[:4], branches):
            yield f"{left} {next(operations)} {right}"
    first, *others = ONE_COLUMN
    for form, branch in zip(cycle(NESTED), others, strict=False):
        yield form.format(first, branch, others[0])


def test_they_hold_the_rows_of_the_text_as_written() -> None:
    database = duckdb.connect()
    database.execute(ROWS)
    wrong = []
    for query in _queries():
        catalog = bind(
            {"v.sql": parse(f"{TABLES}CREATE STREAMING VIEW v AS {query};", file="v.sql")}
        )
        printed = at_rest(plan_project(catalog)["v"], catalog, "duckdb").text()
        if _rows(database, printed) != _rows(database, query):
            wrong.append(query)
    assert not wrong


def _rows(database: duckdb.DuckDBPyConnection, query: str) -> Counter[tuple[object, ...]]:
    return Counter(database.execute(query).fetchall())


def test_a_name_that_two_outputs_bear_orders_nothing() -> None:
    branch = "(SELECT b AS q, id AS q FROM h ORDER BY q LIMIT 1)"
    text = f"{TABLES}CREATE STREAMING VIEW v AS SELECT b, id FROM g UNION ALL {branch};"
    with pytest.raises(SqlError) as caught:
        bind({"v.sql": parse(text, file="v.sql")})
    assert caught.value.condition == "AMBIGUOUS_COLUMN"
