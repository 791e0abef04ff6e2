"""Random views that compare times with ``watermark()``, anywhere in their SELECT.

In: a random generator and two logs. Out: a view, and DuckDB's answer at any commit: the same text,
with the watermark of the commit in the place of ``watermark()``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from tests.fuzz.oracle import for_duckdb
from tests.fuzz.recent import LENGTHS
from tests.fuzz.streams import TIME, Log, StreamingQuery

_NOW = "CAST(getvariable('w') AS TIMESTAMPTZ)"

Shape = tuple[str, tuple[str, ...]]
"""A SELECT with holes for two logs, and the names of its columns."""


def dated_query(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """Return a view whose comparisons can be dated, so that it is kept incrementally.

    Args:
        rnd: the generator.
        logs: two of them.
    """
    return _query(rnd, logs, rnd.choice(SHAPES), "incremental")


def clock_query(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """Return a view that shows the watermark itself, so that each commit computes it anew."""
    return _query(rnd, logs, rnd.choice(CLOCKS), "")


def _query(
    rnd: Random, logs: Sequence[Log], make: Callable[[Random], Shape], engine: str
) -> StreamingQuery:
    text, names = make(rnd)
    one, two = rnd.sample(logs, 2)
    used = [log for log, hole in ((one, "{one}"), (two, "{two}")) if hole in text]
    select = text.format(one=one.name, two=two.name)
    named = text.format(one=f"in_{one.name}", two=f"in_{two.name}")
    parts = ", ".join(f"in_{log.name} AS (SELECT * FROM {log.name})" for log in used)
    answer = for_duckdb(named.replace("watermark()", _NOW))
    inputs = tuple(log.name for log in used)
    return StreamingQuery(select, names, inputs, f"WITH {parts} {answer}", engine=engine)


def _compared(rnd: Random, value: str) -> str:
    """A time beside the watermark, in one of the ways to write it."""
    bound = f"INTERVAL '{rnd.choice(LENGTHS)}' SECOND"
    sign = rnd.choice(("<", "<=", ">", ">=", "=", "<>"))
    turned = sign.translate(str.maketrans("<>", "><")) if sign != "<>" else sign
    return rnd.choice(
        (
            f"{value} {sign} watermark() - {bound}",
            f"watermark() - {bound} {turned} {value}",
            f"{value} + {bound} {sign} watermark()",
            f"NOT {value} {sign} watermark()",
            f"{value} BETWEEN watermark() - {bound} AND watermark()",
        )
    )


def _having(rnd: Random) -> Shape:
    value = rnd.choice((f"max(t.{TIME})", f"min(t.{TIME})"))
    text = f"SELECT t.k, {value} AS m FROM {{one}} t GROUP BY t.k HAVING {_compared(rnd, value)}"
    return text, ("k", "m")


def _state(rnd: Random) -> Shape:
    value = rnd.choice(
        (f"max(t.{TIME})", f"min(t.{TIME})", f"coalesce(max(t.{TIME}), min(t.{TIME}))")
    )
    state = f"CASE WHEN {_compared(rnd, value)} THEN 'yes' ELSE 'no' END"
    return f"SELECT t.k, {state} AS s, count(*) AS n FROM {{one}} t GROUP BY t.k", ("k", "s", "n")


def _counted(rnd: Random) -> Shape:
    time = f"t.{TIME}"
    first, second = _compared(rnd, time), _compared(rnd, time)
    calls = f"count(*) FILTER (WHERE {first}) AS a, count(*) FILTER (WHERE {second}) AS b"
    some = f" WHERE {time} > watermark() - INTERVAL '1' HOUR" if rnd.random() < 0.5 else ""
    return f"SELECT t.k, {calls} FROM {{one}} t{some} GROUP BY t.k", ("k", "a", "b")


def _rows(rnd: Random) -> Shape:
    first, second = _compared(rnd, f"t.{TIME}"), _compared(rnd, f"t.{TIME}")
    text = f"SELECT t.id, {first} AS a FROM {{one}} t WHERE t.id > 2 OR {second}"
    return text, ("id", "a")


def _below(rnd: Random) -> Shape:
    inner = f"SELECT t.k, max(t.{TIME}) AS m FROM {{one}} t GROUP BY t.k"
    text = f"SELECT q.k, q.m FROM ({inner}) q WHERE q.m IS NULL OR {_compared(rnd, 'q.m')}"
    return text, ("k", "m")


def _joined(rnd: Random) -> Shape:
    side = rnd.choice(("", "LEFT ", "FULL "))
    on = f"u.k = t.k AND {_compared(rnd, f'u.{TIME}')}"
    return f"SELECT t.id, u.id AS o FROM {{one}} t {side}JOIN {{two}} u ON {on}", ("id", "o")


def _silent(rnd: Random) -> Shape:
    other = rnd.choice(("{one}", "{two}"))
    found = f"SELECT 1 FROM {other} u WHERE u.k = t.k AND {_compared(rnd, f'u.{TIME}')}"
    return f"SELECT DISTINCT t.k FROM {{one}} t WHERE NOT EXISTS ({found})", ("k",)


def _last(rnd: Random) -> Shape:
    value = f"(SELECT max(u.{TIME}) FROM {{two}} u WHERE u.k = t.k)"
    return f"SELECT t.id FROM {{one}} t WHERE {_compared(rnd, value)}", ("id",)


def _newest(rnd: Random) -> Shape:
    number = f"row_number() OVER (PARTITION BY t.k ORDER BY t.{TIME} DESC, t.id)"
    inner = f"SELECT t.id, t.{TIME} AS m, {number} AS n FROM {{one}} t"
    return f"SELECT q.id FROM ({inner}) q WHERE q.n = 1 AND {_compared(rnd, 'q.m')}", ("id",)


def _shown(rnd: Random) -> Shape:
    value = rnd.choice((f"max(t.{TIME})", f"min(t.{TIME})"))
    late = f"{value} < date_trunc('hour', watermark())"
    return f"SELECT t.k, {late} AS a, watermark() AS w FROM {{one}} t GROUP BY t.k", ("k", "a", "w")


def _since(rnd: Random) -> Shape:
    text = f"SELECT t.id FROM {{one}} t WHERE t.{TIME} >= date_trunc('hour', watermark())"
    return text, ("id",)


SHAPES = (_having, _state, _counted, _rows, _below, _joined, _silent, _last, _newest)
CLOCKS = (_shown, _since)
