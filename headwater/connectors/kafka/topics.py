"""The topics that a source names: which they are, whether still the same, where reading begins.

In: a source and its cluster. Out: topics, how far they were read as commits hold it, offsets.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from headwater.analyze.connectors.kafka import topics
from headwater.analyze.definitions import Source
from headwater.connectors.kafka.cluster import Cluster, Partition, Topic, client_settings
from headwater.errors import ServiceError, TerminalError

_RECORDS_PER_POLL = "10000"
"""Spark polls whenever it has used up what it has: with 500, Kafka's default, a third slower."""
_WAIT_FOR_MORE = "10"
"""Milliseconds that a broker waits for records behind the last one. Spark asks for offsets after
each poll, and a broker answers in turn: with Kafka's 500, each partition that was read to its end
took half a second more."""
EARLIEST = -2
"""What Spark takes for the oldest record of a partition."""


@dataclass(slots=True)
class KafkaPosition:
    """How far topics were read.

    Attributes:
        ids: by topic, its id.
        offsets: by partition, the offset that comes next.
    """

    ids: dict[str, str] = field(default_factory=dict)
    offsets: dict[Partition, int] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str | None) -> KafkaPosition:
        """Return the position that a commit holds.

        Args:
            text: JSON, ``{topic: {"id": …, "<partition>": offset}}``; None before the first.
        """
        position = cls()
        for topic, held in json.loads(text or "{}").items():
            position.ids[topic] = held.pop("id")
            for number, offset in held.items():
                position.offsets[topic, int(number)] = offset
        return position

    def text(self) -> str:
        """Return it as a commit holds it."""
        held: dict[str, dict[str, str | int]] = {t: {"id": i} for t, i in sorted(self.ids.items())}
        for (topic, number), offset in sorted(self.offsets.items()):
            held[topic][str(number)] = offset
        return json.dumps(held, separators=(",", ":"))

    def to(self, offsets: Mapping[Partition, int]) -> KafkaPosition:
        """Return the position with some partitions read further.

        Args:
            offsets: their offsets that come next.
        """
        return KafkaPosition({**self.ids}, {**self.offsets, **offsets})


def reader_settings(source: Source, directory: Path) -> dict[str, str]:
    """Return the settings of the clients that read a source, secrets revealed.

    Args:
        directory: where relative paths start.

    Raises:
        ConfigError: ``SECRET_MISSING``.
    """
    return {
        **client_settings(source.options, directory),
        "isolation.level": source.options.get("isolation", "read_committed"),
        "max.poll.records": _RECORDS_PER_POLL,
        "fetch.max.wait.ms": _WAIT_FOR_MORE,
    }


def found_topics(source: Source, cluster: Cluster, ids: Mapping[str, str]) -> dict[str, Topic]:
    """Return the topics that a source reads.

    Args:
        ids: by topic that was read before, its id.

    Raises:
        ServiceError: ``TOPIC_MISSING``; ``KAFKA_UNAVAILABLE``, ``KAFKA_REFUSED``.
        TerminalError: ``NO_ORDER``; ``TOPIC_RECREATED``.
    """
    found = cluster.topics(topics(source), source.options.get("topic_pattern"))
    what = _what(source)
    for name in {*ids, *topics(source)}:
        if name not in found:
            raise missing(source, name)
        one_order = source.one_order
        if one_order and found[name].partitions > 1:
            raise TerminalError(
                "NO_ORDER",
                f'topic "{name}" of {what} "{source.name}" has {found[name].partitions} '
                f"partitions, but {one_order} needs all changes in one order",
                hint=f"write the topic with one partition, or remove {one_order}",
                span=source.span,
            )
        if ids.get(name, found[name].id) != found[name].id:
            raise TerminalError(
                "TOPIC_RECREATED",
                f'topic "{name}" of {what} "{source.name}" was deleted and created again: '
                "its offsets mean other records now",
                hint=f"read it into a {what} of another name",
                span=source.span,
            )
    return found


def missing(source: Source, name: str) -> ServiceError:
    """Return the error that a topic is not there."""
    return ServiceError(
        "TOPIC_MISSING",
        f'topic "{name}" of {_what(source)} "{source.name}" does not exist',
        hint="create it, or correct the option topic",
        span=source.span,
    )


def _what(source: Source) -> str:
    return "table" if source.kept else "source"


def partitions_of(found: Mapping[str, Topic]) -> list[Partition]:
    """Return every partition of some topics."""
    return [(name, number) for name, topic in found.items() for number in range(topic.partitions)]


def starts(source: Source, cluster: Cluster, places: Iterable[Partition]) -> dict[Partition, int]:
    """Return the offsets at which the first reading of partitions begins (``START FROM``).

    Raises:
        ServiceError: ``KAFKA_UNAVAILABLE``, ``KAFKA_REFUSED``.
    """
    start, new = source.start, list(places)
    if start.kind == "latest":
        return cluster.latest(new)
    if start.kind == "timestamp":
        ends = cluster.latest(new)
        found = cluster.at(new, -(-int(start.value) // 1000))
        return {each: found[each] if found[each] >= 0 else ends[each] for each in new}
    earliest = cluster.earliest(new)
    if start.kind == "offsets":
        given = json.loads(start.value)
        said = {(t, int(n)): offset for t, held in given.items() for n, offset in held.items()}
        return {each: said.get(each, earliest[each]) for each in new}
    return earliest
