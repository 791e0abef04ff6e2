"""A change that is computed once and merged into the view's table by key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from headwater.engine.incremental.contract import Tick
from headwater.engine.view_commit import Change
from headwater.lake.iceberg.merge import Upsert, upsert
from headwater.lake.java import cached


@contextmanager
def merged(tick: Tick, sql: str, change: Upsert) -> Iterator[Change]:
    """Compute the rows of a change, and give what merges them.

    Args:
        tick: the tick.
        sql: the rows, at most one for each key; registered as the source of the change.
        change: how they change the table.
    """
    with ExitStack() as opened:
        cached(tick.session.sql(sql), opened).createOrReplaceTempView(change.source)
        yield Change(lambda target: upsert(tick.session, target, change, tick.before))
