"""Ranges of a stream of Redis: each entry in one of them or told as lost, however it is trimmed."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from headwater.config.settings import Config
from headwater.connectors.contract import Limits, Range
from headwater.connectors.redis.entries import _shared_out, _value
from headwater.connectors.redis.server import BEGIN, RedisStreamState, Span, client_settings, place
from headwater.connectors.redis.source import Redis
from headwater.errors import HeadwaterError, ServiceError
from tests.spark.running import planned

DEFINITION = """CREATE TABLE t (
  id BIGINT, entry VARCHAR METADATA FROM 'id', at TIMESTAMP WITH TIME ZONE METADATA FROM 'timestamp'
) WITH (
  connector = 'redis', url = 'rediss://localhost:6380/3', stream = 's', group = 'g', field = 'f',
  trim = {trim}, on_data_loss = '{on_data_loss}', max_rows_per_epoch = 10, max_record_bytes = 99,
  username = 'me', password = '${{env:QUEUE_PASSWORD}}', ssl_ca = 'ca.pem', max_future = '1 hour'
) FORMAT PLAIN ENCODE JSON START FROM {start};"""


class FakeServer:
    """A stream whose entries are numbers; counts as Redis does."""

    def __init__(self) -> None:
        self.entries: list[int] = []
        self.added = self.last = 0
        self.delivered: str | None = None
        self.acknowledged: list[tuple[str, int, bool]] = []
        self.down = False

    def add(self, count: int) -> None:
        self.entries += range(self.last + 1, self.last + 1 + count)
        self.added, self.last = self.added + count, self.last + count

    def look(self) -> RedisStreamState:
        first = f"{self.entries[0]}-0" if self.entries else BEGIN
        return RedisStreamState(
            len(self.entries), self.added, first, f"{self.last}-0", self.delivered, 0
        )

    def walk(self, after: str, upto: str, most: int | None = None) -> list[Span]:
        first, last = place(after)[0], place(upto)[0]
        found = [each for each in self.entries if first < each <= last][:most]
        return [(f"{each - 1}-0", f"{each}-0", 1) for each in found]

    def join(self, after: str) -> None:
        self.delivered = after

    def acknowledge(self, after: str, added: int, *, trim: bool) -> None:
        if self.down:
            raise ServiceError("REDIS_UNAVAILABLE", "it does not answer")
        self.delivered = after
        self.acknowledged.append((after, added, trim))


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUEUE_PASSWORD", "hunter22")


class Reading:
    """A connector whose every range is committed at once."""

    def __init__(self, *, once: bool = False, **options: str) -> None:
        given = {"trim": "false", "on_data_loss": "fail", "start": "EARLIEST"} | options
        source = planned(DEFINITION.format(**given))[0].sources["t"]
        folder = Path("/project")
        config = Config(folder, "p", "p", folder, folder)
        self.redis, self.server = Redis(source, config, once=once), FakeServer()
        self.redis._server = self.server  # type: ignore[assignment]
        self.position: str | None = None

    def look(self, rows: int | None = None) -> Range | None:
        found = self.redis.next_range(self.position, Limits(rows=rows))
        if found:
            if self.position:
                assert self.redis.range_between(self.position, found.position) == found
            self.position = found.position
            self.redis.done(found)
        return found

    def entries(self, rows: int | None = None) -> list[int]:
        found = self.look(rows)
        return [place(upto)[0] for _, upto, _ in found.body] if found else []


@pytest.mark.parametrize("seed", range(300))
def test_each_entry_is_read_or_counted_as_lost(seed: int) -> None:
    chance, reading = random.Random(seed), Reading(on_data_loss="skip")
    server = reading.server
    server.add(chance.randrange(5))
    del server.entries[: chance.randrange(3)]
    there = set(server.entries)
    reading.look()
    read: list[int] = []
    lost = 0
    for _ in range(30):
        what = chance.randrange(6)
        if what < 3:
            server.add(chance.randrange(4))
            there |= set(server.entries)
        elif what == 3:
            del server.entries[: chance.randrange(6)]
        elif what == 4 and server.entries:
            server.entries.remove(chance.choice(server.entries))
        elif found := reading.look(chance.randrange(1, 4)):
            read += [place(upto)[0] for _, upto, _ in found.body]
            lost += found.lost
    while found := reading.look(2):
        read += [place(upto)[0] for _, upto, _ in found.body]
        lost += found.lost
    assert read == sorted(set(read))
    assert set(read) <= there
    assert lost == len(there - set(read))


def test_what_was_landed_may_go() -> None:
    reading = Reading()
    reading.server.add(5)
    assert reading.entries() == []
    assert reading.entries(2) == [1, 2]
    del reading.server.entries[:2]
    assert reading.entries(2) == [3, 4]
    del reading.server.entries[:2]
    assert reading.entries() == [5]
    reading.server.entries.clear()
    assert reading.look() is None
    reading.server.add(1)
    assert reading.entries() == [6]


@pytest.mark.parametrize("gone", [slice(0, 3), slice(2, 4), slice(0, 5)])
def test_what_was_not_landed_may_not(gone: slice) -> None:
    reading = Reading()
    reading.server.add(1)
    reading.look()
    reading.server.add(5)
    assert reading.entries(1) == [1]
    del reading.server.entries[gone]
    with pytest.raises(HeadwaterError) as caught:
        while reading.look():
            pass
    assert caught.value.condition == "DATA_LOSS"


def test_the_group_is_told_after_a_commit_or_by_the_next_look() -> None:
    reading = Reading(trim="true")
    server = reading.server
    server.add(3)
    reading.look()
    assert reading.entries(2) == [1, 2]
    assert server.acknowledged[-1] == ("2-0", 2, True)
    server.down = True
    assert reading.entries() == [3]  # it is committed, whether the group knows or not
    server.down = False
    assert server.delivered == "2-0"
    assert reading.look() is None
    assert server.acknowledged[-1] == ("3-0", 3, True)
    before = len(server.acknowledged)
    assert reading.look() is None
    assert len(server.acknowledged) == before


def test_it_begins_and_ends_where_it_is_told() -> None:
    latest = Reading(start="LATEST")
    latest.server.add(3)
    assert latest.entries() == []
    latest.server.add(1)
    assert latest.entries() == [4]
    ending = Reading(once=True)
    ending.server.add(3)
    ending.look()
    assert ending.entries(2) == [1, 2]
    ending.server.add(3)
    assert (ending.redis.backlog(ending.position), ending.entries(9)) == (1, [3])
    assert ending.look() is None


def test_how_many_wait_is_what_the_last_look_found() -> None:
    reading = Reading()
    assert (reading.redis.waiting(None), reading.redis.backlog(None)) == ({}, 0)
    reading.server.add(5)
    reading.look()
    reading.look(2)
    assert reading.redis.waiting(reading.position) == {"s": 3}
    reading.server.add(1)
    assert reading.redis.waiting(reading.position) == {"s": 3}
    assert reading.redis.backlog(reading.position) == 4


def test_spans_are_shared_out_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    spans = [(str(n), str(n + 1), 10_000) for n in range(10)]
    assert _shared_out(spans, 2) == [("0", "5", 50_000), ("5", "10", 50_000)]
    assert _shared_out(spans[:2], 8) == [("0", "2", 20_000)]
    assert _shared_out([], 8) == []
    assert sum(count for *_, count in _shared_out(spans, 3)) == 100_000


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ({b"f": b"\xff"}, b"\xff"),
        ({b"a": b"1", b"f": b"2"}, b"2"),
        ({b"a": b"{}", b"\xff": b""}, rb'["a", "{}", "\\xff", ""]'),
    ],
)
def test_an_entry_without_the_field_is_kept_whole(
    fields: Mapping[bytes, bytes], value: bytes
) -> None:
    assert _value(fields, b"f") == value


def test_a_client_is_told_who_we_are() -> None:
    options = planned(DEFINITION.format(trim="false", on_data_loss="fail", start="EARLIEST"))
    assert client_settings(options[0].sources["t"].options, Path("/project")) == {
        "url": "rediss://localhost:6380/3",
        "username": "me",
        "password": "hunter22",
        "ssl_ca_certs": "/project/ca.pem",
    }


def test_a_stream_that_lost_what_was_landed_is_refused() -> None:
    reading = Reading(on_data_loss="skip")
    server = reading.server
    server.add(5)
    reading.look()
    assert reading.entries(4) == [1, 2, 3, 4]
    server.added, server.last, server.entries = 2, 2, [1, 2]  # a replica that was behind takes over
    for _ in range(2):
        with pytest.raises(HeadwaterError) as caught:
            reading.look()
        assert caught.value.condition == "STREAM_RECREATED"
        server.last = 9
        server.add(2)  # as many as there were, but others
    reading.server.delivered = None
    with pytest.raises(HeadwaterError) as caught:
        reading.look()
    assert caught.value.condition == "STREAM_RECREATED"


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(HeadwaterError) as caught:
        Reading()
    assert caught.value.condition == "EXTRA_MISSING"
    assert "headwater[redis]" in caught.value.hint
