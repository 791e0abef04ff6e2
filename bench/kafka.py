"""``make bench-kafka``: JSON out of a real Kafka into a table, against Spark written by hand.

In: how many records. Out: rows per second of each way and ratios to that by hand, the median of
runs that alternate in one session. ``landed`` is a table, ``straight`` a view of a SOURCE. By hand:
a Structured Streaming query that parses with ``from_json`` and appends to an Iceberg table, as many
records a batch as Headwater takes an epoch. It checks nothing and keeps no bad rows.

    python -m bench.kafka --rows 1000000 --repeat 3
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own convention

from bench.over_kafka import over_kafka, records
from headwater.analyze.definitions import Catalog
from headwater.analyze.project import bind_all
from headwater.config.settings import Config
from headwater.dialect import parse
from headwater.engine.streaming.query import StreamingView
from headwater.intake.land import Landing
from headwater.lake.catalog import Lake
from headwater.plan.planner import plan_project
from headwater.runtime.session import session_for_thread
from jobs.demos.servers.kafka import Kafka

TOPIC, PARTITIONS, PER_EPOCH = "orders", 4, 250_000
COLUMNS = "id BIGINT, customer STRING, amount DECIMAL(10,2), ts TIMESTAMP, note STRING"
DEFINITION = """CREATE TABLE {name} (id BIGINT, customer VARCHAR, amount DECIMAL(10,2),
ts TIMESTAMP WITH TIME ZONE, note VARCHAR) WITH (connector = 'kafka', topic = '{topic}',
bootstrap_servers = '{servers}', max_rows_per_epoch = {most}) FORMAT PLAIN ENCODE JSON;"""
VIEW = """CREATE SOURCE {name}_in (id BIGINT, customer VARCHAR, amount DECIMAL(10,2),
ts TIMESTAMP WITH TIME ZONE, note VARCHAR, part INTEGER METADATA FROM 'partition',
place BIGINT METADATA FROM 'offset') WITH (connector = 'kafka', topic = '{topic}',
bootstrap_servers = '{servers}', max_rows_per_epoch = {most}) FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW {name} AS
SELECT id, customer, amount, ts, note, part, place FROM {name}_in;"""


def produce(broker: Kafka, rows: int, topic: str = TOPIC, partitions: int = PARTITIONS) -> None:
    """Write records of about 150 bytes to a topic."""
    topics = AdminClient({"bootstrap.servers": broker.address})
    topics.create_topics([NewTopic(topic, partitions, 1)])[topic].result()
    producer = Producer({"bootstrap.servers": broker.address, "linger.ms": 50})
    for number in range(rows):
        value = {
            "id": number,
            "customer": f"customer {number % 5000}",
            "amount": number % 100_000 / 100,
            "ts": f"2026-01-01T{number % 24:02}:00:00Z",
            "note": "as it came, with some words more",
        }
        producer.produce(topic, json.dumps(value), partition=number % partitions)
        producer.poll(0)
        if number % 50_000 == 0:
            producer.flush()
    producer.flush()


def bound(text: str, broker: Kafka, name: str, topic: str = TOPIC) -> Catalog:
    """What definitions of some names mean."""
    given = {"name": name, "topic": topic, "servers": broker.address, "most": PER_EPOCH}
    catalog, errors = bind_all({"bench.sql": parse(text.format(**given), file="bench.sql")})
    assert not errors
    return catalog


def landed(
    spark: SparkSession, config: Config, broker: Kafka, name: str, topic: str = TOPIC
) -> None:
    """Land all there is."""
    catalog = bound(DEFINITION, broker, name, topic)
    landing = Landing(spark, Lake(spark, "bench"), catalog.sources[name], config, once=True)
    while landing.step():
        pass


def straight(spark: SparkSession, config: Config, broker: Kafka, name: str) -> None:
    """Keep a view that reads the topic itself."""
    catalog = bound(VIEW, broker, name)
    lake = Lake(session_for_thread(spark), "bench")
    plan = plan_project(catalog)[name]
    view = StreamingView(lake, plan, catalog, config.state / name, config=config, hurry=True)
    view.start()
    assert view.drain({})
    view.stop()


def by_hand(spark: SparkSession, config: Config, broker: Kafka, name: str) -> None:
    """The same by a query of Structured Streaming."""
    table = f"lake.bench.{name}"
    places = "_partition INT, _offset BIGINT"
    spark.sql(f"CREATE TABLE {table} ({COLUMNS}, {places}) USING iceberg")
    parsed = F.from_json(F.col("value").cast("string"), COLUMNS)
    read = records(spark, broker, TOPIC, PER_EPOCH)
    rows = read.select(parsed.alias("r"), F.col("partition"), F.col("offset"))
    query = (
        rows.select("r.*", F.col("partition").alias("_partition"), F.col("offset").alias("_offset"))
        .coalesce(2)
        .writeStream.format("iceberg")
        .option("checkpointLocation", str(config.state / name))
        .trigger(availableNow=True)
        .toTable(table)
    )
    query.awaitTermination()


def main() -> None:
    """Run the ways in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    ways: dict[str, Callable[[SparkSession, Config, Kafka, str], None]] = {
        "landed": landed,
        "straight": straight,
        "by_hand": by_hand,
    }
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    with over_kafka() as (spark, config, broker):
        produce(broker, options.rows)
        for number in range(options.repeat + 1):  # the first round warms up
            for way, run in ways.items():
                name = f"{way}_{number}"
                began = time.monotonic()
                run(spark, config, broker, name)
                taken = time.monotonic() - began
                held = spark.table(f"lake.bench.{name}").count()
                assert held == options.rows, (name, held)
                if number:
                    seconds[way].append(taken)
    print(f"{platform.machine()}, {os.cpu_count()} cores; {options.rows:,} records of JSON")
    for way, each in seconds.items():
        rate = options.rows / statistics.median(each)
        print(f"{way:10} {rate:12,.0f} rows/s   {', '.join(f'{s:.1f} s' for s in each)}")
    for way in ("landed", "straight"):
        pairs = zip(seconds["by_hand"], seconds[way], strict=True)
        ratio = statistics.median(theirs / own for theirs, own in pairs)
        print(f"{way:10} {ratio:.2f} x the rate by hand (asked: 0.9)")


if __name__ == "__main__":
    main()
