"""Tables over streams of a real Redis: each entry once, in whatever order things fail."""

from __future__ import annotations

import json
import signal
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headwater.config.settings import Config
from headwater.connectors.contract import Limits
from headwater.connectors.redis import entries as redis_entries
from headwater.connectors.redis import server as redis_server
from headwater.connectors.redis.server import client
from headwater.errors import HeadwaterError
from headwater.intake.land import Landing
from headwater.intake.replay import replay
from headwater.lake.catalog import Lake
from jobs.demos.servers.redis import Redis
from tests.services.project import headwater, rows
from tests.spark.crash import Crash, before_publishing
from tests.spark.running import planned

pytestmark = pytest.mark.services


class Queue:
    """A stream of the server with a name of its own."""

    def __init__(self, server: Redis) -> None:
        self.name, self.server = f"q{uuid.uuid4().hex[:8]}", server
        self.client = client({"url": server.address})

    def write(self, *values: object, entry: str = "*") -> list[str]:
        """Write entries; text as it is, anything else as JSON. Return their ids."""
        at_once = self.client.pipeline(transaction=False)
        for value in values:
            given = value if isinstance(value, str | bytes) else json.dumps(value)
            at_once.xadd(self.name, {"value": given}, id=entry)
        return [each.decode() for each in at_once.execute()]

    def ints(self, count: int, start: int = 0) -> list[str]:
        return self.write(*({"id": n} for n in range(start, start + count)))

    def group(self) -> dict[str, Any]:
        (found,) = self.client.xinfo_groups(self.name)
        return dict(found)

    def definition(self, columns: str = "id BIGINT", rest: str = "", **more: str) -> str:
        options = {"stream": self.name, "url": self.server.address, **more}
        listed = ", ".join(f"{name} = '{value}'" for name, value in options.items())
        return (
            f"CREATE TABLE t ({columns}) WITH (connector = 'redis', {listed})"
            f" FORMAT PLAIN ENCODE JSON {rest};\n"
        )


@pytest.fixture
def queue(redis: Redis) -> Queue:
    return Queue(redis)


@pytest.fixture
def landing(spark: SparkSession, lake: Lake, proxied: Config) -> Callable[..., Landing]:
    def make(definition: str, *, once: bool = False) -> Landing:
        catalog, _ = planned(definition)
        return Landing(spark, lake, catalog.sources["t"], proxied, once=once)

    return make


