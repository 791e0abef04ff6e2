"""Which groups of a pattern take part in every match, held against Python's own expressions."""

from __future__ import annotations

import re

import pytest

from headwater.analyze.failing.regex_groups import certain_groups

CASES = [
    (r"a", (True,)),
    (r"(a)b", (True, True)),
    (r"(a)?b", (True, False)),
    (r"(a)+b", (True, True)),
    (r"(a){1,2}b", (True, True)),
    (r"(a){0,2}b", (True, False)),
    (r"(a|b)c", (True, True)),
    (r"(a)|(b)", (True, False, False)),
    (r"((a)|b)(c)", (True, True, False, True)),
    (r"(?:(a)b)*(c)", (True, False, True)),
    (r"(?:a|(b))(c)", (True, False, True)),
    (r"((a)(b))?(c)", (True, False, False, False, True)),
    (r"(?P<n>a)(?i:b)(c)", (True, True, True)),
    (r"[(|](x)", (True, True)),
    (r"[]()](x)", (True, True)),
    (r"\(\|(x)\)?", (True, True)),
    (r"^/([a-z]+)$", (True, True)),
]


@pytest.mark.parametrize(("pattern", "expected"), CASES)
def test_groups_are_certain_that_every_match_has(pattern: str, expected: tuple[bool, ...]) -> None:
    assert certain_groups(pattern) == expected
    assert re.compile(pattern).groups == len(expected) - 1


def test_a_group_called_certain_takes_part_in_every_match() -> None:
    texts = ("a", "ab", "b", "bc", "abc", "c", "acx", "aab", "(|x)", "]x", "(x", "/ab", "abbc", "")
    for pattern, expected in CASES:
        found = [match for text in texts if (match := re.search(pattern, text))]
        assert found, pattern
        for match in found:
            for number, certain in enumerate(expected):
                assert match[number] is not None or not certain, (pattern, match)


def test_what_is_quoted_is_no_group() -> None:
    assert certain_groups(r"\Q(|\E(a)") == (True, True)
