"""Functions over the bits of integers."""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.typing.functions.entry import Table
from headwater.analyze.typing.functions.lines import line

BITS: Table = dict(
    (
        line(
            "bitwise_not(x: integer) -> BIGINT",
            "Returns the integer with every bit turned.",
            "bitwise_not(5) -> -6",
            spark="~CAST(_1 AS BIGINT)",
            duckdb="~CAST(_1 AS BIGINT)",
            node=exp.BitwiseNot,
        ),
        line(
            "bitwise_left_shift(x: long, shift: int) -> BIGINT",
            "Moves the bits of a BIGINT to the left.",
            "bitwise_left_shift(BIGINT '3', 2) -> 12",
            spark="CASE WHEN _2 >= 64 THEN _1 & 0 ELSE shiftleft(_1, _2 & 63) END",
            duckdb="CASE WHEN _2 >= 64 THEN _1 & 0"
            " ELSE CAST(CAST(_1 AS BIT) << (_2 & 63) AS BIGINT) END",
        ),
        line(
            "bitwise_right_shift(x: long, shift: int) -> BIGINT",
            "Moves the bits of a BIGINT to the right and fills up with zeros.",
            "bitwise_right_shift(BIGINT '12', 2) -> 3",
            spark="CASE WHEN _2 >= 64 THEN _1 & 0 ELSE shiftrightunsigned(_1, _2 & 63) END",
            duckdb="CASE WHEN _2 >= 64 THEN _1 & 0"
            " ELSE CAST(CAST(_1 AS BIT) >> (_2 & 63) AS BIGINT) END",
        ),
        line(
            "bitwise_right_shift_arithmetic(x: long, shift: int) -> BIGINT",
            "Moves the bits of a BIGINT to the right and keeps its sign.",
            "bitwise_right_shift_arithmetic(BIGINT '-8', 2) -> -2",
            spark="CASE WHEN _2 >= 64 THEN shiftright(_1, 63) ELSE shiftright(_1, _2 & 63) END",
            duckdb="CASE WHEN _2 >= 64 THEN _1 >> 63 ELSE _1 >> (_2 & 63) END",
        ),
    )
)
