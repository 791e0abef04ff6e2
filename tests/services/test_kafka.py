"""The broker: what it acknowledged is there after a SIGKILL."""

from __future__ import annotations

import pytest

from headwater.errors import ServiceError
from jobs.demos.servers.kafka import Kafka
from tests.services.topics import read, write

pytestmark = pytest.mark.services


def test_messages_survive_a_kill(broker: Kafka) -> None:
    values = [f"{n}".encode() for n in range(1000)]
    write(broker, "kept", values[:500])
    before, address = broker.process, broker.address
    assert before is not None
    broker.kill()
    assert not before.alive
    assert broker.process is None
    broker.start()
    assert broker.address == address
    write(broker, "kept", values[500:])
    kept = read(broker, "kept", lambda messages: len(messages) >= len(values))
    assert sorted(one.value() for one in kept) == sorted(values)


def test_a_running_broker_is_not_started_twice(broker: Kafka) -> None:
    assert broker.process is not None
    with pytest.raises(ServiceError) as caught:
        Kafka(broker.folder.parent).start()
    assert caught.value.condition == "SERVICE_RUNNING"
    assert str(broker.process.pid) in caught.value.message
