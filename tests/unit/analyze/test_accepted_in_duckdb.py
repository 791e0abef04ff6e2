"""What `check` accepts, DuckDB can run; and every node of the language has a query that has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import duckdb
import pytest
from sqlglot import exp

from headwater.analyze.definitions import Catalog
from headwater.analyze.project import bind_all
from headwater.analyze.rules.allowed_syntax import ALLOWED
from headwater.analyze.typing.functions import FUNCTIONS
from headwater.analyze.typing.functions.arrays import LET
from headwater.analyze.typing.functions.carried import DATE_WITH_TIME, TIME_TEXT
from headwater.analyze.typing.functions.others import JSON_FAULT
from headwater.dialect import parse_all
from headwater.plan.planner import plan_project
from tests.accepted.corpus import Form, Project, forms, projects
from tests.accepted.queries import at_rest
from tests.fuzz.oracle import open_duckdb
from tests.support.sampling import some

RANDOM = 60


def bound(project: Project) -> Catalog:
    """Return what the binder makes of a project."""
    statements, errors = parse_all(project.text)
    catalog, more = bind_all({project.name: statements})
    assert not [*errors, *more], project.name
    return catalog


@pytest.fixture(scope="module")
def corpus() -> list[tuple[Project, Catalog]]:
    return [(project, bound(project)) for project in projects(RANDOM)]


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with open_duckdb() as connection:
        yield connection


@pytest.mark.parametrize("form", forms(), ids=lambda form: form.text)
def test_check_says_of_a_form_what_the_table_says(form: Form) -> None:
    statements, errors = parse_all(form.project.text)
    catalog, more = bind_all({"forms.sql": statements})
    found = [*errors, *more]
    if not found:
        try:
            plan_project(catalog)
        except Exception as error:  # noqa: BLE001  whatever it is, its condition is compared
            found = [error]
    outcome = ", ".join(dict.fromkeys(getattr(each, "condition", repr(each)) for each in found))
    assert (outcome or "ok") == form.outcome


def test_duckdb_can_bind_every_accepted_view(
    duck: duckdb.DuckDBPyConnection, corpus: list[tuple[Project, Catalog]]
) -> None:
    tried, wrong, asked = 0, [], some(corpus, 3)
    for project, catalog in asked:
        for plan in plan_project(catalog).values():
            tried += 1
            try:
                duck.execute(f"DESCRIBE {at_rest(plan, catalog, 'duckdb').sql}")
            except duckdb.Error as error:
                wrong.append(f"{project.name}: {error}")
    assert not wrong
    assert tried > 300 * len(asked) / len(corpus)


def test_a_query_that_duckdb_cannot_bind_would_show(duck: duckdb.DuckDBPyConnection) -> None:
    form = next(form for form in forms() if "UNNEST(m)" in form.text and form.outcome == "ok")
    catalog = bound(form.project)
    asked = at_rest(plan_project(catalog)["v"], catalog, "duckdb").sql
    with pytest.raises(duckdb.Error, match="UNNEST"):
        duck.execute(f"DESCRIBE {asked.replace('MAP_KEYS', '')}")


def test_every_node_of_the_language_is_in_a_query(corpus: list[tuple[Project, Catalog]]) -> None:
    """A node that no query of the corpus has would never be asked of an engine."""
    seen: Counter[type[exp.Expr]] = Counter()
    for project, catalog in corpus:
        for view in catalog.views.values():
            seen.update(type(node) for node in view.query.walk())
        statements, _ = parse_all(project.text)  # the binder replaces any_value, for example
        seen.update(type(node) for statement in statements for node in statement.walk())
    seen.update((JSON_FAULT, LET))  # stand in the guards of programs only
    seen.update((DATE_WITH_TIME, TIME_TEXT))  # of other dialects
    missing = {kind.__name__ for kind in ALLOWED if kind not in seen}
    assert missing == set()
    assert set(FUNCTIONS) <= set(seen)
