"""The checkpoint of a streaming query, as far as commits and their repair need it.

In: the checkpoint's folder, as Structured Streaming writes it. Out: the cut and the watermark of a
batch, how far the query has come, what of it is damaged; and changes to it, each of which a crash
leaves undone or done. Knows no Spark, so that ``headwater doctor`` reads it too.
"""

from __future__ import annotations

import json
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from headwater.checkpoints.durable import put
from headwater.checkpoints.file_log import FileLog
from headwater.checkpoints.offsets import NOTHING, OffsetStream

OWNER_FILE = "headwater.json"
_STATE_FILE = re.compile(r"(\d+)(?:_[^.]+)?\.(changelog|zip)")
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_PARTITIONS = "spark.sql.shuffle.partitions"


@dataclass(frozen=True, slots=True)
class Batch:
    """One planned batch.

    Attributes:
        watermark: Spark's watermark during the batch, microseconds since 1970 UTC; None before the
            first.
        ends: per source in the order of the plan, where the batch ends, as the source writes it.
        conf: the settings that the batch is bound to.
    """

    watermark: int | None
    ends: tuple[str, ...]
    conf: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckpointOwner:
    """Whose checkpoint it is; lies in its folder and goes with every copy of it.

    Attributes:
        view: name of the view.
        namespace: namespace of the view's table.
        version: version of the view's definition.
        fingerprint: hash of the view's definition.
        order: the query's sources, in the order in which the checkpoint lists them.
        earlier: the hashes by which checkpoints of earlier formats know the definition; not
            written.
    """

    view: str
    namespace: str
    version: int
    fingerprint: str
    order: tuple[OffsetStream, ...] = ()
    earlier: tuple[str, ...] = field(default=(), compare=False)

    def owns(self, other: CheckpointOwner) -> bool:
        """Return whether a checkpoint of another one is this one's, in whatever order it reads."""
        known = other.fingerprint in (self.fingerprint, *self.earlier)
        own = (self.view, self.namespace, self.version)
        return known and own == (other.view, other.namespace, other.version)


