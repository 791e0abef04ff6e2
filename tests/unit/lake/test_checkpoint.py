"""Checkpoints as files: what is readable, what a crash leaves, which files were read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from headwater.checkpoints.durable import put
from headwater.checkpoints.file_log import FileLog
from headwater.checkpoints.folder import Batch, Checkpoint, CheckpointOwner
from headwater.checkpoints.offsets import HEARTBEAT, OffsetStream, offset_at
from headwater.checkpoints.resume_decision import Resume, ResumeFacts, ResumeMode, decide_resume
from headwater.lake.protocol.marker import Marker

TABLE = (OffsetStream("d", True),)
FILES = (OffsetStream("s", False),)
CONF = {"spark.sql.shuffle.partitions": "1"}


def owner(order: tuple[OffsetStream, ...] = TABLE, view: str = "v") -> CheckpointOwner:
    return CheckpointOwner(view, "ns", 1, "abc", order)


def marker(epoch: int, watermark: int | None = None) -> Marker:
    before = {"d": str(epoch)} if epoch else {}
    return Marker("v", 1, epoch, before, {"d": str(epoch + 1)}, watermark=watermark)


def made(folder: Path, upto: int, *, stateful: bool = False) -> Checkpoint:
    """A checkpoint of batches 0 to `upto`, whose batch n ends at snapshot n + 1."""
    checkpoint = Checkpoint(folder)
    checkpoint.sign(owner())
    put(folder / "metadata", "{}")
    (folder / "commits").mkdir()
    for number in range(upto + 1):
        ends = (offset_at(str(number + 1), 1),)
        watermark = number * 1000 or None if stateful else None
        checkpoint.plan(number, Batch(watermark, ends, CONF))
        (folder / "commits" / str(number)).write_text('v1\n{"nextBatchWatermarkMs":0}')
        if stateful:
            state = folder / "state" / "0" / "0"
            state.mkdir(parents=True, exist_ok=True)
            (state / f"{number + 1}.changelog").write_text("x")
    return checkpoint


def verdict(checkpoint: Checkpoint, top: int, *, stateful: bool = False) -> Resume:
    def history() -> Mapping[int, Marker]:
        marks = range(top + 1)
        return {n: marker(n, (n * 1000 or None) if stateful else None) for n in marks}

    return decide_resume(ResumeFacts(checkpoint, owner(), stateful, history()[top], history))


@pytest.mark.parametrize("content", ["", "v1", "v1\n", 'v1\n{"batchWater', "garbage", "v2\n{}\n-"])
def test_torn_record_is_no_batch(tmp_path: Path, content: str) -> None:
    checkpoint = made(tmp_path / "c", 1)
    (checkpoint.folder / "offsets" / "1").write_text(content)
    assert checkpoint.batch(1) is None
    assert checkpoint.damaged() == ["offsets/1"]


def test_record_cut_short_within_an_offset_is_no_batch(tmp_path: Path) -> None:
    checkpoint = made(tmp_path / "c", 0)
    file = checkpoint.folder / "offsets" / "0"
    whole = file.read_text()
    for length in range(len(whole)):
        file.write_text(whole[:length])
        batch = checkpoint.batch(0)
        assert batch is None or batch.ends == ()  # fewer ends than sources: seen by judge()


@pytest.mark.parametrize("stateful", [False, True])
def test_whole_checkpoint_goes_on(tmp_path: Path, stateful: bool) -> None:
    checkpoint = made(tmp_path / "c", 2, stateful=stateful)
    assert verdict(checkpoint, 2, stateful=stateful) == Resume(ResumeMode.GO_ON, 2)


def test_replay_of_the_last_batch_goes_on(tmp_path: Path) -> None:
    checkpoint = made(tmp_path / "c", 2)
    (checkpoint.folder / "commits" / "2").unlink()
    assert verdict(checkpoint, 2).way is ResumeMode.GO_ON


def test_checkpoint_ahead_of_its_table_is_not_used(tmp_path: Path) -> None:
    checkpoint = made(tmp_path / "c", 4)
    found = verdict(checkpoint, 2)
    assert (found.way, found.epoch) == (ResumeMode.ANEW, 2)
    assert "ahead" in found.damage[0]


def test_state_that_is_behind_its_table_is_refused(tmp_path: Path) -> None:
    checkpoint = made(tmp_path / "c", 1, stateful=True)
    found = verdict(checkpoint, 4, stateful=True)
    assert (found.way, found.condition) == (ResumeMode.REFUSE, "CHECKPOINT_MISMATCH")
    assert "its newest batches are lost" in found.damage[0]


def test_state_that_is_lost_is_refused(tmp_path: Path) -> None:
    checkpoint = made(tmp_path / "c", 4, stateful=True)
    (checkpoint.folder / "state" / "0" / "0" / "4.changelog").unlink()
    found = verdict(checkpoint, 4, stateful=True)
    assert (found.way, found.condition) == (ResumeMode.REFUSE, "CHECKPOINT_MISMATCH")
    assert found.damage == ("state is missing: state/0/0",)


def test_snapshot_of_the_state_stands_for_the_changes_before_it(tmp_path: Path) -> None:
    checkpoint = made(tmp_path / "c", 4, stateful=True)
    state = checkpoint.folder / "state" / "0" / "0"
    (state / "3.zip").write_text("x")
    for version in (1, 2, 3):
        (state / f"{version}.changelog").unlink()
    assert checkpoint.lost_state(4) == []
    (state / "5.changelog").write_text("")
    assert checkpoint.lost_state(4) == ["state/0/0"]


def test_checkpoint_of_another_view_is_named(tmp_path: Path) -> None:
    checkpoint = made(tmp_path / "c", 2)
    checkpoint.sign(owner(view="w"))
    found = verdict(checkpoint, 2)
    assert found.way is ResumeMode.ANEW
    assert 'checkpoint of view "w"' in found.damage[0]


def test_restart_agrees_with_its_marker_whatever_was_there(tmp_path: Path) -> None:
    checkpoint = made(tmp_path / "c", 7)
    checkpoint.restart(2, [offset_at("3", 1)], [offset_at("2", 1)])
    assert verdict(checkpoint, 2) == Resume(ResumeMode.GO_ON, 2)


def test_every_step_of_a_restart_can_be_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a crash leaves is never taken for a checkpoint that ends elsewhere."""
    steps = 0
    for last in range(40):
        checkpoint = made(tmp_path / str(last), 4)
        done = 0

        def crash(*_: object, **__: object) -> None:
            nonlocal done
            done += 1
            if done > last:  # noqa: B023 - used within the round
                raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            for name in ("unlink", "replace"):
                real = getattr(Path, name)

                def step(path: Path, *rest: object, _real: object = real, **more: object) -> None:
                    crash()
                    _real(path, *rest, **more)  # type: ignore[operator]

                patched.setattr(Path, name, step)
            try:
                checkpoint.restart(2, [offset_at("3", 1)], [offset_at("2", 1)])
            except KeyboardInterrupt:
                steps += 1
        found = verdict(Checkpoint(checkpoint.folder), 2)
        assert (found.way, found.epoch) in {
            (ResumeMode.GO_ON, 2),
            (ResumeMode.ANEW, 2),
            (ResumeMode.MEND, 2),
        }
    assert steps >= 13  # ten files removed, three written


