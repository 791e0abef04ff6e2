"""Random streaming views: windows that close, interval joins, DISTINCT in time, what has no state.

In: a random generator. Out: two logs with watermarks, and views over them, each with its answer at
any commit as DuckDB gives it: over the rows in time, by the watermark of the commit. What is in
time and what is final is written here from what ``docs/reference/sql`` says, with no code of the
product.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from tests.fuzz.expressions import Column, aggregate, condition, value
from tests.fuzz.oracle import for_duckdb
from tests.fuzz.schemas import KINDS, Row, type_of

SECOND = timedelta(seconds=1)
LOGS, TIME = ("d", "l"), "ts"
LATE = {"": 0, "DROP": 0, "ACCEPT FOR INTERVAL '5' MINUTE": 300}
"""What LATE ROWS can be, and how many seconds later than the watermark allows a row may come."""
_KINDS = ("text", "number", "small", "float", "money", "flag", "day")
_DELAYS, _BOUNDS = (0, 60, 600), (-1800, -300, -1, 0, 60, 300, 1800)
_BEHIND = (0, 0, 30, 60, 300, 600, 1800, 7200)
_JITTER = (0, 0, -1, 1, 999, -1000)
"""Microseconds: Spark counts watermarks in milliseconds."""


@dataclass(frozen=True, slots=True)
class Log:
    """A table that gains rows.

    Attributes:
        name: its name.
        kinds: the kind of each column by name; the first is ``id``, the last the event time.
        delay: how far its watermark stays behind, in seconds.
        kept: whether its rows land; a view of a SOURCE has no stamps to read.
    """

    name: str
    kinds: Mapping[str, str]
    delay: int
    kept: bool = True

    @property
    def table(self) -> str:
        """The name of the table that its rows land in."""
        return self.name

    @property
    def hidden(self) -> dict[str, str]:
        """The columns that nobody declares and that stand before its own, and their types."""
        return {}

    @property
    def definition(self) -> str:
        """The statement."""
        items = [f"{column} {type_of(kind)}" for column, kind in self.kinds.items()]
        items.append(f"WATERMARK FOR {TIME} AS {TIME} - INTERVAL '{self.delay}' SECOND")
        place = f"WITH (connector = 'files', path = '{self.name}')"
        kind = "TABLE" if self.kept else "SOURCE"
        return f"CREATE {kind} {self.name} ({', '.join(items)}) {place} FORMAT PLAIN ENCODE JSON;\n"

    def columns(self, alias: str) -> list[Column]:
        """What expressions over one of its rows can name, but the event time."""
        return [Column(f"{alias}.{c}", kind) for c, kind in self.kinds.items() if c != TIME]

    def row(self, rnd: Random, clock: datetime) -> Row:
        """A row whose event time is about a time, or before it."""
        values = [rnd.choice(KINDS[kind].values) for c, kind in self.kinds.items() if c != TIME]
        late = rnd.choice(_BEHIND) * SECOND - rnd.choice(_JITTER) * timedelta(microseconds=1)
        return (*values, None if rnd.random() < 0.05 else clock - late)


@dataclass(frozen=True, slots=True)
class KeyedTable(Log):
    """A keyed table: the log holds its changes, some of which delete.

    Attributes:
        key: its primary key.
        leaves_out: whether a change may leave texts out that did not change.
    """

    key: str = "id"
    leaves_out: bool = False

    @property
    def table(self) -> str:
        """The name of the log."""
        return f"{self.name}__changes"

    @property
    def texts(self) -> list[str]:
        """The columns that a change may leave out."""
        found = (column for column, kind in self.kinds.items() if kind == "text")
        return [column for column in found if self.leaves_out and column != self.key]

    @property
    def hidden(self) -> dict[str, str]:
        """The columns of the log that nobody declares, and their types."""
        unchanged = {"_unchanged": "VARCHAR"} if self.texts else {}
        return {"_change_type": "VARCHAR", **unchanged, "_path": "VARCHAR", "_row": "BIGINT"}

    @property
    def definition(self) -> str:
        """The statement."""
        items = [f"{c} {type_of(kind)}" for c, kind in self.kinds.items() if c != TIME]
        said = "METADATA FROM 'source.ts_ms'" if self.leaves_out else "NOT NULL"
        items.append(f"{TIME} {type_of(self.kinds[TIME])} {said}")
        items.append(f"WATERMARK FOR {TIME} AS {TIME} - INTERVAL '{self.delay}' SECOND")
        items.append(f"PRIMARY KEY ({self.key})")
        read = "FORMAT UPSERT ENCODE JSON (delete_field = 'op')"
        if self.leaves_out:
            read = "FORMAT DEBEZIUM ENCODE JSON (decimals = 'string', times = 'isostring')"
        place = f"WITH (connector = 'files', path = '{self.name}')"
        return f"CREATE TABLE {self.name} ({', '.join(items)}) {place} {read};\n"

    def row(self, rnd: Random, clock: datetime) -> Row:
        """A change, whose place in the input has nothing to do with when it comes."""
        at = [*self.kinds].index(self.key)
        key = rnd.choice([each for each in KINDS[self.kinds[self.key]].values if each is not None])
        values = [*super(KeyedTable, self).row(rnd, clock)]
        values[at], values[-1] = key, values[-1] or clock
        deletes, left_out = rnd.random() < 0.25, ""
        if deletes and (self.leaves_out or rnd.random() < 0.5):
            values[:-1] = [key if n == at else None for n, _ in enumerate(values[:-1])]
        elif not deletes and self.texts:
            absent = [column for column in self.texts if rnd.random() < 0.5]
            left_out = ",".join(absent)
            names = [*self.kinds]
            values = [None if names[n] in absent else v for n, v in enumerate(values)]
        kind = "DELETE" if deletes else "UPSERT"
        place = (f"{rnd.randrange(3)}", rnd.randrange(10**12))
        return (kind, *([left_out] if self.texts else []), *place, *values)


@dataclass(frozen=True, slots=True)
class StreamingQuery:
    """A view to try.

    Attributes:
        select: its SELECT.
        columns: names of its columns.
        inputs: the logs it reads.
        answer: DuckDB's SELECT over the logs, each with ``_watermark``; ``getvariable('w')`` is the
            watermark of the commit.
        clauses: what stands before AS.
        emit: what stands behind the SELECT.
        engine: what keeps it; empty to let the planner decide.
        views: the statements of the views that it reads.
    """

    select: str
    columns: tuple[str, ...]
    inputs: tuple[str, ...]
    answer: str
    clauses: str = ""
    emit: str = ""
    engine: str = "streaming"
    views: str = ""

    def definition(self, name: str) -> str:
        """The statement that makes it a view, after those of the views that it reads.

        Args:
            name: of the view.
        """
        options = f" WITH (engine = '{self.engine}')" if self.engine else ""
        view = f"CREATE STREAMING VIEW {name}{self.clauses}{options} AS {self.select}{self.emit}"
        return f"{self.views}{view};\n"


def random_logs(rnd: Random, *, kept: bool = True) -> tuple[Log, Log]:
    """Return two logs that have columns in common.

    Args:
        rnd: the generator.
        kept: whether they are tables, not sources.
    """
    few = rnd.sample(_KINDS, 3)
    one, two = (
        Log(
            name,
            {"id": "number", "k": few[0], **{c: rnd.choice(few) for c in "xy"}, TIME: "instant"},
            rnd.choice(_DELAYS),
            kept,
        )
        for name in LOGS
    )
    return one, two


def keyed_table(rnd: Random, log: Log) -> KeyedTable:
    """Return a keyed table that has the columns of a log."""
    keys = [key for key in ("k", "id") if log.kinds[key] != "float"]
    return KeyedTable(
        log.name, log.kinds, log.delay, key=rnd.choice(keys), leaves_out=rnd.random() < 0.5
    )


def random_query(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    """Return a view of some logs.

    Args:
        rnd: the generator.
        logs: two of them.
    """
    return rnd.choice((_linear, _window, _window, _join, _join, _join, _distinct))(rnd, logs)


def _linear(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    late = rnd.choice(("", "", "DROP"))
    kinds = [rnd.choice(["number", logs[0].kinds["k"]]) for _ in range(rnd.randint(1, 3))]
    parts, read = [], []
    for _ in range(rnd.randint(1, 3)):
        log = rnd.choice(logs)
        columns = log.columns("t")
        items = [f"{value(rnd, columns, kind)} AS c{n}" for n, kind in enumerate(kinds)]
        parts.append(f"SELECT {', '.join(items)} FROM {log.name} t{_where(rnd, columns)}")
        read.append(log.name)
    select = " UNION ALL ".join(parts)
    names = tuple(f"c{n}" for n in range(len(kinds)))
    used = tuple(log for log in logs if log.name in read)
    return _query(select, names, used, late, "true", lateness=bool(late))


def _distinct(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    log, late = rnd.choice(logs), rnd.choice([*LATE])
    columns = log.columns("t")
    shown = rnd.sample(columns, rnd.randint(1, 2))
    items = [f"{each.text} AS c{n}" for n, each in enumerate(shown)]
    select = f"SELECT DISTINCT {', '.join(items)}, t.{TIME} FROM {log.name} t{_where(rnd, columns)}"
    names = (*(f"c{n}" for n in range(len(shown))), TIME)
    return _query(select, names, (log,), late, f"{TIME} <= getvariable('w')")


def _window(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    log, late = rnd.choice(logs), rnd.choice([*LATE])
    size, count = rnd.choice((60, 600, 3600)), rnd.choice((1, 1, 2, 3))
    slide = size // count
    lengths = f"INTERVAL '{slide}' SECOND" + f", INTERVAL '{size}' SECOND" * (count > 1)
    read = f"{'HOP' if count > 1 else 'TUMBLE'}({log.name}, {TIME}, {lengths})"
    columns = log.columns("t")
    keys = rnd.sample(columns, rnd.randint(0, 2))
    calls = []
    while len(calls) < rnd.randint(1, 3):
        call = aggregate(rnd, columns, rnd.choice(["number", log.kinds["k"]]))
        if "DISTINCT" not in call:
            calls.append(call)
    ends = rnd.choice((["window_start"], ["window_start", "window_end"], ["window_end"]))
    items = [f"t.{end}" for end in ends]
    items += [f"{each.text} AS k{n}" for n, each in enumerate(keys)]
    items += [f"{call} AS c{n}" for n, call in enumerate(calls)]
    group = ", ".join([*(f"t.{end}" for end in ends), *(each.text for each in keys)])
    having = f" HAVING count(*) > {rnd.randint(1, 2)}" if rnd.random() < 0.25 else ""
    text = f"SELECT {', '.join(items)} FROM {{0}} t{_where(rnd, columns)} GROUP BY {group}{having}"
    names = (*ends, *(f"k{n}" for n in range(len(keys))), *(f"c{n}" for n in range(len(calls))))
    starts = [
        f"time_bucket(INTERVAL {slide} SECOND, {TIME}, TIMESTAMPTZ '2000-01-01 00:00:00+00')"
        f" - INTERVAL {slide * n} SECOND"
        for n in range(count)
    ]
    windows = (
        f"SELECT *, window_start + INTERVAL {size} SECOND AS window_end FROM"
        f" (SELECT *, unnest([{', '.join(starts)}]) AS window_start FROM {log.name}"
        f" WHERE {TIME} IS NOT NULL)"
    )
    counts = in_time("window_end", LATE[late])
    rows = f"SELECT * FROM ({windows}) WHERE {counts} AND window_end <= getvariable('w')"
    return StreamingQuery(
        text.format(read),
        names,
        (log.name,),
        f"WITH windows AS ({rows}) {for_duckdb(text.format('windows'))}",
        late_clause(late),
        " EMIT ON WINDOW CLOSE",
    )


def _join(rnd: Random, logs: Sequence[Log]) -> StreamingQuery:
    one, two = rnd.sample(logs, 2)
    late, outer = rnd.choice([*LATE]), rnd.random() < 0.5
    lower, upper = sorted((rnd.choice(_BOUNDS), rnd.choice(_BOUNDS)))
    left, right = one.columns("t0"), two.columns("t1")
    key = rnd.choice(("id", "k"))
    terms = [
        f"t1.{key} = t0.{key}",
        f"t1.{TIME} BETWEEN t0.{TIME} + INTERVAL '{lower}' SECOND"
        f" AND t0.{TIME} + INTERVAL '{upper}' SECOND",
    ]
    if rnd.random() < 0.3:
        terms.append(f"({condition(rnd, rnd.choice((left, right, left + right)))})")
    rnd.shuffle(terms)
    kinds = [rnd.choice(["number", one.kinds["k"]]) for _ in range(rnd.randint(1, 2))]
    items = [f"{value(rnd, left + right, kind)} AS c{n}" for n, kind in enumerate(kinds)]
    items += [f"t0.{TIME} AS t", f"t1.{TIME} AS u"]
    where = _where(rnd, left if outer else left + right)
    join = f"{'LEFT ' if outer else ''}JOIN {two.name} t1 ON {' AND '.join(terms)}"
    select = f"SELECT {', '.join(items)} FROM {one.name} t0 {join}{where}"
    names = (*(f"c{n}" for n in range(len(kinds))), "t", "u")
    final = "true"
    if outer:
        passed = timedelta(seconds=upper, milliseconds=1) / timedelta(milliseconds=1)
        final = f"u IS NOT NULL OR t + INTERVAL '{int(passed)} milliseconds' <= getvariable('w')"
    emit = " EMIT ON WINDOW CLOSE" if outer else ""
    return _query(select, names, (one, two), late, final, emit=emit)


def _query(
    select: str,
    names: tuple[str, ...],
    logs: Sequence[Log],
    late: str,
    final: str,
    *,
    emit: str = "",
    lateness: bool = True,
) -> StreamingQuery:
    """A view whose answer is its SELECT over the rows in time, of it what is final."""
    counts = in_time(TIME, LATE[late]) if lateness else "true"
    text = for_duckdb(select)
    for log in logs:
        text = text.replace(f" {log.name} t", f" in_{log.name} t")
    rows = ", ".join(f"in_{log.name} AS (FROM {log.name} WHERE {counts})" for log in logs)
    answer = f"WITH {rows} SELECT * FROM ({text}) WHERE {final}"
    return StreamingQuery(
        select, names, tuple(g.name for g in logs), answer, late_clause(late), emit
    )


def in_time(close: str, allowed: int) -> str:
    """The condition that a row came before what it belongs to was final."""
    return f"(_watermark IS NULL OR {close} + INTERVAL {allowed} SECOND > _watermark)"


def late_clause(late: str) -> str:
    return f" LATE ROWS {late}" if late else ""


def _where(rnd: Random, columns: Sequence[Column]) -> str:
    return f" WHERE {condition(rnd, columns)}" if rnd.random() < 0.4 else ""
