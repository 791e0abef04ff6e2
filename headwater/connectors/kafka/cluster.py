"""What there is in a Kafka cluster: topics, their partitions, and how far these reach.

In: the options of a source or sink and a session of Spark. Out: topics by name, offsets by
partition. Asks through the client that Spark's own Kafka source brings along, so the same settings
serve for both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from py4j.java_gateway import JavaClass, JavaObject
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from headwater.config.secrets import Secret
from headwater.errors import ServiceError
from headwater.lake.java import java_class

Partition = tuple[str, int]
"""A topic and the number of a partition."""

_TIMEOUTS = {"default.api.timeout.ms": "20000", "request.timeout.ms": "10000"}
_MECHANISMS = {"plain": "PLAIN", "scram-sha-256": "SCRAM-SHA-256", "scram-sha-512": "SCRAM-SHA-512"}
_LOGIN = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
_REFUSED = (
    *("SaslAuth", "SslAuth", "Authorization", "RecordTooLarge"),
    *("ConfigException", "InvalidConfigurationException"),  # a key or certificate, for one
)
"""Begin of the exceptions that trying again does not end."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as it is now.

    Attributes:
        id: what tells it from one of the same name that was there before.
        partitions: how many it has.
    """

    id: str
    partitions: int


def client_settings(options: Mapping[str, str], directory: Path) -> dict[str, str]:
    """Return the settings of a Kafka client, secrets revealed.

    Args:
        directory: where relative paths start.

    Raises:
        ConfigError: ``SECRET_MISSING``.
    """
    settings = {
        "bootstrap.servers": options["bootstrap_servers"],
        "security.protocol": options.get("security_protocol", "plaintext").upper(),
    }
    if settings["security.protocol"].startswith("SASL"):
        mechanism = _MECHANISMS[options.get("sasl_mechanism", "plain")]
        user, password = (
            _quoted(Secret(options[name]).reveal()) for name in ("sasl_username", "sasl_password")
        )
        login = _LOGIN[mechanism.split("-")[0]]
        settings["sasl.mechanism"] = mechanism
        settings["sasl.jaas.config"] = f"{login} required username={user} password={password};"
    for option, kind in (("ssl_ca", "truststore"), ("ssl_keystore", "keystore")):
        if option in options:
            settings[f"ssl.{kind}.type"] = "PEM"
            settings[f"ssl.{kind}.location"] = str(directory / options[option])
    if "ssl_key_password" in options:
        settings["ssl.key.password"] = Secret(options["ssl_key_password"]).reveal()
    return settings


class Cluster:
    """A connection to a cluster; made when it is first needed.

    Args:
        settings: of the client, see :func:`client_settings`.
        name: of the table it is read for, or of the sink it is written for, for messages.
    """

    def __init__(self, spark: SparkSession, settings: Mapping[str, str], name: str) -> None:
        self._spark, self._settings, self._name = spark, settings, name
        self._admin: JavaObject | None = None

    def topics(self, names: Iterable[str], pattern: str | None) -> dict[str, Topic]:
        """Return topics; one that is not there is left out.

        Args:
            names: the topics to look for.
            pattern: otherwise, what the whole of a name must match.

        Raises:
            ServiceError: ``KAFKA_UNAVAILABLE``, ``KAFKA_REFUSED``.
        """
        with self._asking() as admin:
            wanted = [*names]
            if pattern is not None:
                listed = re.compile(pattern)
                every = admin.listTopics().names().get()
                wanted = sorted(name for name in every if listed.fullmatch(name))
            found = admin.describeTopics(self._list(wanted)).topicNameValues()
            topics = {}
            for name in wanted:
                topic = _unless("UnknownTopicOrPartitionException", found[name])
                if topic is not None:
                    partitions = topic.partitions().size()
                    topics[name] = Topic(topic.topicId().toString(), partitions)
            return topics

    def compacted(self, names: Iterable[str]) -> list[str]:
        """Return which topics lose records that others of the same key follow.

        Args:
            names: the topics; of one whose settings the user may not see, nothing is known.

        Raises:
            ServiceError: ``KAFKA_UNAVAILABLE``, ``KAFKA_REFUSED``.
        """
        resource = java_class(self._spark, "org.apache.kafka.common.config.ConfigResource")
        kind = java_class(self._spark, "org.apache.kafka.common.config.ConfigResource$Type")
        asked = {name: resource(kind.valueOf("TOPIC"), name) for name in names}
        with self._asking() as admin:
            values = admin.describeConfigs(self._list(asked.values())).values()
            held = {name: _unless("Authorization", values[each]) for name, each in asked.items()}
            return [
                name
                for name, settings in held.items()
                if settings and "compact" in settings.get("cleanup.policy").value()
            ]

    def earliest(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Return the offset of the oldest record of some partitions that is still there.

        Raises:
            ServiceError: ``KAFKA_UNAVAILABLE``, ``KAFKA_REFUSED``.
        """
        return self._offsets(partitions, lambda spec: spec.earliest())

    def latest(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Return the offset behind the newest record that can be read, of some partitions.

        Raises:
            ServiceError: ``KAFKA_UNAVAILABLE``, ``KAFKA_REFUSED``.
        """
        return self._offsets(partitions, lambda spec: spec.latest())

    def at(self, partitions: Iterable[Partition], millis: int) -> dict[Partition, int]:
        """Return the offset of the first record of a time or later, -1 if there is none.

        Args:
            millis: the time, milliseconds since 1970 UTC.

        Raises:
            ServiceError: ``KAFKA_UNAVAILABLE``, ``KAFKA_REFUSED``.
        """
        return self._offsets(partitions, lambda spec: spec.forTimestamp(millis))

    def close(self) -> None:
        """End the connection."""
        if self._admin is not None:
            self._admin.close()
            self._admin = None

    def _offsets(
        self, partitions: Iterable[Partition], spec: Callable[[JavaClass], JavaObject]
    ) -> dict[Partition, int]:
        kafka = "org.apache.kafka"
        place = java_class(self._spark, f"{kafka}.common.TopicPartition")
        specs = java_class(self._spark, f"{kafka}.clients.admin.OffsetSpec")
        levels = java_class(self._spark, f"{kafka}.common.IsolationLevel")
        options = java_class(self._spark, f"{kafka}.clients.admin.ListOffsetsOptions")
        asked = java_class(self._spark, "java.util.HashMap")()
        places = {each: place(*each) for each in partitions}
        for each in places.values():
            asked.put(each, spec(specs))
        level = getattr(levels, self._settings["isolation.level"].upper())
        with self._asking() as admin:
            result = admin.listOffsets(asked, options(level))
            return {
                each: int(result.partitionResult(held).get().offset())
                for each, held in places.items()
            }

    def _list(self, items: Iterable[str | JavaObject]) -> JavaObject:
        listed = java_class(self._spark, "java.util.ArrayList")()
        for item in items:
            listed.add(item)
        return listed

    @contextmanager
    def _asking(self) -> Iterator[JavaObject]:
        """Lend the client; its errors become ours, and end the connection."""
        try:
            if self._admin is None:
                settings = java_class(self._spark, "java.util.HashMap")()
                for name, value in {**self._settings, **_TIMEOUTS}.items():
                    settings.put(name, value)
                clients = java_class(self._spark, "org.apache.kafka.clients.admin.AdminClient")
                self._admin = clients.create(settings)
            yield self._admin
        except Py4JJavaError as error:
            self.close()
            raise self.explained(_causes(error)) from error

    def explained(self, causes: str) -> ServiceError:
        """Return what a failure of the client means.

        Args:
            causes: its exceptions, the outermost first.
        """
        servers = self._settings["bootstrap.servers"]
        if "No resolvable bootstrap urls" in causes:
            return ServiceError(
                "KAFKA_UNAVAILABLE",
                f'cannot resolve bootstrap server "{servers}" of "{self._name}"',
                hint=f"correct bootstrap_servers = '{servers}', or name resolution on this machine",
            )
        if any(word in causes for word in _REFUSED):
            hint = "check security_protocol, the sasl_… and ssl_… options, and the user's rights"
            if "PBES2" in causes:
                hint = (
                    "convert the private key to an encryption that Java reads:"
                    " openssl pkcs8 -topk8 -v1 PBE-SHA1-3DES"
                )
            message = f'Kafka at {servers} refuses "{self._name}": {causes}'
            return ServiceError("KAFKA_REFUSED", message, hint=hint)
        return ServiceError(
            "KAFKA_UNAVAILABLE",
            f'Kafka at {servers} does not answer for "{self._name}": {causes}',
            hint="check that the brokers run, and check bootstrap_servers and the brokers'"
            " advertised.listeners",
        )


def _unless(refusal: str, future: JavaObject) -> JavaObject | None:
    """What a client gives; None if it says no more than that it must not or cannot be given."""
    try:
        return future.get()
    except Py4JJavaError as error:
        if refusal in _causes(error):
            return None
        raise


def _causes(error: Py4JJavaError) -> str:
    """The exceptions of the JVM, the outermost first, without those that only wrap others."""
    cause, found = error.java_exception, []
    while cause is not None:
        found.append(str(cause.toString()).removeprefix("org.apache.kafka.common.errors."))
        cause = cause.getCause()
    inner = [each for each in found if not each.startswith("java.util.concurrent.Exec")]
    return "; ".join(inner)


def _quoted(value: str) -> str:
    """A value in the language of JAAS."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
