from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from fake_lake import CLICKS, FakeLake, make_lake

from headwater.cli.commands.status import _most
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.unknown_field_counts import with_fields
from headwater.serve.status import Status, status

AT = datetime(2024, 1, 1, 10, tzinfo=UTC)
PER_USER = pa.schema({"user_id": pa.int64()})
SOURCE = """
CREATE SOURCE pings (user_id BIGINT) WITH (connector = 'kafka', topic = 'pings',
  bootstrap_servers = 'localhost:1') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW pinged AS SELECT user_id FROM pings;
"""
BOTH = """
CREATE TABLE clicks (user_id BIGINT, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;
CREATE TABLE buys (user_id BIGINT, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'buys') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW bought AS SELECT b.user_id FROM clicks c JOIN buys b
ON b.user_id = c.user_id AND b.ts BETWEEN c.ts AND c.ts + INTERVAL '1' HOUR;
"""


def of(lake: FakeLake, name: str) -> Status:
    now = datetime.now(UTC) + timedelta(seconds=90)
    return next(each for each in status(lake.project, now) if each.name == name)


def run_file(lake: FakeLake, pid: int, views: dict[str, object]) -> None:
    state = lake.project.config.state
    state.mkdir(parents=True, exist_ok=True)
    (state / "run.json").write_text(json.dumps({"pid": pid, "views": views}))


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_before_the_first_commit_everything_is_new(lake: FakeLake) -> None:
    found = status(lake.project)
    assert [(each.name, each.kind, each.state) for each in found] == [
        ("clicks", "table", "new"),
        ("per_user", "view", "new"),
        ("per_hour", "view", "new"),
    ]


def test_epoch_and_watermark_come_from_the_newest_marker(lake: FakeLake) -> None:
    lake.create("clicks", CLICKS)
    for epoch in range(2):
        marker = Marker("clicks", 1, epoch, {}, {}, watermark=1_704_103_200_000_000)
        lake.append("clicks", [{"user_id": 1, "ts": AT}], marker)
    found = of(lake, "clicks")
    assert (found.state, found.epoch, found.watermark) == ("stopped", 1, AT)
    assert (found.rows_in, found.rows_out, found.rows) == (2, 2, 2)
    assert found.age and timedelta(seconds=80) < found.age < timedelta(seconds=120)


def test_the_rate_is_that_of_the_last_minute(lake: FakeLake) -> None:
    lake.create("clicks", CLICKS)
    for epoch in range(2):
        rows = [{"user_id": n} for n in range(90)]
        lake.append("clicks", rows, Marker("clicks", 1, epoch, {}, {}))
    now = datetime.now(UTC)
    rates = [
        each.rate
        for seconds in (0, 120)
        for each in status(lake.project, now + timedelta(seconds=seconds))
        if each.name == "clicks"
    ]
    assert rates == [3.0, 0.0]


def test_the_input_that_holds_a_view_back_is_named(tmp_path: Path) -> None:
    lake = make_lake(tmp_path, BOTH)
    for name in ("clicks", "buys"):
        lake.create(name, CLICKS)

    def land(name: str, epoch: int, watermark: int | None) -> None:
        marker = Marker(name, 1, epoch, {}, {}, watermark=watermark)
        lake.append(name, [{"user_id": 1, "ts": AT}], marker)

    lake.create("bought", PER_USER)
    land("clicks", 0, 5_000_000)
    lake.append("bought", [{"user_id": 1}], Marker("bought", 1, 0, {}, {}))
    land("buys", 0, None)
    held = of(lake, "bought").held_by
    assert held is not None and held.name == "buys"
    for epoch, watermark in enumerate((3_000_000, 4_000_000, 4_000_000), start=1):
        land("buys", epoch, watermark)
    moved = of(lake, "bought").held_by
    commits = lake.catalog.load_table((lake.project.config.namespace, "buys")).history()
    assert moved is not None and moved.name == "buys"
    assert moved.since.timestamp() == commits[2].timestamp_ms / 1000
    land("buys", 4, 5_000_000)
    assert of(lake, "bought").held_by is None
    assert of(lake, "clicks").held_by is None


def test_rows_refused_are_counted_in_the_marker_of_the_quarantine(lake: FakeLake) -> None:
    lake.create("clicks", CLICKS)
    lake.create("clicks__quarantine", pa.schema({"reason": pa.string()}))
    lake.append("clicks", [{"user_id": 1}], Marker("clicks", 1, 0, {}, {}))
    for epoch, total in ((0, 1), (1, 3)):
        counts = {"quarantined": total, "dropped": 0}
        refused = Marker("clicks", 1, epoch, {}, {}, counts=counts)
        lake.append("clicks__quarantine", [{"reason": "bad"}], refused)
    found = of(lake, "clicks")
    assert (found.rows_in, found.rows_out, found.quarantined) == (4, 1, 3)


def test_unknown_fields_are_named_with_their_records_the_most_frequent_first(
    lake: FakeLake,
) -> None:
    lake.create("clicks", CLICKS)
    lake.create("clicks__quarantine", pa.schema({"reason": pa.string()}))
    lake.append("clicks", [{"user_id": 1}], Marker("clicks", 1, 0, {}, {}))
    counts = with_fields({"quarantined": 0, "dropped": 0}, {"b": 1, "a": 3})
    counts = with_fields(counts, {"b": 1, "c": 4})
    lake.append("clicks__quarantine", [], Marker("clicks", 1, 0, {}, {}, counts=counts))
    found = of(lake, "clicks")
    assert list(found.unknown.items()) == [("c", 4), ("a", 3), ("b", 2)]
    assert found.rows_in == 1


