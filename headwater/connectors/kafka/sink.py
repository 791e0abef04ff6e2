"""Connector ``kafka``: records to one topic, each acknowledged by every replica in sync.

In: changes. Out: the topic holds records of them. The topic must be there, so that nobody gets one
with the broker's defaults by a slip; and it must stay the same one. Where records change rows by
their key it must also keep its number of partitions: the next record of a key would go to another
partition, and what a compacted topic holds of the key would be two rows.
"""

from __future__ import annotations

import re
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from headwater.analyze.definitions import RecordFormat, Sink
from headwater.connectors.datagen import now_micros
from headwater.connectors.kafka.cluster import Cluster, client_settings
from headwater.connectors.sink_contract import DeliveryEpoch, SinkConnector
from headwater.errors import ServiceError, TerminalError
from headwater.formats.avro.encode import key_schema, value_schema, written
from headwater.formats.avro.registry import Registry
from headwater.formats.records import JSON, Encoding, RecordBatch, records
from headwater.lake.catalog import Lake

_OF_KAFKA = re.compile(r"org\.apache\.kafka\.\S*?(\w+(?:Exception|Error)\b.*)")
_PRODUCER = {
    "acks": "all",
    "enable.idempotence": "true",
    "compression.type": "lz4",
    # a broker that is down is the worker's to wait for, without a core
    "max.block.ms": "20000",
    "request.timeout.ms": "10000",
    "delivery.timeout.ms": "30000",
    # what is too large, the topic says
    "max.request.size": "100000000",
}
"""Settings of the producer beyond those of any client."""


class KafkaTopic(SinkConnector):
    """The topic of one sink.

    Args:
        directory: where relative paths of options start.
    """

    def __init__(self, sink: Sink, directory: Path) -> None:
        self._sink = sink
        self._topic = sink.options["topic"]
        self._settings = client_settings(sink.options, directory)
        self._cluster: Cluster | None = None
        self._namespace = ""
        self._registry = Registry(sink, directory) if sink.encode == "avro" else None
        self._numbers: dict[str, int] = {}

    @staticmethod
    def jars(sink: Sink, directory: Path) -> tuple[str, ...]:  # noqa: ARG004 - of others
        """See :meth:`SinkConnector.jars`."""
        return ("kafka",)

    def open(self, lake: Lake) -> None:
        """See :meth:`SinkConnector.open`."""
        self._namespace = lake.namespace
        self._cluster = Cluster(lake.spark, self._settings, self._sink.name)

    def place(self, before: str | None) -> str:
        """See :meth:`SinkConnector.place`: the topic's id, its partitions, its keys' schema."""
        topic = self._asked().topics([self._topic], None).get(self._topic)
        if topic is None:
            raise ServiceError(
                "TOPIC_MISSING",
                f'topic "{self._topic}" of sink "{self._sink.name}" does not exist',
                hint="create it, or correct the option topic",
                span=self._sink.span,
            )
        now = f"{topic.id}/{topic.partitions}"
        if self._registry and self._sink.key is not None:
            now += f"/{self._number('key', key_schema(self._sink))}"
        if before is None or before == now:
            return now
        known, partitions, *schema = before.split("/")
        if known != topic.id:
            raise self._refused("TOPIC_RECREATED", "was deleted and created again: it is empty")
        if self._sink.format is RecordFormat.PLAIN:
            return now
        if partitions != str(topic.partitions):
            what = f"has {topic.partitions} partitions instead of {partitions}"
            raise self._refused("PARTITIONS_ADDED", f"{what}: keys would move to another one")
        what = f"has keys with schema number {schema[0]}"
        raise self._refused("SCHEMA_RENUMBERED", f"{what}, which the registry has replaced")

    def deliver(self, changed: DataFrame, epoch: DeliveryEpoch) -> None:
        """See :meth:`SinkConnector.deliver`: acknowledged records, one for each change."""
        batch = RecordBatch(self._namespace, epoch.marker.epoch, epoch.at, now_micros() // 1000)
        made = records(self._sink, changed, batch, self._encoding())
        writer = made.write.format("kafka").option("topic", self._topic)
        settings = {**self._settings, **_PRODUCER}
        try:
            writer.options(**{f"kafka.{name}": value for name, value in settings.items()}).save()
        except (Py4JError, PySparkException) as error:
            causes = dict.fromkeys(_OF_KAFKA.findall(str(error)))
            if not causes:
                raise
            raise self._asked().explained("; ".join(causes)[:300]) from error

    def _encoding(self) -> Encoding:
        if self._registry is None:
            return JSON
        value, key = value_schema(self._sink), key_schema(self._sink)
        of_keys = written(self._number("key", key), key) if self._sink.key is not None else str
        return Encoding(of_keys, written(self._number("value", value), value))

    def _number(self, of: str, schema: str) -> int:
        """The number of the schema of keys or values, asked for once."""
        assert self._registry is not None, "only Avro has schemas"
        if of not in self._numbers:
            self._numbers[of] = self._registry.number(f"{self._topic}-{of}", schema)
        return self._numbers[of]

    def _asked(self) -> Cluster:
        assert self._cluster is not None, "open() comes first"
        return self._cluster

    def _refused(self, condition: str, what: str) -> TerminalError:
        return TerminalError(
            condition,
            f'topic "{self._topic}" of sink "{self._sink.name}" {what}',
            hint="give the sink another name and topic; it then delivers the whole view",
            span=self._sink.span,
        )
