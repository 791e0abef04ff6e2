"""Queries for pages: bounded in time, memory, disk and rows, for the machine belongs to the run.

In: a SELECT. Out: its first rows. The embedded engine runs it, which reads tables and can do
nothing else.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

from headwater.errors import ConfigError
from headwater.project import Project
from headwater.serve.connection import QueryLimits, limited
from headwater.serve.embedded import Embedded

ROWS = 500
LIMITS = QueryLimits(seconds=15, memory="512MB", disk="2GB", threads=2)
AT_ONCE = 2
_slots = threading.BoundedSemaphore(AT_ONCE)


@dataclass(frozen=True, slots=True)
class Answer:
    """The first rows of a result.

    Attributes:
        columns: names of the columns.
        rows: the rows.
        more: whether there are further rows.
        seconds: how long it took.
        unread: of ``commits``, the tables that could not be read, with the reason.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    more: bool
    seconds: float
    unread: Mapping[str, str]


@contextmanager
def bounded(limits: QueryLimits = LIMITS) -> Iterator[None]:
    """Bound what the block may read; only :data:`AT_ONCE` such blocks run at a time.

    Args:
        limits: what a query of the block may take.

    Raises:
        ConfigError: ``CONSOLE_BUSY``: others have not ended in time.
    """
    if not _slots.acquire(timeout=limits.seconds or -1):
        message = f"{AT_ONCE} queries run already"
        raise ConfigError("CONSOLE_BUSY", message, hint="wait until one has ended")
    try:
        with limited(limits):
            yield
    finally:
        _slots.release()


def run_query(project: Project, sql: str, rows: int = ROWS) -> Answer:
    """Run one SELECT.

    Args:
        project: the project.
        sql: a SELECT in Headwater's SQL.
        rows: how many rows to return at most.

    Raises:
        SqlError: the text is no query, the engine refuses it, or it ran for too long.
        ConfigError: ``UNKNOWN_TABLE``, ``NO_DATA_YET``, …
        ServiceError: the catalog or the data cannot be read.
    """
    began = time.monotonic()
    with Embedded(project).query(sql) as result:
        found = list(islice(result.rows, rows + 1))
        seconds = time.monotonic() - began
        return Answer(result.columns, found[:rows], len(found) > rows, seconds, result.unread)
