"""Group windows are windows in FROM, written otherwise."""

import pytest

from headwater.dialect import parse, to_sql
from headwater.errors import SqlError


def canonical(query: str) -> str:
    (view,) = parse(f"CREATE STREAMING VIEW v AS {query}")
    return to_sql(view, pretty=False).removeprefix("CREATE STREAMING VIEW v AS ")


@pytest.mark.parametrize(
    ("group", "window"),
    [
        (
            "SELECT TUMBLE_START(ts, INTERVAL '1' HOUR) AS b, count(*) AS n FROM t"
            " GROUP BY k, TUMBLE(ts, INTERVAL '1' HOUR)",
            "SELECT window_start AS b, count(*) AS n FROM TUMBLE(t, ts, INTERVAL '1' HOUR) AS t"
            " GROUP BY k, window_start, window_end",
        ),
        (
            "SELECT hop_end(a.ts, INTERVAL '1' MINUTE, INTERVAL '1' HOUR) AS e FROM t AS a JOIN u"
            " ON a.k = u.k GROUP BY HOP(a.ts, INTERVAL '1' MINUTE, INTERVAL '1' HOUR)",
            "SELECT window_end AS e FROM HOP(t, ts, INTERVAL '1' MINUTE, INTERVAL '1' HOUR) AS a"
            " JOIN u ON a.k = u.k GROUP BY window_start, window_end",
        ),
        (
            "SELECT SESSION_ROWTIME(ts, INTERVAL '1' HOUR) AS r FROM (SELECT k, ts FROM t) AS q"
            " GROUP BY SESSION(ts, INTERVAL '1' HOUR), k",
            "SELECT window_end - INTERVAL '1' MILLISECOND AS r FROM"
            " SESSION((SELECT k, ts FROM t) PARTITION BY k, ts, INTERVAL '1' HOUR) AS q"
            " GROUP BY k, window_start, window_end",
        ),
    ],
)
def test_a_group_window_is_a_window_in_from(group: str, window: str) -> None:
    assert canonical(group) == canonical(window)


@pytest.mark.parametrize(
    ("query", "part"),
    [
        (
            "SELECT count(*) FROM t JOIN u ON t.k = u.k GROUP BY TUMBLE(ts, INTERVAL '1' DAY)",
            "join",
        ),
        ("SELECT count(*) FROM t GROUP BY TUMBLE(ts + x, INTERVAL '1' DAY)", "a column"),
        ("SELECT count(*) FROM t GROUP BY HOP(ts, INTERVAL '1' DAY)", "lengths"),
        ("SELECT count(*) FROM t GROUP BY SESSION(ts, INTERVAL '1' DAY), upper(k)", "of columns"),
        (
            "SELECT TUMBLE_START(ts, INTERVAL '1' DAY) AS s FROM t"
            " GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)",
            "no window of GROUP BY",
        ),
    ],
)
def test_a_group_window_that_does_not_say_what_it_is_of(query: str, part: str) -> None:
    with pytest.raises(SqlError, match=part) as caught:
        canonical(query)
    assert caught.value.condition == "NOT_PORTABLE"
    assert "TUMBLE" in (caught.value.hint or "")
