"""Lengths of time as people read them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from headwater.errors.words import about


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(milliseconds=300), "0 s"),
        (timedelta(minutes=3, seconds=20), "3 min 20 s"),
        (timedelta(hours=5, minutes=1, seconds=9), "5 h 1 min"),
        (timedelta(days=364, hours=3), "364 d 3 h"),
        (timedelta(days=366), "1 year 1 d"),
        (timedelta(seconds=91_747_252), "2 years 331 d"),
    ],
)
def test_an_age_has_its_two_largest_units(age: timedelta, words: str) -> None:
    assert about(age) == words