# -- the log of a file source


def logged(folder: Path, number: int, *paths: str, compact: bool = False) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["v1", *(json.dumps({"path": path, "batchId": number}) for path in paths)]
    (folder / f"{number}").write_text("\n".join(lines))


def test_position_names_every_file(tmp_path: Path) -> None:
    one, other = tmp_path / "a", tmp_path / "b"
    for folder, second in ((one, "file:///2"), (other, "file:///3")):
        logged(folder, 0, "file:///1")
        logged(folder, 1, second)
    assert FileLog(one).position(0) == FileLog(other).position(0)
    assert FileLog(one).position(1) != FileLog(other).position(1)
    assert json.loads(FileLog(one).position(1) or "")["files"] == 2


def test_a_log_of_heartbeats_forgets_the_old_ones_and_any_other_log_nothing(tmp_path: Path) -> None:
    beats = tmp_path / "heart beat"
    for name, below in (("beats", beats), ("input", tmp_path / "in")):
        folder = tmp_path / name
        folder.mkdir()
        paths = [f"{below.as_uri()}/t/{n}.json" for n in range(200)]
        lines = [json.dumps({"path": path, "batchId": n}) for n, path in enumerate(paths)]
        (folder / "199.compact").write_text("\n".join(["v1", *lines]))
        (folder / "200").write_text("v1\n" + json.dumps({"path": "file:///x", "batchId": 200}))
        FileLog(folder).trim(beats)
    kept = (tmp_path / "beats" / "199.compact").read_text().splitlines()
    assert [json.loads(line)["batchId"] for line in kept[1:]] == list(range(150, 200))
    assert kept[0] == "v1"
    assert len((tmp_path / "input" / "199.compact").read_text().splitlines()) == 201
    assert FileLog(tmp_path / "input").position(199) is not None
    FileLog(tmp_path / "missing").trim(beats)


def test_compaction_of_the_log_does_not_move_the_position(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    for number in range(12):
        logged(folder, number, f"file:///{number}", f"file:///{number}b")
    read_along = FileLog(folder)
    assert read_along.position(8)
    before = FileLog(folder).position(11)
    lines = [line for n in range(10) for line in (folder / str(n)).read_text().splitlines()[1:]]
    for number in range(10):
        (folder / str(number)).unlink()
    (folder / "9.compact").write_text("\n".join(["v1", *lines]))
    assert FileLog(folder).position(11) == read_along.position(11) == before


def test_gap_or_garbage_in_the_log_has_no_position(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    for number in range(4):
        logged(folder, number, f"file:///{number}")
    (folder / "2").write_text("v1\n{")
    assert FileLog(folder).position(1)
    assert FileLog(folder).position(3) is None
    (folder / "2").unlink()
    assert FileLog(folder).position(3) is None
    assert FileLog(folder).position(9) is None


def test_source_whose_log_is_not_the_one_of_the_table_is_refused(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "c")
    checkpoint.sign(owner(FILES))
    log = checkpoint.folder / "sources" / "0"
    logged(log, 0, "file:///1")
    position = FileLog(log).position(0)
    assert position
    newest = Marker("v", 1, 0, {}, {"s": position})
    held = ResumeFacts(checkpoint, owner(FILES), False, newest, lambda: {0: newest})
    assert decide_resume(held).way is ResumeMode.ANEW
    logged(log, 0, "file:///2")
    assert (
        decide_resume(ResumeFacts(Checkpoint(tmp_path / "c"), *_rest(held))).way
        is ResumeMode.REFUSE
    )


def _rest(held: ResumeFacts) -> tuple[CheckpointOwner, bool, Marker | None, object]:
    return held.owner, held.stateful, held.newest, held.history


def test_owner_comes_back_as_it_was_signed(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "c")
    assert checkpoint.owner() is None
    checkpoint.sign(owner((OffsetStream("d", True), HEARTBEAT)))
    assert checkpoint.owner() == owner((OffsetStream("d", True), HEARTBEAT))
