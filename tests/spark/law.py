"""The law, checked at every snapshot of a view by a batch engine over the raw rows.

``Landed`` lands rows as ``headwater.intake`` does (stamps, markers) but takes them from the test
and keeps them; ``check_law`` asks DuckDB for what the view must hold at each of its commits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import duckdb
import pyarrow as pa
from sqlglot import exp

from headwater.analyze.definitions import ARRIVAL_COLUMN, Catalog, Column, Source, Watermark
from headwater.lake.catalog import Lake
from headwater.lake.protocol.commit import commit
from headwater.lake.protocol.history import Snapshot
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import Table, Target
from headwater.lake.spec import TableSpec

MICROSECOND = timedelta(microseconds=1)
EPOCH = datetime.fromtimestamp(0, UTC)
DUCKDB_TYPES = {
    "TIMESTAMP": "TIMESTAMPTZ",
    "TIMESTAMP_NTZ": "TIMESTAMP",
    "STRING": "VARCHAR",
    "ARRAY<STRING>": "VARCHAR[]",
    "ARRAY<BIGINT>": "BIGINT[]",
}


def micros(moment: datetime) -> int:
    return (moment - EPOCH) // MICROSECOND


class Landed:
    """A log table whose rows come from the test."""

    def __init__(
        self,
        lake: Lake,
        name: str,
        columns: Mapping[str, str],
        time: str | None = None,
        delay: timedelta = timedelta(0),
    ) -> None:
        self.lake, self.name, self.columns, self.delay, self.time = (
            lake,
            name,
            dict(columns),
            delay,
            time,
        )
        spec = TableSpec(name, tuple((c, t, True) for c, t in self._stored.items()))
        self.table = lake.ensure(spec)
        self.source = Source(
            name=name,
            kept=True,
            columns=tuple(
                Column(c, exp.DataType.build(DUCKDB_TYPES.get(t, t), dialect="duckdb"))
                for c, t in columns.items()
            ),
            connector="files",
            watermark=Watermark(time, delay) if time else None,
        )
        self.rows: list[tuple[object, ...]] = []
        self.cuts: dict[str, int] = {str(self.table.snapshot_id()): -1}
        self.newest: int | None = None
        self.stamp: int | None = None

    @property
    def _stored(self) -> dict[str, str]:
        """Columns of the table, with Spark's types."""
        stamps = {"_watermark": "TIMESTAMP"} if self.time else {}
        return {**self.columns, **stamps, ARRIVAL_COLUMN: "TIMESTAMP"}

    @property
    def epoch(self) -> int:
        return len(self.cuts) - 1

    @property
    def watermark_after(self) -> int | None:
        if self.newest is None:
            return self.stamp
        return max(self.newest // 1000 * 1000 - self.delay // MICROSECOND, self.stamp or -(2**62))

    def land(self, *rows: Sequence[object]) -> None:
        """One epoch with these rows."""
        self._commit(rows, self.watermark_after)
        if self.time:
            place = list(self.columns).index(self.time)
            times = [micros(row[place]) for row in rows if row[place] is not None]
            self.newest = max(
                [*times, *([self.newest] if self.newest is not None else [])], default=None
            )

    def close(self, watermark: datetime) -> None:
        """The empty end-of-input epoch."""
        self._commit((), micros(watermark))

    def _commit(self, rows: Sequence[Sequence[object]], stamp: int | None) -> None:
        moment = None if stamp is None else EPOCH + stamp * MICROSECOND
        stamps = ((moment,) if self.time else ()) + (EPOCH + timedelta(seconds=self.epoch),)
        stamped = [(*row, *stamps) for row in rows]
        self.rows += [(self.epoch, *row) for row in stamped]
        ddl = ", ".join(f"{name} {kind}" for name, kind in self._stored.items())

        def write(target: Target) -> None:
            if stamped:
                target.append(self.lake.spark.createDataFrame(stamped, ddl).coalesce(1))

        last = self.table.marker()
        epoch = last.epoch + 1 if last else 0
        marker = Marker(
            self.name,
            1,
            epoch,
            last.cut_to if last else {},
            {self.name: str(epoch)},
            watermark=stamp,
        )
        commit(self.table, marker, write, session=self.lake.spark)
        self.stamp = stamp
        self.cuts[str(self.table.snapshot_id())] = self.epoch

    def create_in(self, duck: duckdb.DuckDBPyConnection) -> None:
        kinds = [f"{name} {DUCKDB_TYPES.get(kind, kind)}" for name, kind in self._stored.items()]
        duck.execute(f"CREATE TABLE all_{self.name} ({', '.join(['_epoch INT', *kinds])})")
        if self.rows:
            marks = ", ".join("?" * len(self.rows[0]))
            duck.executemany(f"INSERT INTO all_{self.name} VALUES ({marks})", self.rows)

    def create_whole_in(self, duck: duckdb.DuckDBPyConnection) -> None:
        """Make a view of all rows under the name of the table."""
        self.create_in(duck)
        duck.execute(f"CREATE VIEW {self.name} AS SELECT * EXCLUDE (_epoch) FROM all_{self.name}")


def _told(
    target: Table,
    published: Mapping[int, Snapshot],
    landed: Sequence[Landed],
    columns: Sequence[str],
) -> str:
    """Each commit: epochs of the inputs up to which it has read, watermark, rows that it added."""
    lines = []
    for epoch, snapshot in sorted(published.items()):
        marker = snapshot.marker
        assert marker is not None
        cut = {each.name: each.cuts.get(marker.cut_to.get(each.name, "")) for each in landed}
        rows = [
            tuple(map(str, row)) for row in target.added_by(snapshot.id).select(*columns).collect()
        ]
        lines.append(f"{epoch} {cut} watermark={marker.watermark} added={rows[:20]}")
    return "\n".join(["", *lines])


def catalog_of(*landed: Landed) -> Catalog:
    return Catalog({table.name: table.source for table in landed}, {})


def check_law(
    lake: Lake,
    view: str,
    columns: Sequence[str],
    oracle: str | Callable[[Marker], str],
    landed: Sequence[Landed],
    target: Table | None = None,
) -> list[Marker]:
    """Compare the view with the oracle at every commit; return its markers, oldest first.

    The view's table is the one of its name in Iceberg, unless it is given.

    The oracle, the same at all commits or made for each, reads the inputs by name and sees the
    marker's watermark as ``getvariable('w')``.
    """
    duck = duckdb.connect()
    duck.execute("SET TimeZone = 'UTC'")
    for table in landed:
        table.create_in(duck)
    markers = []
    target = target or lake.table(view)
    published: dict[int, Snapshot] = {}
    for snapshot in target.ancestors(target.snapshot_id()):
        if snapshot.marker:  # of several writes of one epoch only the last was ever published
            published.setdefault(snapshot.marker.epoch, snapshot)
    for snapshot in reversed(published.values()):
        marker = snapshot.marker
        assert marker is not None
        markers.append(marker)
        for table in landed:
            upto = table.cuts[marker.cut_to[table.name]] if table.name in marker.cut_to else -1
            duck.execute(
                f"CREATE OR REPLACE VIEW {table.name} AS"
                f" SELECT * EXCLUDE (_epoch) FROM all_{table.name} WHERE _epoch <= {upto}"
            )
        w = "NULL" if marker.watermark is None else f"make_timestamptz({marker.watermark})"
        duck.execute(f"SET VARIABLE w = {w}")
        held: pa.Table = target.read(snapshot.id).select(*columns).toArrow()
        duck.register("held", held)
        asked = oracle if isinstance(oracle, str) else oracle(marker)
        expected = duck.sql(f"SELECT {', '.join(columns)} FROM ({asked})")
        duck.register("expected", expected.to_arrow_table())
        wrong = duck.sql(
            "(SELECT 'surplus', COLUMNS(*)::VARCHAR FROM (FROM held EXCEPT ALL FROM expected))"
            " UNION ALL (SELECT 'missing', COLUMNS(*)::VARCHAR"
            " FROM (FROM expected EXCEPT ALL FROM held))"
        ).fetchall()
        assert not wrong, (
            f"{view} at epoch {marker.epoch}, {marker}: {wrong[:20]}\n"
            f"all commits: {_told(target, published, landed, columns)}"
        )
    epochs = [marker.epoch for marker in markers]
    assert epochs == list(range(len(epochs))), epochs
    return markers
