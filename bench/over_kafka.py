"""What both benchmarks of Kafka begin with: a broker, a session, and how Spark by hand reads."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from headwater.config.settings import Config
from headwater.runtime.session import open_session
from headwater.runtime.spark_requirements import KAFKA
from jobs.demos.servers.kafka import Kafka


@contextmanager
def over_kafka() -> Iterator[tuple[SparkSession, Config, Kafka]]:
    """Yield a session with an empty namespace ``bench``, its configuration, and an empty broker."""
    with tempfile.TemporaryDirectory() as folder, Kafka(Path(folder)) as broker:
        home = Path(folder)
        config = Config(
            directory=home,
            name="bench",
            namespace="bench",
            warehouse=home / "warehouse",
            state=home / "state",
            master="local[2]",
        )
        spark = open_session(config, further=(KAFKA,))
        spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.bench")
        yield spark, config, broker
        spark.stop()


def records(spark: SparkSession, broker: Kafka, topic: str, most: int) -> DataFrame:
    """Return the records of a topic as a stream of Spark's own source.

    Args:
        spark: the session.
        broker: where the topic is.
        topic: its name.
        most: records of a batch.
    """
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", broker.address)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", most)
        .load()
    )
