"""Once a match is final, no accepted row changes it; and everything before the horizon is final.

Rows arrive in any order. A row is accepted if its time is not before the watermark. At every cut,
the matches that the cut calls final must be those that the finished table has at that watermark.
"""

from __future__ import annotations

import re
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from headwater.patterns import MatchClause, read_clause
from headwater.patterns.finality import NEVER, resume
from headwater.patterns.matcher import PatternMatcher
from headwater.patterns.matches import Matches
from headwater.patterns.measures import result
from tests.patterns.product import input_table, parsed, rows_of
from tests.patterns.random_clauses import random_case

SECOND = 1_000_000
Row = dict[str, Any]
_SCHEMA = pa.schema(
    {"k": pa.string(), "ts": pa.timestamp("us"), "v": pa.string(), "x": pa.int64(), "i": pa.int64()}
)


@pytest.mark.parametrize("seed", range(60))
def test_final_matches_stay(seed: int) -> None:
    random = Random(seed)
    text = random_case(f"finality/{seed}").text.replace("ORDER BY ts", "ORDER BY ts, i")
    text = re.sub("SKIP TO (FIRST|LAST) [A-D]", "SKIP TO NEXT ROW", text)  # those fail on most rows
    if "WITHIN" not in text and random.random() < 0.3:
        text = text.replace(" SUBSET", f" WITHIN INTERVAL '{random.randint(1, 4)}' SECOND SUBSET")
    node = parsed(text)
    clause = read_clause(node)
    kept: list[Row] = []
    cuts: list[tuple[int, list[Row]]] = []
    watermark = 0
    for row in _arrivals(random):
        if row["ts"] >= watermark:
            kept.append(row)
        if random.random() < 0.25:
            watermark = max(
                watermark, max(each["ts"] for each in kept) - random.randint(0, 3) * SECOND
            )
            watermark += random.randint(0, 1)
            cuts.append((watermark, list(kept)))
    finished = _closed(clause, node, kept)
    for watermark, rows in cuts:
        at_cut = [row for row in _closed(clause, node, rows) if row["_close"] <= watermark]
        assert at_cut == [row for row in finished if row["_close"] <= watermark], (text, watermark)
        _assert_resumes(clause, node, rows, watermark)


def _arrivals(random: Random) -> list[Row]:
    rows = [
        {
            "k": key,
            "ts": random.randint(0, 9) * SECOND,
            "v": random.choice("abc"),
            "x": random.randint(0, 9),
        }
        for key in "pq"
        for _ in range(random.randint(1, 9))
    ]
    rows.sort(key=lambda row: row["ts"] + random.randint(-2, 2) * SECOND)
    return [{**row, "i": index} for index, row in enumerate(rows)]


def _table(clause: MatchClause, node: Any, rows: list[Row]) -> pa.Table:
    return input_table(clause, node, "t", t=pa.Table.from_pylist(rows, _SCHEMA))


def _closed(clause: MatchClause, node: Any, rows: list[Row]) -> list[Row]:
    table = _table(clause, node, rows)
    return _shown(clause, table, PatternMatcher(clause).matches(table, closing=True))


def _shown(clause: MatchClause, table: pa.Table, matches: Matches) -> list[Row]:
    found = result(clause, table, matches)
    shown = rows_of(clause, found)
    closes = found["_close"].to_pylist()
    return [{**row, "_close": close} for row, close in zip(shown, closes, strict=True)]


def _assert_resumes(clause: MatchClause, node: Any, rows: list[Row], watermark: int) -> None:
    """What is found from the horizon on is what was not final."""
    table = _table(clause, node, rows)
    matcher = PatternMatcher(clause)
    matches = matcher.matches(table, closing=True)
    goes_on = resume(clause, matches, watermark)
    needed = pa.concat_tables(
        table.slice(each.needs, matches.bounds[partition + 1] - each.needs)
        for partition, each in enumerate(goes_on)
    )
    later = _table(clause, node, needed.select(["k", "ts", "v", "x", "i"]).to_pylist())
    starts = [
        each.start
        for partition, each in enumerate(goes_on)
        if each.needs < matches.bounds[partition + 1]
    ]
    again = matcher.matches(later, starts=starts, closing=True)
    shown = _shown(clause, table, matches)
    assert _shown(clause, later, again) == [row for row in shown if row["_close"] > watermark]


def test_a_match_is_final_as_soon_as_no_other_row_can_win() -> None:
    # a b c: nothing is preferred to the match once c is there
    assert _closes("A B C", "") == [3 * SECOND + 1]
    # a b*? c is final with its c; a b* c may go on as long as b holds, here to the row behind
    assert _closes("A D*? C", "") == [3 * SECOND + 1]
    assert _closes("A D* C", "") == [NEVER]
    assert _closes("A D* C", "WITHIN INTERVAL '5' SECOND") == [1 * SECOND + 5 * SECOND + 1]
    assert _closes("A B* C", "") == [3 * SECOND + 1]
    assert _closes("A B C $", "") == [NEVER]
    # what begins earlier may still take the row of a match that is complete
    assert _closes("A D D D B | C", "", "acddd") == [5 * SECOND + 1]


def _closes(pattern: str, within: str, letters: str = "abc") -> list[int]:
    node = parsed(_clause(f"PATTERN ({pattern}) {within}"))
    clause = read_clause(node)
    table = _table(clause, node, _rows(letters))
    found = PatternMatcher(clause).matches(table, closing=True).close
    assert found is not None
    return [int(each) for each in found]


def _clause(text: str) -> str:
    used = [name for name in "ABC" if re.search(rf"\b{name}\b", text)]
    define = ", ".join(f"{name} AS v = '{name.lower()}'" for name in used)
    return f"PARTITION BY k ORDER BY ts, i {text} DEFINE {define}"


def _rows(letters: str) -> list[Row]:
    return [
        {"k": "p", "ts": ts * SECOND, "v": letter, "x": 0, "i": ts}
        for ts, letter in enumerate(letters, 1)
    ]


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        # the first row of a later table is not the first of its partition
        ("ALL ROWS PER MATCH PATTERN (^ A | B C)", "aabca"),
        # a row of a final match is not unmatched, though the search from it still goes on
        (
            "ALL ROWS PER MATCH WITH UNMATCHED ROWS AFTER MATCH SKIP TO NEXT ROW"
            " PATTERN (A B | B C)",
            "abxabcab",
        ),
        # numbers go on, and conditions read rows before the first one
        ("MEASURES MATCH_NUMBER() AS n, PREV(A.v, 2) AS m PATTERN (A B)", "ccabcabxxab"),
    ],
)
def test_a_later_search_goes_on(text: str, letters: str) -> None:
    node = parsed(_clause(text))
    clause = read_clause(node)
    for watermark in range(1, len(letters) + 1):
        _assert_resumes(clause, node, _rows(letters), watermark * SECOND + 1)
