"""The SQL box: one SELECT in the embedded engine, which reads and can do nothing else.

In: a SELECT. Out: its first rows. Time, memory, disk and rows are bounded, and few run at once: the
machine belongs to the run.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from headwater.errors import ConfigError
from headwater.project import Project
from headwater.serve.connection import QueryLimits
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


def run_query(project: Project, sql: str, rows: int = ROWS, limits: QueryLimits = LIMITS) -> Answer:
    """Run one SELECT.

    Args:
        project: the project.
        sql: a SELECT in Headwater's SQL.
        rows: how many rows to return at most.
        limits: what it may take.

    Raises:
        SqlError: the text is no query, the engine refuses it, or it ran for too long.
        ConfigError: ``CONSOLE_BUSY``, ``UNKNOWN_TABLE``, …
        ServiceError: the catalog or the data cannot be read.
    """
    began = time.monotonic()
    if not _slots.acquire(timeout=limits.seconds or -1):
        message = f"{AT_ONCE} queries run already"
        raise ConfigError("CONSOLE_BUSY", message, hint="wait until one has ended")
    try:
        with Embedded(project, limits=limits).query(sql) as result:
            found = list(islice(result.rows, rows + 1))
            seconds = time.monotonic() - began
            more = len(found) > rows
            return Answer(result.columns, found[:rows], more, seconds, result.unread)
    finally:
        _slots.release()
