"""What an analyst sees in Trino: tables that look like their SELECT."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
import trino as client

from headwater.analyze.definitions import CHANGES, Catalog
from headwater.lake.reserved_names import FILES
from headwater.plan.planner import plan_project
from headwater.project import load_project
from headwater.servers.trino import TrinoServer
from tests.serving.shop import Shop

pytestmark = pytest.mark.services


def place(catalog: Catalog, name: str) -> str:
    """A table's name with its catalog of Trino and its namespace."""
    return f"{'lake_delta' if catalog.is_delta(name) else 'lake'}.shop.{name}"


def names(trino: TrinoServer, user: str, query: str) -> tuple[list[str], list[str]]:
    """The columns of a result and the first value of each of its rows."""
    url = urlsplit(trino.address)
    where = {"host": url.hostname, "port": url.port, "catalog": "lake", "schema": "shop"}
    with client.dbapi.connect(**where, user=user) as connection:
        cursor = connection.cursor().execute(query)
        rows = cursor.fetchall()
    return [column.name for column in cursor.description], [row[0] for row in rows]


def test_a_table_looks_like_its_select(trino: TrinoServer, shop: Shop) -> None:
    catalog = load_project(shop.folder).catalog
    shown = {name: [f.name for f in view.fields] for name, view in catalog.views.items()}
    landed = {name: table for name, table in catalog.sources.items() if not name.endswith(CHANGES)}
    shown |= {name: [f.name for f in table.fields] for name, table in landed.items()}
    assert {
        name: names(trino, "ann", f"SELECT * FROM {place(catalog, name)} LIMIT 0")[0]
        for name in shown
    } == shown


def test_who_verifies_sees_what_is_hidden(trino: TrinoServer, shop: Shop) -> None:
    catalog = load_project(shop.folder).catalog
    plans = plan_project(catalog)
    stored = {name: [column.name for column in plan.columns] for name, plan in plans.items()}
    assert any(column.hidden for plan in plans.values() for column in plan.columns)
    assert {
        name: names(trino, "headwater", f"SELECT * FROM {place(catalog, name)} LIMIT 0")[0]
        for name in stored
    } == stored


def test_tables_of_the_protocol_are_not_in_the_list(trino: TrinoServer) -> None:
    protocol = (CHANGES, FILES)
    assert any(name.endswith(protocol) for name in names(trino, "headwater", "SHOW TABLES")[1])
    assert not any(name.endswith(protocol) for name in names(trino, "ann", "SHOW TABLES")[1])
