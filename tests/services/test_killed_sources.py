"""A project that reads a topic straight, killed by SIGKILL: each record counts once."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from docker.local.kafka import Kafka
from tests.services.project import headwater, rows
from tests.services.test_kafka_sources import PER_HOUR, PLACES, SOURCE
from tests.services.test_kafka_tables import Topic

pytestmark = pytest.mark.services

RECORDS, PER_EPOCH = 240, 60
KILLS = (
    # before and after the commit of a batch without state, of one with, and of the bad records
    *("5-staged@places:2", "5-published@places:1", "5-staged@per_hour:2", "5-published@per_hour:1"),
    *("4-staged@clicks__quarantine:1", "4-published@clicks__quarantine:1"),
)


def record(n: int) -> tuple[str, str]:
    hour, minute = divmod(n, 10)
    click = {"n": n, "at": f"2024-01-01T{hour:02}:{minute * 5:02}:00Z"}
    return "k", "bad" if n % 20 == 7 else json.dumps(click)


def test_each_record_counts_once_whatever_is_killed(broker: Kafka, tmp_path: Path) -> None:
    topic, folder = Topic(broker), tmp_path / "p"
    folder.mkdir()
    settings = 'name = "p"\n[spark]\nmaster = "local[2]"\n[run]\nlease = "2 seconds"\n'
    (folder / "headwater.toml").write_text(settings)
    most = f", max_rows_per_epoch = '{PER_EPOCH}'"
    given = {"topic": topic.name, "servers": broker.address, "options": most}
    sql = SOURCE.format(**given, start="", encode="JSON") + PLACES + PER_HOUR
    (folder / "views.sql").write_text(sql)
    topic.write(*map(record, range(RECORDS)), partition=0)
    for point in KILLS:
        killed = headwater(folder, "run", "--once", HEADWATER_CRASH_POINT=f"{point}:group")
        assert killed.returncode == -signal.SIGKILL, (point, killed.stderr)
    done = headwater(folder, "run", "--once")
    assert done.returncode == 0, done.stderr
    good = [n for n in range(RECORDS) if n % 20 != 7]
    assert rows(folder, "SELECT n, place FROM places ORDER BY n") == [
        {"n": n, "place": n} for n in good
    ]
    counts = [row["n"] for row in rows(folder, "SELECT n FROM per_hour ORDER BY window_start")]
    assert counts == [9 if hour % 2 == 0 else 10 for hour in range(RECORDS // 10)]
    bad = rows(folder, "SELECT _row AS n FROM clicks__quarantine ORDER BY 1")
    assert [row["n"] for row in bad] == sorted({*range(RECORDS)} - {*good})
