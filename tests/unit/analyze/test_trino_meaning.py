"""What Trino means otherwise is written for it; that the results agree is tested with Trino."""

import pytest

from headwater.analyze.portable.rewrites import portable
from tests.unit.analyze.small_project import view


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("dep_delay = 0e0", "(d.dep_delay + 0e0) = 0e0"),
        ("dep_delay IN (0, 1)", "(d.dep_delay + 0e0) IN (0, 1)"),
        ("dep_delay BETWEEN 0 AND 1", "(d.dep_delay + 0e0) BETWEEN 0 AND 1"),
        ("dep_delay >= 1", "(d.dep_delay >= 1 OR IS_NAN(d.dep_delay))"),
        ("dep_delay < 1", "d.dep_delay < 1"),
        ("dep_delay > distance",
         "(d.dep_delay > d.distance OR (IS_NAN(d.dep_delay) AND NOT d.distance IS NULL))"),
        ("dep_delay <> dep_delay",
         "NOT (d.dep_delay = d.dep_delay OR (IS_NAN(d.dep_delay) AND IS_NAN(d.dep_delay)))"),
        ("price > 1", "d.price > 1"),
        ("distance = 1", "d.distance = 1"),
        ("greatest(dep_delay, distance)",
         "CASE WHEN IS_NAN(d.dep_delay) AND NOT d.dep_delay IS NULL AND NOT d.distance IS NULL"
         " THEN NAN() ELSE GREATEST(d.dep_delay, d.distance) END"),
        ("greatest(price, 1)", "GREATEST(d.price, 1)"),
        ("split_part(origin, '-', 2)", "SPLIT_PART(d.origin, '-', 2)"),
        ("substr(origin, -2)", "SUBSTR(d.origin, -2)"),
        ("substr(origin, 2)", "SUBSTR(d.origin, 2)"),
        ("regexp_like(origin, 'a[$]\\$$')", "REGEXP_LIKE(d.origin, 'a[$]\\$$')"),
        ("count(*) FILTER (WHERE price > 1) OVER ()",
         "COUNT(CASE WHEN d.price > 1 THEN 1 END) OVER ()"),
        ("sum(distance) FILTER (WHERE price > 1)",
         "SUM(d.distance) FILTER(WHERE d.price > 1)"),
        ("ts + INTERVAL '250' MILLISECOND", "d.ts + INTERVAL '0.25' SECOND"),
        ("ts + INTERVAL '1.5' HOUR", "d.ts + INTERVAL '5400' SECOND"),
        ("ts + INTERVAL '2' DAY", "d.ts + INTERVAL '2' DAY"),
    ],
)  # fmt: skip
def test_what_trino_means_otherwise_is_translated(expression: str, expected: str) -> None:
    query = portable(view(f"SELECT {expression} AS x FROM departures d").query, "trino")
    assert query.selects[0].this.sql("trino") == expected
