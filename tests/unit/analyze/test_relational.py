"""Every accepted view becomes a tree of relational algebra that has its rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from headwater.algebra.nodes import JoinKind
from headwater.algebra.text import text_of
from headwater.analyze import relational
from headwater.analyze.definitions import Catalog
from headwater.analyze.project import bind, bind_all
from headwater.dialect import parse, parse_all
from headwater.errors import HeadwaterError
from headwater.plan.planner import plan_project
from headwater.plan.view_plan import ViewPlan
from tests.accepted.corpus import Project, projects_of
from tests.accepted.in_algebra import differences
from tests.support.author_text import open_oracle
from tests.support.golden_files import GOLDEN, check_golden
from tests.support.sampling import some
from tests.tpch.run import QUERIES, definitions

RANDOM = 60
KINDS = {"form": 4, "golden": 1, "slt": 4, "tpch": 1, "function": 4, "random": 2}
"""The kinds of projects, and how many commits ask all of one."""
TABLES = "".join(
    f"CREATE TABLE {name} (x BIGINT, y BIGINT, k VARCHAR)"
    f" WITH (connector = 'files', path = '{name}') FORMAT PLAIN ENCODE JSON;\n"
    for name in "gh"
)
PLANS = GOLDEN / "plan"
CASES = sorted(file for file in PLANS.glob("*.sql") if file.name != "tables.sql")


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with open_oracle() as connection:
        yield connection


def corpus(kind: str) -> list[Project]:
    if kind == "tpch":
        return [Project("tpch", definitions(QUERIES))]
    return some([*projects_of(kind, RANDOM)], KINDS[kind])


def planned(project: Project) -> tuple[Catalog, dict[str, ViewPlan]]:
    statements, _ = parse_all(project.text)
    catalog, _ = bind_all({project.name: statements})
    try:
        return catalog, plan_project(catalog)
    except HeadwaterError:  # a form that is refused by the planner
        return catalog, {}


@pytest.mark.parametrize("kind", KINDS)
def test_the_tree_of_a_view_has_its_rows(kind: str, duck: duckdb.DuckDBPyConnection) -> None:
    found: dict[str, str] = {}
    views = 0
    for project in corpus(kind):
        catalog, plans = planned(project)
        views += len(plans)
        asked = differences(duck, project.text, catalog, plans, endless=kind != "slt")
        found |= {f"{project.name}: {view}": difference for view, difference in asked.items()}
    assert {view: difference for view, difference in found.items() if difference} == {}
    assert len(found) > 0.75 * views


def test_a_join_that_is_read_as_another_is_seen(
    duck: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(relational._JOINS, "LEFT", JoinKind.INNER)
    project = Project("tpch", definitions(QUERIES))
    found = differences(duck, project.text, *planned(project))
    assert [view for view, difference in found.items() if difference] == ["q13"]


WRITTEN = (
    # one scalar subquery below a GROUP BY and above it: below, it is no column of a group
    "SELECT k, (SELECT max(y) FROM h) AS m FROM g WHERE x < (SELECT max(y) FROM h) GROUP BY k",
    "SELECT x, x IN (SELECT y FROM h) AS a, x IN (SELECT y FROM h) OR y IS NULL AS b FROM g",
    # a value of a subquery, and a call of OVER, that want one name
    "SELECT count(*) OVER () AS c, (SELECT max(n) FROM (SELECT x + 1 AS c, count(*) AS n"
    " FROM h GROUP BY x + 1) s WHERE s.c = g.x) AS d FROM g",
    "SELECT rank() OVER (ORDER BY x) + (SELECT max(x) FROM h) AS a, x,"
    " max(y) OVER (PARTITION BY x) AS b, min(y) OVER (PARTITION BY x) AS c FROM g",
    # an output that is renamed by the list behind its alias, and sorts by its old name
    "SELECT p FROM (SELECT x AS c FROM g UNION SELECT x FROM h ORDER BY c LIMIT 4) AS a (p)",
    "SELECT x, (SELECT count(*) + 1 FROM h WHERE h.k = g.k AND h.x > 1) AS n FROM g",
)


@pytest.mark.parametrize("select", WRITTEN)
def test_what_stands_in_several_places_has_its_rows(
    select: str, duck: duckdb.DuckDBPyConnection
) -> None:
    project = Project("written", f"{TABLES}CREATE STREAMING VIEW v AS {select};")
    found = differences(duck, project.text, *planned(project))
    assert found == {"v": ""}


def golden_trees() -> Iterator[tuple[str, str]]:
    for case in CASES:
        files = (PLANS / "tables.sql", case)
        catalog = bind({file.name: parse(file.read_text(), file=file.name) for file in files})
        *_, plan = plan_project(catalog).values()
        yield case.stem, text_of(plan.view.tree)
    catalog, plans = planned(Project("tpch", definitions(QUERIES)))
    for name, plan in plans.items():
        if name in QUERIES:
            yield name, text_of(plan.view.tree)


def test_trees_are_as_written_down() -> None:
    """Of the plans' golden cases and of TPC-H."""
    texts = (f"-- {name}\n{tree}\n" for name, tree in golden_trees())
    check_golden(Path(GOLDEN / "algebra" / "trees.txt"), "\n".join(texts))
