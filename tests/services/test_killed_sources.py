"""A project that reads a topic straight, killed by SIGKILL: each record counts once."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from jobs.demos.servers.kafka import Kafka
from jobs.demos.servers.registry import Registry
from tests.services.project import headwater, rows
from tests.services.test_avro import register
from tests.services.test_avro_sources import DAY, FIRST, SECOND
from tests.services.test_kafka_sources import PER_HOUR, PLACES, SOURCE
from tests.services.test_kafka_tables import Topic
from tests.support.avro import message

pytestmark = pytest.mark.services

RECORDS, PER_EPOCH = 240, 60
KILLS = (
    # before and after the commit of a batch without state, of one with, and of the bad records
    *("5-staged@places:2", "5-published@places:1", "5-staged@per_hour:2", "5-published@per_hour:1"),
    *("4-staged@clicks__quarantine:1", "4-published@clicks__quarantine:1"),
)


def encode_json(n: int) -> bytes:
    hour, minute = divmod(n, 10)
    return json.dumps({"n": n, "at": f"2024-01-01T{hour:02}:{minute * 5:02}:00Z"}).encode()


@pytest.fixture(params=["JSON", "AVRO"])
def encoded(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, Callable[[int], bytes]]:
    """What a definition says, and what encodes a record; in Avro the second half by another
    schema."""
    if request.param == "JSON":
        return "JSON", encode_json
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    registry: Registry = request.getfixturevalue("registry")
    schemas = (FIRST, SECOND)
    numbers = [register(registry, f"killed-{n}", schema) for n, schema in enumerate(schemas)]

    def avro(n: int) -> bytes:
        of = n >= RECORDS // 2
        at = DAY + (n // 10 * 60 + n % 10 * 5) * 60_000_000
        return message(numbers[of], schemas[of], {"n": n, "at": at, "more": "x"})

    return f"AVRO (registry = '{registry.address}')", avro


def test_each_record_counts_once_whatever_is_killed(
    broker: Kafka, tmp_path: Path, encoded: tuple[str, Callable[[int], bytes]]
) -> None:
    topic, folder, (encode, record) = Topic(broker), tmp_path / "p", encoded
    folder.mkdir()
    settings = 'name = "p"\n[spark]\nmaster = "local[2]"\n[run]\nlease = "2 seconds"\n'
    (folder / "headwater.toml").write_text(settings)
    most = f", max_rows_per_epoch = '{PER_EPOCH}'"
    which = f"topic = '{topic.name}'"
    given = {"which": which, "servers": broker.address, "options": most, "encode": encode}
    sql = SOURCE.format(**given, start="") + PLACES + PER_HOUR
    (folder / "views.sql").write_text(sql)
    values = [b"bad" if n % 20 == 7 else record(n) for n in range(RECORDS)]
    topic.write(*(("k", value) for value in values), partition=0)
    for point in KILLS:
        killed = headwater(
            folder, "run", "--once", "--end-of-input", HEADWATER_CRASH_POINT=f"{point}:group"
        )
        assert killed.returncode == -signal.SIGKILL, (point, killed.stderr)
    done = headwater(folder, "run", "--once", "--end-of-input")
    assert done.returncode == 0, done.stderr
    good = [n for n in range(RECORDS) if n % 20 != 7]
    assert rows(folder, "SELECT n, place FROM places ORDER BY n") == [
        {"n": n, "place": n} for n in good
    ]
    counts = [row["n"] for row in rows(folder, "SELECT n FROM per_hour ORDER BY window_start")]
    assert counts == [9 if hour % 2 == 0 else 10 for hour in range(RECORDS // 10)]
    bad = rows(folder, "SELECT _row AS n FROM clicks__quarantine ORDER BY 1")
    assert [row["n"] for row in bad] == sorted({*range(RECORDS)} - {*good})
