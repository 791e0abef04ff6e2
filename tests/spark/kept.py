"""Streaming views that tests stop, damage and start anew, with their SELECTs at rest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from law import Landed, check_law
from plans import planned

from headwater.engine.streaming.query import StreamingView
from headwater.lake.catalog import Lake
from headwater.lake.java import java_class
from headwater.lake.protocol.marker import Marker
from headwater.runtime.session import session_for_thread
from tests.streamed import streams_first

NOON = datetime(2013, 1, 1, 12, tzinfo=UTC)
_TABLE = """CREATE {kind} {name} (id INTEGER, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts)
            WITH (connector = 'files', path = '{name}') FORMAT PLAIN ENCODE JSON;"""


@dataclass(frozen=True)
class Query:
    """A view's SELECT, the same for DuckDB, and its columns."""

    select: str
    oracle: str
    columns: tuple[str, ...]
    inputs: tuple[str, ...] = ("d",)


LINEAR = Query(
    "SELECT id, ts FROM d WHERE id > 0", "SELECT id, ts FROM d WHERE id > 0", ("id", "ts")
)
WINDOW = Query(
    """SELECT window_start, count(*) AS n FROM TUMBLE(d, ts, INTERVAL '1' HOUR)
       GROUP BY window_start, window_end EMIT ON WINDOW CLOSE""",
    """SELECT window_start, count(*) AS n
       FROM (SELECT *, time_bucket(INTERVAL 1 HOUR, ts) AS window_start FROM d)
       WHERE (_watermark IS NULL OR window_start + INTERVAL 1 HOUR > _watermark)
         AND window_start + INTERVAL 1 HOUR <= getvariable('w')
       GROUP BY window_start""",
    ("window_start", "n"),
)
JOIN = Query(
    """SELECT d.id, d.ts, l.ts AS landed FROM d JOIN l
       ON l.id = d.id AND l.ts BETWEEN d.ts AND d.ts + INTERVAL '90' MINUTE""",
    """SELECT d.id, d.ts, l.ts AS landed FROM d JOIN l
       ON l.id = d.id AND l.ts BETWEEN d.ts AND d.ts + INTERVAL 90 MINUTE
       WHERE (d._watermark IS NULL OR d.ts > d._watermark)
         AND (l._watermark IS NULL OR l.ts > l._watermark)""",
    ("id", "ts", "landed"),
    ("d", "l"),
)
"""What lands in ``l`` meets what landed in ``d`` an hour, and so a batch, before."""


@dataclass
class Kept:
    """A view over landed tables."""

    spark: Any
    lake: Lake
    state: Path
    query: Query
    name: str = "v"
    hour: int = 0

    def __post_init__(self) -> None:
        self.define("TABLE")
        kinds = {"id": "INT", "ts": "TIMESTAMP"}
        self.landed = {name: Landed(self.lake, name, kinds, "ts") for name in self.query.inputs}

    def define(self, kind: str) -> None:
        tables = " ".join(_TABLE.format(kind=kind, name=name) for name in self.query.inputs)
        sql = f"{tables} CREATE STREAMING VIEW {self.name} AS {self.query.select};"
        with streams_first():
            self.catalog, plans = planned(sql)
        self.plan = plans[self.name]

    @property
    def checkpoint(self) -> Path:
        return self.state / "checkpoint"

    @property
    def top(self) -> int:
        return max(int(file.name) for file in (self.checkpoint / "offsets").glob("[0-9]*"))

    def land(self, rows: int = 3) -> None:
        """The next hour: one epoch of each input."""
        self.hour += 1
        times = [NOON + timedelta(hours=self.hour, minutes=n) for n in range(rows)]
        for landed in self.landed.values():
            landed.land(*enumerate(times))

    def ends(self) -> tuple[dict[str, int], int | None]:
        ends = {name: landed.table.snapshot_id() for name, landed in self.landed.items()}
        known = [landed.watermark_after for landed in self.landed.values()]
        return ends, min((at for at in known if at is not None), default=None)

    def view(self, **options: Any) -> StreamingView:
        own = self.lake.using(session_for_thread(self.spark))
        poll = timedelta(milliseconds=20)
        return StreamingView(own, self.plan, self.catalog, self.state, poll=poll, **options)

    def run(self, **options: Any) -> None:
        view = self.view(**options)
        try:
            view.start()
            assert view.drain(*self.ends(), timeout=timedelta(seconds=240))
        finally:
            view.stop()
            self._end_process()

    def _end_process(self) -> None:
        """Forget the loaded state: Spark would go on writing snapshots of it into a damaged one."""
        name = "org.apache.spark.sql.execution.streaming.state.StateStore$"
        getattr(java_class(self.spark, name), "MODULE$").stop()

    def check(self) -> list[Marker]:
        tables = list(self.landed.values())
        return check_law(self.lake, self.name, self.query.columns, self.query.oracle, tables)

    def snapshot(self) -> int:
        return self.lake.table(self.name).snapshot_id()
