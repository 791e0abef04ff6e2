"""Kafka behind TLS and passwords: who is let in reads and writes, who is not is told why."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Message
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession

from headwater.config.settings import Config
from headwater.errors import HeadwaterError
from headwater.intake.land import Landing
from headwater.lake.catalog import Lake
from headwater.servers.leftover import temporary_stack
from tests.services.secure import KEY_PASSWORD, PASSWORD, USER, SecureKafka
from tests.services.topics import client, read, write
from tests.spark.running import planned

pytestmark = pytest.mark.services

PASSWORDS = {"KAFKA_PASSWORD": PASSWORD, "KEY_PASSWORD": KEY_PASSWORD}
TLS = {
    "security_protocol": "ssl",
    "ssl_keystore": "client.pem",
    "ssl_key_password": "${env:KEY_PASSWORD}",
}
MECHANISMS = ("plain", "scram-sha-256", "scram-sha-512")


def by_password(mechanism: str) -> dict[str, str]:
    """The options of a client with a password."""
    return {
        "security_protocol": "sasl_ssl",
        "sasl_mechanism": mechanism,
        "sasl_username": USER,
        "sasl_password": "${env:KAFKA_PASSWORD}",
    }


@pytest.fixture(scope="module")
def secure() -> Iterator[SecureKafka]:
    """A broker with the topic ``orders`` of three records, and ``out`` without any."""
    with temporary_stack() as folder, SecureKafka(folder) as broker:
        admin = AdminClient(client(broker))
        topics = [NewTopic(name, 1, 1) for name in ("orders", "out")]
        for made in admin.create_topics(topics).values():
            made.result()
        write(broker, "orders", [json.dumps({"id": n}).encode() for n in range(3)])
        yield broker


def options(broker: SecureKafka, topic: str, given: dict[str, str], ca: str = "ca.pem") -> str:
    door = broker.door("TLS" if given["security_protocol"] == "ssl" else "SASL")
    listed = {
        "connector": "kafka",
        "topic": topic,
        "bootstrap_servers": door,
        "ssl_ca": ca,
        **given,
    }
    named = ", ".join(f"{name} = '{value}'" for name, value in listed.items())
    return f"WITH ({named})"


def table(name: str, broker: SecureKafka, given: dict[str, str], ca: str = "ca.pem") -> str:
    rest = f"{options(broker, 'orders', given, ca)} FORMAT PLAIN ENCODE JSON;\n"
    return f"CREATE TABLE {name} (id BIGINT) {rest}"


def ran(project: Path, *arguments: str) -> str:
    """Run a command that succeeds; return all that it says."""
    done = subprocess.run(
        [sys.executable, "-m", "headwater", "--project", project, *arguments],
        env={**os.environ, **PASSWORDS}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def newest(records: list[Message]) -> dict[int, int]:
    """The rows of the view that a topic of one partition holds."""
    rows = [json.loads(one.value() or b"") for one in records]
    return {row["id"]: row["n"] for row in rows}


def test_a_project_reads_and_writes_by_every_way_in(secure: SecureKafka, tmp_path: Path) -> None:
    ways = {"tls": TLS, **{name.replace("-", "_"): by_password(name) for name in MECHANISMS}}
    sql = "".join(table(name, secure, given) for name, given in ways.items())
    every = " UNION ALL ".join(f"SELECT id FROM {name}" for name in ways)
    sql += f"CREATE STREAMING VIEW per_id AS SELECT id, count(*) AS n FROM ({every}) GROUP BY id;\n"
    for name, given in ways.items():
        sql += table(f"{name}_source", secure, given).replace("CREATE TABLE", "CREATE SOURCE")
    straight = " UNION ALL ".join(f"SELECT id FROM {name}_source" for name in ways)
    sql += f"CREATE STREAMING VIEW straight AS {straight};\n"
    sink = options(secure, "out", by_password("scram-sha-512"))
    sql += f"CREATE SINK told FROM per_id {sink} FORMAT UPSERT ENCODE JSON;\n"
    (tmp_path / "headwater.toml").write_text('name = "secure"\n')
    (tmp_path / "views.sql").write_text(sql)
    for name in ("ca.pem", "client.pem"):
        (tmp_path / name).write_bytes((secure.folder / name).read_bytes())
    said = ran(tmp_path, "run", "--once", "--end-of-input")
    assert not [secret for secret in PASSWORDS.values() if secret in said]
    counted = ran(tmp_path, "sql", "SELECT count(*) FROM straight", "--output", "csv")
    assert counted.split()[-1] == str(3 * len(ways))
    read(secure, "out", lambda held: newest(held) == {n: len(ways) for n in range(3)})
    state = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert state
    assert not [
        path for path in state if path.suffix != ".pem" and PASSWORD.encode() in path.read_bytes()
    ]


@pytest.mark.parametrize(
    ("given", "ca", "password", "reason"),
    [
        (by_password("plain"), "ca.pem", "wrong", "SaslAuthenticationException"),
        (by_password("scram-sha-256"), "ca.pem", "wrong", "SaslAuthenticationException"),
        (by_password("plain"), "stranger.pem", PASSWORD, "SslAuthenticationException"),
        ({"security_protocol": "ssl"}, "ca.pem", PASSWORD, "SslAuthenticationException"),
    ],
    ids=["password", "scram", "authority", "certificate"],
)
def test_who_is_not_let_in_is_told_why(
    secure: SecureKafka, spark: SparkSession, lake: Lake, proxied: Config,
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], ca: str, password: str, reason: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("KAFKA_PASSWORD", password)
    catalog, _ = planned(table("t", secure, given, str(secure.folder / ca)))
    with pytest.raises(HeadwaterError) as caught:
        Landing(spark, lake, catalog.sources["t"], proxied).step()
    assert caught.value.condition == "KAFKA_REFUSED"
    assert reason in str(caught.value)
    assert password not in str(caught.value)
