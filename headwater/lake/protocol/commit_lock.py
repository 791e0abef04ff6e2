"""Commits and maintenance of a table take turns.

In: two threads of one process, one that commits and one that maintains. Out: never both at once, so
that compaction meets no rows that change under it; and how long the longest commit took.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta


class CommitLock:
    """Lets one in at a time.

    Attributes:
        longest: how long the longest commit took that passed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.longest = timedelta(0)

    @contextmanager
    def commit(self) -> Iterator[None]:
        """Commit inside the block."""
        with self._lock:
            began = time.monotonic()
            try:
                yield
            finally:
                self.longest = max(self.longest, timedelta(seconds=time.monotonic() - began))

    @contextmanager
    def maintenance(self) -> Iterator[None]:
        """Maintain inside the block."""
        with self._lock:
            yield
