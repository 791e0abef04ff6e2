from __future__ import annotations

import math

import pytest

from headwater.serve.compare import Columns, RowDifference, compare
from headwater.serve.connection import duckdb_connection


def difference(columns: Columns, table: str, query: str) -> RowDifference:
    with duckdb_connection() as connection:
        return compare(connection, columns, f"FROM (VALUES {table})", f"FROM (VALUES {query})", 10)


EXACT = Columns(("col0", "col1"), ("col0", "col1"))
FLOAT = Columns(("col0", "col1"), ("col0",), ("col1",))


def test_equal_multisets_have_no_difference_whatever_their_order() -> None:
    found = difference(EXACT, "(1, 'a'), (1, 'a'), (2, NULL)", "(2, NULL), (1, 'a'), (1, 'a')")
    assert found == RowDifference(rows=3, surplus=0, missing=0)


def test_a_row_that_occurs_too_often_is_surplus_as_often() -> None:
    found = difference(EXACT, "(1, 'a'), (1, 'a'), (1, 'a')", "(1, 'a')")
    assert (found.surplus, found.missing, found.surplus_rows) == (2, 0, ((1, "a"),))


def test_a_changed_row_is_surplus_on_one_side_and_missing_on_the_other() -> None:
    found = difference(EXACT, "(1, 'a')", "(1, 'b')")
    assert (found.surplus_rows, found.missing_rows) == (((1, "a"),), ((1, "b"),))


def test_null_and_a_value_differ() -> None:
    found = difference(EXACT, "(1, NULL)", "(1, 'a')")
    assert (found.surplus, found.missing) == (1, 1)


def test_floats_may_differ_in_their_last_digits() -> None:
    found = difference(FLOAT, "(1, 0.1::DOUBLE + 0.2::DOUBLE)", "(1, 0.3::DOUBLE)")
    assert (found.surplus, found.missing) == (0, 0)


@pytest.mark.parametrize("other", ["0.3000001::DOUBLE", "NULL", "'nan'::DOUBLE", "'inf'::DOUBLE"])
def test_floats_that_are_not_close_differ(other: str) -> None:
    for table, query in (("0.3::DOUBLE", other), (other, "0.3::DOUBLE")):
        found = difference(FLOAT, f"(1, {table})", f"(1, {query})")
        assert (found.surplus, found.missing) == (1, 1)


@pytest.mark.parametrize(
    ("table", "query", "wrong"),
    [
        ("[0.1 + 0.2e0, NULL, 'nan'::DOUBLE]", "[0.3, NULL, 'nan'::DOUBLE]", 0),
        ("[0.1 + 0.2e0, 1]", "[0.3, 1, 1]", 1),
        ("[0.1 + 0.2e0, 1]", "[1, 0.3]", 1),
        ("[0.1 + 0.2e0, NULL]", "[0.3, 1]", 1),
    ],
)
def test_arrays_of_floats_are_compared_by_their_elements(
    table: str, query: str, wrong: int
) -> None:
    columns = Columns(("col0", "col1"), ("col0",), lists=("col1",))
    found = difference(columns, f"(1, {table}::DOUBLE[])", f"(1, {query}::DOUBLE[])")
    assert (found.surplus, found.missing) == (wrong, wrong)


def test_not_a_number_equals_itself() -> None:
    found = difference(FLOAT, "(1, 'nan'::DOUBLE)", "(1, 'nan'::DOUBLE)")
    assert (found.surplus, found.missing) == (0, 0)


def test_close_floats_of_rows_alike_are_paired_one_to_one() -> None:
    found = difference(
        FLOAT,
        "(1, 1.0::DOUBLE), (1, 2.0000000000001::DOUBLE), (1, 2.0000000000001::DOUBLE)",
        "(1, 2.0::DOUBLE), (1, 1.0000000000001::DOUBLE)",
    )
    assert (found.surplus, found.missing) == (1, 0)


def test_a_bounded_column_must_lie_between_its_bounds() -> None:
    columns = Columns(("k", "v"), ("k",), (), ("v",))
    with duckdb_connection() as connection:
        rows = "(1, 10, 9, 11), (2, 10, 9, 11), (3, NULL, NULL, NULL)"
        query = f"FROM (VALUES {rows}) q(k, v, v__lower, v__upper)"
        table = "FROM (VALUES (1, 11), (2, 12), (3, NULL)) t(k, v)"
        found = compare(connection, columns, table, query, 10)
    assert (found.surplus_rows, found.missing_rows) == (((2, 12),), ((2, 10),))


def test_whole_numbers_of_another_width_are_equal() -> None:
    found = difference(EXACT, "(1::BIGINT, 'a')", "(1::HUGEINT, 'a')")
    assert (found.surplus, found.missing) == (0, 0)


def test_only_the_first_differing_rows_are_returned_but_all_are_counted() -> None:
    with duckdb_connection() as connection:
        found = compare(
            connection,
            Columns(("r",), ("r",)),
            "SELECT range AS r FROM range(100)",
            "SELECT range AS r FROM range(0)",
            3,
        )
    assert (found.surplus, found.surplus_rows) == (100, ((0,), (1,), (2,)))


def test_the_select_at_rest_divides_floating_point_numbers_by_zero() -> None:
    numbers = "FROM (VALUES (1e0, 0e0)) AS t(a, b)"
    with duckdb_connection() as connection:
        assert connection.execute(f"SELECT a / b {numbers}").fetchall() == [(math.inf,)]
