"""``(r).*`` shows the fields of a row."""

import pytest

from tests.unit.analyze.small_project import bound, view


@pytest.mark.parametrize("star", ["(plane).*", "plane.*", "(d.plane).*", "d.plane.*"])
def test_the_fields_of_a_row_are_columns(star: str) -> None:
    shown = "(d.plane).tail AS tail, (d.plane).seats AS seats"
    query = f"SELECT flight, {star} FROM departures AS d"
    assert bound(query) == f"SELECT d.flight AS flight, {shown} FROM departures AS d"


def test_a_name_that_comes_twice_bears_that_of_the_row() -> None:
    fields = view("SELECT (plane).*, (plane).* FROM departures").fields
    assert [field.name for field in fields] == ["tail", "seats", "plane_tail", "plane_seats"]


def test_a_relation_of_the_name_comes_first() -> None:
    fields = view("SELECT plane.* FROM airports AS plane CROSS JOIN departures").fields
    assert [field.name for field in fields] == ["code", "city", "opened", "day"]
