"""No pattern takes exponential time; most take linear time, counted in lines that run."""

from __future__ import annotations

import pytest

from headwater.errors import SqlError
from headwater.patterns import read_clause
from headwater.patterns.matcher import PatternMatcher
from headwater.patterns.matches import Matches
from tests.patterns.product import input_table, parsed
from tests.support.steps import lines_run

COUNT = 2_000


def _matches(text: str, count: int = COUNT, *, costs: list[int] | None = None) -> Matches:
    """Return the matches over rows of one partition, a second apart.

    Args:
        costs: gets how many lines ran.
    """
    node = parsed(f"PARTITION BY k ORDER BY ts {text}")
    clause = read_clause(node)
    rows = f"(SELECT 'p' AS k, make_timestamp(i * 1000000) AS ts FROM range({count}) AS r(i)) AS t"
    table = input_table(clause, node, rows)
    found: list[Matches] = []

    def search() -> None:
        found.append(PatternMatcher(clause).matches(table))

    if costs is None:
        search()
    else:
        costs.append(lines_run(search))
    return found[0]


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
        ("PATTERN (a b+ c)", 0),
    ],
)
def test_nested_loops_take_linear_time(text: str, matches: int) -> None:
    costs: list[int] = []
    for count in (COUNT // 2, COUNT):
        found = _matches(f"{text} DEFINE c AS false", count, costs=costs)
    assert len(found) == matches
    half, whole = costs
    assert whole < 2.2 * half


def test_sixty_variables_are_sixty_bits() -> None:
    names = [f"v{index}" for index in range(60)]
    found = _matches(f"PATTERN ({' '.join(names)}) DEFINE v0 AS true")
    assert len(found) == COUNT // 60
    assert found.rows.tolist() == [60] * len(found)


def test_a_search_that_would_not_end_is_given_up() -> None:
    # the walk cannot tell its ways apart by less than their whole
    text = "PATTERN ((a | b)+ c) DEFINE c AS PREV(FIRST(CLASSIFIER(a), 1), 1) = 'X'"
    with pytest.raises(SqlError) as caught:
        _matches(text, 1_000)
    assert caught.value.condition == "TOO_COMPLEX"
    assert "WITHIN" in caught.value.hint


def test_one_partition_of_many_rows() -> None:
    assert len(_matches("PATTERN (a b+ c) DEFINE c AS false", 300_000)) == 0
