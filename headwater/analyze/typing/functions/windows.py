"""What the reference says of the functions that stand before OVER only."""

from __future__ import annotations

from headwater.analyze.typing.functions.entry import Described

_OVER = "OVER (ORDER BY price)"


def _window(name: str, usage: str, about: str, result: str, call: str = "") -> Described:
    call = call or f"{name}()"
    return Described(name, usage, about, ((f"{call} {_OVER}", result),))


WINDOWS: tuple[Described, ...] = (
    _window(
        "row_number",
        "row_number()",
        "Numbers the rows from 1; rows that tie are ordered by every other column.",
        "1, 2, 3",
    ),
    _window(
        "rank",
        "rank()",
        "Returns 1 plus the number of rows before; rows that tie share a rank.",
        "1, 2, 3",
    ),
    _window(
        "dense_rank",
        "dense_rank()",
        "Returns 1 plus the number of different values before.",
        "1, 2, 3",
    ),
    _window(
        "ntile",
        "ntile(n)",
        "Divides the rows into n groups of equal size and returns the number of the group.",
        "1, 1, 2",
        "ntile(2)",
    ),
    _window(
        "percent_rank", "percent_rank()", "Returns the rank as a share, 0 to 1.", "0.0, 0.5, 1.0"
    ),
    Described(
        "cume_dist",
        "cume_dist()",
        "Returns the share of rows up to this one, rows that tie included.",
        (("cume_dist() OVER (ORDER BY product)", "0.6666666666666666, 0.6666666666666666, 1.0"),),
    ),
    _window(
        "lag",
        "lag(x[, offset[, default]]) [IGNORE NULLS]",
        "Returns x of an earlier row, by default the one before.",
        "NULL, 'apple', 'apple'",
        "lag(product)",
    ),
    _window(
        "lead",
        "lead(x[, offset[, default]]) [IGNORE NULLS]",
        "Returns x of a later row, by default the next one.",
        "'apple', 'pear', NULL",
        "lead(product)",
    ),
    _window(
        "first_value",
        "first_value(x) [IGNORE NULLS]",
        "Returns x of the first row of the frame.",
        "'apple', 'apple', 'apple'",
        "first_value(product)",
    ),
    _window(
        "last_value",
        "last_value(x) [IGNORE NULLS]",
        "Returns x of the last row of the frame, which ends with the current row by default.",
        "'apple', 'apple', 'pear'",
        "last_value(product)",
    ),
    _window(
        "nth_value",
        "nth_value(x, n) [IGNORE NULLS]",
        "Returns x of the n-th row of the frame.",
        "NULL, 'apple', 'apple'",
        "nth_value(product, 2)",
    ),
)
"""Names are those of ``window_functions.WINDOW_FUNCTIONS``."""
