"""Intervals written as one text, and what their words mean."""

import pytest

from headwater.dialect import parse, to_sql
from headwater.errors import SqlError

HEADER = "-- dialect: {}\n"


def canonical(interval: str, dialect: str = "trino") -> str:
    text = f"CREATE STREAMING VIEW v AS SELECT a + {interval} AS b FROM t"
    (view,) = parse(HEADER.format(dialect) + text)
    return to_sql(view, pretty=False).partition("a + ")[2].partition(" AS b")[0]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("INTERVAL '5 mins'", "INTERVAL '5' MINUTE"),
        ("INTERVAL '30s'", "INTERVAL '30' SECOND"),
        ("INTERVAL '20' mins", "INTERVAL '20' MINUTE"),
        ("INTERVAL '1 day 02:00:00'", "INTERVAL '26' HOUR"),
        ("INTERVAL '1 hour 30 minutes'", "INTERVAL '90' MINUTE"),
        ("INTERVAL '1 hour -30 minutes'", "INTERVAL '30' MINUTE"),
        ("INTERVAL '-00:00:01.5'", "INTERVAL '-1500' MILLISECOND"),
        ("INTERVAL '1 year 2 months'", "INTERVAL '14' MONTH"),
        ("INTERVAL '1.5 hours'", "INTERVAL '1.5' HOUR"),
    ],
)
def test_the_whole_text_counts(written: str, expected: str) -> None:
    assert canonical(written) == canonical(written, "postgres") == expected


def test_a_number_alone_is_seconds_in_postgres_only() -> None:
    assert canonical("INTERVAL '10'", "risingwave") == "INTERVAL '10' SECOND"
    with pytest.raises(SqlError, match="the interval is not valid"):
        canonical("INTERVAL '10'")


@pytest.mark.parametrize(
    "written",
    ["INTERVAL '1 day 2' HOUR", "INTERVAL '1 month 2 days'", "INTERVAL '5 apples'", "INTERVAL ''"],
)
def test_what_is_no_interval(written: str) -> None:
    with pytest.raises(SqlError, match="the interval is not valid"):
        canonical(written, "postgres")
