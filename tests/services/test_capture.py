"""PostgreSQL → Debezium → Kafka → a keyed table that equals it, while each part is killed."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from random import Random

import pytest
from pyspark.sql import SparkSession

from headwater.config.settings import Config
from headwater.errors import HeadwaterError
from headwater.intake.land import Landing
from headwater.lake.catalog import Lake
from headwater.servers.web import ask
from jobs.demos.servers.connect import Connect
from jobs.demos.servers.kafka import Kafka
from jobs.demos.servers.postgres import Postgres
from tests.faults.postgres import postgres
from tests.spark.running import Running, planned
from tests.support.waiting import wait_for

pytestmark = pytest.mark.services

TABLE = """CREATE TABLE orders (
  id bigint PRIMARY KEY, amount numeric(12, 2), qty int, price double precision, ok boolean,
  day date, at timestamp, brief timestamp(3), tz timestamptz, mood mood, body text, raw bytea,
  uid uuid, doc jsonb, tags text[])"""
KEYED = """CREATE TABLE orders (
  id BIGINT, amount DECIMAL(12, 2), qty INTEGER, price DOUBLE, ok BOOLEAN,
  day DATE, at TIMESTAMP(6), brief TIMESTAMP(3), tz TIMESTAMP WITH TIME ZONE, mood VARCHAR,
  body VARCHAR, raw VARBINARY, uid VARCHAR, doc VARCHAR, tags ARRAY(VARCHAR), PRIMARY KEY (id)
) WITH (connector = 'kafka', topic = 'cap.public.orders', bootstrap_servers = '{servers}')
FORMAT DEBEZIUM ENCODE JSON (decimals = 'precise', times = 'adaptive', truncate = 'apply');"""
LONG = "'x' || repeat(md5(random()::text), 400)"  # so long that an update leaves it out
VALUES: dict[str, tuple[str, ...]] = {
    "amount": ("NULL", "0", "-0.01", "9999999999.99", "12.5"),
    "qty": ("NULL", "-2147483648", "0", "7"),
    "price": ("NULL", "0", "-1.5e300", "0.1"),
    "ok": ("NULL", "true", "false"),
    "day": ("NULL", "'1969-12-31'", "'2026-02-28'"),
    "at": ("NULL", "'1999-12-31 23:59:59.999999'", "'2026-01-01'"),
    "brief": ("NULL", "'1960-01-01 00:00:00.001'", "'2026-06-01 12:00'"),
    "tz": ("NULL", "'2026-01-01 12:00:00+05:30'", "'1970-01-01 00:00:00.000001Z'"),
    "mood": ("NULL", "'sad'", "'happy'"),
    "body": ("NULL", "''", "'short'", LONG, LONG, LONG),
    "raw": ("NULL", r"'\x00ff'", "''"),
    "uid": ("NULL", "gen_random_uuid()"),
    "doc": ("NULL", """'{"a": 1.50, "b": ["ü", null]}'""", "'[]'"),
    "tags": ("NULL", "'{}'", "'{a,NULL,\"b c\"}'"),
}


def change(server: Postgres, rnd: Random, count: int) -> None:
    """Run random statements: rows come, change in some columns, get another key, go."""
    with server.connect() as run:
        for _ in range(count):
            key = rnd.randint(1, 20)
            columns = rnd.sample([*VALUES], rnd.randint(1, 4))
            sets = [f"{column} = {rnd.choice(VALUES[column])}" for column in columns]
            statements = (
                f"INSERT INTO orders ({', '.join(['id', *VALUES])}) VALUES"
                f" ({key}, {', '.join(rnd.choice(each) for each in VALUES.values())})"
                " ON CONFLICT (id) DO NOTHING",
                f"UPDATE orders SET {', '.join(sets)} WHERE id = {key}",
                f"UPDATE orders SET {', '.join(sets)} WHERE id = {key}",
                f"DELETE FROM orders WHERE id = {key}",
            )
            if rnd.random() < 0.03:
                run.execute("TRUNCATE orders")
            run.execute(rnd.choice(statements))  # type: ignore[call-overload]


def held_by(server: Postgres) -> list[str]:
    items = [
        {"doc": "doc::text", "uid": "uid::text", "mood": "mood::text"}.get(c, c) for c in VALUES
    ]
    with server.connect() as run:
        rows = run.execute(f"SELECT id, {', '.join(items)} FROM orders").fetchall()  # type: ignore[arg-type]
    return sorted(map(shown, rows))


def shown(row: Sequence[object]) -> str:
    """A row as text, a moment in UTC, long texts by their hash."""
    values = list(row)
    for at, value in enumerate(values):
        if isinstance(value, datetime) and value.tzinfo is not None:
            values[at] = value.astimezone(UTC)
        elif isinstance(value, str) and len(value) > 50:
            values[at] = f"{value[:5]} {len(value)} {zlib.crc32(value.encode())}"
    return repr(values)


def held_in(running: Running) -> list[str]:
    rows = running.read("orders").select("id", *VALUES).toArrow().to_pylist()
    return sorted(shown([*row.values()]) for row in rows)


def comes_to_equal(
    expected: Callable[[], list[str]],
    held: Callable[[], list[str]],
    land: Callable[[], Landing],
    running: Running,
) -> None:
    landing = land()

    def equal() -> bool:
        try:
            while landing.step():
                pass
            assert not running.tick()
        except HeadwaterError as error:
            assert error.condition == "KAFKA_UNAVAILABLE", error
        return held() == expected()

    wait_for(equal, "the same rows on both sides", every=0.5)


def test_a_keyed_table_equals_the_table_of_postgresql_through_kills(
    broker: Kafka, connect: Connect, spark: SparkSession, lake: Lake, proxied: Config
) -> None:
    rnd = Random(6)
    definition = KEYED.format(servers=broker.address)
    catalog, _ = planned(definition)

    def land() -> Landing:
        return Landing(spark, lake, catalog.sources["orders__changes"], proxied)

    with postgres() as server:
        with server.connect() as run:
            run.execute("CREATE TYPE mood AS ENUM ('sad', 'happy')")
            run.execute(TABLE)
        change(server, rnd, 40)
        modes = {"decimal_handling_mode": "precise", "time_precision_mode": "adaptive"}
        modes["skipped_operations"] = "none"  # Debezium leaves a TRUNCATE out by itself
        connect.capture(server, "cap", table_include_list="public.orders", **modes)
        change(server, rnd, 40)
        connect.connectors.await_offsets("cap")  # before, there may be no topic yet
        land().step()  # so that there is a log to read
        running = Running(spark, lake, definition)
        sides = partial(held_by, server), partial(held_in, running)
        comes_to_equal(*sides, land, running)
        for kill in (connect, broker, server):
            change(server, rnd, 30)
            kill.kill()
            if kill is not server:
                change(server, rnd, 30)
            kill.start()
            change(server, rnd, 30)
            comes_to_equal(*sides, land, running)
    assert lake.table("orders__changes").read().where("_change_type = 'TRUNCATE'").count()
    bad = lake.table("orders__quarantine") if lake.exists("orders__quarantine") else None
    assert bad is None or not bad.read().count()


NOTES = """CREATE TABLE notes (id BIGINT, body VARCHAR, PRIMARY KEY (id))
WITH (connector = 'kafka', topic = 'notes.public.notes', bootstrap_servers = '{servers}')
FORMAT DEBEZIUM ENCODE JSON (snapshot = 'replace');"""


def test_a_snapshot_taken_again_ends_what_was_deleted_meanwhile(
    broker: Kafka, connect: Connect, spark: SparkSession, lake: Lake, proxied: Config
) -> None:
    definition = NOTES.format(servers=broker.address)
    catalog, _ = planned(definition)

    def land() -> Landing:
        return Landing(spark, lake, catalog.sources["notes__changes"], proxied)

    def capture(name: str) -> None:
        own = {"topic_prefix": "notes", "table_include_list": "public.notes"}
        connect.capture(server, name, **own)
        connect.connectors.await_offsets(name)

    def there() -> list[str]:
        with server.connect() as run:
            return sorted(map(repr, run.execute("SELECT id, body FROM notes").fetchall()))

    def here() -> list[str]:
        return sorted(repr(tuple(row)) for row in running.read("notes").collect())

    with postgres() as server:
        with server.connect() as run:
            run.execute("CREATE TABLE notes (id bigint PRIMARY KEY, body text)")
            run.execute("INSERT INTO notes SELECT i, 'a' FROM generate_series(1, 9) AS i")
        capture("first")
        land().step()
        running = Running(spark, lake, definition)
        comes_to_equal(there, here, land, running)
        # the slot is lost with the connector: what happens until the next one is in no event
        ask(f"{connect.address}/connectors/first", method="DELETE")
        with server.connect() as run:
            run.execute("DELETE FROM notes WHERE id < 4")
            run.execute("UPDATE notes SET body = 'b' WHERE id = 5")
        capture("second")
        with server.connect() as run:
            run.execute("INSERT INTO notes VALUES (2, 'c')")
        comes_to_equal(there, here, land, running)
    log = lake.table("notes__changes").read()
    assert not log.where("_change_type = 'DELETE'").count()
    assert log.where("_snapshot_end IS NOT NULL").count() == 2


GROWN = """CREATE TABLE grown ({columns}, PRIMARY KEY (id))
WITH (connector = 'kafka', topic = 'grown.public.grown', bootstrap_servers = '{servers}')
FORMAT DEBEZIUM ENCODE JSON ON SCHEMA CHANGE EVOLVE;"""


def test_a_table_of_postgresql_is_altered_and_the_keyed_table_follows(
    broker: Kafka, connect: Connect, spark: SparkSession, lake: Lake, proxied: Config
) -> None:
    columns = "id, body, qty"

    def defined(words: str) -> tuple[Callable[[], Landing], Running]:
        definition = GROWN.format(columns=words, servers=broker.address)
        catalog, _ = planned(definition)

        def land() -> Landing:
            return Landing(spark, lake, catalog.sources["grown__changes"], proxied)

        land().step()  # its log comes before the table
        return land, Running(spark, lake, definition)

    def there() -> list[str]:
        with server.connect() as run:
            return sorted(map(shown, run.execute(f"SELECT {columns} FROM grown").fetchall()))  # type: ignore[call-overload]

    def here() -> list[str]:
        rows = running.read("grown").select(*columns.split(", ")).toArrow().to_pylist()
        return sorted(shown([*row.values()]) for row in rows)

    with postgres() as server:
        with server.connect() as run:
            run.execute("CREATE TABLE grown (id bigint PRIMARY KEY, body text, qty int, old text)")
            run.execute(f"INSERT INTO grown SELECT i, {LONG}, i FROM generate_series(1, 9) AS i")
        connect.capture(server, "grown", table_include_list="public.grown")
        connect.connectors.await_offsets("grown")
        land, running = defined("id BIGINT, body VARCHAR, qty INTEGER, old VARCHAR")
        comes_to_equal(there, here, land, running)
        with server.connect() as run:
            run.execute(
                "ALTER TABLE grown ADD price int, ADD memo text, ALTER qty TYPE bigint, DROP old"
            )
            run.execute("UPDATE grown SET price = 7, qty = 3000000000, memo = 'new' WHERE id < 5")
            run.execute("UPDATE grown SET memo = NULL WHERE id = 4")
            run.execute("DELETE FROM grown WHERE id = 9")
        columns = "id, body, qty, price, memo"
        land, running = defined("memo VARCHAR, id BIGINT, body VARCHAR, price INTEGER, qty BIGINT")
        comes_to_equal(there, here, land, running)
    assert (
        not lake.exists("grown__quarantine") or not lake.table("grown__quarantine").read().count()
    )
