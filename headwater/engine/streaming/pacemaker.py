"""When a streaming view needs a heartbeat: the inputs' watermarks held against Spark's own.

In: how far a view has committed. Out: heartbeats, which alone move Spark's watermark over landed
tables: after each commit, and when an input's watermark has moved without rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock

from headwater.checkpoints.file_log import FileLog
from headwater.checkpoints.folder import Checkpoint
from headwater.engine.inputs import InputTable
from headwater.engine.streaming.heartbeat import Heartbeats
from headwater.plan.program import StreamingProgram
from headwater.plan.query_shape import MICROSECOND


class Pacemaker:
    """Writes the heartbeats of one view. Safe for several threads.

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
        # nothing is known of a SOURCE but the rows that Spark has seen itself
        self._told = [name for name in program.delays if name in inputs]
        self._beaten: int | None = None
        self._lock = Lock()

    def beat(self, epoch: int, cut: Mapping[str, str]) -> None:
        """Tell Spark the inputs' watermarks at a cut, once the epoch is finished.

        Args:
            epoch: the newest epoch of the view, which is idle.
        """
        if not self._told or epoch == self._beaten or not self._checkpoint.is_finished(epoch):
            return
        told = self.tell(cut, self._checkpoint.next_watermark(epoch))
        if told and set(self._program.delays) <= set(cut):
            self._beaten = epoch

    def tidy(self) -> None:
        """Have the checkpoint forget heartbeats of long ago; only for the thread of the query."""
        for folder in sorted((self._checkpoint.folder / "sources").glob("*")):
            FileLog(folder).trim(self._heartbeats.root.absolute())

    def tell(self, cut: Mapping[str, str], known: int | None) -> bool:
        """Tell Spark the inputs' watermarks at a cut that the view has read.

        Args:
            known: Spark's own watermark.

        Returns:
            Whether the watermark of every input is known.
        """
        watermarks = self.watermarks(cut)
        if watermarks is None:
            return False
        with self._lock:
            least = min(watermarks.values(), default=None)
            allowed = self._program.allowed // MICROSECOND
            if least is not None and (known is None or least - allowed > known):
                self._heartbeats.write(watermarks)
            return True

    def watermarks(self, cut: Mapping[str, str]) -> dict[str, int] | None:
        """Return the watermarks of the inputs in the lake at a cut, None if one has none yet."""
        found: dict[str, int] = {}
        with self._lock:
            for name in self._told:
                if (watermark := self._watermark(name, cut)) is None:
                    return None
                found[name] = watermark
        return found

    def _watermark(self, name: str, cut: Mapping[str, str]) -> int | None:
        """The watermark of an input where the view has read it; that of an empty one counts too."""
        item, end = self._inputs[name], cut.get(name)
        if end:
            return item.watermark_after(int(end))
        pin = item.pin()
        return item.watermark_after(pin) if item.is_empty(pin) else None
