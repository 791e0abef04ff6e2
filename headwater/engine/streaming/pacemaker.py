"""When a streaming view needs a heartbeat: the inputs' watermarks held against Spark's own.

In: how far a view has committed. Out: heartbeats where rows alone did not move Spark's watermark to
that of the inputs.
"""

from __future__ import annotations

from collections.abc import Mapping

from headwater.checkpoints.folder import Checkpoint
from headwater.engine.inputs import InputTable
from headwater.engine.streaming.heartbeat import Heartbeats
from headwater.plan.program import StreamingProgram
from headwater.plan.query_shape import MICROSECOND


class Pacemaker:
    """Writes the heartbeats of one view.

    Args:
        inputs: its inputs in the lake.
    """

    def __init__(
        self,
        program: StreamingProgram,
        inputs: Mapping[str, InputTable],
        checkpoint: Checkpoint,
        heartbeats: Heartbeats,
    ) -> None:
        self._program = program
        self._inputs = inputs
        self._checkpoint = checkpoint
        self._heartbeats = heartbeats
        self._beaten: int | None = None

    def beat(self, epoch: int, cut: Mapping[str, str]) -> None:
        """Tell Spark the inputs' watermarks at a cut, once the epoch is finished.

        Args:
            epoch: the newest epoch of the view, which is idle.
        """
        delays = self._program.delays
        if not delays or epoch == self._beaten or not self._checkpoint.is_finished(epoch):
            return
        watermarks: dict[str, int] = {}
        for name in delays:
            if name not in self._inputs:
                return  # nothing is known of a SOURCE but the rows that Spark has seen itself
            watermark = self._watermark(name, cut)
            if watermark is None:
                return
            watermarks[name] = watermark
        if set(delays) <= set(cut):
            self._beaten = epoch
        known = self._checkpoint.next_watermark(epoch)
        least = min(watermarks.values()) - self._program.allowed // MICROSECOND
        if known is None or least > known:
            self._heartbeats.write(watermarks)

    def _watermark(self, name: str, cut: Mapping[str, str]) -> int | None:
        """The watermark of an input where the view has read it; that of an empty one counts too."""
        item, end = self._inputs[name], cut.get(name)
        if end:
            return item.watermark_after(int(end))
        pin = item.pin()
        return item.watermark_after(pin) if item.is_empty(pin) else None
