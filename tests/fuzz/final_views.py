"""What the random final views are made of: the rows in time, and of the answer what is final.

In: a log, a clause, the text of a SELECT. Out: a view, and DuckDB's answer at any commit.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from tests.fuzz.expressions import condition
from tests.fuzz.oracle import for_duckdb
from tests.fuzz.streams import LATE, TIME, Log, StreamingQuery, in_time, late_clause

SIZES = (60, 600, 3600)
ORIGIN = "TIMESTAMPTZ '2000-01-01 00:00:00+00'"


def windows(rnd: Random, log: Log, allowed: int) -> tuple[str, str, int]:
    """A window table as we write it, and its rows in time as DuckDB writes them; and its size."""
    size, count = rnd.choice(SIZES), rnd.choice((1, 1, 2, 3))
    slide = size // count
    lengths = f"INTERVAL '{slide}' SECOND" + f", INTERVAL '{size}' SECOND" * (count > 1)
    ours = f"{'HOP' if count > 1 else 'TUMBLE'}({log.name}, {TIME}, {lengths})"
    starts = [
        f"time_bucket(INTERVAL {slide} SECOND, {TIME}, {ORIGIN}) - INTERVAL {slide * n} SECOND"
        for n in range(count)
    ]
    theirs = (
        f"SELECT * FROM (SELECT *, window_start + INTERVAL {size} SECOND AS window_end FROM"
        f" (SELECT *, unnest([{', '.join(starts)}]) AS window_start FROM {log.name}"
        f" WHERE {TIME} IS NOT NULL)) WHERE {in_time('window_end', allowed)}"
    )
    return ours, theirs, size


def final_view(
    text: str,
    reads: dict[str, str],
    names: tuple[str, ...],
    logs: Iterable[Log],
    late: str,
    final: str,
) -> StreamingQuery:
    """A view whose answer is its SELECT over the rows in time, of it what is final.

    Args:
        text: the SELECT with holes for what it reads.
        reads: what it reads as we write it, and its rows in time as DuckDB writes them.
    """
    parts = [f"read{n} AS ({rows})" for n, rows in enumerate(reads.values())]
    named = for_duckdb(text.format(*(f"read{n}" for n in range(len(reads)))))
    answer = f"WITH {', '.join(parts)} SELECT * FROM ({named}) WHERE {final}"
    return StreamingQuery(
        text.format(*reads),
        names,
        tuple(log.name for log in logs),
        answer,
        late_clause(late),
        " EMIT ON WINDOW CLOSE",
        engine="incremental",
    )


def rows_in_time(log: Log, late: str) -> str:
    """The rows of a log that came before the watermark was past them."""
    limit = f"{TIME} + INTERVAL {LATE[late]} SECOND"
    return f"SELECT * FROM {log.name} WHERE (_watermark IS NULL OR {limit} >= _watermark)"


def passed(close: str, after: int, *, at_once: bool = True) -> str:
    """The condition that the watermark of the commit is past a time by some seconds.

    Args:
        at_once: whether the time itself is enough: nothing comes at it any more.
    """
    least = f"{close} + INTERVAL {after} SECOND"
    if not at_once:
        least += " + INTERVAL 1 MICROSECOND"
    return f"{least} <= getvariable('w')"


def random_where(rnd: Random, log: Log) -> str:
    return f" WHERE {condition(rnd, log.columns('t'))}" if rnd.random() < 0.4 else ""
