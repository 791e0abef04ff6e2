"""The views that the faults attack, and what each must hold, written by hand for DuckDB.

In: nothing. Out: project texts, and per view a query over the input as it lies in the files. The
queries are not those that Headwater prints: an oracle that shared its planner would share its bugs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

# no generated code: it would be compiled anew in each process, for forty rows
_SETTINGS = """\
name = "faults"

[spark]
master = "local[2]"

[spark.settings]
"spark.driver.extraJavaOptions" = "{options}"
"spark.local.dir" = "{scratch}"
"spark.sql.shuffle.partitions" = "2"
"spark.sql.codegen.wholeStage" = "false"
"spark.sql.codegen.factoryMode" = "NO_CODEGEN"

[run]
trigger = "500 milliseconds"
max_files_per_epoch = {files}
recompute_below = {recompute_below}
"""
# these processes live for seconds: the second compiler would not pay
_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=200m -Djava.io.tmpdir={scratch}"

_EVENT = """(
  id BIGINT NOT NULL,
  key VARCHAR,
  amount BIGINT,
  ts TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
)"""

INPUTS = {
    "events": f"""
CREATE TABLE events {_EVENT}
WITH (connector = 'files', path = 'incoming/events') FORMAT PLAIN ENCODE JSON;
""",
    "replies": """
CREATE TABLE replies (
  id BIGINT NOT NULL,
  ts TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
) WITH (connector = 'files', path = 'incoming/replies') FORMAT PLAIN ENCODE JSON;
""",
    "feed": f"""
