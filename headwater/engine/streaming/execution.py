"""A running streaming query: how it ends, and what Spark knows of the batch it is running.

In: a query; for what its batch knows, inside its ``foreachBatch`` function. Out: counts that the
batch observed, and files that it reads. Spark's public listener tells the counts when the batch is
over, which is too late for a commit that depends on them; the files it does not tell at all.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from pyspark.sql.streaming.query import StreamingQuery

from headwater.checkpoints.offsets import OffsetStream
from headwater.connectors.source_stream import bad_rows


def finish(query: StreamingQuery) -> None:
    """Let a query finish its running batch, then stop it.

    Args:
        query: the query, running or not.
    """
    while query.isActive and query.status["isTriggerActive"]:
        time.sleep(0.01)
    query.stop()


def with_bad_rows(query: StreamingQuery, sources: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return which SOURCEs had bad rows in the batch, once it has been written.

    Args:
        sources: names of SOURCEs that it reads.

    Returns:
        By name, how many rows are bad and how many there are.
    """
    observed = _execution(query).observedMetrics()
    # a source without new rows may have been optimized away
    found = {
        name: observed.apply(bad_rows(name))
        for name in sources
        if observed.contains(bad_rows(name))
    }
    return {name: (row.getLong(0), row.getLong(1)) for name, row in found.items() if row.getLong(0)}


def files_read(query: StreamingQuery, order: Sequence[OffsetStream]) -> Mapping[str, list[str]]:
    """Return the files that the batch reads, per SOURCE.

    Args:
        order: its sources, as the leaves of its plan have them.
    """
    leaves = _execution(query).logical().collectLeaves()
    files: dict[str, list[str]] = {}
    for index, stream in enumerate(order):
        leaf = leaves.apply(index)
        if stream.name and not stream.kept and leaf.getClass().getSimpleName() == "LogicalRelation":
            found = leaf.relation().location().inputFiles()
            paths = [unquote(urlsplit(file).path) for file in found]
            files.setdefault(stream.name, []).extend(paths)
    return files


def _execution(query: StreamingQuery) -> Any:  # noqa: ANN401 - a Java object
    return query._jsq.streamingQuery().lastExecution()  # noqa: SLF001
