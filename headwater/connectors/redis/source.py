"""Connector ``redis``: the entries of a stream of Redis, by id, each landed once.

In: a stream. Out: ranges of ids, and rows for them.

Entries are not taken by the group (``XREADGROUP``): what it hands out it hands out in pieces of its
own, which could not be read again as the epoch that was begun. Ids have an order and are never
given again, so the position is the last id that was landed: before the commit the same range is
read again, after it nothing is. The group is told after the commit (``XGROUP SETID``), for people
and for producers that trim by it; nothing is read by it. If a crash comes before that, the next
look tells it.

Beside the id a position has how many entries there ever were up to it, as Redis counts them
(``entries-added``). From the two, the count that Redis has now, and the entries that are there, it
follows how many were deleted unread: an error unless ``on_data_loss`` says to go on and count them.
They are found when the oldest entry is newer than the position, or when the end of the stream is
reached; single entries that somebody deletes out of the middle (``XDEL``) are found at the end.

A stream that has fewer than it had, or without our group, was made again, and is refused.

Coordinates: ``_path``, ``<stream>/<id>``, and ``_row``, 0.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from pyspark.sql import DataFrame, SparkSession

from headwater.analyze.definitions import Source
from headwater.connectors.contract import Connector, IntakeConfig, Limits, Range, Rows
from headwater.connectors.redis.entries import RedisReader, is_gone
from headwater.connectors.redis.server import (
    BEGIN,
    GROUP,
    RedisStreamState,
    Server,
    Span,
    client_settings,
    place,
)
from headwater.errors import ServiceError, TerminalError

logger = logging.getLogger(__name__)

ROWS_PER_EPOCH = 100_000


@dataclass(frozen=True, slots=True)
class RedisPosition:
    """How far a stream was read.

    Attributes:
        id: the last id.
        added: how many entries there ever were up to it.
    """

    id: str
    added: int

    @classmethod
    def of(cls, text: str) -> RedisPosition:
        """Return the position that a commit holds.

        Args:
            text: JSON.
        """
        return cls(**json.loads(text))

    def text(self) -> str:
        """Return it as a commit holds it."""
        return json.dumps(asdict(self), separators=(",", ":"))


SpanRange = Range[Sequence[Span]]


class Redis(Connector[Sequence[Span]]):
    """The connector (see the module), for one source.

    Args:
        once: take only the entries that the first listing finds.
    """

    coordinates: ClassVar = (("_path", "STRING"), ("_row", "BIGINT"))
    unit: ClassVar = "rows"

    def __init__(self, source: Source, config: IntakeConfig, *, once: bool = False) -> None:
        settings = client_settings(source.options, config.directory)
        self._source, self._stream = source, source.options["stream"]
        self._most = int(source.options.get("max_rows_per_epoch", ROWS_PER_EPOCH))
        self._skips = source.options.get("on_data_loss") == "skip"
        self._trims = source.options.get("trim") == "true"
        self._server = Server(source.name, source.options, settings)
        self._reader = RedisReader(source, settings, config)
        self._once = once
        self._end: RedisPosition | None = None

    def close(self) -> None:
        """See :meth:`Connector.close`."""
        self._server.close()

    def next_range(self, after: str | None, limits: Limits) -> SpanRange | None:
        """See :meth:`Connector.next_range`."""
        found = self._look()
        if after is None:
            return self._begin(found)
        held = RedisPosition.of(after)
        self._check_same(held, found)
        if found.delivered != held.id:
            self._acknowledge(held)
        end = self._reach(found)
        if place(end.id) <= place(held.id):
            return None
        most = limits.rows or self._most
        spans = self._server.walk(held.id, end.id, most)
        taken = _count(spans)
        upto, lost = (spans[-1][1] if spans else end.id), 0
        if taken < most or upto == end.id:
            upto, lost = end.id, end.added - held.added - taken
        elif place(found.first) > place(held.id):
            lost = found.added - held.added - found.length
        self._tell_lost(held, lost)
        position = RedisPosition(upto, held.added + lost + taken)
        return Range(position.text(), taken, spans, lost=lost)

    def range_between(self, after: str | None, position: str) -> SpanRange:
        """See :meth:`HasPositions.range_between`."""
        assert after is not None, "the first epoch has no rows, so it is never begun"
        held, upto = RedisPosition.of(after), RedisPosition.of(position)
        spans = self._server.walk(held.id, upto.id)
        taken = _count(spans)
        lost = upto.added - held.added - taken
        self._tell_lost(held, lost)
        return Range(position, taken, spans, lost=lost)

    def read(self, spark: SparkSession, taken: SpanRange, arrived_at: int) -> Rows:
        """See :meth:`Connector.read`."""
        return self._reader.read(spark, taken.body, arrived_at, self.expected)

    def without_unreadable(
        self, spark: SparkSession, taken: SpanRange, error: Exception
    ) -> SpanRange:
        """See :meth:`ExplainsFailures.without_unreadable`: no entry is to blame."""
        if is_gone(error):
            raise ServiceError(
                "ENTRIES_GONE",
                f'entries of stream "{self._stream}" were deleted while table '
                f'"{self._source.name}" read them; nothing was changed',
                hint="the next epoch reads the rest; trim a stream only up to the position of its "
                "group",
                span=self._source.span,
            ) from error
        if cause := re.search(r"redis\.exceptions\.\w+: .{,300}", str(error)):
            raise self._server.explained(cause[0]) from error
        raise error

    def decode_quarantined(self, spark: SparkSession, kept: DataFrame, arrived_at: int) -> Rows:
        """See :meth:`Redecodable.decode_quarantined`."""
        return self._reader.again(spark, kept, arrived_at)

    def done(self, taken: SpanRange) -> None:
        """See :meth:`Connector.done`: tells the group; if that fails, the next listing does."""
        try:
            self._acknowledge(RedisPosition.of(taken.position))
        except ServiceError as error:
            logger.warning(
                'table "%s": entries are landed but not acknowledged: %s', self._source.name, error
            )

    def backlog(self, after: str | None) -> int:
        """See :meth:`Connector.backlog`."""
        held = RedisPosition.of(after) if after else None
        return max(0, self._reach(self._look()).added - held.added) if held else 0

    def waiting(self, after: str | None) -> Mapping[str, int]:
        """See :meth:`Measurable.waiting`: by stream."""
        if after is None or self._end is None:
            return {}
        return {self._stream: max(0, self._end.added - RedisPosition.of(after).added)}

    def _look(self) -> RedisStreamState:
        found = self._server.look()
        if found is None:
            raise ServiceError(
                "STREAM_MISSING",
                f'stream "{self._stream}" of table "{self._source.name}" does not exist',
                hint="write its first entry, or correct the options url and stream",
                span=self._source.span,
            )
        if found.consumers:
            raise ServiceError(
                "GROUP_IN_USE",
                f'other consumers read stream "{self._stream}" as the group of table '
                f'"{self._source.name}", and would lose their positions',
                hint="name a group that only this table uses: WITH (group = '…')",
                span=self._source.span,
            )
        return found

    def _reach(self, found: RedisStreamState) -> RedisPosition:
        """How far there is to read; of an input that ends, as the first look found it."""
        if self._end is None or not self._once:
            self._end = RedisPosition(found.last, found.added)
        return self._end

    def _begin(self, found: RedisStreamState) -> SpanRange:
        """An epoch without rows that says where reading begins."""
        start = RedisPosition(BEGIN, found.added - found.length)
        if self._source.start.kind == "latest":
            start = RedisPosition(found.last, found.added)
        if found.delivered is None:
            self._server.join(start.id)
        return Range(start.text(), 0, [])

    def _check_same(self, held: RedisPosition, found: RedisStreamState) -> None:
        behind = found.added < held.added or place(found.last) < place(held.id)
        if found.delivered is None or behind:
            raise self._recreated(held)

    def _recreated(self, held: RedisPosition) -> TerminalError:
        group = self._source.options.get("group", GROUP)
        return TerminalError(
            "STREAM_RECREATED",
            f'stream "{self._stream}" of table "{self._source.name}" is not the one that was read: '
            "its ids or counts do not continue from there, or it has lost the table's group",
            hint="read it into a table of another name; if only the group was destroyed, create it "
            f"again: XGROUP CREATE {self._stream} {group} {held.id}",
            span=self._source.span,
        )

    def _acknowledge(self, held: RedisPosition) -> None:
        self._server.acknowledge(held.id, held.added, trim=self._trims)

    def _tell_lost(self, held: RedisPosition, lost: int) -> None:
        """Refuse or note that entries are gone."""
        if lost < 0:
            raise self._recreated(held)
        if lost and not self._skips:
            raise TerminalError(
                "DATA_LOSS",
                f'table "{self._source.name}": {lost} entries of stream "{self._stream}" after '
                f"{held.id} were deleted before they were read",
                hint="write on_data_loss = 'skip' to go on without them; trim a stream only up to "
                "the position of its group (XINFO GROUPS)",
                span=self._source.span,
            )
        if lost:
            logger.warning(
                'table "%s": %d entries of stream "%s" after %s are lost: '
                "they were deleted before they were read",
                *(self._source.name, lost, self._stream, held.id),
                extra={"hint": "trim a stream only up to the position of its group (XINFO GROUPS)"},
            )


def _count(spans: Sequence[Span]) -> int:
    return sum(count for *_, count in spans)