CREATE SOURCE feed {_EVENT}
WITH (connector = 'files', path = 'incoming/feed') FORMAT PLAIN ENCODE JSON;
""",
}
"""Input → its definition. ``feed`` is read once and not kept."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One view.

    Attributes:
        name: the view.
        inputs: what it reads: tables, sources, and views among the shapes.
        sql: its definition.
        expected: DuckDB over ``events``, ``replies`` (landed rows with ``_watermark``) and
            ``raw_feed`` (the rows of the files that were read, ``_watermark`` being that of the
            epoch before); ``$watermark`` stands for the view's own.
        streaming: whether Spark keeps a checkpoint for it.
        format: its table's format.
        options: further options of the view.
    """

    name: str
    inputs: tuple[str, ...]
    sql: str
    expected: str
    streaming: bool
    format: str = "iceberg"
    options: str = ""


_KEPT = "id, key, amount * 2 AS twice, ts"
_PER_KEY = "key, count(*) AS n, sum(amount) AS total, min(amount) AS least"
_IN_TIME = "(SELECT * FROM {0} WHERE _watermark IS NULL OR ts >= _watermark)"
_WINDOWED = (
    "SELECT key, window_start, window_end, count(*) AS n, sum(amount) AS total"
    " FROM TUMBLE({0}, ts, INTERVAL '1' MINUTE) GROUP BY key, window_start, window_end"
    " EMIT ON WINDOW CLOSE"
)
_CLOSED = (
    "SELECT key, w, w + INTERVAL 1 MINUTE, count(*), sum(amount)"
    " FROM (SELECT *, date_trunc('minute', ts) AS w FROM {0} WHERE ts IS NOT NULL)"
    " WHERE _watermark IS NULL OR w + INTERVAL 1 MINUTE > _watermark GROUP BY key, w"
    " HAVING w + INTERVAL 1 MINUTE <= $watermark"
)
_PLACED = (
    "past AS (SELECT *, row_number() OVER same AS n,"
    " coalesce(amount < lag(amount) OVER same, FALSE) AS falls"
    " FROM {0} WINDOW same AS (PARTITION BY key ORDER BY ts, amount, id))"
)
"""Rows with their place in their key."""
_PAST = _PLACED.format(f"{_IN_TIME.format('events')} WHERE ts < CAST($watermark AS TIMESTAMPTZ)")
"""Those that no row to come can precede."""
_BELOW = (
    "SELECT key, began, ended, n, least FROM events MATCH_RECOGNIZE (PARTITION BY key"
    " ORDER BY ts MEASURES FIRST(ts) AS began, LAST(ts) AS ended, count(*) AS n,"
    " min(amount) AS least AFTER MATCH SKIP TO NEXT ROW PATTERN (high low+)"
    " WITHIN INTERVAL '30' SECOND DEFINE low AS amount < high.amount)"
)
# The first row behind each that is not below it, or not in time, ends its match. Until a time, a
# match without that row is open, and so is every match behind it in its key.
_ROWS_BELOW = (
    "WITH {0}, ends AS (SELECT h.key, h.ts, h.n, h.amount, (SELECT min(l.n) FROM past l"
    " WHERE l.key IS NOT DISTINCT FROM h.key AND l.n > h.n AND (l.amount >= h.amount"
    " OR l.ts > h.ts + INTERVAL 30 SECOND)) AS behind FROM past h),"
    " open AS (SELECT *, min(CASE WHEN behind IS NULL AND ts + INTERVAL 30 SECOND >= {1}"
    " THEN n END) OVER (PARTITION BY key) AS first_open FROM ends)"
    " SELECT h.key, h.ts, max(l.ts), 1 + count(*), least(h.amount, min(l.amount)) FROM open h"
    " JOIN past l ON l.key IS NOT DISTINCT FROM h.key AND l.n > h.n"
    " AND (h.behind IS NULL OR l.n < h.behind)"
    " WHERE h.first_open IS NULL OR h.n < h.first_open GROUP BY h.key, h.n, h.ts, h.amount"
)

_ICEBERG = (
    Shape(
        "appended",
        ("events",),
        f"SELECT {_KEPT} FROM events WHERE amount >= 0",
        f"SELECT {_KEPT} FROM events WHERE amount >= 0",
        streaming=True,
        options=", engine = 'streaming'",
    ),
    Shape(
        "windowed",
        ("events",),
        _WINDOWED.format("events"),
        _CLOSED.format("events"),
        streaming=False,
    ),
    Shape(
        "joined",
        ("events", "replies"),
        "SELECT e.id, e.key, r.ts AS replied_at FROM events e JOIN replies r"
        " ON r.id = e.id AND r.ts BETWEEN e.ts AND e.ts + INTERVAL '5' MINUTE",
        "SELECT e.id, e.key, r.ts FROM events e, replies r"
        " WHERE r.id = e.id AND r.ts >= e.ts AND r.ts <= e.ts + INTERVAL 5 MINUTE"
        " AND (e._watermark IS NULL OR e.ts >= e._watermark)"
        " AND (r._watermark IS NULL OR r.ts >= r._watermark)",
        streaming=False,
    ),
    Shape(
        "unanswered",
        ("events", "replies"),
        "SELECT e.id, e.ts AS asked_at, r.ts AS replied_at FROM events e LEFT JOIN replies r"
        " ON r.id = e.id AND r.ts BETWEEN e.ts AND e.ts + INTERVAL '5' MINUTE"
        " EMIT ON WINDOW CLOSE",
        f"SELECT * FROM (SELECT e.id, e.ts AS asked_at, r.ts AS replied_at"
        f" FROM {_IN_TIME.format('events')} e LEFT JOIN {_IN_TIME.format('replies')} r"
        " ON r.id = e.id AND r.ts >= e.ts AND r.ts <= e.ts + INTERVAL 5 MINUTE)"
        " WHERE replied_at IS NOT NULL OR asked_at + INTERVAL 300000001 MICROSECOND <= $watermark",
        streaming=False,
    ),
    Shape(
        "visits",
        ("events",),
        "SELECT key, window_start, window_end, count(*) AS n FROM"
        " SESSION(events PARTITION BY key, ts, INTERVAL '30' SECOND)"
        " GROUP BY key, window_start, window_end EMIT ON WINDOW CLOSE",
        "SELECT key, min(ts), max(ts) + INTERVAL 30 SECOND AS over, count(*) FROM (SELECT key, ts,"
        " sum(begins) OVER (PARTITION BY key ORDER BY ts) AS visit FROM (SELECT key, ts,"
        " CASE WHEN ts < lag(ts) OVER (PARTITION BY key ORDER BY ts) + INTERVAL 30 SECOND"
        f" THEN 0 ELSE 1 END AS begins FROM {_IN_TIME.format('events')} WHERE ts IS NOT NULL))"
        " GROUP BY key, visit HAVING max(ts) + INTERVAL 30 SECOND <= $watermark",
        streaming=False,
    ),
    Shape(
        "asked",
        ("replies", "events"),
        "SELECT r.id, r.ts AS replied_at, e.ts AS asked_at FROM replies r"
        " LEFT JOIN events FOR SYSTEM_TIME AS OF r.ts AS e ON e.id = r.id EMIT ON WINDOW CLOSE",
        f"SELECT id, ts, (SELECT max(ts) FROM {_IN_TIME.format('events')} e"
        f" WHERE e.id = r.id AND e.ts <= r.ts) FROM {_IN_TIME.format('replies')} r"
        " WHERE ts + INTERVAL 1 MICROSECOND <= $watermark",
        streaming=False,
    ),
    Shape(  # a row and those after it that stay below it: a search with memory
        "below",
        ("events",),
        f"{_BELOW} EMIT ON WINDOW CLOSE",
        _ROWS_BELOW.format(_PAST, "CAST($watermark AS TIMESTAMPTZ)"),
        streaming=False,
    ),
    Shape(  # kept by units: the keys of the rows that came are searched again
        "below_so_far",
        ("events",),
        _BELOW,
        _ROWS_BELOW.format(_PLACED.format("events"), "TIMESTAMPTZ 'infinity'"),
        streaming=False,
    ),
    Shape(  # without WITHIN, so all rows are read; conditions are columns
        "falls",
        ("events",),
        "SELECT key, id, step, match FROM events MATCH_RECOGNIZE (PARTITION BY key ORDER BY ts"
        " MEASURES CLASSIFIER() AS step, MATCH_NUMBER() AS match ALL ROWS PER MATCH"
        " PATTERN (high low) DEFINE low AS amount < PREV(amount)) EMIT ON WINDOW CLOSE",
        # of a run of falling rows, each two from its first row on are a match
        f"WITH {_PAST}, runs AS (SELECT *, n - max(CASE WHEN falls THEN 0 ELSE n END)"
        " OVER (PARTITION BY key ORDER BY n) AS place FROM past),"
        " twos AS (SELECT *, lead(place) OVER same AS following FROM runs"
        " WINDOW same AS (PARTITION BY key ORDER BY n)),"
        " steps AS (SELECT key, id, n, CASE WHEN place % 2 = 1 THEN 'LOW'"
        " WHEN following > place THEN 'HIGH' END AS step FROM twos)"
        " SELECT key, id, step, count(*) FILTER (WHERE step = 'HIGH')"
        " OVER (PARTITION BY key ORDER BY n) FROM steps WHERE step IS NOT NULL",
        streaming=False,
    ),
    Shape(
        "recent",
        ("events",),
        "SELECT key, count(*) AS n, max(amount) AS most FROM events"
        " WHERE ts > watermark() - INTERVAL '2' MINUTE GROUP BY key",
        "SELECT key, count(*), max(amount) FROM events"
        " WHERE ts > CAST($watermark AS TIMESTAMPTZ) - INTERVAL 2 MINUTE GROUP BY key",
        streaming=False,
    ),
    Shape(
        "divided",
        ("events",),
        "SELECT id, id % amount AS rest FROM events",
        "SELECT id, id % amount FROM events WHERE amount <> 0",
        streaming=True,
        options=", engine = 'streaming'",
    ),
    Shape(
        "fed",
        ("feed",),
        f"SELECT {_KEPT} FROM feed WHERE amount >= 0",
        f"SELECT {_KEPT} FROM raw_feed WHERE amount >= 0",
        streaming=True,
    ),
    Shape(
        "fed_windows",
        ("feed",),
        _WINDOWED.format("feed"),
        _CLOSED.format("raw_feed"),
        streaming=True,
    ),
    Shape(
        "totals",
        ("events",),
        f"SELECT {_PER_KEY} FROM events GROUP BY key",
        f"SELECT {_PER_KEY} FROM events GROUP BY key",
        streaming=False,
    ),
    Shape(
        "variety",
        ("events",),
        "SELECT key, count(DISTINCT amount) AS amounts FROM events GROUP BY key",
        "SELECT key, count(DISTINCT amount) FROM events GROUP BY key",
        streaming=False,
    ),
    Shape(  # kept by units: rows of a key are replaced when an event or a reply comes
        "answered",
        ("events", "replies"),
        "SELECT e.key, count(*) AS n, count(r.id) AS replies, max(r.ts) AS newest"
        " FROM events e LEFT JOIN replies r ON r.id = e.id GROUP BY e.key",
        "SELECT key, count(*), sum(CASE WHEN r.id IS NULL THEN 0 ELSE 1 END)::BIGINT, max(r.ts)"
        " FROM (SELECT id, key FROM events) e LEFT JOIN (SELECT id, ts FROM replies) r USING (id)"
        " GROUP BY key",
        streaming=False,
    ),
)

_DELTA = tuple(
    replace(shape, name=f"{shape.name}_delta", format="delta")
    for shape in _ICEBERG
    if shape.name in ("appended", "totals", "variety", "answered")
)

_OF_TOTALS = {
    "summed": "SELECT n, count(*) AS keys, sum(total) AS total, min(least) AS least FROM {0}"
    " GROUP BY n",
    # by exact change: rows come, are corrected and go
    "even": "SELECT key, total + n AS more FROM {0} WHERE n % 2 = 0",
}
_OVER_VIEWS = tuple(
    Shape(f"{name}_{base}", (base,), sql.format(base), sql.format(base), streaming=False)
    for name, sql in _OF_TOTALS.items()
    for base in ("totals", "totals_delta")
)

SHAPES = (*_ICEBERG, *_DELTA, *_OVER_VIEWS)

LATE = {"windowed": "late_events"}
"""View → the table that keeps its late rows."""

BAD = {"divided": "amount = 0"}
"""View → the rows of ``events`` on which its expressions fail; its quarantine keeps them."""


def run_command(folder: Path) -> list[str]:
    """Return what runs a project once, to the end of its input."""
    words = ("--project", str(folder), "run", "--once", "--end-of-input")
    return [sys.executable, "-m", "headwater", *words]


def settings(
    folder: Path, java_options: str = "", files: int = 1, *, rewrites: bool = False
) -> str:
    """Return the text of ``headwater.toml``; what a SIGKILL leaves behind stays in the folder.

    Args:
        folder: the project's folder; ``scratch`` is made in it.
        java_options: further options of the JVM.
        files: the most files that an epoch takes.
        rewrites: whether views that are kept by ticks are written anew; merged into otherwise.
    """
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    options = f"{_OPTIONS.format(scratch=scratch)} {java_options}".strip()
    return _SETTINGS.format(
        options=options, scratch=scratch, files=files, recompute_below=int(rewrites)
    )


def with_inputs(shapes: Sequence[Shape]) -> list[Shape]:
    """Return views after those that they read, which are added.

    Args:
        shapes: the views.
    """
    read = [each for each in SHAPES for shape in shapes if each.name in shape.inputs]
    return list(dict.fromkeys([*read, *shapes]))


def definition(shape: Shape) -> str:
    """Return the CREATE statement of a view.

    Args:
        shape: the view.
    """
    late = f" LATE ROWS DROP INTO {LATE[shape.name]}" if shape.name in LATE else ""
    options = f"format = '{shape.format}'{shape.options}"
    return f"CREATE STREAMING VIEW {shape.name}{late} WITH ({options}) AS\n{shape.sql};\n"
