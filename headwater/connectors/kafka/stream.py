"""Topics of Kafka as a stream, for a SOURCE: Spark's own source, from a place that stays the same.

In: a SOURCE over Kafka. Out: a streaming DataFrame of its records, and the ids of its topics.

Where reading begins, unless with the earliest record, is found once and kept in the state
folder: all views of the source begin there, and so does the reading of its bad rows. Under
``read_committed`` Spark's batches end before the first open transaction, so a batch that is run
again has the same records; records that are gone make the query fail.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from threading import Lock

from pyspark.sql import DataFrame, SparkSession

from headwater.analyze.connectors.kafka import topics
from headwater.analyze.definitions import Source
from headwater.checkpoints.durable import put
from headwater.checkpoints.offsets import records_at
from headwater.connectors.contract import StreamConfig
from headwater.connectors.kafka.cluster import Cluster
from headwater.connectors.kafka.records import (
    ROWS_PER_EPOCH,
    encoding_of,
    kafka_records,
    needs_headers,
    record_columns,
)
from headwater.connectors.kafka.schemas import Schemas, refuse_unasked
from headwater.connectors.kafka.topics import (
    EARLIEST,
    KafkaPosition,
    found_topics,
    missing,
    partitions_of,
    reader_settings,
    starts,
)
from headwater.errors import TerminalError
from headwater.formats.avro.decode import avro_records
from headwater.formats.columns import VALUE, Encoded

_one_finds = Lock()


def topic_stream(
    spark: SparkSession,
    source: Source,
    config: StreamConfig,
    view: str,
    *,
    flat: bool,  # noqa: ARG001 - records are no lines
) -> Encoded:
    """See :meth:`headwater.connectors.contract.Streamable.stream`.

    Raises:
        HeadwaterError: what :func:`kafka_stream` raises.
    """
    frame = kafka_stream(spark, source, config.directory, config.state)
    frame.createOrReplaceTempView(view)
    records = kafka_records(source, view)
    if source.encode != "avro":
        return encoding_of(source, records)
    known = Schemas(source, config).known()
    encoded = avro_records(source, records, {VALUE: known})
    return replace(encoded, strange=refuse_unasked(source, VALUE, known))


def kafka_stream(spark: SparkSession, source: Source, directory: Path, state: Path) -> DataFrame:
    """Return the records of a SOURCE as a stream, in the columns that decoding reads.

    Raises:
        ServiceError: ``TOPIC_MISSING``, ``KAFKA_UNAVAILABLE``, ``KAFKA_REFUSED``.
        TerminalError: ``TOPIC_RECREATED``, ``TOPIC_COMPACTED``.
    """
    settings = reader_settings(source, directory)
    cluster = Cluster(spark, settings, source.name)
    try:
        begin = _begin(source, cluster, state)
    finally:
        cluster.close()
    pattern = source.options.get("topic_pattern")
    which = {"subscribe": ",".join(topics(source))}
    if pattern:  # Spark takes what matches a part of a name
        which = {"subscribePattern": f"^(?:{pattern})$"}
    reader = spark.readStream.format("kafka").options(
        **which,
        startingOffsets=begin,
        maxOffsetsPerTrigger=source.options.get("max_rows_per_epoch", str(ROWS_PER_EPOCH)),
        includeHeaders=needs_headers(source),
        failOnDataLoss="true",
    )
    records = reader.options(**{f"kafka.{k}": v for k, v in settings.items()}).load()
    return records.selectExpr(*record_columns(source))


class SameTopics:
    """Sees to it that the topics of a SOURCE stay the ones whose offsets are recorded.

    Args:
        position: how far the newest commit has read them, None before it.

    Attributes:
        ids: by topic, its id; of all that there are once :meth:`check` was called.
    """

    def __init__(
        self, spark: SparkSession, source: Source, directory: Path, position: str | None
    ) -> None:
        self._source = source
        self._cluster = Cluster(spark, reader_settings(source, directory), source.name)
        self.ids = KafkaPosition.of(position).ids

    def check(self) -> None:
        """Ask whether they still are; to be called when a batch was read, before it is published.

        Raises:
            ServiceError: ``TOPIC_MISSING``, ``KAFKA_UNAVAILABLE``, ``KAFKA_REFUSED``.
            TerminalError: ``TOPIC_RECREATED``; ``TOPIC_COMPACTED``.
        """
        found = found_topics(self._source, self._cluster, self.ids)
        if new := found.keys() - self.ids.keys():
            _refuse_compacted(self._source, self._cluster, sorted(new))
        self.ids = {name: topic.id for name, topic in found.items()}

    def position(self, end: str) -> str:
        """Return how far a batch has read, as the cut of a marker has it.

        Args:
            end: the offset of Spark's source; of a topic that is new, the id is asked for.

        Raises:
            HeadwaterError: what :meth:`check` raises.
        """
        read = json.loads(records_at(end) or "{}").keys()
        if not read <= self.ids.keys():
            self.check()
        for gone in sorted(read - self.ids.keys()):
            raise missing(self._source, gone)
        return records_at(end, self.ids) or end

    def close(self) -> None:
        """End the connection."""
        self._cluster.close()


def _begin(source: Source, cluster: Cluster, state: Path) -> str:
    """Where Spark begins to read, as it wants it: every partition that there is."""
    with _one_finds:
        begun, file = KafkaPosition(), _kept_start(source, state)
        if file.exists():
            begun = KafkaPosition.of(file.read_text(encoding="utf-8"))
        found = found_topics(source, cluster, begun.ids)
        _refuse_compacted(source, cluster, found)
        if source.start.kind == "earliest":
            return "earliest"
        every = partitions_of(found)
        if not file.exists():  # of a pattern, there may be no topic yet
            begun.ids = {name: topic.id for name, topic in found.items()}
            begun.offsets = starts(source, cluster, every)
            file.parent.mkdir(parents=True, exist_ok=True)
            put(file, begun.text())
    offsets = begun.offsets
    if source.start.kind != "offsets":  # a view made later begins with what is left
        oldest = cluster.earliest(offsets)
        offsets = {each: max(offset, oldest[each]) for each, offset in offsets.items()}
    begins: dict[str, dict[str, int]] = {}
    for topic, number in every:
        begins.setdefault(topic, {})[str(number)] = offsets.get((topic, number), EARLIEST)
    return json.dumps(begins)


def _refuse_compacted(source: Source, cluster: Cluster, found: Iterable[str]) -> None:
    """A batch that is run again, to rebuild the state, must have the records that it had."""
    for name in cluster.compacted(found):
        raise TerminalError(
            "TOPIC_COMPACTED",
            f'topic "{name}" of source "{source.name}" is compacted: Kafka deletes older records '
            "of a key, so records cannot be read again after a crash",
            hint="write CREATE TABLE instead of CREATE SOURCE; with FORMAT UPSERT, the table holds "
            "the newest row of each key",
            span=source.span,
        )


def _kept_start(source: Source, state: Path) -> Path:
    """Return the file that holds the beginning of the source, the same for every caller."""
    which = source.options.get("topic_pattern") or topics(source)
    asked = json.dumps([which, source.start.kind, source.start.value])
    digest = hashlib.sha256(asked.encode()).hexdigest()[:16]
    return state / "kafka" / f"{source.name}-{digest}.json"
