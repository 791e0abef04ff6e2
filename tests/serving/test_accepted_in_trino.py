"""What `check` accepts, Trino can read: each SELECT at rest, over tables without rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trino.dbapi

from headwater.analyze.project import bind_all
from headwater.dialect import parse_all
from headwater.plan.planner import plan_project
from headwater.servers.trino import TrinoServer
from tests.accepted.corpus import projects
from tests.accepted.queries import at_rest

RANDOM = 40

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def cursor(stack: Path) -> Iterator[trino.dbapi.Cursor]:
    """A cursor of a Trino that has no tables."""
    with TrinoServer(stack / "accepted", {}) as running:
        at = urlsplit(running.address)
        connection = trino.dbapi.connect(host=at.hostname, port=at.port, user="tests")
        yield connection.cursor()


def test_trino_validates_every_accepted_view(cursor: trino.dbapi.Cursor) -> None:
    tried, wrong = 0, []
    for project in projects(RANDOM):
        statements, _ = parse_all(project.text)
        catalog, errors = bind_all({project.name: statements})
        assert not errors, project.name
        for plan in plan_project(catalog).values():
            tried += 1
            try:
                asked = at_rest(plan, catalog, "trino").sql
                cursor.execute(f"EXPLAIN (TYPE VALIDATE) {asked}").fetchall()
            except trino.dbapi.Error as error:
                wrong.append(f"{project.name}: {error}")
    assert not wrong, "\n".join(wrong)
    assert tried > 300


def test_a_query_that_trino_refuses_would_show(cursor: trino.dbapi.Cursor) -> None:
    with pytest.raises(trino.dbapi.Error):
        cursor.execute("EXPLAIN (TYPE VALIDATE) SELECT map() < map()").fetchall()
