"""Accepted views through relational algebra: the tree of a view has the rows of its SELECT.

In: a project. Out: per view, how the rows of its SELECT at rest differ from those of the SELECT
that its tree is printed as, over small random tables in DuckDB; or which rows share a key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import duckdb

from headwater.analyze.definitions import Catalog, OnError
from headwater.dialect.syntax import RecursiveRows
from headwater.errors import HeadwaterError
from headwater.plan.at_rest import at_rest
from headwater.plan.planner import plan_view
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
        if twice := shared_keys(duck, f'main."{name}"', plan.view.proven_key):
            found[name] = f"rows that share a key: {twice}"
            continue
        query = select_of(plan.view.tree)
        again = plan_view(replace(plan.view, query=query), catalog, plans)
        found[name] = difference(rows, _rows(duck, again, catalog))
    return found


def shared_keys(
    duck: duckdb.DuckDBPyConnection, rows: str, key: Sequence[str] | None
) -> list[tuple[object, ...]]:
    """Return values of a key that several rows have; of none if the rows have no key."""
    if key is None:
        return []
    by = ", ".join(f'"{name}"' for name in key)
    items, group = (f"{by}, ", f"GROUP BY {by}") if key else ("", "")
    return duck.sql(f"SELECT {items}count(*) FROM {rows} {group} HAVING count(*) > 1").fetchall()


def _rows(duck: duckdb.DuckDBPyConnection, plan: ViewPlan, catalog: Catalog) -> Bag:
    names = ", ".join(f'"{field.name}"' for field in plan.view.fields)
    return Bag.of(duck.sql(f"SELECT {names} FROM ({_text(plan, catalog)})"))


def _text(plan: ViewPlan, catalog: Catalog) -> str:
    # a row on which the SELECT fails is left out by a guard, which is another query
    plan = replace(plan, view=replace(plan.view, on_error=OnError.FAIL))
    return at_rest(
        plan, catalog, "duckdb", final=False, relation=lambda name: f'main."{name}"'
    ).text()