@pytest.fixture
def crash(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    return before_publishing(monkeypatch)


def drain(land: Landing, limits: Limits = Limits()) -> int:  # noqa: B008 - frozen
    """Land all there is; return how many rows."""
    done = 0
    while result := land.step(limits):
        done += result.rows_in
    return done


def ids(lake: Lake) -> list[int]:
    return sorted(row.id for row in lake.table("t").read().collect())


def test_each_entry_lands_once_through_restarts_and_a_killed_server(
    queue: Queue,
    landing: Callable[..., Landing],
    lake: Lake,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    definition = queue.definition()
    written = queue.ints(100)
    land = landing(definition)
    assert land.step() is not None  # where it begins
    first = land.step(Limits(rows=30))
    assert first is not None
    assert (first.units, land.backlog(), land.waiting()) == (30, 70, {queue.name: 70})
    taken = land.connector.next_range(land.position, Limits())
    queue.server.kill()
    with pytest.raises(HeadwaterError) as caught:
        land.step()
    assert caught.value.condition == "REDIS_UNAVAILABLE"
    monkeypatch.setattr(land.connector, "next_range", lambda *_: taken)
    with pytest.raises(HeadwaterError) as caught:  # now only Spark's workers ask it
        land.step()
    assert caught.value.condition == "REDIS_UNAVAILABLE"
    assert "redis.exceptions.ConnectionError: " in caught.value.message
    queue.server.start()
    written += queue.ints(10, 100)
    assert drain(landing(definition), Limits(rows=25)) == 80
    assert drain(landing(definition)) == 0
    assert ids(lake) == list(range(110))
    places = {(row._path, row._row) for row in lake.table("t").read().collect()}
    assert places == {(f"{queue.name}/{entry}", 0) for entry in written}


def test_an_epoch_that_was_begun_reads_what_it_was_to_read(
    queue: Queue, landing: Callable[..., Landing], lake: Lake, crash: Callable[[], None]
) -> None:
    definition = queue.definition()
    queue.ints(3)
    queue.write("bad")
    land = landing(definition)
    land.step()
    crash()
    with pytest.raises(Crash):
        land.step()
    queue.ints(3, 3)
    queue.write("worse")
    again = landing(definition)
    done = again.step()
    assert done is not None
    assert (done.rows_out, done.quarantined) == (3, 1)
    assert drain(again) == 4
    assert ids(lake) == list(range(6))
    assert lake.table("t__quarantine").read().count() == 2


def test_entries_of_a_begun_epoch_that_are_gone_are_told(
    queue: Queue, landing: Callable[..., Landing], lake: Lake, crash: Callable[[], None]
) -> None:
    definition = queue.definition()
    written = queue.ints(3)
    queue.write("bad")
    land = landing(definition)
    land.step()
    crash()
    with pytest.raises(Crash):
        land.step()
    queue.client.xtrim(queue.name, minid=written[2], approximate=False)
    with pytest.raises(HeadwaterError) as caught:
        landing(definition).step()
    assert caught.value.condition == "DATA_LOSS"
    assert "2 entries" in caught.value.message
    skipping = landing(queue.definition(on_data_loss="skip"))
    skipping.step()
    assert (counts(skipping)["lost"], ids(lake)) == (2, [2])


def test_a_kill_before_a_commit_and_one_before_its_acknowledgement_lose_and_repeat_nothing(
    queue: Queue, tmp_path: Path
) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "headwater.toml").write_text('name = "p"\n[spark]\nmaster = "local[2]"\n')
    view = "CREATE STREAMING VIEW v AS SELECT g, count(*) AS n, sum(id) AS s FROM t GROUP BY g;"
    columns = "id BIGINT, g BIGINT, entry VARCHAR METADATA FROM 'id'"
    (folder / "p.sql").write_text(queue.definition(columns, max_rows_per_epoch="40") + view)
    written = queue.write(*({"id": n, "g": n % 7} if n % 10 else f"bad {n}" for n in range(100)))
    delivered = []
    for point in ("5-staged@t:3", "7-released@t:1"):
        killed = headwater(folder, "run", "--once", "--end-of-input", HEADWATER_CRASH_POINT=point)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        delivered.append(queue.group()["last-delivered-id"].decode())
    # of the second 40, which the second process has committed, nobody was told
    assert delivered == [written[39]] * 2
    assert headwater(folder, "run", "--once", "--end-of-input").returncode == 0
    assert queue.group()["last-delivered-id"].decode() == written[99]
    found = rows(folder, "SELECT id, entry, _path FROM t ORDER BY id")
    assert found == [
        {"id": n, "entry": written[n], "_path": f"{queue.name}/{written[n]}"}
        for n in range(100)
        if n % 10
    ]
    bad = {row["_path"] for row in rows(folder, "SELECT _path FROM t__quarantine")}
    assert bad == {f"{queue.name}/{written[n]}" for n in range(0, 100, 10)}
    verified = headwater(folder, "verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_nothing_is_lost_that_is_no_row(
    queue: Queue, landing: Callable[..., Landing], lake: Lake
) -> None:
    written = queue.write(
        {"id": 1}, "", "no", b'{"id": "\xff"}', '{"id": "x"}', "[]", '{"id": 123456}'
    )
    queue.client.xadd(queue.name, {"other": '{"id": 2}', "bytes": b"\xff"})
    assert drain(landing(queue.definition(max_record_bytes="12"))) == 8
    assert ids(lake) == [1]
    bad = lake.table("t__quarantine").read().orderBy("_path").collect()
    assert [row._path for row in bad][:6] == [f"{queue.name}/{entry}" for entry in written[1:]]
    assert [row.reason.split(":")[0] for row in bad] == [
        "not valid JSON",
        "not valid JSON",
        "invalid UTF-8",
        'column "id"',
        "not one JSON object",
        "record of 14 bytes, more than 12",
        "record of 42 bytes, more than 12",
    ]
    assert bytes(bad[-1].raw) == rb'["other", "{\"id\": 2}", "bytes", "\\xff"]'


def test_quarantined_entries_are_decoded_again_though_they_are_gone(
    queue: Queue, landing: Callable[..., Landing], lake: Lake
) -> None:
    columns = "id BIGINT, s VARCHAR {}, entry VARCHAR METADATA FROM 'id'"
    written = queue.write({"id": 7}, {"id": "no"}, {"id": 1, "s": "x"})
    assert drain(landing(queue.definition(columns.format("NOT NULL"), trim="true"))) == 3
    assert queue.client.xlen(queue.name) == 0
    result = replay(landing(queue.definition(columns.format(""))))
    assert (result.waiting, result.landed, result.refused) == (2, 1, 1)
    (held,) = lake.table("t").read().where("id = 7").collect()
    assert (held.s, held.entry, held._path) == (None, written[0], f"{queue.name}/{written[0]}")


def test_what_an_entry_says_of_itself(
    queue: Queue, landing: Callable[..., Landing], lake: Lake
) -> None:
    columns = (
        "id BIGINT, entry VARCHAR METADATA FROM 'id',"
        " at TIMESTAMP WITH TIME ZONE METADATA FROM 'timestamp'"
    )
    queue.client.xadd(queue.name, {"body": '{"id": 1}'}, id="5-3")
    queue.client.xadd(queue.name, {"body": '{"id": 2}'}, id=f"1795392000123-{2**64 - 1}")
    queue.client.xadd(queue.name, {"body": '{"id": 3}'}, id=f"{2**64 - 1}-1")
    assert drain(landing(queue.definition(columns, field="body"))) == 3
    held = lake.table("t").read().selectExpr("id", "entry", "unix_millis(at)").orderBy("id")
    assert [tuple(row) for row in held.collect()] == [
        (1, "5-3", 5),
        (2, f"1795392000123-{2**64 - 1}", 1795392000123),
    ]
    (bad,) = lake.table("t__quarantine").read().collect()
    assert "is not between" in bad.reason


def test_entries_that_are_gone_are_told_and_counted(
    queue: Queue, landing: Callable[..., Landing], lake: Lake
) -> None:
    written = queue.ints(10)
    land = landing(queue.definition())
    land.step()
    land.step(Limits(rows=4))
    queue.client.xtrim(queue.name, minid=written[4], approximate=False)
    land.step(Limits(rows=1))  # what was trimmed was landed
    queue.client.xtrim(queue.name, minid=written[7], approximate=False)
    for _ in range(2):
        with pytest.raises(HeadwaterError) as caught:
            land.step(Limits(rows=1))
        assert caught.value.condition == "DATA_LOSS"
        assert f'2 entries of stream "{queue.name}" after {written[4]}' in caught.value.message
    skipping = landing(queue.definition(on_data_loss="skip"))
    skipping.step(Limits(rows=1))
    assert counts(skipping)["lost"] == 2
    queue.client.xdel(queue.name, written[8])  # out of the middle
    queue.ints(1, 10)
    assert drain(skipping) == 2
    assert counts(skipping)["lost"] == 1
    queue.client.xadd(queue.name, {"value": '{"id": 11}'}, maxlen=0, approximate=False)
    assert drain(skipping) == 0  # nothing but gone
    assert counts(skipping)["lost"] == 1
    assert ids(lake) == [0, 1, 2, 3, 4, 7, 9, 10]


def test_entries_that_go_while_they_are_read_are_missed(
    queue: Queue,
    landing: Callable[..., Landing],
    lake: Lake,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = queue.ints(10)
    land = landing(queue.definition())
    land.step()
    read = land.connector.read

    def late(*arguments: Any) -> Any:
        queue.client.xdel(queue.name, written[5])
        return read(*arguments)

    monkeypatch.setattr(land.connector, "read", late)
    with pytest.raises(HeadwaterError) as caught:
        land.step()
    assert caught.value.condition == "ENTRIES_GONE"
    with pytest.raises(HeadwaterError) as caught:
        land.step()
    assert caught.value.condition == "DATA_LOSS"
    assert ids(lake) == []


def test_a_stream_of_the_same_name_is_another(
    queue: Queue, landing: Callable[..., Landing]
) -> None:
    land = landing(queue.definition())
    with pytest.raises(HeadwaterError) as caught:
        land.step()
    assert caught.value.condition == "STREAM_MISSING"
    queue.ints(3)
    drain(land)
    queue.client.delete(queue.name)
    queue.ints(5)
    with pytest.raises(HeadwaterError) as caught:
        land.step()
    assert caught.value.condition == "STREAM_RECREATED"
    queue.client.delete(queue.name)
    queue.ints(5)
    queue.client.xgroup_create(queue.name, "headwater", "0")
    with pytest.raises(HeadwaterError) as caught:  # its counts tell
        land.step()
    assert caught.value.condition == "STREAM_RECREATED"


def test_a_range_is_read_in_several_tasks_and_batches(
    queue: Queue,
    landing: Callable[..., Landing],
    lake: Lake,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(redis_server, "_PER_SPAN", 7)
    monkeypatch.setattr(redis_entries, "_ENTRIES_PER_TASK", 100)
    queue.ints(2_500)
    land = landing(queue.definition())
    land.step()
    taken = land.connector.next_range(land.position, Limits())
    assert taken is not None
    parts = land.connector.read(land.spark, taken, 0).all.selectExpr("spark_partition_id() AS p")
    sizes = {row.p: row["count"] for row in parts.groupBy("p").count().collect()}
    assert sum(sizes.values()) == 2_500
    assert len(sizes) == 2
    assert min(sizes.values()) > 1_200
    assert drain(land) == 2_500
    assert ids(lake) == list(range(2_500))


def test_the_group_says_what_was_landed_and_a_trim_follows_it(
    queue: Queue, landing: Callable[..., Landing]
) -> None:
    written = queue.ints(10)
    land = landing(queue.definition(group="mine"))
    land.step()
    land.step(Limits(rows=4))
    found = queue.group()
    assert (found["name"], found["lag"], found["pending"]) == (b"mine", 6, 0)
    assert found["last-delivered-id"].decode() == written[3]
    assert queue.client.xlen(queue.name) == 10
    trimming = landing(queue.definition(group="mine", trim="true"))
    drain(trimming)
    assert (queue.client.xlen(queue.name), queue.group()["lag"]) == (0, 0)
    queue.ints(1, 10)
    assert drain(trimming) == 1
    queue.client.xgroup_createconsumer(queue.name, "mine", "somebody")
    with pytest.raises(HeadwaterError) as caught:
        trimming.step()
    assert caught.value.condition == "GROUP_IN_USE"


def test_where_reading_begins_and_ends(
    queue: Queue, landing: Callable[..., Landing], lake: Lake
) -> None:
    written = queue.ints(3)
    queue.client.xdel(queue.name, written[0])  # before the beginning: nobody misses it
    land = landing(queue.definition(rest="START FROM LATEST"))
    land.step()
    queue.ints(4, 3)
    assert drain(land) == 4
    ending = landing(queue.definition(), once=True)
    queue.ints(2, 7)
    ending.step(Limits(rows=1))
    queue.ints(2, 9)
    drain(ending)
    assert ids(lake) == [3, 4, 5, 6, 7, 8]


def test_a_user_of_few_rights_whose_password_nobody_sees(
    queue: Queue, landing: Callable[..., Landing], lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, may = "kept-from-plans", "+xinfo +xrange +eval_ro +xgroup +multi +exec"
    queue.client.execute_command(
        "ACL", "SETUSER", "reader", "on", f">{secret}", "~q*", *may.split()
    )
    queue.ints(3)
    given = {"username": "reader", "password": "${env:QUEUE_PASSWORD}"}
    monkeypatch.setenv("QUEUE_PASSWORD", "wrong-" + secret)
    with pytest.raises(HeadwaterError) as caught:
        landing(queue.definition(**given)).step()
    assert caught.value.condition == "REDIS_REFUSED"
    monkeypatch.setenv("QUEUE_PASSWORD", secret)
    land = landing(queue.definition(**given))
    land.step()
    taken = land.connector.next_range(land.position, Limits())
    assert taken is not None
    frame = land.connector.read(land.spark, taken, 0).all
    assert secret not in frame._jdf.queryExecution().toString()
    assert drain(land) == 3
    assert ids(lake) == [0, 1, 2]


def counts(land: Landing) -> Mapping[str, int]:
    assert land.marker is not None
    return land.marker.counts