class Checkpoint:
    """The checkpoint folder of one query.

    Args:
        folder: the folder; it may be missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._logs: dict[int, FileLog] = {}

    # -- what it says

    def last_planned(self) -> int | None:
        """Return the number of the newest batch whose range is written down, or None."""
        return max(self._numbers("offsets"), default=None)

    def last_finished(self) -> int | None:
        """Return the number of the newest batch that Spark takes for finished, or None."""
        return max(self._numbers("commits"), default=None)

    def batch(self, number: int) -> Batch | None:
        """Return what a batch covers, or None if its record is missing or cannot be read.

        Args:
            number: the batch id, which is the epoch of the view.
        """
        lines = _lines(self.folder / "offsets" / str(number))
        if len(lines) < 2 or not all(end == NOTHING or _is_json(end) for end in lines[2:]):
            return None
        try:
            header = json.loads(lines[1])
            watermark = _micros(header["batchWatermarkMs"])
            return Batch(watermark, tuple(lines[2:]), header.get("conf", {}))
        except (ValueError, KeyError, TypeError):
            return None

    def next_watermark(self, number: int) -> int | None:
        """Return Spark's watermark after a batch in microseconds, None if unfinished or unset.

        Args:
            number: the batch id.
        """
        lines = _lines(self.folder / "commits" / str(number))
        try:
            return _micros(json.loads(lines[1])["nextBatchWatermarkMs"])
        except (IndexError, ValueError, KeyError, TypeError):
            return None

    def is_finished(self, number: int) -> bool:
        """Return whether Spark has written a batch off as finished, readably.

        Args:
            number: the batch id.
        """
        lines = _lines(self.folder / "commits" / str(number))
        return len(lines) > 1 and _is_json(lines[1])

    def damaged(self) -> list[str]:
        """Return the files of the two logs that cannot be read, as paths in the folder."""
        planned = [n for n in self._numbers("offsets") if self.batch(n) is None]
        finished = [n for n in self._numbers("commits") if not self.is_finished(n)]
        return [f"offsets/{n}" for n in planned] + [f"commits/{n}" for n in finished]

    def missing(self) -> list[str]:
        """Return the files that are missing between the oldest and the newest of the two logs."""
        return [
            f"{log}/{number}"
            for log in ("offsets", "commits")
            if (numbers := set(self._numbers(log)))
            for number in range(min(numbers), max(numbers))
            if number not in numbers
        ]

    def lost_state(self, number: int) -> list[str]:
        """Return the folders of the state in which the version after a batch cannot be built.

        Args:
            number: the batch id.
        """
        root = self.folder / "state"
        batch = self.batch(number)
        conf = batch.conf if batch else {}
        if "RocksDB" not in conf.get(_PROVIDER, "RocksDB"):
            return []  # files of another kind: only Spark can tell
        partitions = int(conf.get(_PARTITIONS, 1))
        lost = [] if root.is_dir() else ["state"]
        for operator in sorted(root.glob("*")) if root.is_dir() else ():
            for partition in map(str, range(partitions)):
                stores = list(_stores(operator / partition))
                if not stores or any(not _has_version(store, number + 1) for store in stores):
                    lost.append(f"state/{operator.name}/{partition}")
        return lost

    def file_log(self, index: int) -> FileLog:
        """Return the log of a file source.

        Args:
            index: its place among the query's sources.
        """
        if index not in self._logs:
            self._logs[index] = FileLog(self.folder / "sources" / str(index))
        return self._logs[index]

    # -- whose it is

    def owner(self) -> CheckpointOwner | None:
        """Return whose it is, None if it does not say so."""
        try:
            fields: dict[str, Any] = json.loads((self.folder / OWNER_FILE).read_text())
            order = tuple(OffsetStream(*stream) for stream in fields.pop("order"))
            return CheckpointOwner(**fields, order=order)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def sign(self, owner: CheckpointOwner) -> None:
        """Write down whose it is."""
        if self.owner() == owner:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        fields = {**asdict(owner), "order": [(item.name, item.kept) for item in owner.order]}
        del fields["earlier"]
        put(self.folder / OWNER_FILE, json.dumps(fields))

    # -- changes

    def discard(self) -> None:
        """Remove the checkpoint; the query begins anew."""
        self._logs.clear()
        if self.folder.exists():
            old = self.folder.with_name(f".{self.folder.name}-{uuid.uuid4().hex}")
            self.folder.rename(old)  # at once: half a checkpoint would be worse than none
        for old in self.folder.parent.glob(f".{self.folder.name}-*"):
            shutil.rmtree(old, ignore_errors=True)

    def put_back(self, copy: Path) -> None:
        """Take a copy of the checkpoint in its place; what was there is kept beside it.

        Args:
            copy: a folder of the same file system; it is moved.
        """
        self._logs.clear()
        shutil.rmtree(self._aside, ignore_errors=True)
        if self.folder.exists():
            self.folder.rename(self._aside)
        copy.rename(self.folder)

    def take_back(self) -> None:
        """Undo :meth:`put_back`."""
        self.discard()
        if self._aside.exists():
            self._aside.rename(self.folder)

    @property
    def _aside(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}.refused")

    def cut_back(self, number: int) -> None:
        """Forget every batch after one.

        Args:
            number: the last batch that stays; -1 to forget all.
        """
        for log in ("commits", "offsets"):
            for later in sorted(self._numbers(log), reverse=True):
                if later > number:
                    (self.folder / log / str(later)).unlink()

    def sweep(self) -> None:
        """Remove records whose writer was killed before they had their name.

        Spark begins no query anew in front of a folder that is not empty, and takes them for that.
        """
        for log in ("commits", "offsets"):
            for left in (self.folder / log).glob(".*.tmp"):
                left.unlink(missing_ok=True)

    def plan(self, number: int, batch: Batch) -> None:
        """Write down the range of a batch, over what was there.

        Args:
            number: the batch id.
        """
        header = {
            "batchWatermarkMs": (batch.watermark or 0) // 1000,
            "batchTimestampMs": 0,  # no view may read a clock
            "conf": dict(batch.conf),
        }
        self._write("offsets", number, [json.dumps(header), *batch.ends])

    def restart(self, number: int, ends: Sequence[str], before: Sequence[str]) -> None:
        """Make it say that a batch of a query without state is finished, and no more than that.

        Args:
            number: the batch id.
            ends: per source in the order of the plan, where it ended.
            before: where the batch before it ended, which Spark asks for.
        """
        # a crash in between leaves a checkpoint that does not agree with the table: done again
        self.cut_back(-1)
        for planned, at in ((number - 1, before), (number, ends)):
            if planned >= 0:
                self.plan(planned, Batch(None, tuple(at)))
        self._write("commits", number, [json.dumps({"nextBatchWatermarkMs": 0})])
        if not (self.folder / "metadata").exists():
            put(self.folder / "metadata", json.dumps({"id": str(uuid.uuid4())}))

    def _write(self, log: str, number: int, lines: Sequence[str]) -> None:
        (self.folder / log).mkdir(parents=True, exist_ok=True)
        put(self.folder / log / str(number), "\n".join(["v1", *lines]))

    def _numbers(self, log: str) -> list[int]:
        folder = self.folder / log
        if not folder.is_dir():
            return []
        return sorted(int(path.name) for path in folder.iterdir() if path.name.isdigit())


def _stores(partition: Path) -> Iterator[Path]:
    """Yield the folders of a partition that hold versions of state; a join has several."""
    for folder in (partition, *sorted(partition.glob("*"))):
        if folder.is_dir() and any(_STATE_FILE.fullmatch(file.name) for file in folder.iterdir()):
            yield folder


def _has_version(store: Path, version: int) -> bool:
    """Whether a version can be built: from the newest snapshot before it, change by change."""
    found: dict[str, set[int]] = {"changelog": set(), "zip": set()}
    for file in store.iterdir():
        if (match := _STATE_FILE.fullmatch(file.name)) and file.stat().st_size:
            found[match[2]].add(int(match[1]))
    base = max((n for n in found["zip"] if n <= version), default=0)
    return found["changelog"].issuperset(range(base + 1, version + 1))


def _lines(path: Path) -> list[str]:
    """The lines of a log entry; none if it is missing or not of the version we know."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, UnicodeDecodeError):
        return []
    return lines if lines and lines[0] == "v1" else []


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _micros(millis: int) -> int | None:
    return millis * 1000 or None
