"""Copies of checkpoints: what is uploaded, what is kept, what is taken back."""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from pyarrow.fs import LocalFileSystem

from headwater.checkpoints.folder import Checkpoint
from headwater.checkpoints.replicas import CheckpointReplicas
from headwater.errors import ServiceError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkpoint."""
    made = tmp_path / "v1" / "checkpoint"
    for name in ("metadata", "offsets/0", "state/0/1/2.zip", "state/0/1/.3.zip.tmp"):
        write(made / name, name)
    write(made / "state/0/1/SSTs/a.sst", "a")
    return made


@pytest.fixture
def copies(tmp_path: Path) -> Callable[[], CheckpointReplicas]:
    return lambda: CheckpointReplicas(LocalFileSystem, str(tmp_path / "store"))


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def content(folder: Path) -> dict[str, str]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_text() for file in files}


def stored(tmp_path: Path) -> tuple[list[int], list[str]]:
    """The epochs of the copies in the store, and the names of RocksDB's files."""
    store = tmp_path / "store"
    epochs = [int(file.name.split("-")[0]) for file in store.glob("*.tar")]
    return sorted(epochs), sorted(file.name for file in store.glob("sst/*"))


def test_a_copy_is_the_checkpoint_and_what_it_replaces_is_kept(
    folder: Path, copies: Callable[[], CheckpointReplicas]
) -> None:
    copies().copy(folder, 7)
    before = content(folder)
    del before["state/0/1/.3.zip.tmp"]  # nobody will finish it
    write(folder / "offsets/0", "damaged")
    assert copies().newest() == 7
    assert copies().restore(Checkpoint(folder))
    assert content(folder) == before
    assert (folder.with_name("checkpoint.refused") / "offsets/0").read_text() == "damaged"
    assert sorted(each.name for each in folder.parent.iterdir()) == [
        "checkpoint",
        "checkpoint.refused",
    ]


def test_without_a_copy_nothing_is_touched(
    folder: Path, copies: Callable[[], CheckpointReplicas]
) -> None:
    before = content(folder)
    assert copies().newest() is None
    assert not copies().restore(Checkpoint(folder))
    assert content(folder) == before


def test_files_of_rocksdb_are_sent_once_and_go_when_no_copy_needs_them(
    tmp_path: Path, folder: Path, copies: Callable[[], CheckpointReplicas]
) -> None:
    own = copies()
    own.copy(folder, 1)
    sent = tmp_path / "store" / "sst" / "a.sst"
    at = sent.stat().st_mtime_ns
    write(folder / "state/0/1/SSTs/b.sst", "b")
    own.copy(folder, 2)
    assert sent.stat().st_mtime_ns == at
    (folder / "state/0/1/SSTs/a.sst").unlink()
    own.copy(folder, 3)
    assert stored(tmp_path) == ([2, 3], ["a.sst", "b.sst"])
    own.copy(folder, 4)
    assert stored(tmp_path) == ([3, 4], ["b.sst"])


def test_what_a_process_has_not_made_itself_it_does_not_prune(
    tmp_path: Path, folder: Path, copies: Callable[[], CheckpointReplicas]
) -> None:
    copies().copy(folder, 1)
    (folder / "state/0/1/SSTs/a.sst").unlink()
    copies().copy(folder, 2)
    assert stored(tmp_path) == ([1, 2], ["a.sst"])


@pytest.mark.parametrize("damage", ["torn", "lacking"])
def test_a_copy_that_is_not_whole_gives_way_to_the_one_before(
    tmp_path: Path, folder: Path, copies: Callable[[], CheckpointReplicas], damage: str
) -> None:
    copies().copy(folder, 1)
    before = (folder / "metadata").read_text()
    write(folder / "metadata", "newer")
    write(folder / "state/0/1/SSTs/b.sst", "b")
    copies().copy(folder, 2)
    newest = next((tmp_path / "store").glob("*2-*.tar"))
    if damage == "torn":
        newest.write_bytes(newest.read_bytes()[:-600])
    else:
        (tmp_path / "store" / "sst" / "b.sst").unlink()
    assert copies().restore(Checkpoint(folder))
    assert (folder / "metadata").read_text() == before


def test_a_disk_that_is_full_stops_no_view(
    folder: Path,
    copies: Callable[[], CheckpointReplicas],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def full(source: Path, linked: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.link", full)
    own = copies()
    own.copy(folder, 1)
    assert "No space left on device" in caplog.text
    assert own.newest() is None


def test_a_store_that_is_down_is_an_error_only_where_a_copy_is_needed(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def down() -> LocalFileSystem:
        raise OSError("AWS Error NETWORK_CONNECTION during ListObjectsV2")

    copies = CheckpointReplicas(down, "x")
    copies.copy(folder, 1)
    assert "replica was not written" in caplog.text
    with pytest.raises(ServiceError) as caught:
        copies.restore(Checkpoint(folder))
    assert caught.value.condition == "STORE_DOWN"


@pytest.mark.parametrize("name", ["../outside", "/outside"])
def test_a_copy_that_would_be_unpacked_elsewhere_is_not_taken(
    tmp_path: Path, folder: Path, copies: Callable[[], CheckpointReplicas], name: str
) -> None:
    copies().copy(folder, 7)
    (store,) = (tmp_path / "store").glob("*.tar")
    with tarfile.open(store, "a") as tar:
        tar.addfile(tarfile.TarInfo(name))
    digest = hashlib.sha256(store.read_bytes()).hexdigest()
    store.rename(store.with_name(f"{7:019d}-{digest}.tar"))
    before = content(folder)
    assert not copies().restore(Checkpoint(folder))
    assert content(folder) == before
