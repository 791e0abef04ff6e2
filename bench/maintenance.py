"""``make bench-maintenance``: a day of 5-second commits, with and without maintenance.

In: numbers of commits. Out: a table of what the tables consist of and what reading them costs, at
points of the simulated day; also in a file with ``--save``.

Landed: each commit appends one small Parquet file to the staging branch by Iceberg's Java API, with
a marker, and publishes it as the commit protocol does: two metadata commits, but no Spark job, so
that a day takes minutes. Upserts: each commit is the whole protocol with a MERGE by Spark, of 50
keys of 5,000. Time is counted in commits: ``retain`` of an hour is the newest 720.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bench.measure import machine
from headwater.config.settings import Config, Maintenance, RunSection, TrinoSection
from headwater.lake.catalog import Lake
from headwater.lake.catalogs.backend import CATALOG
from headwater.lake.iceberg.maintenance import STEPS, Job, maintain, size_of
from headwater.lake.java import java_class
from headwater.lake.protocol.commit import commit
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import ATTEMPT, Target
from headwater.lake.spec import TableSpec
from headwater.runtime.session import open_session
from headwater.serve.connection import duckdb_connection
from headwater.serve.lake_reader import LakeReader
from headwater.serve.trino.catalog import properties
from headwater.serve.trino.client import trino_query
from headwater.servers.trino import TrinoServer

SECONDS = 5
HOUR = 3600 // SECONDS
ROWS = 50
KEYS = 5_000
HEAD = (
    *("commits", "metadata KiB", "snapshots", "data files", "delete files", "manifests"),
    "table KiB",
)
READ = ("on disk MiB", "DuckDB ms", "Spark ms", "Trino ms", "commit ms", "maintenance s")


@dataclass(frozen=True, slots=True)
class Way:
    """One history of one table.

    Attributes:
        title: its name in the output.
        commits: how many.
        every: commits between two runs of maintenance, None for none.
        upsert: whether the commits are MERGEs by Spark.
    """

    title: str
    commits: int
    every: int | None
    upsert: bool = False


class Table:
    """A table that gets the commits of one way.

    Args:
        lake: the lake.
        name: name of the table.
        config: its configuration, for readers.
    """

    def __init__(self, lake: Lake, name: str, config: Config) -> None:
        self.lake, self.name, self.config = lake, name, config
        spec = TableSpec(name, (("id", "BIGINT", True), ("value", "BIGINT", True)))
        self.table = lake.ensure(spec)
        self.folder = Path(self.table.java.location().removeprefix("file:"))

    def marker(self, epoch: int) -> Marker:
        """Return the marker of an epoch."""
        start = {self.name: str(epoch)} if epoch else {}
        return Marker(self.name, 1, epoch, start, {self.name: str(epoch + 1)}, counts={"in": ROWS})

    def append(self, epoch: int) -> None:
        """Commit one small file, as the protocol does, without Spark."""
        table, branch = self.table, self.table.staging_branch(self.name)
        table.refresh()
        base = table.snapshot_id()
        table.stage(self.name, base)
        append = table.java.newAppend().toBranch(branch).appendFile(self._file(epoch))
        for key, value in {**self.marker(epoch).to_summary(), ATTEMPT: str(epoch)}.items():
            append = append.set(key, value)
        append.commit()
        table.refresh()
        head = table.ref(branch)
        assert head is not None
        table.publish(branch, head)

    def upsert(self, epoch: int) -> None:
        """Commit one MERGE by the whole protocol."""
        first = epoch * ROWS % KEYS

        def write(target: Target) -> None:
            self.lake.spark.sql(
                f"MERGE INTO {target.identifier} t USING (SELECT id, {epoch}L AS value FROM"
                f" range({first}, {first + ROWS}, 1, 1)) s ON t.id = s.id"
                " WHEN MATCHED THEN UPDATE SET t.value = s.value"
                " WHEN NOT MATCHED THEN INSERT (id, value) VALUES (s.id, s.value)"
            )

        commit(self.table, self.marker(epoch), write, session=self.lake.spark)

    def _file(self, epoch: int) -> Any:  # noqa: ANN401 - Iceberg's DataFile
        fields = [
            pa.field(name, pa.int64(), metadata={"PARQUET:field_id": str(number)})
            for number, name in enumerate(("id", "value"), start=1)
        ]
        rows = pa.table(
            [pa.array(range(epoch * ROWS, (epoch + 1) * ROWS)), pa.array([epoch] * ROWS)],
            schema=pa.schema(fields),
        )
        path = self.folder / "data" / f"{epoch:06}.parquet"
        path.parent.mkdir(exist_ok=True)
        pq.write_table(rows, path, compression="zstd")
        files = java_class(self.lake.spark, "org.apache.iceberg.DataFiles")
        made = files.builder(self.table.java.spec()).withPath(path.as_uri()).withFormat("PARQUET")
        return made.withFileSizeInBytes(path.stat().st_size).withRecordCount(ROWS).build()

    # -- what it costs to read

    def rows_of(self, epoch: int, *, upsert: bool) -> int:
        """Return how many rows the table must hold after an epoch."""
        return min((epoch + 1) * ROWS, KEYS) if upsert else (epoch + 1) * ROWS

    def by_duckdb(self) -> int:
        """Open and read the table without a JVM, as ``headwater sql`` does."""
        found = LakeReader(self.config).table(self.name)
        assert found is not None
        with duckdb_connection() as connection:
            found.create_view(connection, "t", found.snapshot_id(), ["id", "value"])
            row = connection.execute("SELECT count(*), sum(value) FROM t").fetchone()
        assert row
        return int(row[0])

    def by_spark(self) -> int:
        """Open and read the table by Spark."""
        row = self.lake.table(self.name).read().selectExpr("sum(value)", "count(*)").first()
        assert row
        return int(row[1])

    def by_trino(self) -> int:
        """Open and read the table by Trino."""
        query = f"SELECT count(*), sum(value) FROM {self.name}"
        with trino_query(self.config, query) as result:
            ((count, _),) = result.rows
        return int(str(count))

    def bytes_on_disk(self) -> int:
        """Return the size of the table's folder."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def metadata_bytes(self) -> int:
        """Return the size of the newest metadata file."""
        location = self.table.java.operations().current().metadataFileLocation()
        return Path(location.removeprefix("file:")).stat().st_size


