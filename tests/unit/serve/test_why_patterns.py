"""``headwater why`` over ``MATCH_RECOGNIZE``: the rows of the match are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from why_lake import AT, ORDERS, Lake, order

from headwater.cli.main import main
from headwater.errors import EXIT_NO, EXIT_OK
from headwater.serve.why.deciding import Deciding, ExplainedRow

TABLE = """
CREATE TABLE orders (
  order_id BIGINT, customer BIGINT, city VARCHAR, amount BIGINT,
  ordered_at TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ordered_at AS ordered_at - INTERVAL '10' MINUTE
) WITH (connector = 'files', path = 'orders') FORMAT PLAIN ENCODE JSON;
"""
RISES = """
CREATE STREAMING VIEW v AS {select} FROM orders MATCH_RECOGNIZE (
  PARTITION BY customer ORDER BY ordered_at
  MEASURES first(a.amount) AS low, last(b.amount) AS high
  {rows} AFTER MATCH SKIP PAST LAST ROW
  PATTERN (a b{{1,3}}) DEFINE b AS b.amount > prev(b.amount)
){rest}
EMIT ON WINDOW CLOSE;
"""
ONE, ALL = "ONE ROW PER MATCH", "ALL ROWS PER MATCH WITH UNMATCHED ROWS"
ROWS = [
    order(1, 1, "Oslo", 9, 1),
    order(2, 1, "Oslo", 3, 2),
    order(3, 2, "Oslo", 5, 3),
    order(4, 1, "Oslo", 4, 4),
    order(5, 1, "Oslo", 7, 5),
    order(6, 1, "Oslo", 2, 6),
    order(7, 2, "Oslo", 6, 7),
    order(8, 1, "Oslo", 8, 8),
    order(9, 1, "Oslo", 1, 9),
    order(10, 2, "Oslo", 1, 10),
]
"""Customer 1 rises from 3 to 7 and from 2 to 8, customer 2 from 5 to 6; then both end."""


def why(
    folder: Path, sql: str, held: Sequence[Mapping[str, object]], **pairs: str
) -> tuple[ExplainedRow, ...]:
    lake = Lake(folder, TABLE + sql)
    lake.land("orders", ORDERS, ROWS)
    lake.write("v", held, AT.replace(hour=23))
    return Deciding(lake.project, lake.plans).explain("v", pairs).rows


def ids(row: ExplainedRow) -> list[object]:
    """The orders behind a row."""
    return [each["order_id"] for found in row.inputs for each in found.shown]


MATCHES = [
    {"customer": 1, "low": 3, "high": 7},
    {"customer": 1, "low": 2, "high": 8},
    {"customer": 2, "low": 5, "high": 6},
]


@pytest.mark.parametrize(("low", "expected"), [("3", [2, 4, 5]), ("2", [6, 8]), ("5", [3, 7])])
def test_the_rows_of_a_match_are_named(tmp_path: Path, low: str, expected: list[int]) -> None:
    sql = RISES.format(select="SELECT customer, low, high", rows=ONE, rest="")
    (row,) = why(tmp_path, sql, MATCHES, low=low)
    assert row.is_right and not row.stays
    assert ids(row) == expected


def test_each_row_of_a_match_and_rows_of_none(tmp_path: Path) -> None:
    sql = RISES.format(select="SELECT order_id, high", rows=ALL, rest="")
    held = [{"order_id": n, "high": high} for n, high in ((1, None), (2, None), (4, 4), (5, 7))]
    found = {row.row["order_id"]: row for row in why(tmp_path, sql, held)}
    assert all(row.is_right for row in found.values())
    assert {n: ids(row) for n, row in found.items()} == {
        1: [1],
        **dict.fromkeys((2, 4, 5), [2, 4, 5]),
    }


def test_equal_rows_of_two_matches_name_both(tmp_path: Path) -> None:
    sql = RISES.format(select="SELECT customer, high > low AS rises", rows=ONE, rest="")
    held = [{"customer": n, "rises": True} for n in (1, 1, 2)]
    (row,) = why(tmp_path, sql, held, customer="1")
    assert ids(row) == [2, 4, 5, 6, 8]


def test_rows_that_were_left_out_before_are_not_named(tmp_path: Path) -> None:
    some = "FROM (SELECT * FROM orders WHERE order_id <> 4) MATCH_RECOGNIZE"
    sql = RISES.format(select="SELECT customer, low, high", rows=ONE, rest=" WHERE high > 1")
    sql = sql.replace("FROM orders MATCH_RECOGNIZE", some)
    (row,) = why(tmp_path, sql, MATCHES, low="3")
    assert row.is_right and ids(row) == [2, 5]


def test_the_command_says_what_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sql = RISES.format(select="SELECT customer, low, high", rows=ONE, rest="")
    why(tmp_path, sql, MATCHES)
    assert main(["--project", str(tmp_path), "why", "v", "low=5"]) == EXIT_OK
    assert "of a match its rows are named" in capsys.readouterr().err
    assert main(["--project", str(tmp_path), "why", "--not", "v", "low=99"]) != EXIT_OK
    assert "NOT_YET" in capsys.readouterr().err
    assert main(["--project", str(tmp_path), "why", "v", "low=99"]) == EXIT_NO
