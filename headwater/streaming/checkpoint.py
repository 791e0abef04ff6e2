"""The checkpoint of a streaming query, as far as commits need it.

In: the checkpoint's folder, as Structured Streaming writes it. Out: the cut and the watermark of a
batch, how far the query has come, and, for a query without state, a new checkpoint made from a
commit marker.
"""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NOTHING = "-"
"""What Structured Streaming writes for a source that it has not read yet."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One planned batch.

    Attributes:
        watermark: Spark's watermark during the batch, microseconds since 1970 UTC; None before the
            first.
        ends: per source in the order of the plan, where the batch ends, as the source writes it.
    """

    watermark: int | None
    ends: tuple[str, ...]


class Checkpoint:
    """The checkpoint folder of one query.

    Args:
        folder: the folder; it may be missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def last_planned(self) -> int | None:
        """Return the number of the newest batch whose range is written down, or None."""
        return _newest(self.folder / "offsets")

    def last_finished(self) -> int | None:
        """Return the number of the newest batch that Spark knows to be finished, or None."""
        return _newest(self.folder / "commits")

    def batch(self, number: int) -> Batch | None:
        """Return what a batch covers, or None if it was never planned or its record is gone.

        Args:
            number: the batch id, which is the epoch of the view.
        """
        lines = _lines(self.folder / "offsets" / str(number))
        if len(lines) < 2:
            return None
        return Batch(_micros(json.loads(lines[1])["batchWatermarkMs"]), tuple(lines[2:]))

    def next_watermark(self, number: int) -> int | None:
        """Return Spark's watermark after a batch in microseconds, None if unfinished or unset.

        Args:
            number: the batch id.
        """
        lines = _lines(self.folder / "commits" / str(number))
        return _micros(json.loads(lines[1])["nextBatchWatermarkMs"]) if len(lines) > 1 else None

    def is_finished(self, number: int) -> bool:
        """Return whether Spark has written a batch off as finished.

        Args:
            number: the batch id.
        """
        return (self.folder / "commits" / str(number)).exists()

    def discard(self) -> None:
        """Remove the checkpoint; the query begins anew."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, number: int, ends: Sequence[str]) -> None:
        """Replace the checkpoint by one in which a batch of a query without state is finished.

        Args:
            number: the batch id.
            ends: per source in the order of the plan, where it ended.
        """
        self.discard()
        header: dict[str, Any] = {"batchWatermarkMs": 0, "batchTimestampMs": 0, "conf": {}}
        for name, lines in (
            ("offsets", [json.dumps(header), *ends]),
            ("commits", [json.dumps({"nextBatchWatermarkMs": 0})]),
        ):
            (self.folder / name).mkdir(parents=True)
            (self.folder / name / str(number)).write_text("\n".join(["v1", *lines]))
        (self.folder / "metadata").write_text(json.dumps({"id": str(uuid.uuid4())}))


def snapshot_of(end: str) -> str | None:
    """Return the snapshot id in an offset of Iceberg's source, None if it has read nothing.

    Args:
        end: the offset as text.
    """
    if end == NOTHING:
        return None
    found = int(json.loads(end)["snapshot_id"])
    return str(found) if found >= 0 else None


def offset_at(snapshot_id: str, added_files: int) -> str:
    """Return the offset of Iceberg's streaming source behind the last file of a snapshot.

    Args:
        snapshot_id: id of the snapshot.
        added_files: number of data files it added.
    """
    fields = {
        "version": 1,
        "snapshot_id": int(snapshot_id),
        "position": added_files,
        "scan_all_files": False,
    }
    return json.dumps(fields, separators=(",", ":"))


def _newest(folder: Path) -> int | None:
    if not folder.is_dir():
        return None
    return max((int(path.name) for path in folder.iterdir() if path.name.isdigit()), default=None)


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _micros(millis: int) -> int | None:
    return millis * 1000 or None