def run(way: Way, lake: Lake, config: Config, points: int) -> Iterator[tuple[object, ...]]:
    """Make the commits of a way; yield a row at points of its day."""
    table = Table(lake, f"t{abs(hash(way.title)) % 10**8}", config)
    settings = Maintenance.model_construct(
        every=None,
        retain=timedelta(0),
        keep_snapshots=HOUR,
        max_snapshots=HOUR,
        target_file_size=128 * 10**6,
        orphan_age=timedelta(days=3),
    )
    act = table.upsert if way.upsert else table.append
    shown = {way.commits * number // points for number in range(1, points + 1)} | {HOUR // 6}
    took: list[float] = []
    maintained: list[float] = []
    for epoch in range(way.commits):
        took.append(_timed(act, epoch))
        if way.every and (epoch + 1) % way.every == 0:
            job = Job(table.table, settings, steps=STEPS[:-1])
            maintained.append(_timed(maintain, job))
        if epoch + 1 in shown:
            yield _row(table, epoch, way, took[-HOUR // 12 :], maintained[-6:])


def _row(
    table: Table, epoch: int, way: Way, took: Sequence[float], maintained: Sequence[float]
) -> tuple[object, ...]:
    table.table.refresh()
    size = size_of(table.table)
    expected = table.rows_of(epoch, upsert=way.upsert)
    assert table.by_duckdb() == table.by_spark() == table.by_trino() == expected
    return (
        *(epoch + 1, round(table.metadata_bytes() / 1024), size.snapshots),
        *(size.data_files, size.delete_files, size.manifests, round(size.bytes / 1024)),
        round(table.bytes_on_disk() / 2**20, 1),
        *map(_milliseconds, (table.by_duckdb, table.by_spark, table.by_trino)),
        round(statistics.median(took) * 1000),
        round(statistics.median(maintained), 1) if maintained else "-",
    )


def _timed(act: Callable[..., object], *arguments: object) -> float:
    began = time.perf_counter()
    act(*arguments)
    return time.perf_counter() - began


def _milliseconds(act: Callable[[], object]) -> int:
    return round(statistics.median(_timed(act) for _ in range(5)) * 1000)


def main() -> None:
    """Run the ways and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--commits", type=int, default=86_400 // SECONDS)
    parser.add_argument("--baseline", type=int, default=3_000, help="commits without maintenance")
    parser.add_argument("--upserts", type=int, default=1_000)
    parser.add_argument("--every", type=int, default=600 // SECONDS, help="commits between runs")
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as name:
        folder = Path(name)
        config = Config(
            folder, "bench", "bench", folder / "warehouse", folder / "state", master="local[2]"
        )
        spark = open_session(
            replace(config, run=RunSection(shuffle_partitions=2)), app_name="bench"
        )
        lines = [
            f"# {' '.join(['bench.maintenance', *sys.argv[1:]])}",
            "# " + ", ".join(f"{key} {value}" for key, value in machine().items()),
            f"# {datetime.now(UTC):%Y-%m-%d %H:%M} UTC; a commit is {SECONDS} simulated seconds, "
            f"maintenance runs every {options.every} commits",
        ]
        say(*lines)
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {CATALOG}.bench")  # before Trino looks for it
        server = TrinoServer(folder, {CATALOG: properties(config)})
        server.start()
        config = replace(config, trino=TrinoSection(url=server.address))
        for way in (
            Way("appends, no maintenance", options.baseline, None),
            Way("appends, maintained", options.commits, options.every),
            Way("upserts, no maintenance", options.upserts, None, upsert=True),
            Way("upserts, maintained", options.upserts, options.every, upsert=True),
        ):
            if way.commits:
                lines += show(way, run(way, Lake(spark, "bench"), config, points=6))
        server.stop()
        spark.stop()
        if options.save:
            options.save.write_text("\n".join(lines) + "\n")


def show(way: Way, rows: Iterator[tuple[object, ...]]) -> list[str]:
    """Print the rows of a way as they come; return the lines."""
    columns = (*HEAD, *READ)
    lines = ["", way.title, "  ".join(f"{name:>{max(8, len(name))}}" for name in columns)]
    say(*lines)
    for row in rows:
        text = "  ".join(
            f"{value!s:>{max(8, len(name))}}" for name, value in zip(columns, row, strict=True)
        )
        say(text)
        lines.append(text)
    return lines


def say(*lines: str) -> None:
    """Print at once."""
    print(*lines, sep="\n", flush=True)


if __name__ == "__main__":
    main()