def test_late_rows_are_summed_over_the_commits(lake: FakeLake) -> None:
    lake.create("per_user", PER_USER)
    for epoch in range(2):
        marker = Marker("per_user", 1, epoch, {}, {}, counts={"late": 2})
        lake.append("per_user", [], marker)
    assert of(lake, "per_user").late == 4


def test_lag_counts_the_commits_of_the_inputs_after_the_cut(lake: FakeLake) -> None:
    lake.create("clicks", CLICKS)
    lake.create("per_user", PER_USER)
    first = lake.append("clicks", [{"user_id": 1}], Marker("clicks", 1, 0, {}, {}))
    lake.append("per_user", [], Marker("per_user", 1, 0, {}, {"clicks": str(first)}))
    assert (of(lake, "per_user").lag, of(lake, "per_user").rows_in) == (0, 1)
    for epoch in (1, 2):
        lake.append("clicks", [{"user_id": 1}], Marker("clicks", 1, epoch, {}, {}))
    assert of(lake, "per_user").lag == 2


def test_a_running_supervisor_says_the_state(lake: FakeLake) -> None:
    error = {"condition": "DISK_FULL", "message": "no space left"}
    run_file(lake, os.getpid(), {"per_user": {"state": "backing off", "error": error}})
    found = of(lake, "per_user")
    assert (found.state, found.problem) == ("backing off", "DISK_FULL: no space left")


def test_a_dead_supervisor_runs_nothing(lake: FakeLake) -> None:
    run_file(lake, dead_pid(), {"per_user": {"state": "running", "error": None}})
    assert of(lake, "per_user").state == "stopped"


def test_records_that_wait_are_told_by_partition_while_a_supervisor_runs(lake: FakeLake) -> None:
    lake.create("clicks", CLICKS)
    lake.append("clicks", [{"user_id": 1}], Marker("clicks", 1, 0, {}, {}))
    waiting = {"t/0": 3, "t/1": 0}
    run_file(lake, os.getpid(), {"clicks": {"state": "running", "waiting": waiting}})
    assert of(lake, "clicks").waiting == waiting
    run_file(lake, dead_pid(), {"clicks": {"state": "running", "waiting": waiting}})
    assert of(lake, "clicks").waiting is None


def test_why_a_table_stands_still_is_told_while_a_supervisor_runs(lake: FakeLake) -> None:
    lake.create("clicks", CLICKS)
    lake.append("clicks", [{"user_id": 1}], Marker("clicks", 1, 0, {}, {}))
    said = {"clicks": {"state": "running", "note": "idle: no rows for 2 min"}}
    run_file(lake, os.getpid(), said)
    assert of(lake, "clicks").problem == "idle: no rows for 2 min"
    run_file(lake, dead_pid(), said)
    assert of(lake, "clicks").problem == ""


def test_lost_records_are_summed_over_the_commits(lake: FakeLake) -> None:
    lake.create("clicks", CLICKS)
    for epoch in range(2):
        marker = Marker("clicks", 1, epoch, {}, {}, counts={"lost": 2})
        lake.append("clicks", [], marker)
    assert of(lake, "clicks").lost == 4


@pytest.mark.parametrize(
    ("waiting", "shown"),
    [
        (None, None),
        ({"t/0": 7000}, "7,000"),
        ({"t/0": 0, "t/1": 0}, "0"),
        ({"t/0": 1, "t/1": 5}, "6 (5 in t/1)"),
    ],
)
def test_people_see_the_total_and_the_partition_that_lags_most(
    waiting: dict[str, int] | None, shown: object
) -> None:
    assert _most(waiting) == shown


def test_a_damaged_run_file_does_no_harm(lake: FakeLake) -> None:
    state = lake.project.config.state
    state.mkdir(parents=True)
    (state / "run.json").write_text("{")
    assert of(lake, "clicks").state == "new"


def test_the_cut_of_a_view_names_the_epochs_of_the_tables_below_it(lake: FakeLake) -> None:
    lake.create("clicks", CLICKS)
    lake.create("per_user", PER_USER)
    first = lake.append("clicks", [{"user_id": 1}], Marker("clicks", 1, 0, {}, {}))
    second = lake.append("clicks", [{"user_id": 2}], Marker("clicks", 1, 1, {}, {}))
    lake.append("per_user", [], Marker("per_user", 1, 0, {}, {"clicks": str(first)}))
    assert of(lake, "per_user").cut == ("clicks@0",)
    cut = {"clicks": str(second)}
    lake.append("per_user", [], Marker("per_user", 1, 1, {"clicks": str(first)}, cut))
    assert of(lake, "per_user").cut == ("clicks@1",)
    assert of(lake, "clicks").cut == ()


def test_what_a_view_of_a_source_has_behind_it_is_not_known_as_commits(tmp_path: Path) -> None:
    lake = make_lake(tmp_path, SOURCE)
    lake.create("pinged", PER_USER)
    cut = {"pings": '{"pings":{"id":"x","0":1}}'}
    lake.append("pinged", [{"user_id": 1}], Marker("pinged", 1, 0, {}, cut))
    run_file(lake, os.getpid(), {"pinged": {"state": "running", "waiting": {"pings/0": 7}}})
    found = of(lake, "pinged")
    assert (found.lag, found.rows_in, found.rows_out) == (None, None, 1)
    assert found.waiting == {"pings/0": 7}
