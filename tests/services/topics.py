"""Writing and reading topics as a client does."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable

from confluent_kafka import Consumer, Message, Producer

from jobs.demos.servers.kafka import Kafka
from tests.support.waiting import wait_for

_PATIENCE = 120.0  # seconds, for a broker or a connector that has just started again


def client(broker: Kafka) -> dict[str, str]:
    """Settings of a client; it may outlive the broker, and be silent about it."""
    return {"bootstrap.servers": broker.address, "log_level": "2"}


def write(broker: Kafka, topic: str, values: Iterable[bytes]) -> None:
    """Write messages; they are acknowledged when this returns."""
    producer = Producer(client(broker) | {"acks": "all"})
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(_PATIENCE) == 0


def read(broker: Kafka, topic: str, until: Callable[[list[Message]], bool]) -> list[Message]:
    """Read a topic from its beginning until what has come is what was waited for."""
    settings = {"group.id": uuid.uuid4().hex, "auto.offset.reset": "earliest"}
    settings |= {"topic.metadata.refresh.interval.ms": "500"}  # the topic may not be there yet
    consumer = Consumer(client(broker) | settings)
    consumer.subscribe([topic])
    messages: list[Message] = []

    def come() -> bool:
        messages.extend(one for one in consumer.consume(1000, 0.5) if not one.error())
        return until(messages)

    try:
        wait_for(lambda: until(messages) or come(), f"messages of {topic}", within=_PATIENCE)
    finally:
        consumer.close()
    return messages
