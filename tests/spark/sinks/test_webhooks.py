"""Webhooks: each row that a view gains is posted, whatever fails and whoever is killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headwater.config.settings import Config
from headwater.connectors.webhook import sender
from headwater.connectors.webhook import sink as module
from headwater.engine.delivery import Delivery
from headwater.errors import ServiceError
from headwater.lake.catalog import Lake
from headwater.project import load_project
from headwater.runtime.events import Event, RunState, StateChanged
from headwater.runtime.supervisor import Supervisor
from headwater.serve.status import Status, status
from headwater.testing.harness import warehouse_of
from tests.spark.sinks.world import LOG, STOCK, Delivering, row
from tests.support.receiver import Receiver, receiving


class Hooked(Delivering):
    """A project whose sink posts to a server."""

    outlet = module.Webhook

    def died(self) -> None:
        """Forget what a process forgets when it ends."""
        module._SENT.clear()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        yield server


@pytest.fixture
def world(
    spark: SparkSession, lake: Lake, spark_config: Config, tmp_path: Path, receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> Hooked:  # fmt: skip
    short = sender.Patience(0.01, 0.02, 0.1)
    monkeypatch.setattr(sender, "Patience", lambda: short)
    made = Hooked(spark, lake, spark_config, tmp_path)
    made.options = {"connector": "webhook", "url": receiver.url}
    return made


def test_each_change_is_posted_in_the_way_of_its_sink(
    world: Hooked, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PD_KEY", "routing-key-1")
    pagerduty = "template = 'pagerduty', routing_key = '${env:PD_KEY}', summary = '{sku}: {amount}'"
    slack = "template = 'slack', max_per_second = 1000, text = '*{sku}* <!here> {amount}'"
    sinks = {
        "events": ("", " FORMAT DEBEZIUM ENCODE JSON"),
        "pages": (f", {pagerduty}", ""),
        "chat": (f", {slack}", ""),
    }
    others = "".join(
        f"CREATE SINK {name} FROM totals WITH (connector = 'webhook', url = '{receiver.url}/{name}'"
        f"{options}){format_};\n"
        for name, (options, format_) in sinks.items()
    )
    world.define(STOCK + others, "totals", "")

    def deliver() -> None:
        for name in ("out", *sinks):
            delivery = Delivery(world.lake, world.catalog.sinks[name], world.folder)
            while delivery.step():
                pass

    def posted(path: str) -> list[object]:
        return [each.json for each in receiver.arrived if each.path == f"/hooks{path}"]

    world.change(row("a<b", "x", 1.5), row("b", "x", 3))
    deliver()
    assert posted("") == [
        {"sku": "a<b", "places": 1, "amount": 1.50},
        {"sku": "b", "places": 1, "amount": 3.00},
    ]
    assert receiver.arrived[0].body == b'{"sku":"a<b","places":1,"amount":1.50}'
    assert posted("/chat")[0] == {"text": "*a&lt;b* <!here> 1.50"}
    dedup = f'{world.lake.namespace}.pages {{"sku":"b"}}'
    assert posted("/pages")[1] == {
        "routing_key": "routing-key-1",
        "event_action": "trigger",
        "dedup_key": dedup,
        "payload": {
            "summary": "b: 3.00",
            "severity": "error",
            "source": "headwater",
            "custom_details": {"sku": "b", "places": 1, "amount": 3.0},
        },
    }
    receiver.arrived.clear()
    world.change(row("a<b", "y", 1), row("b", "x", 3, "d"))
    deliver()
    assert posted("") == [{"sku": "a<b", "places": 2, "amount": 2.50}]
    assert [(each["op"], each["before"], each["after"]) for each in posted("/events")] == [
        ("u", {"sku": "a<b", "places": 1, "amount": "1.50"},
         {"sku": "a<b", "places": 2, "amount": "2.50"}),
        ("d", {"sku": "b", "places": 1, "amount": "3.00"}, None),
    ]  # fmt: skip
    assert [each["event_action"] for each in posted("/pages")] == ["trigger", "resolve"]
    assert posted("/pages")[1] == {
        "routing_key": "routing-key-1", "event_action": "resolve", "dedup_key": dedup,
    }  # fmt: skip


@pytest.mark.parametrize("size", ["1", "2"])
def test_a_killed_delivery_repeats_its_messages_and_loses_none(
    world: Hooked, receiver: Receiver, size: str
) -> None:
    world.options["batch_size"] = size
    world.define(LOG, "log", "PLAIN ENCODE JSON")
    twins = [{"id": 1, "said": "x"}, {"id": 1, "said": "x"}, {"id": 2, "said": None}]
    world.change(*twins)
    with world.killed():
        world.deliver()
    world.died()
    first = [each.id for each in receiver.arrived]
    assert len(first) == len(set(first)) == (3 if size == "1" else 2)
    world.change({"id": 3, "said": "later"})
    assert world.deliver() == 2
    assert [each.id for each in receiver.arrived][len(first) : -1] == first

    def rows() -> list[object]:
        bodies = receiver.rows()
        return bodies if size == "1" else [each for batch in bodies for each in batch]

    assert rows() == [*twins, {"id": 3, "said": "later"}]
    receiver.arrived.clear()
    world.change({"id": 4, "said": "a"}, {"id": 5, "said": "b"}, {"id": 6, "said": "c"})
    receiver.then(200, *[503] * 100)
    with pytest.raises(ServiceError) as caught:
        world.deliver()
    assert caught.value.condition == "WEBHOOK_UNAVAILABLE"
    receiver.plan.clear()
    world.died()
    assert world.deliver() == 1
    assert [each["id"] for each in rows()] == [4, 5, 6]
    assert len({each.id for each in receiver.arrived}) == (3 if size == "1" else 2)


def test_a_sink_may_begin_with_what_comes(world: Hooked, receiver: Receiver) -> None:
    world.options["snapshot"] = "false"
    world.define(LOG, "log", "")
    world.change({"id": 1, "said": "old"})
    assert world.deliver() == 1
    assert receiver.arrived == []
    for number in (10, 9, 2):  # several commits are one delivery, in the order of the columns
        world.change({"id": number, "said": "new"})
    assert world.deliver() == 1
    assert receiver.rows() == [{"id": number, "said": "new"} for number in (2, 9, 10)]


def test_a_run_delivers_and_a_server_that_is_down_costs_no_view(
    world: Hooked, receiver: Receiver, spark: SparkSession
) -> None:
    text = STOCK.replace("{folder}/in", "in")
    text += f"CREATE SINK out FROM totals WITH (connector = 'webhook', url = '{receiver.url}');"
    (world.folder / "headwater.toml").write_text('name = "t"\n')
    (world.folder / "views.sql").write_text(text)
    found = load_project(world.folder)
    config = replace(
        found.config, namespace=world.lake.namespace, warehouse=warehouse_of(spark)
    )  # fmt: skip
    project = replace(found, config=config)
    told: list[Event] = []

    def run(amount: float) -> int:
        (world.folder / "in" / f"{amount}.json").write_text(json.dumps(row("a", "x", amount)))
        return Supervisor(project, spark=spark, progress=told.append).run(once=True)

    def lag() -> int | None:
        return shown().lag

    def shown() -> Status:
        return next(each for each in status(project) if each.kind == "sink")

    assert run(1) == 0
    assert (receiver.rows()[-1], lag()) == ({"sku": "a", "places": 1, "amount": 1.0}, 0)
    before = len(receiver.arrived)
    receiver.then(*[422] * 1000)
    assert run(2) == 3
    failed = [each for each in told if isinstance(each, StateChanged) and each.error]
    assert [(each.name, each.state) for each in failed] == [("out", RunState.FAILED)]
    assert failed[0].error.condition == "MESSAGE_REFUSED"
    assert (lag(), shown().problem.split(":")[0]) == (1, "MESSAGE_REFUSED")
    assert [tuple(each) for each in world.lake.table("totals").read().collect()][0][1] == 1
    receiver.plan.clear()
    assert run(3) == 0
    assert lag() == 0
    assert receiver.rows()[-1] == {"sku": "a", "places": 1, "amount": 3.0}
    refused = receiver.arrived[before]
    assert [each.accepted for each in receiver.arrived if each.id == refused.id] == [False, True]
