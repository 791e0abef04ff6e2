"""The list of names after a view's name: ``CREATE STREAMING VIEW v (a, b) AS SELECT …``."""

import pytest

from headwater.analyze.definitions import View
from headwater.dialect import to_sql
from tests.unit.analyze.small_project import view


def columns(head: str, query: str) -> list[str]:
    return [field.name for field in view(query, head=head).fields]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT flight, origin FROM departures",
        "SELECT origin, flight AS origin2 FROM departures",
        "SELECT d.flight, l.flight FROM departures AS d JOIN airports AS a ON a.code = d.dest"
        " JOIN departures AS l ON l.flight = d.flight",
        "SELECT origin, count(*) FROM departures GROUP BY origin",
        "SELECT * FROM (SELECT flight, dest FROM departures) AS q",
        "SELECT flight, dest FROM departures UNION ALL SELECT dest, flight FROM departures",
        "WITH q AS (SELECT origin, max(distance) FROM departures GROUP BY 1) SELECT * FROM q",
        "SELECT origin, max(distance) OVER (PARTITION BY dest) FROM departures",
    ],
)
def test_a_list_names_the_columns_in_order(query: str) -> None:
    found = view(query, head="(a, b)")
    assert [field.name for field in found.fields] == ["a", "b"]
    assert [item.alias for item in found.query.selects] == ["a", "b"]


def test_an_order_follows_the_new_names() -> None:
    query = "SELECT origin, count(*) AS dest FROM departures GROUP BY origin ORDER BY dest LIMIT 3"
    found = view(query, head="(dest, origin)").query
    assert found.args["order"].expressions[0].this.name == "origin"


def test_other_clauses_name_columns_of_the_list() -> None:
    query = "SELECT origin, max(distance) FROM departures GROUP BY origin"
    found = view(
        query, head="(place COMMENT 'IATA', far, PRIMARY KEY (place)) PARTITIONED BY (place)"
    )
    assert found.primary_key == ("place",)
    assert [field.comment for field in found.fields] == ["IATA", ""]


def test_the_names_are_part_of_the_definition_and_comments_are_not() -> None:
    query = "SELECT flight, dest FROM departures"
    assert view(query, head="(a, b)").text != view(query, head="(a, c)").text
    assert view(query, head="(a, b)").text == view(query, head="(a, b COMMENT 'x')").text
    assert view(query).text == view(query, head="(flight COMMENT 'x')").text


def test_a_list_is_printed_as_it_was_written() -> None:
    found: View = view("SELECT flight, dest FROM departures", head="(a, b COMMENT 'x')")
    assert "(a, b COMMENT 'x')" in " ".join(found.definition.split()).replace("( ", "(").replace(
        " )", ")"
    )
    assert columns("(flight COMMENT 'x')", "SELECT flight FROM departures") == ["flight"]
    assert to_sql(found.query, pretty=False).startswith("SELECT departures.flight AS a")
