"""The author's own text and the SELECT at rest have the same rows, for every accepted view."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import duckdb
import pytest
from sqlglot import exp

from headwater.analyze.project import bind_all
from headwater.dialect import parse_all
from headwater.dialect.syntax import CreateStreamingView
from headwater.plan.planner import plan_project
from tests.accepted.answered import answers
from tests.accepted.corpus import Project, projects_of
from tests.support.author_text import Answer, Verdict, open_oracle
from tests.support.sampling import seed, some
from tests.tpch.run import QUERIES, definitions

RANDOM = 25
ASKED = {"form": 0.75, "golden": 0.9, "slt": 0.75, "tpch": 1.0, "function": 0.75, "random": 0.9}
"""The least share of the views of a kind that DuckDB can be asked."""
NOT_EMPTY = 0.7
"""The least share of equal views with rows: that both have none proves little."""
OF_A_PART = 0.15
"""How much less the shares may be of a third of the views."""
TABLES = "".join(
    f"CREATE TABLE {name} (x BIGINT, y BIGINT, k VARCHAR)"
    f" WITH (connector = 'files', path = '{name}') FORMAT PLAIN ENCODE JSON;\n"
    for name in "ghj"
)


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with open_oracle() as connection:
        yield connection


def asked(
    duck: duckdb.DuckDBPyConnection, text: str, forget: Callable[[exp.Query], None] | None = None
) -> dict[str, Answer]:
    """Ask about every view of some definitions.

    Args:
        forget: a mistake of the binder: it takes something out of the tree that it is given.
    """
    statements, errors = parse_all(text)
    for statement in statements:
        if forget and isinstance(statement, CreateStreamingView):
            forget(statement.expression)
    catalog, more = bind_all({"views.sql": statements})
    assert not [*errors, *more]
    return answers(duck, text, catalog, plan_project(catalog))


def corpus(kind: str) -> Iterator[Project]:
    if kind == "tpch":
        yield Project("tpch", definitions(QUERIES))
    elif kind == "golden":
        yield from projects_of(kind, RANDOM)
    else:
        yield from some([*projects_of(kind, RANDOM)], 3)


@pytest.mark.parametrize("kind", ASKED)
def test_the_authors_text_has_the_rows_of_the_select_at_rest(
    kind: str, duck: duckdb.DuckDBPyConnection
) -> None:
    found = {
        f"{project.name}: {name}": answer
        for project in corpus(kind)
        for name, answer in asked(duck, project.text).items()
    }
    by_verdict: dict[Verdict, dict[str, Answer]] = {each: {} for each in Verdict}
    for name, answer in found.items():
        by_verdict[answer.verdict][name] = answer
    assert by_verdict[Verdict.DIFFERENT] == {}
    equal, part = by_verdict[Verdict.EQUAL], 0.0 if seed() is None else OF_A_PART
    assert len(equal) >= (ASKED[kind] - part) * len(found), by_verdict[Verdict.NOT_ASKABLE]
    with_rows = sum(answer.rows > 0 for answer in equal.values())
    assert with_rows >= (NOT_EMPTY - part) * len(equal) or kind == "tpch"


def forgets(
    kind: type[exp.Expr], key: str, left: object = None, nth: int = 0
) -> Callable[[exp.Query], None]:
    """Return a binder that leaves an argument of a node unread.

    Args:
        left: what it takes in its place.
        nth: which of the nodes that have it.
    """

    def forget(query: exp.Query) -> None:
        holder = exp.Paren(this=query)
        [*filter(lambda node: node.args.get(key), holder.find_all(kind))][nth].set(key, left)

    return forget


MISTAKES = {
    "SELECT a.x FROM g a JOIN h b ON a.x = b.x": forgets(exp.Select, "joins"),
    "SELECT a.x FROM g a, h": forgets(exp.Select, "joins"),
    "SELECT a.x FROM g a LEFT JOIN h b ON a.x = b.x": forgets(exp.Join, "side"),
    "SELECT count(*) AS n FROM g a FULL JOIN h b ON a.x = b.x": forgets(exp.Join, "side"),
    "SELECT count(*) AS n FROM g a JOIN h b ON a.x = b.x AND a.y < b.y": forgets(
        exp.Join, "on", exp.true()
    ),
    "SELECT a.x FROM (g a JOIN h b ON a.x = b.x) JOIN j c ON c.x = a.x": forgets(
        exp.Select, "joins"
    ),
    "SELECT q.x FROM (SELECT a.x FROM g a JOIN h b ON a.x = b.x) q": forgets(exp.Select, "joins"),
    "WITH w AS (SELECT a.x FROM g a CROSS JOIN h b) SELECT x FROM w": forgets(exp.Select, "joins"),
    "SELECT a.x FROM g a JOIN (SELECT x FROM h) b ON a.x = b.x JOIN j c ON c.x = a.x": forgets(
        exp.Select, "joins"
    ),
    "SELECT x FROM g WHERE x > 1": forgets(exp.Select, "where"),
    "SELECT x FROM g WHERE x IN (SELECT x FROM h WHERE y > 2)": forgets(exp.Select, "where", nth=1),
    "SELECT x, count(*) AS n FROM g GROUP BY x HAVING count(*) > 2": forgets(exp.Select, "having"),
    "SELECT count(*) AS n FROM g GROUP BY x": forgets(exp.Select, "group"),
    "SELECT DISTINCT x FROM g": forgets(exp.Select, "distinct"),
    "SELECT count(DISTINCT x) AS n FROM g": forgets(exp.Count, "this", exp.column("x")),
    "SELECT sum(y) FILTER (WHERE x > 1) AS n FROM g": forgets(
        exp.Filter, "expression", exp.Where(this=exp.true())
    ),
    "SELECT x FROM g ORDER BY x LIMIT 2": forgets(exp.Select, "limit"),
    "SELECT x, y FROM g QUALIFY rank() OVER (PARTITION BY x ORDER BY y) = 1": forgets(
        exp.Select, "qualify"
    ),
    "SELECT x, rank() OVER (PARTITION BY x ORDER BY y) AS n FROM g": forgets(
        exp.Window, "partition_by"
    ),
    "SELECT sum(y) OVER (ORDER BY x, y, k ROWS 1 PRECEDING) AS n FROM g": forgets(
        exp.Window, "spec"
    ),
    "SELECT x FROM g UNION SELECT x FROM h": forgets(exp.Union, "distinct", False),
    "SELECT x FROM g UNION ALL SELECT x FROM h": forgets(
        exp.Union, "expression", exp.select("x").from_("g")
    ),
    "SELECT x FROM g EXCEPT SELECT x FROM h WHERE x < 4": forgets(exp.Except, "distinct", False),
}
"""A query, and the part of it that a binder forgets."""


@pytest.mark.parametrize("query", MISTAKES)
def test_a_binder_that_forgets_a_part_is_found(query: str, duck: duckdb.DuckDBPyConnection) -> None:
    text = f"{TABLES}CREATE STREAMING VIEW v AS {query};"
    assert asked(duck, text)["v"].verdict is Verdict.EQUAL
    answer = asked(duck, text, MISTAKES[query])["v"]
    assert answer.verdict is Verdict.DIFFERENT, answer
    assert answer.reason.startswith("surplus")
