"""Open rows tell which matches are final: what Trino's SELECT at rest builds on, without Trino.

Rows before a watermark, and behind them rows that satisfy every variable: the matches that take
none of these, up to the first that does, are those whose close the watermark has reached.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import pyarrow as pa

from headwater.patterns import MatchClause, read_clause
from headwater.patterns.matcher import PatternMatcher, microseconds, partition_bounds
from headwater.plan.sql.native_patterns import not_told
from tests.patterns.cases import TABLES
from tests.patterns.product import input_table, parsed
from tests.patterns.random_clauses import random_case

SECOND = 1_000_000
START = 1_704_067_200 * SECOND  # of the rows of random clauses

Found = list[tuple[int, int, int]]
"""Of each match its partition, its first row there, and how many rows it has."""


def _final(clause: MatchClause, table: pa.Table, watermark: int) -> Found:
    """The matches that are final by their close."""
    matches = PatternMatcher(clause).matches(table, closing=True)
    assert matches.close is not None
    return [
        (int(part), int(first - matches.bounds[part]), int(rows))
        for part, first, rows, close in zip(
            matches.partition, matches.first, matches.rows, matches.close, strict=True
        )
        if close <= watermark
    ]


def _before_open_rows(clause: MatchClause, table: pa.Table, watermark: int) -> Found:
    """The matches before the first that takes an open row, in each partition."""
    found: Found = []
    bounds = partition_bounds(clause, table)
    for part, (low, high) in enumerate(pairwise(bounds.tolist())):
        sure, rows = _with_open_rows(clause, table.slice(low, high - low), watermark)
        matches = PatternMatcher(clause).matches(rows)
        for first, count in zip(matches.first.tolist(), matches.rows.tolist(), strict=True):
            if first + max(1, count) > sure:
                break
            found.append((part, first, count))
    return found


def _with_open_rows(clause: MatchClause, rows: pa.Table, watermark: int) -> tuple[int, pa.Table]:
    """How many rows of a partition are known, and these with open rows behind them."""
    times = microseconds(rows[clause.time]).tolist()
    before = sum(time < watermark for time in times)
    sure = max(0, before - clause.lookahead)
    more = clause.program.rows_to_end
    assert more is not None
    row = {name: rows[name][0].as_py() for name in clause.partition}
    row |= {each.column: True for each in clause.conditions if each.column}
    opened = pa.Table.from_pylist([row] * (before - sure + more), rows.schema)
    both = pa.concat_tables([rows.slice(0, sure), opened])
    since = times[sure] if sure < before else watermark
    stamps = pa.array([*times[:sure], *[since] * opened.num_rows])
    at = rows.column_names.index(clause.time)
    return sure, both.set_column(at, clause.time, stamps.cast(rows.schema.field(at).type))


def test_matches_before_the_first_that_takes_an_open_row_are_the_final_ones() -> None:
    counts, number = Counter[str](), 0
    while counts["clauses"] < 150:
        number += 1
        case = random_case(f"open/{number}")
        text = re.sub("SKIP TO (FIRST|LAST) [A-D]", "SKIP TO NEXT ROW", case.text)
        node = parsed(text)
        clause = read_clause(node)
        walked = any(each.walked for each in clause.conditions)
        if walked or clause.program.reads_end or clause.program.rows_to_end is None:
            continue
        counts["clauses"] += 1
        counts["not told"] += bool(not_told(clause))
        table = input_table(clause, node, TABLES[f"random open/{number}"])
        for second in range(0, 30, 3):
            watermark = START + second * SECOND
            final = _final(clause, table, watermark)
            assert _before_open_rows(clause, table, watermark) == final, (text, second)
            counts["matches"] += len(final)
    assert counts["matches"] > 1000, counts
