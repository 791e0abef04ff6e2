"""The registry: a schema has its number still after a SIGKILL."""

from __future__ import annotations

import json
from urllib.error import HTTPError

import pytest

from headwater.servers.web import ask
from jobs.demos.servers.registry import Registry

pytestmark = pytest.mark.services


def record(*fields: dict[str, object]) -> dict[str, str]:
    return {"schema": json.dumps({"type": "record", "name": "Order", "fields": list(fields)})}


def test_schemas_survive_a_kill(registry: Registry) -> None:
    key: dict[str, object] = {"name": "id", "type": "long"}
    number = ask(f"{registry.address}/subjects/orders-value/versions", record(key))["id"]
    registry.kill()
    registry.start()
    assert "orders-value" in ask(f"{registry.address}/subjects")
    kept = ask(f"{registry.address}/schemas/ids/{number}")
    assert json.loads(kept["schema"])["fields"] == [key]

    ask(f"{registry.address}/config/orders-value", {"compatibility": "BACKWARD"}, "PUT")
    added: dict[str, object] = {"name": "amount", "type": "long"}
    with pytest.raises(HTTPError) as refused:
        ask(f"{registry.address}/subjects/orders-value/versions", record(key, added))
    refused.value.close()
    assert refused.value.code == 409
