"""What the reference says of expressions with a syntax of their own, and of clauses like functions.

An example that begins with FROM or WHERE is a clause of a query; any other is an expression.
"""

from __future__ import annotations

from headwater.analyze.typing.functions.entry import Described

_ORDER = "WITHIN GROUP (ORDER BY x)"
_EXACT = "The fraction is a literal from 0 to 1. Values that are NULL are left out."

PERCENTILES: tuple[Described, ...] = (
    Described(
        "median",
        "median(x)",
        "Returns the value in the middle, or the mean of the two in the middle, exactly.",
        (("median(price)", "1.5"),),
        "It is `percentile_cont(0.5)`, of type `DOUBLE`.",
    ),
    Described(
        "percentile_cont",
        f"percentile_cont(fraction) {_ORDER}",
        "Returns the value at a share of the ordered rows, exactly, also between two rows.",
        (("percentile_cont(0.5) WITHIN GROUP (ORDER BY price)", "1.5"),),
        _EXACT,
        aliases=("percentile", "quantile_cont"),
    ),
    Described(
        "percentile_disc",
        f"percentile_disc(fraction) {_ORDER}",
        "Returns the first value at or above a share of the ordered rows, exactly.",
        (("percentile_disc(0.5) WITHIN GROUP (ORDER BY price)", "1.50"),),
        _EXACT,
        aliases=("quantile_disc",),
    ),
)
"""Exact percentiles, which stand among the aggregates."""

SYNTAX: tuple[Described, ...] = (
    Described(
        "cast",
        "CAST(x AS type)",
        "Converts a value; a row whose value cannot be converted is a bad row.",
        (("CAST('12' AS INTEGER)", "12"),),
    ),
    Described(
        "case",
        "CASE WHEN condition THEN x … [ELSE y] END, CASE x WHEN a THEN b … [ELSE c] END",
        "Returns the value of the first condition that is true, or of the first equal value.",
        (
            ("CASE WHEN 2 > 1 THEN 'yes' ELSE 'no' END", "'yes'"),
            ("CASE 3 WHEN 1 THEN 'one' ELSE 'many' END", "'many'"),
        ),
        aliases=("when", "then", "else", "end"),
    ),
    Described(
        "interval",
        "INTERVAL 'n' unit",
        "Is a length of time, to add to a time or to take from it.",
        (("DATE '2024-01-31' + INTERVAL '1' DAY", "DATE '2024-02-01'"),),
    ),
    Described(
        "timestamp",
        "TIMESTAMP 'text'",
        "Is a point in time; with a zone in the text, a TIMESTAMP WITH TIME ZONE.",
        (("year(TIMESTAMP '2024-01-31 10:00:00')", "2024"),),
    ),
    Described(
        "time",
        "TIME 'text'",
        "Is a time of day.",
        (("hour(TIME '10:30')", "10"),),
    ),
    Described(
        "at time zone",
        "x AT TIME ZONE 'zone'",
        "Shows a time in a zone: its hours and days are those of the zone.",
        (("hour(TIMESTAMP '2024-07-01 10:00:00 UTC' AT TIME ZONE 'Europe/Berlin')", "12"),),
    ),
    Described(
        "||",
        "x || y",
        "Joins two texts, or two arrays.",
        (("'a' || 'b'", "'ab'"),),
    ),
    Described(
        "mod",
        "mod(x, y), x % y",
        "Returns the remainder, with the sign of x.",
        (("mod(7, 3)", "1"), ("-7 % 3", "-1")),
        aliases=("%",),
    ),
    Described(
        "position",
        "position(part IN text)",
        "Returns where a part begins in a text, from 1; 0 if it is not there.",
        (("position('b' IN 'abc')", "2"),),
    ),
    Described(
        "in",
        "x [NOT] IN (a, …), x [NOT] IN (SELECT …)",
        "Tests whether a value is one of several.",
        (("2 IN (1, 2)", "true"),),
    ),
    Described(
        "between",
        "x [NOT] BETWEEN a AND b",
        "Tests whether a value lies between two others, or is one of them.",
        (("2 BETWEEN 1 AND 2", "true"),),
    ),
    Described(
        "like",
        "text [NOT] LIKE pattern [ESCAPE character]",
        "Tests whether a pattern is the whole text: % is any text, _ any character.",
        (("'apple' LIKE 'a%'", "true"),),
    ),
    Described(
        "is null",
        "x IS [NOT] NULL",
        "Tests whether a value is missing; x = NULL never is true.",
        (("NULL IS NULL", "true"),),
        aliases=("null",),
    ),
    Described(
        "is distinct from",
        "x IS [NOT] DISTINCT FROM y",
        "Compares two values; NULL is equal to NULL only.",
        (("1 IS DISTINCT FROM NULL", "true"),),
    ),
    Described(
        "and",
        "a AND b, a OR b, NOT a",
        "Combines conditions.",
        (("NOT (1 > 2 AND 2 > 1)", "true"),),
        aliases=("or", "not"),
    ),
    Described(
        "exists",
        "[NOT] EXISTS (SELECT …)",
        "Tests whether a subquery has rows.",
        (("WHERE EXISTS (SELECT 1 FROM other AS o WHERE o.product = s.product)", "rows"),),
    ),
    Described(
        "row",
        "ROW(x, …)",
        "Returns a row of values; CAST gives its fields names.",
        (("CAST(ROW(1, 'a') AS ROW(n INTEGER, s VARCHAR)).s", "'a'"),),
    ),
    Described(
        "grouping",
        "grouping(x, …)",
        "Returns which columns a row of ROLLUP, CUBE or GROUPING SETS leaves out, as bits.",
        (("FROM sales GROUP BY ROLLUP (product) HAVING grouping(product) = 1", "one row"),),
    ),
    Described(
        "unnest",
        "CROSS JOIN UNNEST(array) AS t (x)",
        "Makes a row of each element of an array, or of each key and value of a map.",
        (("FROM sales AS s CROSS JOIN UNNEST(split(product, 'p')) AS t (part)", "rows"),),
    ),
    Described(
        "tumble",
        "TUMBLE(table, time, size)",
        "Adds window_start and window_end of windows that follow each other.",
        (("FROM TUMBLE(sales, sold_at, INTERVAL '1' HOUR)", "rows"),),
    ),
    Described(
        "hop",
        "HOP(table, time, slide, size)",
        "Adds window_start and window_end of windows that overlap.",
        (("FROM HOP(sales, sold_at, INTERVAL '5' MINUTE, INTERVAL '1' HOUR)", "rows"),),
    ),
    Described(
        "cumulate",
        "CUMULATE(table, time, step, size)",
        "Adds window_start and window_end of windows that grow by a step up to a size.",
        (("FROM CUMULATE(sales, sold_at, INTERVAL '1' HOUR, INTERVAL '1' DAY)", "rows"),),
    ),
    Described(
        "session",
        "SESSION(table PARTITION BY key, time, gap)",
        "Adds window_start and window_end of windows that end when a key pauses.",
        (("FROM SESSION(sales PARTITION BY product, sold_at, INTERVAL '5' MINUTE)", "rows"),),
    ),
    Described(
        "watermark",
        "watermark()",
        "Is the time below which no more rows are expected, for conditions.",
        (("WHERE sold_at > watermark() - INTERVAL '1' DAY", "rows"),),
    ),
)
"""Expressions, conditions and table functions by the word that people look them up by."""
