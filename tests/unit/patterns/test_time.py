"""No pattern takes exponential time; most take linear time. The limits are generous."""

from __future__ import annotations

from time import process_time

import pytest

from headwater.errors import SqlError
from headwater.patterns import read_clause
from headwater.patterns.matcher import PatternMatcher
from headwater.patterns.matches import Matches
from tests.patterns.product import input_table, parsed

COUNT = 50_000


def _matches(text: str, count: int = COUNT) -> tuple[Matches, float]:
    """Return the matches over rows of one partition, a second apart, and the seconds it took."""
    node = parsed(f"PARTITION BY k ORDER BY ts {text}")
    clause = read_clause(node)
    rows = f"(SELECT 'p' AS k, make_timestamp(i * 1000000) AS ts FROM range({count}) AS r(i)) AS t"
    table = input_table(clause, node, rows)
    begin = process_time()
    return PatternMatcher(clause).matches(table), process_time() - begin


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("PATTERN ((a+)+ c)", 0),
        ("PATTERN ((a | b)* c)", 0),
        ("PATTERN ((a* b*)* c)", 0),
        ("PATTERN ((a?){40} a{40} c)", 0),
        ("PATTERN ((a | a b | b a)+ c)", 0),
        ("PATTERN (a b* c) WITHIN INTERVAL '10' HOUR", 0),
        ("PATTERN (a b*? d | c) WITHIN INTERVAL '10' HOUR", COUNT // 2),
        ("PATTERN ((a+)+ b c | a) WITHIN INTERVAL '1' HOUR", COUNT),
        ("PATTERN (PERMUTE(a, b, d, e, f) | c)", COUNT // 5),
    ],
)
def test_nested_loops_take_linear_time(text: str, matches: int) -> None:
    found, seconds = _matches(f"{text} DEFINE c AS false")
    assert len(found) == matches
    assert seconds < 20


def test_sixty_variables_are_sixty_bits() -> None:
    names = [f"v{index}" for index in range(60)]
    found, _ = _matches(f"PATTERN ({' '.join(names)}) DEFINE v0 AS true")
    assert len(found) == COUNT // 60
    assert found.rows.tolist() == [60] * len(found)


def test_a_search_that_would_not_end_is_given_up() -> None:
    # the walk cannot tell its ways apart by less than their whole
    text = "PATTERN ((a | b)+ c) DEFINE c AS PREV(FIRST(CLASSIFIER(a), 1), 1) = 'X'"
    with pytest.raises(SqlError) as caught:
        _matches(text, 1_000)
    assert caught.value.condition == "TOO_COMPLEX"
    assert "WITHIN" in caught.value.hint


def test_one_partition_of_a_million_rows() -> None:
    found, seconds = _matches("PATTERN (a b+ c) DEFINE c AS false", 1_000_000)
    assert len(found) == 0
    assert seconds < 20
