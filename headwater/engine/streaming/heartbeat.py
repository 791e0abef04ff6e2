"""Heartbeats: event times without rows, written as files that a streaming query reads.

In: the watermarks that hold for the inputs of a view, after what the view has committed.
Out: per input a folder of JSON lines with one column ``ts``; a file per watermark, put there
atomically.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from headwater.plan.query_shape import MICROSECOND

SCHEMA = "ts TIMESTAMP"


class Heartbeats:
    """The heartbeat folders of one view.

    Attributes:
        root: where the folders of the inputs are.

    Args:
        folder: where the folders of the inputs are.
        delays: per input, how far its watermark stays behind its newest event time.
    """

    def __init__(self, folder: Path, delays: Mapping[str, timedelta]) -> None:
        self.root = folder
        self._delays = delays
        # a query that is started anew needs them all again, and Spark reads no name twice
        self._ending = f"-{uuid.uuid4().hex[:8]}.json"
        self._last: dict[str, int] = {}

    def folder(self, name: str) -> Path:
        """Return the folder of an input's heartbeats, which exists."""
        folder = self.root / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def write(self, watermarks: Mapping[str, int]) -> None:
        """Tell the query the watermarks of its inputs; one already told is left out.

        Args:
            watermarks: per input, microseconds since 1970 UTC.
        """
        for name, watermark in watermarks.items():
            if self._last.get(name) == watermark:
                continue
            at = datetime.fromtimestamp(0, UTC) + watermark * MICROSECOND + self._delays[name]
            folder = self.folder(name)
            hidden = folder / f".{watermark}"
            hidden.write_text(json.dumps({"ts": at.isoformat()}) + "\n")
            os.replace(hidden, folder / f"{watermark}{self._ending}")
            self._last[name] = watermark
