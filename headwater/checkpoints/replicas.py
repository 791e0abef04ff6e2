"""Copies of a checkpoint in the object store of the warehouse, for a machine that lost its own.

In: the folder of a checkpoint whose query has stopped. Out: a copy in the store, and the folder
again.

State changes with every batch, and a store takes a tenth of a second for each object: so a query
writes to a disk, and what is there is copied when it stops. A copy is of use as long as nothing is
committed after it: rows of a SOURCE cannot be read again. Files of RocksDB are uploaded once, since
they never change; all else of a copy is one object, whose name has its digest, so that half of one
is not taken for a copy: Arrow 26.0.1 finishes an object even if its upload was interrupted
(apache/arrow#40502).
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from headwater.checkpoints.folder import Checkpoint
from headwater.lake.storage.warehouse import BucketWarehouse, store_failure, warehouse_for

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

    from headwater.config.settings import Config

logger = logging.getLogger(__name__)

_KEPT = 2
_LISTED = "files.json"
_COPY = re.compile(r"(?P<epoch>[0-9]{19})-(?P<digest>[0-9a-f]{64})\.tar")


class CheckpointReplicas:
    """The copies of one view's checkpoint.

    Args:
        files: opens the store; called in the thread that asks.
        place: where in the store they are.
    """

    def __init__(self, files: Callable[[], FileSystem], place: str) -> None:
        self._open, self._place = files, place
        self._copied = -1
        self._listed: dict[str, set[str]] = {}

    def copy(self, checkpoint: Path, epoch: int) -> None:
        """Copy a checkpoint. A failure costs time later, and never the view.

        Args:
            checkpoint: its folder, which nobody writes to but Spark's maintenance of old versions.
            epoch: the newest epoch of the view.
        """
        if epoch <= self._copied:
            return
        still = checkpoint.with_name(f".{checkpoint.name}-copy")
        try:
            _link(checkpoint, still)
            self._upload(self._open(), still, epoch)
            self._copied = epoch
        except Exception as error:  # noqa: BLE001 - whatever it is, the view goes on
            logger.warning("%s: the checkpoint replica was not written: %s", self._place, error)
        finally:
            shutil.rmtree(still, ignore_errors=True)

    def newest(self) -> int | None:
        """Return the epoch of the newest copy, None if there is none.

        Raises:
            ServiceError: ``STORE_DOWN``, ``STORE_REFUSED``, ``BUCKET_MISSING``.
        """
        try:
            names = self._names(self._open())
        except OSError as error:
            raise store_failure(error) from error
        return int(names[-1].split("-")[0]) if names else None

    def restore(self, checkpoint: Checkpoint) -> bool:
        """Put the newest copy that is whole in the place of a checkpoint.

        Args:
            checkpoint: the checkpoint; what there is of it is kept beside it.

        Returns:
            Whether there is one.

        Raises:
            ServiceError: ``STORE_DOWN``, ``STORE_REFUSED``, ``BUCKET_MISSING``.
        """
        folder = checkpoint.folder
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            files = self._open()
            for name in reversed(self._names(files)):
                with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".restored-") as made:
                    if self._fetch(files, name, Path(made)):
                        checkpoint.put_back(Path(made) / "checkpoint")
                        return True
                logger.warning("checkpoint replica %s is incomplete", name)
        except OSError as error:
            raise store_failure(error) from error
        return False

    def _upload(self, files: FileSystem, still: Path, epoch: int) -> None:
        files.create_dir(f"{self._place}/sst", recursive=True)
        there = {Path(path).name for path in _paths(files, f"{self._place}/sst")}
        listed = {str(file.relative_to(still)): file for file in still.rglob("*.sst")}
        for file in listed.values():
            if file.name not in there:
                _send(files, file, f"{self._place}/sst/{file.name}")
            file.unlink()
        (still / _LISTED).write_text(json.dumps([*listed]))
        whole = still.with_suffix(".tar")
        with tarfile.open(whole, "w") as tar:
            tar.add(still, "checkpoint")
        with whole.open("rb") as source:
            digest = hashlib.file_digest(source, "sha256").hexdigest()
        name = f"{epoch:019d}-{digest}.tar"
        _send(files, whole, f"{self._place}/{name}")
        whole.unlink()
        self._listed[name] = {file.name for file in listed.values()}
        self._prune(files)

    def _prune(self, files: FileSystem) -> None:
        """Remove what the newest copies do not need; only where it is known what they need."""
        kept = self._names(files)[-_KEPT:]
        if not all(name in self._listed for name in kept):
            return
        self._listed = {name: self._listed[name] for name in kept}
        needed = set[str]().union(*self._listed.values())
        for path in _paths(files, f"{self._place}/sst"):
            if Path(path).name not in needed:
                files.delete_file(path)
        for path in _paths(files, self._place):
            if _COPY.fullmatch(Path(path).name) and Path(path).name not in kept:
                files.delete_file(path)

    def _names(self, files: FileSystem) -> list[str]:
        """The names of the copies, the oldest first."""
        names = (Path(path).name for path in _paths(files, self._place))
        return sorted(name for name in names if _COPY.fullmatch(name))

    def _fetch(self, files: FileSystem, name: str, into: Path) -> bool:
        """Whether a copy could be unpacked as the folder ``checkpoint``."""
        whole = into / "whole.tar"
        _receive(files, f"{self._place}/{name}", whole)
        with whole.open("rb") as source:
            if not name.endswith(f"-{hashlib.file_digest(source, 'sha256').hexdigest()}.tar"):
                return False
        with tarfile.open(whole) as tar:
            if not all(map(_is_plain, tar.getmembers())):
                return False
            # Python before 3.11.4 has no filters.
            tar.extraction_filter = getattr(tarfile, "data_filter", lambda one, _: one)
            tar.extractall(into)
        listed = into / "checkpoint" / _LISTED
        for path in json.loads(listed.read_text()):
            try:
                _receive(files, f"{self._place}/sst/{Path(path).name}", into / "checkpoint" / path)
            except FileNotFoundError:
                return False
        listed.unlink()
        return True


def _is_plain(member: tarfile.TarInfo) -> bool:
    """Return whether a member is a file or a folder that stays where it is unpacked."""
    name = PurePosixPath(member.name)
    stays = not name.is_absolute() and ".." not in name.parts
    return stays and (member.isreg() or member.isdir())


def copies_of(config: Config, view: str) -> CheckpointReplicas | None:
    """Return the copies of a view's checkpoint; None where the warehouse is a folder."""
    warehouse = warehouse_for(config)
    if not isinstance(warehouse, BucketWarehouse):
        return None
    root = warehouse.uri.removeprefix("s3://")
    return CheckpointReplicas(
        warehouse.store.files, f"{root}/_checkpoints/{config.namespace}/{view}"
    )


def _link(checkpoint: Path, still: Path) -> None:
    """Make a folder that stays as the checkpoint is now; its files are never written twice.

    Files of RocksDB come last: those that a version needs are there before it is.
    """
    shutil.rmtree(still, ignore_errors=True)
    files = [path for path in checkpoint.rglob("*") if path.is_file()]
    files += checkpoint.rglob("*.sst")
    for file in files:
        linked = still / file.relative_to(checkpoint)
        if file.name.endswith(".tmp") or linked.exists():
            continue
        linked.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(file, linked)
        except FileNotFoundError:  # of an old version, which Spark has just removed
            continue


def _paths(files: FileSystem, folder: str) -> Iterator[str]:
    from pyarrow.fs import FileSelector

    for info in files.get_file_info(FileSelector(folder, allow_not_found=True)):
        if info.is_file:
            yield info.path


def _send(files: FileSystem, file: Path, path: str) -> None:
    with file.open("rb") as source, files.open_output_stream(path) as sink:
        shutil.copyfileobj(source, sink)


def _receive(files: FileSystem, path: str, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with files.open_input_stream(path) as source, file.open("wb") as sink:
        shutil.copyfileobj(source, sink)
