"""Random views whose rows are final: windows, moving aggregates, ranks, joins, one over another.

In: a random generator and two logs. Out: a view, and DuckDB's answer at any commit: over the rows
in time, of it what is final by the watermark of the commit. When a row is late and when a result is
final is written here from what ``docs/concepts/watermarks-and-lateness.md`` says, with no code of
the product.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from tests.fuzz.as_of import as_of_query
from tests.fuzz.expressions import aggregate, condition
from tests.fuzz.final_views import (
    ORIGIN,
    SIZES,
    final_view,
    passed,
    random_where,
    rows_in_time,
    windows,
)
from tests.fuzz.over_subqueries import over_as_of, over_different, over_groups, over_join
from tests.fuzz.streams import LATE, TIME, Log, StreamingQuery, in_time


def closing_query(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """Return a view whose rows are appended once they are final.

    Args:
        rnd: the generator.
        logs: two of them.
    """
    query = rnd.choice(SHAPES)(rnd, logs)
    return _through_views(query) if rnd.random() < 0.25 else query


def _through_views(query: StreamingQuery) -> StreamingQuery:
    """The same over views that pass on the rows of the logs."""
    select, views = query.select, ""
    for name in query.inputs:
        views += f"CREATE STREAMING VIEW {name}_seen AS SELECT * FROM {name};\n"
        select = re.sub(rf"\b{name}\b", f"{name}_seen", select)
    return replace(query, select=select, views=views)


def _window(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """Any aggregate of a window, of distinct values too."""
    log, late = rnd.choice(logs), rnd.choice([*LATE])
    ours, theirs, _ = windows(rnd, log, LATE[late])
    columns = log.columns("t")
    keys = rnd.sample(columns, rnd.randint(0, 2))
    calls = [
        aggregate(rnd, columns, rnd.choice(["number", log.kinds["k"]]))
        for _ in range(rnd.randint(1, 3))
    ]
    items = ["t.window_end", *(f"{each.text} AS k{n}" for n, each in enumerate(keys))]
    items += [f"{call} AS c{n}" for n, call in enumerate(calls)]
    group = ", ".join(["t.window_end", *(each.text for each in keys)])
    having = f" HAVING count(*) > {rnd.randint(1, 2)}" if rnd.random() < 0.25 else ""
    text = (
        f"SELECT {', '.join(items)} FROM {{0}} t{random_where(rnd, log)} GROUP BY {group}{having}"
    )
    names = ("window_end", *(f"k{n}" for n in range(len(keys))))
    names += tuple(f"c{n}" for n in range(len(calls)))
    final = passed("window_end", LATE[late])
    return final_view(text, {ours: theirs}, names, (log,), late, final)


def _ranked(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """The first groups of each window."""
    log, late = rnd.choice(logs), rnd.choice([*LATE])
    ours, theirs, _ = windows(rnd, log, LATE[late])
    text = (
        "SELECT g.window_end, g.k, g.n FROM (SELECT t.window_end, t.k, count(*) AS n FROM {0} t"
        f"{random_where(rnd, log)} GROUP BY t.window_end, t.k) g QUALIFY"
        f" {rnd.choice(('rank', 'dense_rank'))}() OVER (PARTITION BY g.window_end"
        f" ORDER BY g.n DESC) <= {rnd.randint(1, 2)}"
    )
    final = passed("window_end", LATE[late])
    return final_view(text, {ours: theirs}, ("window_end", "k", "n"), (log,), late, final)


def _coarser(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """Windows over windows that are grouped by the day of their end or their start."""
    log, late = rnd.choice(logs), rnd.choice([*LATE])
    ours, theirs, size = windows(rnd, log, LATE[late])
    bound = rnd.choice(("window_start", "window_end"))
    text = (
        f"SELECT g.b, sum(g.n) AS n, max(g.n) AS m FROM (SELECT t.{bound} AS b, t.k, count(*) AS n"
        " FROM {0} t GROUP BY t.window_start, t.window_end, t.k) g GROUP BY g.b"
    )
    lag = size if bound == "window_start" else 0
    final = passed("b", LATE[late] + lag)
    return final_view(text, {ours: theirs}, ("b", "n", "m"), (log,), late, final)


def _moving(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """A frame of event time before each row, or around it."""
    log, late = rnd.choice(logs), rnd.choice([*LATE])
    before, after = rnd.choice((60, 300, 1800)), rnd.choice((0, 0, 60))
    end = f"INTERVAL '{after}' SECOND FOLLOWING" if after else "CURRENT ROW"
    partition = f"PARTITION BY t.{rnd.choice(('k', 'x'))} " if rnd.random() < 0.7 else ""
    calls = (
        f"count(*) OVER ({partition}ORDER BY t.{TIME} RANGE BETWEEN INTERVAL '{before}' SECOND"
        f" PRECEDING AND {end})",
        f"max(t.id) OVER ({partition}ORDER BY t.{TIME} RANGE BETWEEN UNBOUNDED PRECEDING AND"
        " CURRENT ROW)",
        f"rank() OVER ({partition}ORDER BY t.{TIME})",
    )
    chosen = rnd.sample(calls, rnd.randint(1, 2))
    items = [f"t.id, t.k, t.{TIME}", *(f"{call} AS c{n}" for n, call in enumerate(chosen))]
    text = f"SELECT {', '.join(items)} FROM {{0}} t{random_where(rnd, log)}"
    names = ("id", "k", TIME, *(f"c{n}" for n in range(len(chosen))))
    ahead = after if calls[0] in chosen else 0
    final = passed(TIME, LATE[late] + ahead, at_once=False)
    rows = rows_in_time(log, late)
    return final_view(text, {log.name: rows}, names, (log,), late, final)


def _moving_in_windows(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """A row of a window, beside those before it: it may come until its window is over."""
    log, late = rnd.choice(logs), rnd.choice([*LATE])
    size = rnd.choice(SIZES)
    ours = f"TUMBLE({log.name}, {TIME}, INTERVAL '{size}' SECOND)"
    start = f"time_bucket(INTERVAL {size} SECOND, {TIME}, {ORIGIN})"
    theirs = (
        f"SELECT * FROM (SELECT *, {start} + INTERVAL {size} SECOND AS window_end FROM {log.name}"
        f" WHERE {TIME} IS NOT NULL) WHERE {in_time('window_end', LATE[late])}"
    )
    text = (
        f"SELECT t.id, t.{TIME}, rank() OVER (PARTITION BY t.k ORDER BY t.{TIME}) AS c FROM {{0}} t"
        f"{random_where(rnd, log)}"
    )
    final = passed(TIME, LATE[late] + size)  # its window is over by then at the latest
    return final_view(text, {ours: theirs}, ("id", TIME, "c"), (log,), late, final)


def _joined(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """A window over the pairs of an interval join."""
    one, two = rnd.sample(logs, 2)
    late = rnd.choice([*LATE])
    lower, upper = sorted(rnd.choice((-1800, -300, 0, 60, 300)) for _ in range(2))
    ours, theirs, _ = windows(rnd, one, LATE[late])
    other = rows_in_time(two, late)
    text = (
        f"SELECT t.window_end, count(*) AS n, max(u.id) AS m FROM {{0}} t JOIN {{1}} u"
        f" ON u.k = t.k AND u.{TIME} BETWEEN t.{TIME} + INTERVAL '{lower}' SECOND"
        f" AND t.{TIME} + INTERVAL '{upper}' SECOND GROUP BY t.window_end"
    )
    # the time of t is at most the end of its window, and u may come at the bound itself
    final = passed("window_end", LATE[late] + max(upper, 0), at_once=upper < 0)
    reads = {ours: theirs, two.name: other}
    return final_view(text, reads, ("window_end", "n", "m"), (one, two), late, final)


def _distinct(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """Different rows, of one log or of both."""
    late = rnd.choice([*LATE])
    used = rnd.sample(logs, 1)
    items = ", ".join(f"t.{name}" for name in ("k", TIME))
    text = f"SELECT DISTINCT {items} FROM {{0}} t{random_where(rnd, used[0])}"
    rows = rows_in_time(used[0], late)
    final = passed(TIME, LATE[late], at_once=False)
    return final_view(text, {used[0].name: rows}, ("k", TIME), used, late, final)


def _pairs(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """A join of any side, of a log with the other one or with itself: pairs at once."""
    one, two = rnd.sample(logs, 2) if rnd.random() < 0.8 else [rnd.choice(logs)] * 2
    late, side = rnd.choice([*LATE]), rnd.choice(("", "LEFT ", "LEFT ", "RIGHT ", "FULL "))
    lower, upper = sorted(rnd.choice((-1800, -300, 0, 60, 300)) for _ in range(2))
    terms = [
        "u.k = t.k",
        f"u.{TIME} BETWEEN t.{TIME} + INTERVAL '{lower}' SECOND"
        f" AND t.{TIME} + INTERVAL '{upper}' SECOND",
    ]
    if rnd.random() < 0.3:
        sides = (one.columns("t"), two.columns("u"))
        terms.append(f"({condition(rnd, rnd.choice((*sides, sides[0] + sides[1])))})")
    text = (
        f"SELECT t.id, u.id AS other, t.{TIME}, u.{TIME} AS u_{TIME} FROM {{0}} t"
        f" {side}JOIN {{1}} u ON {' AND '.join(terms)}"
    )
    # a row waits for itself and for what it can meet; of a FULL JOIN both sides wait as long
    ahead = {"LEFT ": (0, upper), "RIGHT ": (0, -lower)}.get(side, (0, upper, -lower))
    waits = passed(f"coalesce({TIME}, u_{TIME})", LATE[late] + max(ahead), at_once=False)
    final = f"({TIME} IS NOT NULL AND u_{TIME} IS NOT NULL) OR {waits}"
    reads = {one.name: rows_in_time(one, late), two.name: rows_in_time(two, late)}
    if one is two:
        text = text.replace("{1}", "{0}")
        reads = {one.name: rows_in_time(one, late)}
    names = ("id", "other", TIME, f"u_{TIME}")
    return final_view(text, reads, names, {one.name: one, two.name: two}.values(), late, final)


def _found(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """Rows for which the other log has one within a time, or none."""
    one, two = rnd.sample(logs, 2)
    late = rnd.choice([*LATE])
    lower, upper = sorted(rnd.choice((-300, 0, 60, 300)) for _ in range(2))
    exists = rnd.choice(("EXISTS", "NOT EXISTS"))
    text = (
        f"SELECT t.id, t.{TIME} FROM {{0}} t WHERE {exists} (SELECT 1 FROM {{1}} u WHERE"
        f" u.k = t.k AND u.{TIME} BETWEEN t.{TIME} + INTERVAL '{lower}' SECOND"
        f" AND t.{TIME} + INTERVAL '{upper}' SECOND)"
    )
    final = passed(TIME, LATE[late] + max(upper, 0), at_once=False)
    reads = {one.name: rows_in_time(one, late), two.name: rows_in_time(two, late)}
    return final_view(text, reads, ("id", TIME), (one, two), late, final)


def _found_in_window(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """Rows for which the other log has one in the same window, or none."""
    late, size = rnd.choice([*LATE]), rnd.choice(SIZES)
    reads = dict[str, str]()
    for log in rnd.sample(logs, 2):
        start = f"time_bucket(INTERVAL {size} SECOND, {TIME}, {ORIGIN})"
        reads[f"TUMBLE({log.name}, {TIME}, INTERVAL '{size}' SECOND)"] = (
            f"SELECT * FROM (SELECT *, {start} + INTERVAL {size} SECOND AS window_end"
            f" FROM {log.name}) WHERE {in_time('window_end', LATE[late])}"
        )
    exists = rnd.choice(("EXISTS", "NOT EXISTS"))
    text = (
        f"SELECT t.id, t.window_end FROM {{0}} t WHERE {exists} (SELECT 1 FROM {{1}} u WHERE"
        " u.k = t.k AND u.window_end = t.window_end)"
    )
    final = passed("window_end", LATE[late])
    return final_view(text, reads, ("id", "window_end"), logs, late, final)


def _three(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """A row with what follows it in both logs."""
    one, two = rnd.sample(logs, 2)
    late = rnd.choice([*LATE])
    bounds = rnd.sample((60, 300, 1800), 2)
    sides = [rnd.choice(("", "LEFT ")) for _ in bounds]
    text = f"SELECT t.id, u.id AS b, v.id AS c, t.{TIME}, u.{TIME} AS p, v.{TIME} AS q FROM {{0}} t"
    for name, alias, side, bound in zip("10", "uv", sides, bounds, strict=True):
        text += (
            f" {side}JOIN {{{name}}} {alias} ON {alias}.k = t.k AND {alias}.{TIME} BETWEEN"
            f" t.{TIME} AND t.{TIME} + INTERVAL '{bound}' SECOND"
        )
    date, after = TIME, max(bounds)
    if len({*sides}) == 2:
        # what must be there is not before the first row, so it can date the row too, and does where
        # that makes it final sooner
        found, sought = (bounds[sides.index(side)] for side in ("", "LEFT "))
        if sought < found:
            date, after = ("p", "q")[sides.index("")], sought
    waits = passed(date, LATE[late] + after, at_once=False)
    final = f"(p IS NOT NULL AND q IS NOT NULL) OR {waits}"
    reads = {one.name: rows_in_time(one, late), two.name: rows_in_time(two, late)}
    return final_view(text, reads, ("id", "b", "c", TIME, "p", "q"), (one, two), late, final)


def _cumulated(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """Windows that grow by a step."""
    log, late = rnd.choice(logs), rnd.choice([*LATE])
    size, count = rnd.choice(SIZES), rnd.choice((2, 3, 6))
    step = size // count
    ours = f"CUMULATE({log.name}, {TIME}, INTERVAL '{step}' SECOND, INTERVAL '{size}' SECOND)"
    start = f"time_bucket(INTERVAL {size} SECOND, {TIME}, {ORIGIN})"
    ends = ", ".join(f"{start} + INTERVAL {step * (n + 1)} SECOND" for n in range(count))
    theirs = (
        f"SELECT * FROM (SELECT *, {start} AS window_start, unnest([{ends}]) AS window_end"
        f" FROM {log.name} WHERE {TIME} IS NOT NULL) WHERE window_end > {TIME}"
        f" AND {in_time('window_end', LATE[late])}"
    )
    text = (
        "SELECT t.window_start, t.window_end, t.k, count(*) AS n FROM {0} t"
        f"{random_where(rnd, log)} GROUP BY t.window_start, t.window_end, t.k"
    )
    names = ("window_start", "window_end", "k", "n")
    final = passed("window_end", LATE[late])
    return final_view(text, {ours: theirs}, names, (log,), late, final)


def _calendar(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """Days and months of a time zone."""
    log, late = rnd.choice(logs), rnd.choice([*LATE])
    unit, zone = rnd.choice(("DAY", "MONTH")), rnd.choice(("", "Europe/Berlin", "Asia/Kolkata"))
    if unit == "DAY" and not zone:
        zone = "America/New_York"
    ours = f"TUMBLE({log.name}, {TIME}, INTERVAL '1' {unit}" + (f", '{zone}')" if zone else ")")
    local = f"timezone('{zone or 'UTC'}', {TIME})"
    start = f"date_trunc('{unit}', {local})"
    start, end = (
        f"timezone('{zone or 'UTC'}', {each})" for each in (start, f"{start} + INTERVAL 1 {unit}")
    )
    theirs = (
        f"SELECT * FROM (SELECT *, {start} AS window_start, {end} AS window_end FROM {log.name}"
        f" WHERE {TIME} IS NOT NULL) WHERE {in_time('window_end', LATE[late])}"
    )
    text = (
        f"SELECT t.window_start, t.window_end, count(*) AS n FROM {{0}} t{random_where(rnd, log)}"
        " GROUP BY t.window_start, t.window_end"
    )
    names, final = ("window_start", "window_end", "n"), passed("window_end", LATE[late])
    return final_view(text, {ours: theirs}, names, (log,), late, final)


def _session(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """Sessions, of keys or of all rows, by recursion over the rows in order."""
    log, late = rnd.choice(logs), rnd.choice([*LATE])
    gap, keyed = rnd.choice((30, 300, 1800)), rnd.random() < 0.8
    partition = " PARTITION BY k" if keyed else ""
    ours = f"SESSION({log.name}{partition}, {TIME}, INTERVAL '{gap}' SECOND)"
    # a row begins a session if no other of its key came less than the gap before it
    same = "b.k IS NOT DISTINCT FROM a.k AND " if keyed else ""
    rows = f"(SELECT * FROM ({rows_in_time(log, late)}) WHERE {TIME} IS NOT NULL)"
    starts = (
        f"SELECT DISTINCT {'k, ' if keyed else ''}{TIME} AS s FROM {rows} a WHERE NOT EXISTS"
        f" (FROM {rows} b WHERE {same}b.{TIME} < a.{TIME}"
        f" AND b.{TIME} > a.{TIME} - INTERVAL {gap} SECOND)"
    )
    within = f"{'s.k IS NOT DISTINCT FROM r.k AND ' if keyed else ''}s.s <= r.{TIME}"
    theirs = (
        f"SELECT *, max({TIME}) OVER (PARTITION BY {'k, ' if keyed else ''}window_start)"
        f" + INTERVAL {gap} SECOND AS window_end FROM (SELECT r.*, (SELECT max(s.s) FROM ({starts})"
        f" s WHERE {within}) AS window_start FROM {rows} r)"
    )
    key = "t.k, " if keyed else ""
    text = (
        f"SELECT {key}t.window_start, t.window_end, count(*) AS n, max(t.id) AS m FROM {{0}} t"
        f" GROUP BY {key}t.window_start, t.window_end"
    )
    names = (*(("k",) if keyed else ()), "window_start", "window_end", "n", "m")
    final = passed("window_end", LATE[late])
    return final_view(text, {ours: theirs}, names, (log,), late, final)


SHAPES: tuple[Callable[[Random, Sequence[Log]], StreamingQuery], ...] = (
    _window,
    _window,
    _ranked,
    _coarser,
    _moving,
    _moving_in_windows,
    _joined,
    _distinct,
    _pairs,
    _pairs,
    _found,
    _found_in_window,
    _three,
    _cumulated,
    _calendar,
    _session,
    over_groups,
    over_join,
    over_different,
    as_of_query,
    as_of_query,
    over_as_of,
)
