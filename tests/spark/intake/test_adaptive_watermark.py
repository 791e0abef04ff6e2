"""A table whose watermark follows the lateness of its rows: over epochs, restarts and replays."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from headwater.analyze.definitions import AdaptiveDelay, Watermark
from headwater.engine.inputs import InputTable
from headwater.intake.replay import replay
from headwater.lake.lateness import EPOCHS, TAIL
from headwater.lake.watermark import watermark_after
from tests.spark.crash import Crash, before_publishing

SECOND = 1_000_000
RULE = AdaptiveDelay(0.5, timedelta(seconds=1), timedelta(hours=1))
ROWS = round(TAIL / (1 - RULE.percentile))
START = datetime(2026, 1, 1, tzinfo=UTC)
TIMES = "id integer !; ts timestamp with time zone"


@pytest.fixture
def crash_before_publishing(monkeypatch):
    return before_publishing(monkeypatch)


def adaptive(files_source, columns=TIMES, **more):
    return replace(files_source(columns, **more), watermark=Watermark("ts", RULE.most, RULE))


def rows(epoch: int, late: float, zone: str = "Z") -> str:
    """Half of an epoch's rows are in order, half are late by some seconds after the last epoch."""
    rnd = random.Random(epoch)
    lines = []
    for number in range(ROWS):
        if number % 2 or epoch == 0:
            at = START + timedelta(seconds=100 * epoch + number)
        else:
            newest = START + timedelta(seconds=100 * (epoch - 1) + ROWS - 1)
            at = newest - timedelta(seconds=late * rnd.uniform(0.9, 1))
        text = at.replace(tzinfo=None).isoformat() + zone
        lines.append(json.dumps({"id": epoch * ROWS + number, "ts": text}))
    return "\n".join(lines) + "\n"


def step(land):
    """Land the next epoch; the first look after another one may find nothing new."""
    return land.step() or land.step()


def told(table):
    commits = [each.marker for each in table.commits()]
    return [(each.epoch, each.watermark, each.delay, each.lateness) for each in commits][::-1]


@pytest.mark.parametrize("zoned", [True, False])
def test_the_delay_follows_the_rows_and_a_restart_goes_on_from_the_marker(
    lake, drop, landing, files_source, zoned
):
    columns, zone = (TIMES, "Z") if zoned else ("id integer !; ts timestamp", "")
    sources = [adaptive(files_source, columns, name=name) for name in ("t", "u")]
    straight = landing(sources[0])
    stamps = []
    for epoch in range(EPOCHS + 4):
        drop(f"{epoch}.json", rows(epoch, late=8 if epoch < 6 else 60, zone=zone))
        stamps.append(step(straight).watermark)
        landing(sources[1]).step()  # a process of its own for each epoch
    found = told(straight.table)
    assert found == told(lake.table("u"))
    delays = [delay for _, _, delay, _ in found]
    # the first epoch has nothing to be late of, and the counts of an epoch are in the next marker
    assert delays[: EPOCHS + 1] == [3600 * SECOND] * (EPOCHS + 1)
    assert all(SECOND <= each <= 9 * SECOND for each in delays[EPOCHS + 1 :])
    known = [each for each in stamps if each is not None]
    assert known == sorted(known)
    last = watermark_after(straight.table, sources[0])
    newest = START + timedelta(seconds=100 * (EPOCHS + 3) + ROWS - 1)
    assert last == int(newest.timestamp()) * SECOND - delays[-1]
    read = InputTable("t", lake.table("t"), sources[0])
    assert read.watermark_after(read.pin()) == last
    by_row = straight.table.read().selectExpr("CAST(_watermark AS TIMESTAMP) AS w").distinct()
    assert {row.w for row in by_row.collect() if row.w} == {
        datetime.fromtimestamp(each / SECOND, UTC).replace(tzinfo=None) for each in known
    }


def test_an_epoch_that_was_begun_gets_the_stamp_that_it_had(
    lake, drop, landing, files_source, crash_before_publishing
):
    source = adaptive(files_source)
    for epoch in range(EPOCHS + 2):
        drop(f"{epoch}.json", rows(epoch, late=8) + "not json\n")
        land = landing(source)
        crash_before_publishing()
        with pytest.raises(Crash):
            land.step()
        before = lake.table("t__quarantine").newest("t").marker
        after = landing(source)
        after.step()
        assert after.marker.watermark == before.watermark
        assert after.marker.delay == before.delay
        assert dict(after.marker.lateness) == dict(before.lateness)


def test_bad_rows_and_rows_of_the_quarantine_do_not_count(lake, drop, landing, files_source):
    source = adaptive(files_source)
    land = landing(source)
    drop("0.json", rows(0, 0))
    step(land)
    late, german = "2025-12-31T23:00:00Z", "31.12.2025 22:00"
    records = [{"id": 1, "ts": late}, {"id": 2}, {"ts": late}, {"id": 3, "ts": german}]
    drop("1.json", "".join(json.dumps(each) + "\n" for each in records))
    step(land)
    drop("2.json", rows(2, 0))
    step(land)
    counted = dict(land.marker.lateness)
    assert sum(counted.values()) == 1  # the others have no event time, no id, or cannot be read
    pattern = {"timestamp_format": "dd.MM.yyyy HH:mm"}
    again = landing(replace(source, encode_options=pattern))
    assert replay(again).landed == 1
    for number, seen in ((3, 1 + ROWS), (4, 1 + 2 * ROWS)):
        drop(f"{number}.json", rows(number, 0))
        restarted = landing(source)  # it counts the newest epoch anew: here the replay, then rows
        step(restarted)
        assert sum(restarted.marker.lateness.values()) == seen
