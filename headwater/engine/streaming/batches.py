"""What the batches of a streaming query have read: from its checkpoint, in the form of markers.

In: the number of a batch. Out: its cut, the snapshots it added of each input, its watermark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headwater.checkpoints.folder import Batch, Checkpoint
from headwater.checkpoints.offsets import OffsetStream
from headwater.checkpoints.resume_decision import cut_at
from headwater.engine.inputs import InputTable, SnapshotRange, least_watermark
from headwater.engine.streaming.source_batch import SourceBatchWriter
from headwater.errors import TerminalError


@dataclass(frozen=True, slots=True)
class Read:
    """What one batch has read.

    Attributes:
        cut_from: the cut before it.
        cut_to: the cut after it.
        spans: per input in the lake that it read something of, the range.
        watermark: microseconds since 1970 UTC, by which its rows were decided.
    """

    cut_from: Mapping[str, str]
    cut_to: Mapping[str, str]
    spans: Mapping[str, SnapshotRange]
    watermark: int | None


@dataclass(frozen=True)
class Batches:
    """The batches of one query.

    Attributes:
        view: name of the view.
        checkpoint: its checkpoint.
        order: the query's sources, in the order of the checkpoint.
        inputs: the view's inputs in the lake.
        reading: the view's SOURCEs.
        stateful: whether Spark's watermark is that of the rows.
    """

    view: str
    checkpoint: Checkpoint
    order: Sequence[OffsetStream]
    inputs: Mapping[str, InputTable]
    reading: SourceBatchWriter
    stateful: bool

    def read(self, epoch: int) -> Read:
        """Return what a batch has read.

        Args:
            epoch: its number, which is the epoch of the view.

        Raises:
            TerminalError: ``CHECKPOINT_LOST``; ``CUT_SPLIT``.
        """
        batch = self._planned(epoch)
        cut_from = self._cut(self._planned(epoch - 1)) if epoch else {}
        cut_to = self._cut(batch)
        spans = {
            name: SnapshotRange(
                int(cut_from[name]) if name in cut_from else None, int(cut_to[name])
            )
            for name in self.inputs
            if name in cut_to and cut_to[name] != cut_from.get(name)
        }
        return Read(cut_from, cut_to, spans, self._watermark(batch, cut_to))

    def _planned(self, epoch: int) -> Batch:
        batch = self.checkpoint.batch(epoch)
        if batch is None:
            raise TerminalError(
                "CHECKPOINT_LOST",
                f'the checkpoint of view "{self.view}" has no epoch {epoch}',
                hint=f"run `headwater doctor {self.view}`, which shows the safe repairs",
            )
        return batch

    def _cut(self, batch: Batch) -> dict[str, str]:
        return self.reading.cut(cut_at(self.checkpoint, self.view, self.order, batch))

    def _watermark(self, batch: Batch, cut: Mapping[str, str]) -> int | None:
        if self.stateful:
            return batch.watermark
        pins = {name: int(cut[name]) for name in self.inputs if name in cut}
        read = [item for name, item in self.inputs.items() if name in pins]
        return least_watermark(read, pins) if len(read) == len(self.inputs) else None
