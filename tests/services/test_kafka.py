"""The broker answers, keeps what it acknowledged through SIGKILL, and leaves no process behind."""

from __future__ import annotations

import time
import uuid
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from docker.local.kafka import Kafka
from headwater.errors import ServiceError

pytestmark = pytest.mark.services


def write(broker: Kafka, topic: str, values: list[bytes]) -> None:
    producer = Producer({"bootstrap.servers": broker.address, "acks": "all"})
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(60) == 0


def read(broker: Kafka, topic: str, count: int) -> set[bytes]:
    settings = {"group.id": uuid.uuid4().hex, "auto.offset.reset": "earliest"}
    consumer = Consumer({"bootstrap.servers": broker.address} | settings)
    consumer.subscribe([topic])
    values: set[bytes] = set()
    deadline = time.monotonic() + 60
    while len(values) < count and time.monotonic() < deadline:
        values |= {one.value() for one in consumer.consume(count, 1.0) if not one.error()}
    consumer.close()
    return values


def test_messages_survive_a_kill(broker: Kafka) -> None:
    values = [f"{n}".encode() for n in range(1000)]
    write(broker, "kept", values[:500])
    before, address = broker.process, broker.address
    broker.kill()
    assert before is not None
    assert not before.alive
    assert broker.process is None
    broker.start()
    assert broker.address == address
    write(broker, "kept", values[500:])
    assert read(broker, "kept", len(values)) == set(values)


def test_a_running_broker_is_not_started_twice(broker: Kafka) -> None:
    with pytest.raises(ServiceError) as caught:
        Kafka(broker.folder.parent).start()
    assert caught.value.condition == "SERVICE_RUNNING"
    assert str(broker.process.pid) in caught.value.message


def test_no_process_is_left(tmp_path: Path) -> None:
    with Kafka(tmp_path) as broker:
        process = broker.process
        assert process is not None
        assert process.alive
    assert not process.alive
    assert broker.process is None
