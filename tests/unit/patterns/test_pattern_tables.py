"""Tables as they come: empty, in chunks, with keys and times of any type."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from headwater.errors import SqlError
from headwater.patterns import read_clause
from headwater.patterns.matcher import PatternMatcher
from headwater.patterns.measures import result
from headwater.patterns.totals import result_type
from tests.patterns.product import answer, parsed

_TEXT = (
    "PARTITION BY k ORDER BY ts MEASURES count(*) AS n, LAST(A.ts) AS l"
    " {} PATTERN (A+) {} DEFINE A AS true"
)


def _found(table: pa.Table, shown: str = "", within: str = "", closing: bool = False) -> pa.Table:
    clause = read_clause(parsed(_TEXT.format(shown, within)))
    return result(clause, table, PatternMatcher(clause).matches(table, closing=closing))


@pytest.mark.parametrize(
    "shown", ["", "ALL ROWS PER MATCH", "ALL ROWS PER MATCH WITH UNMATCHED ROWS"]
)
def test_no_rows_give_no_rows_of_the_same_types(shown: str) -> None:
    table = pa.table({"k": pa.array([], pa.string()), "ts": pa.array([], pa.timestamp("us"))})
    found = _found(table, shown, closing=True)
    assert found.num_rows == 0
    assert found.schema.field("_m0").type == pa.int64()
    assert found.schema.field("_m1").type == pa.timestamp("us")
    assert found.schema.field("_close").type == pa.int64()


@pytest.mark.parametrize(
    "keys",
    [
        ["a", "a", "b", None, None],
        [1.0, 1.0, 2.0, float("nan"), float("nan")],
        [[1], [1], [2], None, None],
        [{"x": 1}, {"x": 1}, {"x": None}, None, None],
        [date(2024, 1, 1), date(2024, 1, 1), date(2024, 1, 2), None, None],
        [Decimal("1.0"), Decimal("1.0"), Decimal("2.0"), None, None],
    ],
)
def test_keys_of_any_type_part_the_rows(keys: list[Any]) -> None:
    times = pa.array(range(5), pa.int64()).cast(pa.timestamp("us"))
    table = pa.table({"k": keys, "ts": times})
    chunked = pa.concat_tables([table.slice(0, 1), table.slice(1, 3), table.slice(4)])
    assert _found(chunked)["_m0"].to_pylist() == [2, 1, 2]


def test_a_row_without_a_time_is_in_no_match_that_is_bounded() -> None:
    times = pa.array([0, 1_000_000, None, None], pa.int64()).cast(pa.timestamp("us"))
    table = pa.table({"k": ["p"] * 4, "ts": times})
    assert _found(table, within="WITHIN INTERVAL '1' HOUR")["_m0"].to_pylist() == [2]
    assert _found(table)["_m0"].to_pylist() == [4]


@pytest.mark.parametrize(
    "kind", [pa.timestamp("us", "UTC"), pa.timestamp("ns"), pa.timestamp("ms"), pa.date32()]
)
def test_times_of_any_type_are_bounded(kind: pa.DataType) -> None:
    days = pa.array([0, 1, 2, 3], pa.int32()).cast(pa.date32())
    table = pa.table({"k": ["p"] * 4, "ts": days.cast(kind)})
    found = _found(table, within="WITHIN INTERVAL '1' DAY", closing=True)
    assert found["_m0"].to_pylist() == [2, 2]
    day = 86_400_000_000
    assert found["_close"].to_pylist() == [day + 1, 3 * day + 1]


def test_a_sum_beyond_bigint_is_an_error() -> None:
    rows = "(VALUES ('p', 1, 9223372036854775807), ('p', 2, 1)) AS t(k, ts, x)"
    text = "PARTITION BY k ORDER BY ts MEASURES sum(x) AS s {} PATTERN (A+) DEFINE A AS true"
    for shown in ("", "ALL ROWS PER MATCH"):
        with pytest.raises(SqlError) as caught:
            answer(text.format(shown), rows)
        assert caught.value.condition == "MATCH_FAILED"
    fits = rows.replace("2, 1)", "2, -1)")
    assert answer(text.format(""), fits)[0]["s"] == 9223372036854775806


@pytest.mark.parametrize(
    ("function", "argument", "expected"),
    [
        ("count", pa.string(), pa.int64()),
        ("sum", pa.int32(), pa.int64()),
        ("sum", pa.decimal128(10, 2), pa.decimal128(38, 2)),
        ("sum", pa.float32(), pa.float32()),
        ("avg", pa.int64(), pa.float64()),
        ("avg", pa.decimal128(10, 2), pa.decimal128(10, 2)),
        ("max", pa.date32(), pa.date32()),
        ("array_agg", pa.string(), pa.list_(pa.string())),
    ],
)
def test_aggregates_have_trinos_types(
    function: str, argument: pa.DataType, expected: pa.DataType
) -> None:
    assert result_type(function, [argument]) == expected
