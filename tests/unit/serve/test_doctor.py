"""What ``headwater doctor`` finds in tables and checkpoints, and what its repairs leave."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from fake_lake import CLICKS, FakeLake, make_lake
from pyarrow.fs import LocalFileSystem
from pyiceberg.exceptions import NoSuchTableError

from headwater.checkpoints.file_log import FileLog
from headwater.checkpoints.folder import Batch, Checkpoint, CheckpointOwner
from headwater.checkpoints.offsets import HEARTBEAT, NOTHING, OffsetStream, offset_at, records_at
from headwater.checkpoints.replicas import CheckpointReplicas
from headwater.cli.main import main
from headwater.lake.protocol.marker import Marker
from headwater.plan.planner import plan_project
from headwater.runtime.lease import Lease
from headwater.serve.doctor import findings
from headwater.serve.doctor.diagnosis import diagnose
from headwater.serve.doctor.findings import Finding, Repair
from headwater.serve.doctor.repairs import Offer, carry_out, offers
from tests.streamed import streams_first

AT = datetime(2024, 1, 1, 10, tzinfo=UTC)
HOURS = pa.schema({"window_start": pa.timestamp("us", "UTC"), "clicks": pa.int64()})
SQL = """
CREATE TABLE clicks (user_id BIGINT, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;

CREATE SOURCE taps (user_id BIGINT) WITH (connector = 'files', path = 'taps')
FORMAT PLAIN ENCODE JSON;

CREATE STREAMING VIEW tapped AS SELECT user_id FROM taps;

CREATE SOURCE knocks (user_id BIGINT, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'taps') FORMAT PLAIN ENCODE JSON;

CREATE STREAMING VIEW knocked AS
SELECT window_start, count(*) AS clicks
FROM TUMBLE(knocks, ts, INTERVAL '1' HOUR) GROUP BY window_start EMIT ON WINDOW CLOSE;

CREATE SOURCE pings (user_id BIGINT) WITH (connector = 'kafka', topic = 'pings, more',
  bootstrap_servers = 'localhost:1') FORMAT PLAIN ENCODE JSON;

CREATE STREAMING VIEW pinged AS SELECT user_id FROM pings;

CREATE STREAMING VIEW per_hour AS
SELECT window_start, count(*) AS clicks
FROM TUMBLE(clicks, ts, INTERVAL '1' HOUR) GROUP BY window_start EMIT ON WINDOW CLOSE;

CREATE STREAMING VIEW busy AS SELECT window_start, clicks FROM per_hour WHERE clicks > 1;
"""
ORDER = (OffsetStream("clicks", True), HEARTBEAT)


@pytest.fixture(autouse=True)
def streams() -> Iterator[None]:
    """Give each view that can have one a checkpoint."""
    with streams_first():
        yield


@pytest.fixture
def lake(tmp_path: Path) -> FakeLake:
    """Two epochs of a table, and a window view over it with its checkpoint."""
    made = make_lake(tmp_path, SQL)
    made.create("clicks", CLICKS)
    made.create("per_hour", HOURS)
    (tmp_path / "in").mkdir()
    (tmp_path / "taps").mkdir()
    for epoch in range(2):
        land(made, epoch)
        commit(made, epoch)
    return made


def land(lake: FakeLake, epoch: int) -> int:
    cut = {"clicks": str(epoch)} if epoch else {}
    marker = Marker("clicks", 1, epoch, cut, {"clicks": str(epoch + 1)})
    return lake.append("clicks", [{"user_id": 1, "ts": AT}], marker)


def markers(lake: FakeLake, name: str) -> list[Marker]:
    table = lake.catalog.load_table((lake.project.config.namespace, name))
    found = [Marker.from_summary(s.summary.additional_properties) for s in table.snapshots()]
    return [marker for marker in found if marker]


def commit(lake: FakeLake, epoch: int, *, checkpoint: bool = True, **changes: object) -> None:
    before = {"clicks": markers(lake, "per_hour")[-1].cut_to["clicks"]} if epoch else {}
    fields: dict[str, object] = {
        "cut_from": before,
        "cut_to": {"clicks": str(lake.snapshot("clicks"))},
        "watermark": epoch * 1000 or None,
        "fingerprint": plan_project(lake.project.catalog)["per_hour"].fingerprint,
    }
    marker = Marker("per_hour", 1, epoch, **{**fields, **changes})  # type: ignore[arg-type]
    lake.append("per_hour", [{"window_start": AT, "clicks": epoch}], marker)
    if checkpoint:
        finish(lake, marker)


def finish(lake: FakeLake, marker: Marker) -> None:
    folder = state(lake) / "checkpoint"
    found = Checkpoint(folder)
    config = lake.project.config
    found.sign(CheckpointOwner("per_hour", config.namespace, 1, marker.fingerprint, ORDER))
    ends = (offset_at(marker.cut_to["clicks"], 1), NOTHING)
    found.plan(marker.epoch, Batch(marker.watermark, ends, {"spark.sql.shuffle.partitions": "1"}))
    files = {
        "metadata": "{}",
        f"commits/{marker.epoch}": 'v1\n{"nextBatchWatermarkMs":0}',
        f"state/0/0/{marker.epoch + 1}.changelog": "x",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def state(lake: FakeLake, view: str = "per_hour") -> Path:
    return lake.project.config.state / view / "v1"


def found(lake: FakeLake, *names: str) -> list[Finding]:
    return diagnose(lake.project, plan_project(lake.project.catalog), names)


def only(lake: FakeLake, check: str) -> Finding:
    every = [each for each in found(lake) if not each.problem.startswith("waits for")]
    assert [finding.check for finding in every] == [check], every
    return every[0]


def repairs(lake: FakeLake) -> Sequence[Offer]:
    plans = plan_project(lake.project.catalog)
    return offers(lake.project, plans, diagnose(lake.project, plans))


def repair(lake: FakeLake) -> None:
    plans = plan_project(lake.project.catalog)
    for offer in repairs(lake):
        carry_out(lake.project, plans, offer)


def exists(lake: FakeLake, name: str) -> bool:
    try:
        lake.catalog.load_table((lake.project.config.namespace, name))
    except NoSuchTableError:
        return False
    return True


def test_whole_project_is_healthy(lake: FakeLake) -> None:
    assert found(lake) == []


def test_project_that_never_ran_is_healthy(tmp_path: Path) -> None:
    assert found(make_lake(tmp_path, SQL)) == []


def test_gap_between_epochs_is_found_and_a_view_rebuilt(lake: FakeLake) -> None:
    commit(lake, 3)
    findings = {finding.check: finding for finding in found(lake)}
    assert "epoch 3 follows epoch 1" in findings["markers"].problem
    assert findings["markers"].repair is Repair.REBUILD


def test_epoch_that_begins_elsewhere_is_found(lake: FakeLake) -> None:
    commit(lake, 2, cut_from={"clicks": "7"})
    assert "epoch 2 does not begin where 1 ended" in only(lake, "markers").problem


def test_token_that_falls_is_found(lake: FakeLake) -> None:
    commit(lake, 2, token=5)
    commit(lake, 3, token=4)
    assert "fence token is 4, that of the epoch before 5" in only(lake, "markers").problem


def test_gap_in_a_landed_table_is_told_and_nothing_offered(lake: FakeLake) -> None:
    land(lake, 7)
    finding = only(lake, "markers")
    assert (finding.name, finding.repair) == ("clicks", None)


def test_rows_of_another_tool_are_found(lake: FakeLake) -> None:
    lake.append("per_hour", [{"window_start": AT, "clicks": 9}])
    finding = only(lake, "foreign")
    assert (finding.repair, "written by another tool" in finding.problem) == (Repair.REBUILD, True)


def test_maintenance_is_not_foreign(lake: FakeLake) -> None:
    table = lake.catalog.load_table((lake.project.config.namespace, "per_hour"))
    data = pa.Table.from_pylist([], schema=table.schema().as_arrow())
    table.append(data, snapshot_properties={"headwater.maintenance": "compaction"})
    assert found(lake) == []


def test_rows_on_the_branch_of_a_dead_writer_are_a_note(lake: FakeLake) -> None:
    table = lake.catalog.load_table((lake.project.config.namespace, "per_hour"))
    table.manage_snapshots().create_branch(
        lake.snapshot("per_hour"), "headwater_a_per_hour"
    ).commit()
    data = pa.Table.from_pylist([], schema=table.schema().as_arrow())
    table.append(data, branch="headwater_a_per_hour")
    assert only(lake, "staging").serious is False


def test_changed_definition_is_found(lake: FakeLake) -> None:
    commit(lake, 2, fingerprint="another", checkpoint=False)
    checks = [finding.check for finding in found(lake)]
    assert "definition" in checks


def test_lost_data_file_is_named(lake: FakeLake) -> None:
    table = lake.catalog.load_table((lake.project.config.namespace, "clicks"))
    file = next(iter(table.scan().plan_files())).file.file_path
    Path(file.removeprefix("file://")).unlink()
    finding = only(lake, "files")
    assert (finding.name, finding.repair) == ("clicks", None)
    assert file in finding.problem


def test_lost_manifest_list_is_told_by_the_check_that_needs_it(lake: FakeLake) -> None:
    table = lake.catalog.load_table((lake.project.config.namespace, "per_hour"))
    snapshot = table.current_snapshot()
    assert snapshot
    Path(snapshot.manifest_list.removeprefix("file://")).unlink()
    assert "1 files of the current snapshot are missing" in only(lake, "files").problem


def test_lost_table_metadata_is_told_and_the_other_tables_examined(lake: FakeLake) -> None:
    table = lake.catalog.load_table((lake.project.config.namespace, "per_hour"))
    Path(table.metadata_location.removeprefix("file://")).unlink()
    land(lake, 9)
    every = found(lake)
    assert {finding.name for finding in every} >= {"clicks", "per_hour"}
    assert any("cannot be read" in finding.problem for finding in every)


def test_input_rolled_back_below_the_cut_is_found(lake: FakeLake) -> None:
    namespace = lake.project.config.namespace
    lake.catalog.drop_table((namespace, "clicks"))
    finding = only(lake, "input")
    assert (finding.repair, 'its input "clicks" is missing' in finding.problem) == (None, True)
    assert "cannot be rebuilt" in finding.safe


def test_view_with_state_whose_checkpoint_is_lost_is_rebuilt(lake: FakeLake) -> None:
    shutil.rmtree(state(lake))
    finding = only(lake, "checkpoint")
    assert finding.repair is Repair.REBUILD
    assert "its state cannot be rebuilt" in finding.safe


def test_torn_plan_is_removed(lake: FakeLake) -> None:
    torn = state(lake) / "checkpoint" / "offsets" / "2"
    torn.write_text("v1\n{")
    assert only(lake, "checkpoint").repair is Repair.CUT_BACK
    repair(lake)
    assert not torn.exists()
    assert found(lake) == []


def test_view_without_state_gets_a_new_checkpoint(lake: FakeLake) -> None:
    make_busy(lake)
    finding = only(lake, "checkpoint")
    assert (finding.name, finding.repair) == ("busy", Repair.RESUME)
    repair(lake)
    assert found(lake) == []


def make_busy(lake: FakeLake) -> None:
    lake.create("busy", HOURS)
    cut: dict[str, str] = {}
    for epoch in range(2):
        to = {"per_hour": str(lake.snapshot("per_hour"))}
        marker = Marker(
            "busy",
            1,
            epoch,
            cut,
            to,
            fingerprint=plan_project(lake.project.catalog)["busy"].fingerprint,
        )
        lake.append("busy", [{"window_start": AT, "clicks": 2}], marker)
        cut = to


def failed(lake: FakeLake, condition: str) -> None:
    error = {"condition": condition, "message": "it is broken"}
    said = {"pid": 0, "views": {"per_hour": {"state": "failed", "error": error}}}
    (lake.project.config.state / "run.json").write_text(json.dumps(said))


def test_rebuild_drops_the_view_and_its_readers_and_nothing_else(lake: FakeLake) -> None:
    make_busy(lake)
    failed(lake, "STATE_DAMAGED")
    offer = next(offer for offer in repairs(lake) if offer.view == "per_hour")
    assert (offer.readers, offer.dropped) == (("busy",), ("busy", "per_hour"))
    assert "the views that read it: busy" in offer.explained()
    repair(lake)
    assert [exists(lake, name) for name in ("clicks", "per_hour", "busy")] == [True, False, False]
    assert not state(lake).exists()


def test_view_of_a_source_is_rebuilt_only_while_its_files_are_there(lake: FakeLake) -> None:
    file = tapped(lake)
    assert found(lake) == []
    failed_tapped = {"condition": "STATE_DAMAGED", "message": "it is broken"}
    said = {"pid": 0, "views": {"tapped": {"state": "failed", "error": failed_tapped}}}
    (lake.project.config.state / "run.json").write_text(json.dumps(said))
    assert only(lake, "error").repair is Repair.REBUILD
    file.unlink()
    finding = only(lake, "error")
    assert (finding.repair, "1 files of" in finding.safe) == (None, True)
    assert repairs(lake) == []


def test_view_of_a_source_without_its_checkpoint_cannot_go_on(lake: FakeLake) -> None:
    tapped(lake)
    shutil.rmtree(state(lake, "tapped"))
    finding = only(lake, "checkpoint")
    assert finding.repair is None
    assert 'record of the files read from SOURCE "taps" is lost' in finding.safe


def test_lost_state_of_windows_over_a_source_is_rebuilt_only_from_its_files(
    lake: FakeLake,
) -> None:
    file = tapped(lake, "knocked", "knocks")
    folder = state(lake, "knocked") / "checkpoint"
    Checkpoint(folder).plan(
        0, Batch(None, ('{"logOffset":0}',), {"spark.sql.shuffle.partitions": "1"})
    )
    for name, text in {"commits/0": "v1\n{}", "state/0/0/1.changelog": "x"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    assert found(lake) == []
    shutil.rmtree(folder / "state")
    finding = only(lake, "checkpoint")
    assert "state is missing" in finding.problem
    assert "its state cannot be rebuilt from a SOURCE" in finding.safe
    assert finding.repair is Repair.REBUILD
    file.unlink()
    assert only(lake, "checkpoint").repair is None


def tapped(lake: FakeLake, view: str = "tapped", source: str = "taps") -> Path:
    """A commit of the view of a SOURCE, and the file it was read from."""
    file = lake.project.config.directory / "taps" / "a b.json"
    file.write_text("{}\n")
    checkpoint = Checkpoint(state(lake, view) / "checkpoint")
    plan = plan_project(lake.project.catalog)[view]
    order = (OffsetStream(source, False),)
    namespace = lake.project.config.namespace
    checkpoint.sign(CheckpointOwner(view, namespace, 1, plan.fingerprint, order))
    log = checkpoint.folder / "sources" / "0"
    log.mkdir(parents=True)
    path = file.absolute().as_uri()
    (log / "0").write_text("v1\n" + json.dumps({"path": path, "batchId": 0}))
    position = FileLog(log).position(0)
    assert position
    checkpoint.restart(0, ['{"logOffset":0}'], ())
    lake.create(view, pa.schema({"user_id": pa.int64()}))
    marker = Marker(view, 1, 0, {}, {source: position}, fingerprint=plan.fingerprint)
    lake.append(view, [{"user_id": 1}], marker)
    return file


def test_view_of_topics_goes_on_from_the_offsets_in_its_marker(lake: FakeLake) -> None:
    offset = pinged(lake)
    finding = only(lake, "checkpoint")
    assert (finding.name, finding.repair) == ("pinged", Repair.RESUME)
    repair(lake)
    assert found(lake) == []
    checkpoint = Checkpoint(state(lake, "pinged") / "checkpoint")
    batch = checkpoint.batch(1)
    assert batch is not None
    assert batch.ends == (offset,)
    (checkpoint.folder / "headwater.json").unlink()
    assert "the view can continue from it" in only(lake, "checkpoint").safe  # known by its offsets


def test_offsets_of_another_place_are_not_taken_for_those_of_the_marker(lake: FakeLake) -> None:
    pinged(lake)
    repair(lake)
    checkpoint = Checkpoint(state(lake, "pinged") / "checkpoint")
    checkpoint.plan(1, Batch(None, ('{"more":{"0":7},"pings":{"0":2,"1":10}}',)))
    assert only(lake, "checkpoint").repair is Repair.RESUME


def test_view_of_topics_is_not_computed_again_by_itself(lake: FakeLake) -> None:
    pinged(lake)
    repair(lake)
    error = {"condition": "STATE_DAMAGED", "message": "it is broken"}
    said = {"pid": 0, "views": {"pinged": {"state": "failed", "error": error}}}
    (lake.project.config.state / "run.json").write_text(json.dumps(said))
    finding = only(lake, "error")
    assert (finding.repair, "whether Kafka still has" in finding.safe) == (None, True)


def pinged(lake: FakeLake) -> str:
    """Two commits of the view of topics, without a checkpoint; returns the offset of the last."""
    lake.create("pinged", pa.schema({"user_id": pa.int64()}))
    plan, ids = plan_project(lake.project.catalog)["pinged"], {"pings": "a", "more": "b"}
    offsets = [f'{{"pings":{{"10":1,"0":{n}}},"more":{{"0":7}}}}' for n in (1, 2)]
    cuts = [{"pings": records_at(offset, ids) or ""} for offset in offsets]
    for epoch, (cut_from, cut_to) in enumerate(zip([{}, cuts[0]], cuts, strict=True)):
        marker = Marker("pinged", 1, epoch, cut_from, cut_to, fingerprint=plan.fingerprint)
        lake.append("pinged", [{"user_id": 1}], marker)
    return '{"more":{"0":7},"pings":{"0":2,"10":1}}'


def test_bad_rows_that_wait_are_a_note(lake: FakeLake) -> None:
    folder = lake.project.config.state / "taps__quarantine" / "v1"
    folder.mkdir(parents=True)
    (folder / "waiting").write_text("x")
    finding = only(lake, "quarantine")
    assert (finding.name, finding.serious) == ("taps", False)


def test_lost_checkpoint_of_a_quarantine_is_told(lake: FakeLake) -> None:
    lake.create("taps__quarantine", pa.schema({"reason": pa.string()}))
    lake.append("taps__quarantine", [{"reason": "x"}], Marker("taps", 1, 1, {}, {"taps": "2"}))
    finding = only(lake, "quarantine")
    assert (finding.name, finding.serious, finding.repair) == ("taps", True, None)


def copied(lake: FakeLake, monkeypatch: pytest.MonkeyPatch, view: str, epoch: int) -> None:
    """A copy of a checkpoint that is lost then."""
    copies = CheckpointReplicas(
        LocalFileSystem, str(lake.project.config.directory / "store" / view)
    )
    copies.copy(state(lake, view) / "checkpoint", epoch)
    shutil.rmtree(state(lake, view))
    monkeypatch.setattr(findings, "copies_of", lambda config, name: copies)


def test_the_copy_that_the_next_run_begins_with_is_told(
    lake: FakeLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied(lake, monkeypatch, "per_hour", 1)
    finding = only(lake, "checkpoint")
    assert (finding.repair, "replica of epoch 1" in finding.safe) == (None, True)


def test_a_copy_that_is_too_old_is_no_promise(
    lake: FakeLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied(lake, monkeypatch, "per_hour", 0)
    finding = only(lake, "checkpoint")
    assert (finding.repair, "state cannot be" in finding.safe) == (Repair.REBUILD, True)


def test_a_copy_that_a_run_has_refused_is_no_promise(
    lake: FakeLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied(lake, monkeypatch, "per_hour", 1)
    error = {"condition": "CHECKPOINT_LOST", "message": "it is lost"}
    said = {"pid": 0, "views": {"per_hour": {"state": "failed", "error": error}}}
    (lake.project.config.state / "run.json").write_text(json.dumps(said))
    by_check = {finding.check: finding for finding in found(lake)}
    assert by_check["checkpoint"].repair is Repair.REBUILD


@pytest.mark.parametrize(("epoch", "told"), [(0, True), (-1, False)])
def test_a_view_of_a_source_needs_the_copy_of_its_newest_epoch(
    lake: FakeLake, monkeypatch: pytest.MonkeyPatch, epoch: int, told: bool
) -> None:
    tapped(lake)
    if epoch < 0:
        marker = markers(lake, "tapped")[-1]
        later = replace(marker, epoch=1, cut_from=marker.cut_to)
        lake.append("tapped", [{"user_id": 2}], later)
    copied(lake, monkeypatch, "tapped", 0)
    finding = only(lake, "checkpoint")
    assert ("replica of epoch 0" in finding.safe) is told


# -- the command


def run(lake: FakeLake, *arguments: str) -> int:
    return main(["doctor", *arguments, "--project", str(lake.project.root)])


def test_command_says_healthy_and_exits_with_0(
    lake: FakeLake, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(lake) == 0
    assert capsys.readouterr().err == "healthy\n"


def test_command_exits_with_1_and_explains(
    lake: FakeLake, capsys: pytest.CaptureFixture[str]
) -> None:
    (state(lake) / "checkpoint" / "offsets" / "2").write_text("")
    assert run(lake, "per_hour") == 1
    shown = capsys.readouterr()
    assert "offsets/2 cannot be read" in shown.out
    assert "headwater doctor per_hour --repair would" in shown.out
    assert run(lake, "clicks") == 0


def test_command_for_programs(lake: FakeLake, capsys: pytest.CaptureFixture[str]) -> None:
    (state(lake) / "checkpoint" / "offsets" / "2").write_text("")
    assert run(lake, "--output", "json") == 1
    (finding,) = json.loads(capsys.readouterr().out)
    assert (finding["name"], finding["repair"]) == ("per_hour", "cut_back")


def test_repair_asks_and_without_an_answer_does_nothing(
    lake: FakeLake, capsys: pytest.CaptureFixture[str]
) -> None:
    torn = state(lake) / "checkpoint" / "offsets" / "2"
    torn.write_text("")
    assert run(lake, "--repair") == 1
    assert torn.exists()
    assert "add --yes" in capsys.readouterr().err
    assert run(lake, "--repair", "--yes") == 0
    assert not torn.exists()


def test_repair_refuses_while_the_project_runs(
    lake: FakeLake, capsys: pytest.CaptureFixture[str]
) -> None:
    (state(lake) / "checkpoint" / "offsets" / "2").write_text("")
    config = lake.project.config
    with Lease.acquire(config):
        assert run(lake, "--repair", "--yes") == 3
    assert "ALREADY_RUNNING" in capsys.readouterr().err


def test_the_owner_is_named_while_the_project_runs(
    lake: FakeLake, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(lake) == 0
    assert "is run by" not in capsys.readouterr().err
    with Lease.acquire(lake.project.config):
        assert run(lake) == 0
        assert f"the project is run by process {os.getpid()} on host" in capsys.readouterr().err


def test_checkpoint_that_does_not_say_whose_it_is_is_judged_like_any_other(lake: FakeLake) -> None:
    folder = state(lake) / "checkpoint"
    (folder / "headwater.json").unlink()
    finding = only(lake, "checkpoint")
    assert "headwater.json is missing" in finding.problem
    assert (finding.serious, finding.safe) == (False, "the view can continue from it")
    (folder / "state" / "0" / "0" / "2.changelog").unlink()
    finding = only(lake, "checkpoint")
    assert "headwater.json is missing" in finding.problem
    assert "its state cannot be rebuilt" in finding.safe


@pytest.mark.parametrize("text", ["", "{", '{"view": "per_hour"}', "\x00\xff"])
def test_torn_owner_of_a_checkpoint_is_told(lake: FakeLake, text: str) -> None:
    folder = state(lake) / "checkpoint"
    (folder / "headwater.json").write_bytes(text.encode("latin-1"))
    (folder / "offsets" / "1").unlink()
    finding = only(lake, "checkpoint")
    assert "headwater.json is missing or cannot be read" in finding.problem


def test_a_repair_that_leaves_nothing_to_do_exits_with_0(
    lake: FakeLake, capsys: pytest.CaptureFixture[str]
) -> None:
    failed(lake, "STATE_DAMAGED")
    assert run(lake) == 1
    assert run(lake, "--repair", "--yes") == 0, capsys.readouterr()
    assert "done: per_hour" in capsys.readouterr().err
    assert not exists(lake, "per_hour")


@pytest.mark.parametrize("damage", ["gone", "cut off"])
@pytest.mark.parametrize("option", ["--repair", "--rebuild"])
def test_the_only_copy_of_rows_is_never_dropped(
    lake: FakeLake, option: str, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = lake.catalog.load_table((lake.project.config.namespace, "clicks"))
    for file in (Path(table.location().removeprefix("file://")) / "data").glob("*.parquet"):
        content = file.read_bytes()
        file.unlink()
        if damage == "cut off":
            file.write_bytes(content[:-1])
    failed(lake, "STATE_DAMAGED")
    assert run(lake, "per_hour", option, "--yes") in (1, 2)
    out, err = capsys.readouterr()
    assert 'files of table "clicks" are missing or damaged' in out + err
    assert exists(lake, "per_hour") and state(lake).exists()


def test_a_sound_view_is_rebuilt_on_demand(
    lake: FakeLake, capsys: pytest.CaptureFixture[str]
) -> None:
    make_busy(lake)
    assert run(lake, "per_hour", "--rebuild") == 1  # nobody can be asked
    assert exists(lake, "per_hour")
    assert run(lake, "per_hour", "--rebuild", "--yes") == 0
    assert "compute them with: headwater run" in capsys.readouterr().err
    assert [exists(lake, name) for name in ("clicks", "per_hour", "busy")] == [True, False, False]
    assert run(lake, "--rebuild", "--yes") == 2
    assert run(lake, "clicks", "--rebuild", "--yes") == 2


def test_a_project_with_errors_is_not_repaired(
    lake: FakeLake, capsys: pytest.CaptureFixture[str]
) -> None:
    failed(lake, "STATE_DAMAGED")
    (lake.project.root / "new.sql").write_text("CREATE STREAMING VIEW reader AS SELECT x FROM")
    assert run(lake, "--repair", "--yes") == 2
    assert "PROJECT_BROKEN" in capsys.readouterr().err
    assert exists(lake, "per_hour")
