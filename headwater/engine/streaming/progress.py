"""Progress that Spark reports for a view that reads SOURCEs: rows that wait, rows that were late.

In: a query. Out: records that wait, by partition, and a word of rows that were left out. Spark
counts those after it has grouped them, and when their batch is committed: no marker can have them.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from headwater.checkpoints.offsets import records_at

logger = logging.getLogger(__name__)


class StreamProgress:
    """Collects the progress that Spark reports for one view.

    Attributes:
        waiting: how many records of topics it has not read, by ``<topic>/<partition>``, as Spark
            knew when the last batch began; empty where it reads no topics.
    """

    def __init__(self, view: str, sources: Collection[str]) -> None:
        self._view, self._sources = view, ", ".join(sorted(sources))
        self._batch = -1
        self.waiting: Mapping[str, int] = {}

    def hear(self, query: StreamingQuery) -> None:
        """Take notice of the batches since the last time.

        Args:
            query: the query, running or not.
        """
        if not self._sources:
            return
        for progress in _since(query, self._batch):
            self._batch, self.waiting = progress["batchId"], _waiting(progress)
            groups = sum(each["numRowsDroppedByWatermark"] for each in progress["stateOperators"])
            if groups:
                logger.warning(
                    'view "%s": dropped at least %d late rows of %s in epoch %d',
                    *(self._view, groups, self._sources, self._batch),
                    extra={"hint": "use CREATE TABLE to count late rows exactly and to store them"},
                )


def _since(query: StreamingQuery, batch: int) -> Iterator[Mapping[str, Any]]:
    """What Spark tells of the batches after one, the oldest first."""
    last = query.lastProgress
    if last is None or last.batchId <= batch:
        return
    # a hundred batches are kept: not to be fetched for one
    for each in [last] if last.batchId == batch + 1 else query.recentProgress:
        if each.batchId > batch:
            # not by its attributes, which are Python's words for what was JSON
            yield json.loads(each.json)


def _waiting(progress: Mapping[str, Any]) -> dict[str, int]:
    waiting: dict[str, int] = {}
    for source in progress["sources"]:
        latest, read = (_offsets(source[end]) for end in ("latestOffset", "endOffset"))
        for place, offset in latest.items():
            # partitions that it has not heard of wait whole, but where they begin is not known here
            behind = offset - read.get(place, offset)
            waiting[place] = max(behind, waiting.get(place, 0))
    return waiting


def _offsets(position: Any) -> dict[str, int]:  # noqa: ANN401 - JSON
    """Offsets by partition; none where a source is no topic."""
    if records_at(json.dumps(position)) is None:
        return {}
    return {
        f"{topic}/{number}": offset
        for topic, offsets in position.items()
        for number, offset in offsets.items()
    }
