"""Accepted views through relational algebra: the tree of a view has the rows of its SELECT.

In: a project. Out: per view, how the rows of its SELECT at rest differ from those of the SELECT
that its tree is printed as, over small random tables in DuckDB.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import duckdb

from headwater.algebra.nodes import Query
from headwater.algebra.passes import passed
from headwater.analyze.definitions import Catalog, OnError
from headwater.analyze.relational import algebra_of
from headwater.dialect.syntax import RecursiveRows
from headwater.errors import HeadwaterError
from headwater.plan.planner import plan_view
from headwater.plan.sql.at_rest import at_rest
from headwater.plan.sql.from_algebra import select_of
from headwater.plan.view_plan import ViewPlan
from tests.accepted.answered import create_tables, create_view
from tests.support.bags import Bag, difference


def differences(
    duck: duckdb.DuckDBPyConnection,
    text: str,
    catalog: Catalog,
    plans: Mapping[str, ViewPlan],
    *,
    endless: bool = False,
) -> dict[str, str]:
    """Return how each view differs that DuckDB can run; an empty text if it does not.

    Args:
        duck: where tables are made.
        text: the definitions as they are written.
        catalog: what the binder made of them.
        plans: what the planner made of them.
        endless: whether a recursion over random rows may have no end: then it is not asked.
    """
    create_tables(duck, text, catalog, catalog.sources)
    found: dict[str, str] = {}
    for name, plan in plans.items():
        create_view(duck, name, catalog)
        if endless and plan.view.query.find(RecursiveRows):
            continue
        try:
            rows = _rows(duck, plan, catalog)
        except (duckdb.Error, HeadwaterError):
            continue  # a query that fails on a row, or MATCH_RECOGNIZE, which DuckDB has not
        duck.execute(f'INSERT INTO main."{name}" BY NAME FROM ({_text(plan, catalog)})')
        query = select_of(tree_of(plan, catalog))
        again = plan_view(replace(plan.view, query=query), catalog, plans)
        found[name] = difference(rows, _rows(duck, again, catalog))
    return found


def tree_of(plan: ViewPlan, catalog: Catalog) -> Query:
    """Return the tree of a view after all passes."""
    return passed(algebra_of(plan.view.query, catalog))


def _rows(duck: duckdb.DuckDBPyConnection, plan: ViewPlan, catalog: Catalog) -> Bag:
    names = ", ".join(f'"{field.name}"' for field in plan.view.fields)
    return Bag.of(duck.sql(f"SELECT {names} FROM ({_text(plan, catalog)})"))


def _text(plan: ViewPlan, catalog: Catalog) -> str:
    # a row on which the SELECT fails is left out by a guard, which is another query
    plan = replace(plan, view=replace(plan.view, on_error=OnError.FAIL))
    return at_rest(
        plan, catalog, "duckdb", final=False, relation=lambda name: f'main."{name}"'
    ).text()
