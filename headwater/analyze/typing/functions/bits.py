"""Functions over the bits of integers."""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.typing.functions.entry import Table
from headwater.analyze.typing.functions.lines import line

_MOST_BITS = 64


def _leaves_bits(call: exp.Expr) -> str:
    """The condition that an integer has no place in the bits that are counted."""
    bits = call.expressions[-1].unnest().name  # a call without a second one was refused
    if not bits.isdigit() or not 2 <= int(bits) <= _MOST_BITS:
        return "true"
    if int(bits) == _MOST_BITS:
        return ""
    return f"bitwise_right_shift_arithmetic(_1, {int(bits) - 1}) NOT IN (0, -1)"


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
            "bit_count(x: bigint, bits: bigint!) -> BIGINT",
            "Counts the bits that are set in an integer of so many bits.",
            "bit_count(-7, 64) -> 62",
            "bit_count(-7, 8) -> 6",
            spark="bit_count(_1 & shiftrightunsigned(CAST(-1 AS BIGINT), CAST(64 - _2 AS INT)))",
            duckdb="bit_count(CAST(_1 AS HUGEINT) & ((CAST(1 AS HUGEINT) << CAST(_2 AS INT)) - 1))",
            fails=_leaves_bits,
            engines="It fails if the integer has no place in so many bits.",
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
