"""SQL text that cannot be broken out of, and option texts."""

from __future__ import annotations

from datetime import timedelta

import pytest

from headwater.errors import ConfigError
from headwater.plan.sql.spark_text import at, interval, micros, name, text


def test_names_and_texts_are_quoted():
    assert name("a`b") == "`a``b`"
    assert text("it's a \\ b") == "'it\\'s a \\\\ b'"
    assert at(5) == "timestamp_micros(5)"
    assert at(5, "TIMESTAMP_NTZ") == "CAST(timestamp_micros(5) AS TIMESTAMP_NTZ)"


def test_intervals_are_read_in_any_unit():
    assert interval("90 seconds") == timedelta(seconds=90)
    assert interval(" 1.5 HOURS ") == timedelta(minutes=90)
    assert interval("1 day") == timedelta(days=1)
    assert micros(timedelta(milliseconds=2)) == 2000
    for bad in ("", "soon", "5", "-1 second", "1 fortnight"):
        with pytest.raises(ConfigError):
            interval(bad)
