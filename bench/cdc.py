"""``make bench-cdc``: Debezium's events out of a real Kafka into a keyed table of millions of rows.

In: how many rows the table has, sizes of changes. Out: seconds and rows per second of each change,
for Headwater (land the log, then a tick of the table) and for a job written by hand in the same
session: Structured Streaming that takes the newest event of each key from a batch and merges it
into an Iceberg table, merge-on-read. By hand nothing is checked, no log of changes is kept, and an
event that is delivered again later brings an old row back.

Changes are updates (seven of ten), inserts (two) and deletes (one) of keys all over the table. At
the end both tables are compared.

    python -m bench.cdc --rows 5000000 --change 1000 10000 100000 --times 3
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from random import Random

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - Spark's own convention

from bench.over_kafka import over_kafka, records
from headwater.analyze.definitions import CHANGES
from headwater.analyze.project import bind
from headwater.config.settings import Config
from headwater.dialect import parse
from headwater.engine.incremental.tick import Ticks
from headwater.engine.incremental.view import IncrementalView
from headwater.intake.land import Landing
from headwater.lake.catalog import Lake
from headwater.plan.planner import plan_project
from headwater.runtime.session import session_for_thread
from jobs.demos.servers.kafka import Kafka

TOPIC, PARTITIONS, PER_EPOCH = "customers", 4, 500_000
COLUMNS = "id BIGINT, name STRING, balance DECIMAL(12,2), visits INT, updated_at TIMESTAMP"
DEFINITION = f"""CREATE TABLE ours (id BIGINT, name VARCHAR, balance DECIMAL(12,2), visits INTEGER,
updated_at TIMESTAMP WITH TIME ZONE, PRIMARY KEY (id)) WITH (connector = 'kafka',
topic = '{TOPIC}', bootstrap_servers = '{{servers}}', max_rows_per_epoch = {PER_EPOCH})
FORMAT DEBEZIUM ENCODE JSON (decimals = 'string');"""


class Shop:
    """Writes what Debezium would write about a table.

    Args:
        broker: where to.
    """

    def __init__(self, broker: Kafka) -> None:
        topics = AdminClient({"bootstrap.servers": broker.address})
        topics.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])[TOPIC].result()
        self._producer = Producer({"bootstrap.servers": broker.address, "linger.ms": 50})
        self._random, self._rows, self._at = Random(1), 0, 0

    def snapshot(self, rows: int) -> None:
        """Write the rows that are there at first."""
        self._write((key, "r") for key in range(rows))
        self._rows = rows

    def change(self, count: int) -> None:
        """Write changes of rows all over the table."""
        self._write(self._changes(count))

    def _changes(self, count: int) -> Iterator[tuple[int, str]]:
        for number in range(count):
            if number % 10 < 2:
                yield self._rows, "c"
                self._rows += 1
            else:
                yield self._random.randrange(self._rows), "d" if number % 10 == 9 else "u"

    def _write(self, events: Iterator[tuple[int, str]]) -> None:
        for number, (key, op) in enumerate(events):
            self._at += 1
            row = (
                f'{{"id":{key},"name":"customer {key}","balance":"{self._at % 100_000}.25",'
                f'"visits":{self._at % 1000},"updated_at":"2026-01-{1 + key % 28:02}T10:00:00Z"}}'
            )
            before, after = (f'{{"id":{key}}}', "null") if op == "d" else ("null", row)
            source = f'{{"connector":"postgresql","table":"customers","lsn":{self._at}}}'
            value = f'{{"before":{before},"after":{after},"source":{source},"op":"{op}"}}'
            key_text = f'{{"id":{key}}}'
            self._producer.produce(TOPIC, value, key_text, partition=key % PARTITIONS)
            if number % 1000 == 0:
                self._producer.poll(0)
            if number % 50_000 == 0:
                self._producer.flush()
        self._producer.flush()


class Ours:
    """The keyed table as a project keeps it.

    Args:
        spark: the session.
        config: of the project.
        broker: where the events are.

    Attributes:
        ticked: seconds that each tick took, without the landing before it.
    """

    def __init__(self, spark: SparkSession, config: Config, broker: Kafka) -> None:
        catalog = bind({"b.sql": parse(DEFINITION.format(servers=broker.address), file="b.sql")})
        log = catalog.sources["ours" + CHANGES]
        landing = session_for_thread(spark)
        self.ticked: list[float] = []
        self._landing = Landing(landing, Lake(landing, "bench"), log, config)
        lake = Lake(session_for_thread(spark), "bench")
        self._view = IncrementalView(lake, plan_project(catalog)["ours"], catalog)
        self._lake, self._log = lake, log.name

    def apply(self) -> None:
        """Land all that is there, then bring the table up to date."""
        while self._landing.step():
            pass
        self.ticked.append(seconds(self._tick))

    def _tick(self) -> None:
        ticks = Ticks(self._lake, [self._log])
        try:
            failed = ticks.run([self._view], ticks.pin()).failed
        finally:
            ticks.close()
        for error in failed.values():
            raise error


class ByHand:
    """The same as a job of Structured Streaming.

    Args:
        spark: the session.
        config: of the project.
        broker: where the events are.
    """

    def __init__(self, spark: SparkSession, config: Config, broker: Kafka) -> None:
        self._checkpoint = config.state / "by_hand"
        self._records = records(spark, broker, TOPIC, PER_EPOCH)
        modes = ", ".join(
            f"'write.{kind}.mode'='merge-on-read'" for kind in ("delete", "update", "merge")
        )
        spark.sql(
            f"CREATE TABLE lake.bench.by_hand ({COLUMNS}) USING iceberg"
            f" TBLPROPERTIES ('format-version'='2', {modes})"
        )

    def apply(self) -> None:
        """Merge all that is there."""
        query = (
            self._records.writeStream.foreachBatch(self._merge)
            .option("checkpointLocation", str(self._checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

    @staticmethod
    def _merge(batch: DataFrame, _: int) -> None:
        image = ", ".join(column.replace(" ", ": ", 1) for column in COLUMNS.split(", "))
        schema = f"op STRING, before STRUCT<{image}>, after STRUCT<{image}>"
        event = F.from_json(F.col("value").cast("string"), schema)
        newest = Window.partitionBy("id").orderBy(F.col("offset").desc())
        (
            batch.select(event.alias("e"), "offset")
            .select(F.expr("coalesce(e.after.id, e.before.id)").alias("id"), "e", "offset")
            .withColumn("nth", F.row_number().over(newest))
            .where("nth = 1")
            .createOrReplaceTempView("events")
        )
        names = [column.split()[0] for column in COLUMNS.split(", ")]
        batch.sparkSession.sql(
            "MERGE INTO lake.bench.by_hand AS t USING events AS s ON t.id = s.id"
            " WHEN MATCHED AND s.e.op = 'd' THEN DELETE"
            f" WHEN MATCHED THEN UPDATE SET {', '.join(f't.{n} = s.e.after.{n}' for n in names)}"
            f" WHEN NOT MATCHED AND s.e.op <> 'd' THEN INSERT ({', '.join(names)})"
            f" VALUES ({', '.join(f's.e.after.{n}' for n in names)})"
        )


def seconds(do: Callable[[], None]) -> float:
    """Return how long a call took."""
    began = time.monotonic()
    do()
    return time.monotonic() - began


def differs(spark: SparkSession) -> int:
    """Return how many rows of the two tables differ."""
    names = [column.split()[0] for column in COLUMNS.split(", ")]
    ours, theirs = (
        spark.table(f"lake.bench.{name}").select(*names) for name in ("ours", "by_hand")
    )
    return ours.exceptAll(theirs).count() + theirs.exceptAll(ours).count()


def main() -> None:
    """Measure both ways in turn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--change", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    with over_kafka() as (spark, config, broker):
        shop = Shop(broker)
        shop.snapshot(options.rows)
        print(f"# {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        ours = Ours(spark, config, broker)
        ways: dict[str, Ours | ByHand] = {
            "headwater": ours,
            "by hand": ByHand(spark, config, broker),
        }
        for name, way in ways.items():
            took = seconds(way.apply)
            print(f"snapshot of {options.rows:,} rows  {name:10} {took:8.1f} s", flush=True)
        for count in options.change:
            taken: dict[str, list[float]] = {name: [] for name in ways}
            for number in range(options.times + 1):  # the first round warms up
                shop.change(count)
                for name, way in ways.items():
                    took = seconds(way.apply)
                    if number:
                        taken[name].append(took)
            for name, found in taken.items():
                middle = statistics.median(found)
                each = ", ".join(f"{took:.1f}" for took in found)
                rate = count / middle
                print(f"{count:8,} changes  {name:10} {middle:6.1f} s {rate:9,.0f} rows/s  {each}")
            tick = statistics.median(ours.ticked[-options.times :])
            pairs = zip(taken["by hand"], taken["headwater"], strict=True)
            ratio = statistics.median(theirs / own for theirs, own in pairs)
            print(
                f"{'':18}of it the tick {tick:4.1f} s; {ratio:.2f} x the rate by hand", flush=True
            )
        print(f"rows that differ: {differs(spark)}")


if __name__ == "__main__":
    main()
