"""What is wrong with a clause is said with its place, and how to mend it."""

from __future__ import annotations

import pytest

from headwater.errors import SqlError
from headwater.patterns import never_final, only_empty, read_clause, unbounded
from headwater.patterns.tree import bounds
from tests.patterns.product import answer, parsed

_ROWS = "(VALUES ('p', 1, 10), ('p', 2, 20), ('p', 3, 15)) AS t(k, ts, x)"
_SIXTY_THREE = " ".join(f"v{index}" for index in range(63))


@pytest.mark.parametrize(
    ("text", "condition", "underlined", "hint"),
    [
        ("PATTERN (a b) DEFINE c AS true", "INVALID_PATTERN", "c", "the variables are A, B"),
        ("PATTERN (a{0} b) DEFINE a AS true", "INVALID_PATTERN", "{0}", "at least 1"),
        ("PATTERN (a b{3,2}) DEFINE a AS true", "INVALID_PATTERN", "{3,2}", "write {2,3}"),
        ("PATTERN (a{20000}) DEFINE a AS true", "INVALID_PATTERN", "{20000}", "WITHIN"),
        ("PATTERN (a* * b) DEFINE a AS true", "SYNTAX_ERROR", "*", "expected"),
        ('PATTERN (a "b") DEFINE a AS true', "INVALID_PATTERN", '"b"', "without quotes"),
        ("PATTERN (PERMUTE(a)) DEFINE a AS true", "INVALID_PATTERN", "PERMUTE", "two parts"),
        ("MEASURES c.x AS m PATTERN (a) DEFINE a AS true", "INVALID_PATTERN", "c", "are: A"),
        ("MEASURES PREV(x, -1) AS m PATTERN (a) DEFINE a AS true", "INVALID_PATTERN", "1", "0, 1"),
        ("PATTERN (a) DEFINE a AS FINAL LAST(x) > 1", "INVALID_PATTERN", "FINAL LAST(x)", "FINAL"),
        ("PATTERN (a b) DEFINE b AS upper(a.x) > 1 AND f(a.x, b.x)", "NOT_YET", "", "CASE"),
        (f"PATTERN ({_SIXTY_THREE}) DEFINE v0 AS true", "TOO_COMPLEX", "", "one name"),
        ("PATTERN (PERMUTE(a,b,c,d,e,f,g,h,i)) DEFINE a AS true", "TOO_COMPLEX", "", "PERMUTE"),
        ("PATTERN ((((a{99}){99}){99}){99}) DEFINE a AS true", "TOO_COMPLEX", "", "smaller"),
        ("PATTERN ((((){9999}){9999}){9999} a) DEFINE a AS true", "TOO_COMPLEX", "", "smaller"),
    ],
)
def test_errors_name_the_place(text: str, condition: str, underlined: str, hint: str) -> None:
    with pytest.raises(SqlError) as caught:
        read_clause(parsed(f"PARTITION BY k ORDER BY ts {text}"))
    error = caught.value
    assert error.condition == condition
    assert hint in error.hint
    assert error.span is not None
    if underlined:
        start = error.span.column - 1
        assert error.span.text[start : start + error.span.length] == underlined


def test_skip_says_what_the_match_lacks() -> None:
    clause = "PARTITION BY k ORDER BY ts AFTER MATCH SKIP TO {} PATTERN (a b?) DEFINE b AS x < 0"
    with pytest.raises(SqlError, match="finds no row of B"):
        answer(clause.format("LAST b"), _ROWS)
    with pytest.raises(SqlError, match="goes back to the first row"):
        answer(clause.format("FIRST a"), _ROWS)


def test_skip_to_a_subset_goes_to_its_last_row() -> None:
    # Trino 476 fails with an internal error here
    text = (
        "PARTITION BY k ORDER BY ts MEASURES FIRST(x) AS f, LAST(x) AS l"
        " AFTER MATCH SKIP TO LAST u PATTERN (a b) SUBSET u = (a, b) DEFINE a AS true"
    )
    assert [(row["f"], row["l"]) for row in answer(text, _ROWS)] == [(10, 20), (20, 15)]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a b c", (3, 3)),
        ("a b? | c{2,5}", (1, 5)),
        ("a* b", (1, None)),
        ("(a{2} | ())*", (0, None)),
        ("PERMUTE(a, b{1,3})", (2, 4)),
        ("^ ()* {- a -} $", (1, 1)),
    ],
)
def test_a_pattern_knows_its_bounds(pattern: str, expected: tuple[int, int | None]) -> None:
    text = f"PARTITION BY k ORDER BY ts PATTERN ({pattern}) DEFINE a AS true"
    clause = read_clause(parsed(text))
    assert bounds(clause.pattern) == expected
    assert bool(unbounded(clause)) == (expected[1] is None)


@pytest.mark.parametrize(
    ("pattern", "empty"),
    [("() | a", True), ("a*?", True), ("(a?)*", False), ("^ a | ()", False), ("a", False)],
)
def test_a_pattern_that_is_always_empty_is_known(pattern: str, empty: bool) -> None:
    text = f"PARTITION BY k ORDER BY ts PATTERN ({pattern}) DEFINE a AS true"
    assert bool(only_empty(read_clause(parsed(text)))) == empty


def test_within_bounds_a_stream_and_an_end_leaves_it_open() -> None:
    begin = "PARTITION BY k ORDER BY ts PATTERN"
    bounded = read_clause(parsed(f"{begin} (a+) WITHIN INTERVAL '1' HOUR DEFINE a AS true"))
    assert unbounded(bounded) == ""
    assert never_final(bounded) == ""
    assert "$" in never_final(read_clause(parsed(f"{begin} (a $) DEFINE a AS true")))
