"""Random views that are corrected: of all rows, or of those that the watermark has not passed.

In: a random generator and two logs. Out: a view, and DuckDB's answer at any commit: the SELECT over
the rows, or over those that are not too far behind the watermark of the commit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from tests.fuzz.expressions import aggregate, condition
from tests.fuzz.oracle import for_duckdb
from tests.fuzz.streams import TIME, Log, StreamingQuery

LENGTHS = (0, 60, 600, 3600)
"""How far behind a row may be, in seconds."""

_NOW = "CAST(getvariable('w') AS TIMESTAMPTZ)"


def recent_query(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """Return a view that reads the newest rows of one log, or of both.

    Args:
        rnd: the generator.
        logs: two of them.
    """
    text, names, used = _shape(rnd, logs)
    ours, theirs = dict[str, str](), dict[str, str]()
    for log in used:
        length, sign = rnd.choice(LENGTHS), rnd.choice((">", ">="))
        bound = f"INTERVAL '{length}' SECOND"
        terms = rnd.choice(
            (
                f"{TIME} {sign} watermark() - {bound}",
                f"watermark() - {bound} {sign.replace('>', '<')} {TIME}",
                f"{TIME} + {bound} {sign} watermark()",
            )
        )
        ours[log.name] = f"(SELECT * FROM {log.name} WHERE {terms})"
        theirs[f"in_{log.name}"] = f"SELECT * FROM {log.name} WHERE {TIME} {sign} {_NOW} - {bound}"
    parts = ", ".join(f"{name} AS ({rows})" for name, rows in theirs.items())
    named = for_duckdb(text.format(**{log.name: f"in_{log.name}" for log in used}))
    return StreamingQuery(
        text.format(**ours),
        names,
        tuple(log.name for log in used),
        f"WITH {parts} {named}",
        engine="incremental",
    )


def corrected_query(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """Return a view that reads all rows of one log, or of both.

    Args:
        rnd: the generator.
        logs: two of them.
    """
    text, names, used = _shape(rnd, logs)
    select = text.format(**{log.name: log.name for log in used})
    inputs = tuple(log.name for log in used)
    return StreamingQuery(select, names, inputs, for_duckdb(select), engine="incremental")


def _shape(rnd: Random, logs: Sequence[Log]) -> Shape:
    text, names, used = rnd.choice(SHAPES)(rnd, rnd.sample(logs, 2))
    return (f"SELECT q.* FROM ({text}) q" if rnd.random() < 0.5 else text), names, used


Shape = tuple[str, tuple[str, ...], tuple[Log, ...]]
"""A SELECT with holes for what it reads, the names of its columns, and what it reads."""


def _of(log: Log) -> str:
    return f"{{{log.name}}}"


def _where(rnd: Random, log: Log) -> str:
    return f" WHERE {condition(rnd, log.columns('t'))}" if rnd.random() < 0.4 else ""


def _rows(rnd: Random, logs: Sequence[Log]) -> Shape:
    log = logs[0]
    return (
        f"SELECT t.id, t.k, t.{TIME} FROM {_of(log)} t{_where(rnd, log)}",
        ("id", "k", TIME),
        (log,),
    )


def _groups(rnd: Random, logs: Sequence[Log]) -> Shape:
    log = logs[0]
    kinds = ["number", log.kinds["k"]]
    calls = [aggregate(rnd, log.columns("t"), rnd.choice(kinds)) for _ in range(rnd.randint(1, 3))]
    items = ["t.k", *(f"{call} AS c{n}" for n, call in enumerate(calls))]
    names = ("k", *(f"c{n}" for n in range(len(calls))))
    text = f"SELECT {', '.join(items)} FROM {_of(log)} t{_where(rnd, log)} GROUP BY t.k"
    return text, names, (log,)


def _counted(rnd: Random, logs: Sequence[Log]) -> Shape:
    log = logs[0]
    return f"SELECT count(*) AS n, max(t.{TIME}) AS m FROM {_of(log)} t", ("n", "m"), (log,)


def _first(rnd: Random, logs: Sequence[Log]) -> Shape:
    log = logs[0]
    text = (
        f"SELECT t.id, t.k, t.{TIME} FROM {_of(log)} t QUALIFY"
        f" rank() OVER (PARTITION BY t.k ORDER BY t.{TIME} DESC) <= {rnd.randint(1, 2)}"
    )
    return text, ("id", "k", TIME), (log,)


def _joined(rnd: Random, logs: Sequence[Log]) -> Shape:
    one, two = logs
    side = rnd.choice(("", "LEFT ", "FULL "))
    text = f"SELECT t.id, u.id AS other FROM {_of(one)} t {side}JOIN {_of(two)} u ON u.k = t.k"
    return text, ("id", "other"), (one, two)


def _found(rnd: Random, logs: Sequence[Log]) -> Shape:
    one, two = logs
    exists = rnd.choice(("EXISTS", "NOT EXISTS"))
    text = (
        f"SELECT t.id FROM {_of(one)} t WHERE {exists} (SELECT 1 FROM {_of(two)} u WHERE u.k = t.k)"
    )
    return text, ("id",), (one, two)


def _united(rnd: Random, logs: Sequence[Log]) -> Shape:
    one, two = logs
    every = rnd.choice(("UNION ALL", "UNION", "EXCEPT"))
    text = f"SELECT t.id FROM {_of(one)} t {every} SELECT t.id FROM {_of(two)} t"
    return text, ("id",), (one, two)


SHAPES: tuple[Callable[[Random, Sequence[Log]], Shape], ...] = (
    _rows,
    _groups,
    _groups,
    _counted,
    _first,
    _joined,
    _found,
    _united,
    _united,
    _united,
)
