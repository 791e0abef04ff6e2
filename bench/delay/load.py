"""Records at a steady rate, and when each was produced.

In: a broker, a topic, a rate that may change. Out: records numbered from 0 in one partition.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

DEVICES = 200


class Load:
    """A producer.

    Args:
        servers: of Kafka.
        topic: made with one partition, so that records come into sight in their order.

    Attributes:
        rate: records per second.
        produced: when each record was produced, seconds since 1970.
    """

    def __init__(self, servers: str, topic: str) -> None:
        self.rate = 0
        self.produced: list[float] = []
        self._topic = topic
        cluster = AdminClient({"bootstrap.servers": servers})
        cluster.create_topics([NewTopic(topic, 1, 1)])[topic].result()
        self._producer = Producer({"bootstrap.servers": servers, "linger.ms": 5})

    @contextmanager
    def running(self) -> Iterator[None]:
        """Produce while the block runs."""
        stop = threading.Event()
        thread = threading.Thread(target=self._run, args=(stop,))
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def _run(self, stop: threading.Event) -> None:
        owed, before = 0.0, time.time()
        while not stop.wait(0.01):
            now = time.time()
            owed, before = owed + (now - before) * self.rate, now
            while owed >= 1:
                self._produce()
                owed -= 1
            self._producer.poll(0)
        self._producer.flush()

    def _produce(self) -> None:
        number, now = len(self.produced), time.time()
        at = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")
        value = {"id": number, "device": number % DEVICES, "value": number % 97, "at": at}
        self._producer.produce(self._topic, json.dumps(value))
        self.produced.append(now)
