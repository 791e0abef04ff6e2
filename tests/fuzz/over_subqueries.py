"""Random final views of subqueries: over groups, joins, unions, different rows, as-of joins.

In: a random generator and two logs. Out: a view, and DuckDB's answer at any commit.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.fuzz.final_views import (
    ORIGIN,
    SIZES,
    final_view,
    passed,
    rows_in_time,
    windows,
)
from tests.fuzz.streams import LATE, TIME, Log, StreamingQuery, in_time


def over_groups(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """What stands around the groups of windows: a filter, or a join of the same windows."""
    one, two = rnd.sample(logs, 2)
    late = rnd.choice([*LATE])
    size = rnd.choice(SIZES)
    parts, reads = [], dict[str, str]()
    for log in (one, two):
        ours = f"TUMBLE({log.name}, {TIME}, INTERVAL '{size}' SECOND)"
        start = f"time_bucket(INTERVAL {size} SECOND, {TIME}, {ORIGIN})"
        reads[ours] = (
            f"SELECT * FROM (SELECT *, {start} + INTERVAL {size} SECOND AS window_end"
            f" FROM {log.name}) WHERE {in_time('window_end', LATE[late])}"
        )
        parts.append("(SELECT x.window_end, x.k, count(*) AS n FROM {%d} x GROUP BY 1, 2)")
    side = rnd.choice(("", "LEFT ", "FULL ")) if rnd.random() < 0.7 else None
    if side is None:
        text = f"SELECT t.window_end, t.k, t.n FROM {parts[0] % 0} t WHERE t.n > 1"
        only = dict([*reads.items()][:1])
        names, final = ("window_end", "k", "n"), passed("window_end", LATE[late])
        return final_view(text, only, names, (one,), late, final)
    text = (
        "SELECT t.window_end, t.k, t.n, u.n AS o, u.window_end AS e FROM"
        f" {parts[0] % 0} t {side}JOIN {parts[1] % 1} u"
        " ON u.k = t.k AND u.window_end = t.window_end"
    )
    final = passed("coalesce(window_end, e)", LATE[late])
    return final_view(text, reads, ("window_end", "k", "n", "o", "e"), (one, two), late, final)


def over_join(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """A window over a subquery that joins or unites."""
    one, two = rnd.sample(logs, 2)
    late, size = rnd.choice([*LATE]), rnd.choice(SIZES)
    bound = rnd.choice((60, 1800))
    length = f"INTERVAL '{size}' SECOND"
    start = f"time_bucket(INTERVAL {size} SECOND, {TIME}, {ORIGIN})"
    rows = {
        log.name: f"SELECT * FROM (SELECT *, {start} + INTERVAL {size} SECOND AS window_end"
        f" FROM {log.name}) WHERE {in_time('window_end', LATE[late])}"
        for log in (one, two)
    }
    if rnd.random() < 0.5:
        text = "SELECT w.window_end, count(*) AS n FROM {0} w GROUP BY w.window_end"
        ours = (
            f"TUMBLE((SELECT a.id, a.{TIME} FROM {one.name} a UNION ALL SELECT b.id, b.{TIME}"
            f" FROM {two.name} b), {TIME}, {length})"
        )
        theirs = " UNION ALL ".join(f"SELECT id, window_end FROM ({w})" for w in rows.values())
        final = passed("window_end", LATE[late])
        return final_view(text, {ours: theirs}, ("window_end", "n"), (one, two), late, final)
    join = f"b ON b.k = a.k AND b.{TIME} BETWEEN a.{TIME} AND a.{TIME} + INTERVAL '{bound}' SECOND"
    ours = f"(SELECT a.id, a.{TIME} FROM {one.name} a JOIN {two.name} {join})"
    ours = f"TUMBLE({ours}, {TIME}, {length})"
    taken = rows[one.name], rows_in_time(two, late)
    theirs = f"SELECT a.id, a.window_end FROM ({taken[0]}) a JOIN ({taken[1]}) {join}"
    text = "SELECT w.window_end, count(*) AS n FROM {0} w GROUP BY w.window_end"
    final = passed("window_end", LATE[late] + bound, at_once=False)
    return final_view(text, {ours: theirs}, ("window_end", "n"), (one, two), late, final)


def over_different(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """A window over the different rows of a log, or over its groups by time."""
    log, late = rnd.choice(logs), rnd.choice([*LATE])
    ours, theirs, _ = windows(rnd, log, LATE[late])
    items, group, most = f"k, {TIME}, count(*) AS c", f" GROUP BY k, {TIME}", "max(t.c)"
    if rnd.random() < 0.5:
        items, group, most = f"DISTINCT k, {TIME}", "", "count(DISTINCT t.k)"
    ours = ours.replace(f"({log.name},", f"((SELECT {items} FROM {log.name}{group}),")
    bounds = ", window_start, window_end"
    theirs = f"SELECT {items}{bounds} FROM ({theirs}){group}{bounds if group else ''}"
    text = f"SELECT t.window_end, count(*) AS n, {most} AS m FROM {{0}} t GROUP BY t.window_end"
    final = passed("window_end", LATE[late])
    return final_view(text, {ours: theirs}, ("window_end", "n", "m"), (log,), late, final)


def over_as_of(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """A window over rows with the version that each saw."""
    one, two = rnd.sample(logs, 2)
    late, side = rnd.choice([*LATE]), rnd.choice(("", "LEFT "))
    ours, theirs, _ = windows(rnd, one, LATE[late])
    order = ["_arrived_at DESC", *(f"{c} DESC NULLS FIRST" for c in two.kinds if c != TIME)]
    versions = (
        f"SELECT * FROM ({rows_in_time(two, late)}) WHERE {TIME} IS NOT NULL QUALIFY row_number()"
        f" OVER (PARTITION BY id, {TIME} ORDER BY {', '.join(order)}) = 1"
    )
    text = (
        "SELECT t.window_end, count(*) AS n, count(u.id) AS m, max(u.id) AS o FROM {0} t ASOF"
        f" {side}JOIN {{1}} u ON t.id = u.id AND t.{TIME} >= u.{TIME} GROUP BY t.window_end"
    )
    # a version may come at the time of a row, which is at most the end of its window
    final = passed("window_end", LATE[late], at_once=False)
    reads = {ours: theirs, two.name: versions}
    return final_view(text, reads, ("window_end", "n", "m", "o"), (one, two), late, final)
