"""Connector ``kafka``: the records of topics, by offsets, each read once.

In: topics of a cluster. Out: ranges of offsets per partition, and rows for them.

The position is, by topic, its id and for each partition the offset that comes next. A range is read
by Spark's own Kafka source between fixed offsets; under ``read_committed`` it ends before the first
open transaction, so reading it again gives the same records. Partitions and topics that are new
first get an epoch of their own without rows, which says where they begin (``START FROM``; what
appears later is read from its oldest record): from then on a position is all that is needed to know
what an epoch was to read.

What cannot be read exactly is refused: a topic that was deleted and made again has another id;
records that retention deleted unread are a gap, an error unless ``on_data_loss`` says to go on and
count them; a keyed table's topic must keep its partitions, or the records of one key would have no
order.

Each partition is a lane: its records are in order, those of two partitions are not. A range says
which partitions have records waiting behind it, and is then read in a task per partition, so that
each data file knows how far its partition has come. With an IDLE TIMEOUT it names those that had
records within that time, too.

Coordinates: ``_path``, ``<topic>/<partition>``, and ``_row``, the offset.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Collection, Mapping
from functools import partial
from typing import ClassVar

from pyspark.sql import DataFrame, SparkSession

from headwater.analyze.definitions import Source
from headwater.connectors.contract import Connector, IntakeConfig, Limits, Range, Rows
from headwater.connectors.kafka.cluster import Cluster, Partition, Topic
from headwater.connectors.kafka.records import ROWS_PER_EPOCH, KafkaReader, Offsets
from headwater.connectors.kafka.stream import SameTopics, topic_stream
from headwater.connectors.kafka.topics import (
    KafkaPosition,
    found_topics,
    partitions_of,
    reader_settings,
    starts,
)
from headwater.connectors.kafka.transactions import Transactions
from headwater.connectors.lanes import LaneClock
from headwater.errors import ServiceError, TerminalError

logger = logging.getLogger(__name__)

LOOK_EVERY = 3.0
"""Seconds between two looks for new partitions and topics made again, while no record comes."""

WHOLE_EVERY = 0.5
"""Seconds between two looks for the END of a transaction that is there in part."""


OffsetRange = Range[Offsets]


class Kafka(Connector[Offsets]):
    """The connector (see the module), for one source.

    Args:
        once: take only the records that the first listing finds.
    """

    coordinates: ClassVar = (("_path", "STRING"), ("_row", "BIGINT"))
    unit: ClassVar = "rows"
    has_lanes: ClassVar = True
    stream = staticmethod(topic_stream)
    same_input = staticmethod(SameTopics)

    def __init__(self, source: Source, config: IntakeConfig, *, once: bool = False) -> None:
        self._source = source
        self._settings = reader_settings(source, config.directory)
        self._most = int(source.options.get("max_rows_per_epoch", ROWS_PER_EPOCH))
        self._skips = source.options.get("on_data_loss") == "skip"
        self._reader = KafkaReader(source, self._settings, config)
        self._once = once
        self._lanes = LaneClock(source.watermark.idle_timeout if source.watermark else None)
        self._ends: dict[Partition, int] | None = None
        self._reach: dict[Partition, int] = {}
        self._quiet_until = float("-inf")
        self._quiet_at: tuple[dict[Partition, int], dict[Partition, int]] = ({}, {})
        self._cluster: Cluster | None = None
        self._transactions: Transactions | None = None

    def open(self, spark: SparkSession) -> None:
        """See :meth:`Connector.open`."""
        self._cluster = Cluster(spark, self._settings, self._source.name)
        if topic := self._source.options.get("transaction_topic"):
            texts = partial(self._reader.texts, spark)
            self._transactions = Transactions(topic, texts, self._cluster)

    def close(self) -> None:
        """See :meth:`Connector.close`."""
        self._asked().close()

    def next_range(self, after: str | None, limits: Limits) -> OffsetRange | None:
        """See :meth:`Connector.next_range`."""
        held = KafkaPosition.of(after)
        if self._is_quiet(held):
            return None
        found = found_topics(self._source, self._asked(), held.ids)
        if new := self._new_partitions(held, found):
            return self._begin(held, found, new)
        if not held.offsets:
            return None
        begins, lost = self._after_gaps(held)
        ends = self._latest(held)
        waiting = {each: end - begins[each] for each, end in ends.items() if end > begins[each]}
        if not waiting and not lost:
            self._rest(held, LOOK_EVERY)
            return None
        self._lanes.saw(map(_lane, waiting))
        takes = _shares(waiting, limits.rows or self._most)
        if self._transactions:
            takes = self._whole(self._transactions, takes, begins, ends)
            if not takes and not lost:
                self._rest(held, WHOLE_EVERY)
                return None
        upto = held.to(begins).to({each: begins[each] + n for each, n in takes.items()})
        return Range(
            upto.text(),
            sum(takes.values()),
            [(*each, begins[each], begins[each] + n) for each, n in takes.items()],
            lost=lost,
            waiting=self._behind(upto, ends),
        )

    def range_between(self, after: str | None, position: str) -> OffsetRange:
        """See :meth:`HasPositions.range_between`."""
        held, upto = KafkaPosition.of(after), KafkaPosition.of(position)
        taken = [
            (*each, held.offsets[each], end)
            for each, end in upto.offsets.items()
            if end > held.offsets.get(each, end)
        ]
        self._lanes.saw(_lane((topic, number)) for topic, number, *_ in taken)
        waiting = self._behind(upto, self._latest(upto))
        return Range(position, sum(end - begin for *_, begin, end in taken), taken, waiting=waiting)

    def read(self, spark: SparkSession, taken: OffsetRange, arrived_at: int) -> Rows:
        """See :meth:`Connector.read`."""
        apart = bool(taken.waiting)
        return self._reader.read(spark, taken.body, arrived_at, self.expected, apart=apart)

    def without_unreadable(
        self, spark: SparkSession, taken: OffsetRange, error: Exception
    ) -> OffsetRange:
        """See :meth:`ExplainsFailures.without_unreadable`: the cluster is to blame."""
        if "org.apache.kafka" in str(error) or "KafkaIllegalState" in str(error):
            first = next(line for line in str(error).splitlines() if line.strip())
            raise self._asked().explained(first[:300]) from error
        raise error

    def decode_quarantined(self, spark: SparkSession, kept: DataFrame, arrived_at: int) -> Rows:
        """See :meth:`Redecodable.decode_quarantined`."""
        return self._reader.again(spark, kept, arrived_at, self._there)

    def backlog(self, after: str | None) -> int:
        """See :meth:`Connector.backlog`."""
        held = KafkaPosition.of(after)
        ends = self._latest(held) if held.offsets else {}
        return sum(max(0, end - held.offsets[each]) for each, end in ends.items())

    def waiting(self, after: str | None) -> Mapping[str, int]:
        """See :meth:`Measurable.waiting`: by ``<topic>/<partition>``."""
        return {
            _lane(each): max(0, self._reach[each] - offset)
            for each, offset in KafkaPosition.of(after).offsets.items()
            if each in self._reach
        }

    def holding(self, after: str | None) -> tuple[str, ...]:
        """See :meth:`HasIdleLanes.holding`."""
        return self._behind(KafkaPosition.of(after), {})

    def resume(self, after: str | None, awake: Collection[str], age: float) -> None:
        """See :meth:`HasIdleLanes.resume`."""
        for lane in map(_lane, KafkaPosition.of(after).offsets):
            self._lanes.saw([lane], age if lane in awake else math.inf)

    def _there(self, offsets: Offsets) -> Offsets:
        """Of some offsets, those whose records have not been deleted."""
        found = self._asked().topics({topic for topic, *_ in offsets}, None)
        known = [
            (topic, number)
            for topic, number, *_ in offsets
            if topic in found and number < found[topic].partitions
        ]
        first, last = self._asked().earliest(known), self._asked().latest(known)
        left = (
            (topic, number, max(begin, first[topic, number]), min(end, last[topic, number]))
            for topic, number, begin, end in offsets
            if (topic, number) in first
        )
        return [each for each in left if each[2] < each[3]]

    def _asked(self) -> Cluster:
        assert self._cluster is not None, "open() comes first"
        return self._cluster

    def _is_quiet(self, held: KafkaPosition) -> bool:
        """Return whether a listing found nothing a moment ago, and no partition has moved since."""
        # This is one question instead of three, several times a second. If anything has changed, or
        # the question fails, a whole listing follows: nothing is read without one.
        offsets, reach = self._quiet_at
        if time.monotonic() > self._quiet_until or held.offsets != offsets:
            return False
        try:
            self._reach = self._asked().latest(held.offsets)
        except ServiceError:
            return False
        return self._reach == reach

    def _rest(self, held: KafkaPosition, seconds: float) -> None:
        """Look no more for a while, unless a partition moves."""
        self._quiet_until = time.monotonic() + seconds
        self._quiet_at = (held.offsets, self._reach)

    def _whole(
        self,
        transactions: Transactions,
        takes: Mapping[Partition, int],
        begins: Mapping[Partition, int],
        ends: Mapping[Partition, int],
    ) -> dict[Partition, int]:
        """How many records to take so that no transaction of the database is cut in two."""
        whole = {}
        for each, count in takes.items():
            begin = begins[each]
            upto = transactions.upto(each, begin, begin + count, ends[each])
            if upto > begin:
                whole[each] = upto - begin
        return whole

    def _new_partitions(self, held: KafkaPosition, found: Mapping[str, Topic]) -> list[Partition]:
        new = [each for each in partitions_of(found) if each not in held.offsets]
        grown = [name for name, _ in new if name in held.ids]
        if grown and self._source.is_changes:
            raise TerminalError(
                "PARTITIONS_ADDED",
                f'topic "{grown[0]}" of keyed table "{self._source.name}" has new partitions: '
                "changes of one key may lie in two partitions, without an order",
                hint="read the topic into a table of another name after all its changes are "
                "written with the new number of partitions",
                span=self._source.span,
            )
        return new

    def _begin(
        self, held: KafkaPosition, found: Mapping[str, Topic], new: list[Partition]
    ) -> OffsetRange:
        """An epoch without rows that says where new partitions begin."""
        asked = self._asked()
        begun = held.to(asked.earliest(new) if held.ids else starts(self._source, asked, new))
        begun.ids = {name: topic.id for name, topic in found.items()}
        return Range(begun.text(), 0, [], waiting=self._behind(begun, self._latest(begun)))

    def _after_gaps(self, held: KafkaPosition) -> tuple[dict[Partition, int], int]:
        """Where reading can go on, and how many records before that are gone."""
        earliest = self._asked().earliest(held.offsets)
        gaps = {
            each: (offset, earliest[each])
            for each, offset in held.offsets.items()
            if offset < earliest[each]
        }
        if gaps and not self._skips:
            raise self._data_loss(gaps)
        for (topic, number), (begin, end) in gaps.items():
            logger.warning(
                'table "%s": records %d to %d of partition %d of topic "%s" are lost: '
                "Kafka deleted them before they were read",
                *(self._source.name, begin, end - 1, number, topic),
            )
        begins = {each: max(offset, earliest[each]) for each, offset in held.offsets.items()}
        return begins, sum(end - begin for begin, end in gaps.values())

    def _data_loss(self, gaps: Mapping[Partition, tuple[int, int]]) -> TerminalError:
        ((topic, number), (begin, end)), *more = gaps.items()
        others = f" (and of {len(more)} other partitions)" if more else ""
        return TerminalError(
            "DATA_LOSS",
            f'table "{self._source.name}": records {begin} to {end - 1} of partition {number} of '
            f'topic "{topic}"{others} were deleted before they were read',
            hint="write on_data_loss = 'skip' to go on without them; retain records longer "
            "(retention.ms) than the project may stand still",
            span=self._source.span,
        )

    def _behind(self, held: KafkaPosition, ends: Mapping[Partition, int]) -> tuple[str, ...]:
        """The partitions that hold the watermark back at a position, as ``_path`` names them."""
        if self._source.watermark is None or len(held.offsets) == 1:
            return ()  # nothing is late, or all is in order
        offsets = held.offsets.items()
        waiting = {_lane(each) for each, offset in offsets if ends.get(each, offset) > offset}
        self._lanes.saw(waiting)
        return tuple(sorted(waiting | self._lanes.awake(map(_lane, held.offsets))))

    def _latest(self, held: KafkaPosition) -> dict[Partition, int]:
        """How far there is to read; of an input that ends, as the first look found it."""
        if self._ends is not None:
            known = self._ends
            return {each: known.get(each, offset) for each, offset in held.offsets.items()}
        ends = self._reach = self._asked().latest(held.offsets)
        for (topic, number), end in ends.items():
            if end < held.offsets[topic, number]:
                raise TerminalError(
                    "DATA_LOSS",
                    f'table "{self._source.name}": partition {number} of topic "{topic}" ends at '
                    f"{end}, before offset {held.offsets[topic, number]}, which was already read",
                    hint="read the topic into a table of another name: the cluster has lost "
                    "records",
                    span=self._source.span,
                )
        if self._once:
            self._ends = ends
        return ends


def _lane(partition: Partition) -> str:
    """A partition as ``_path`` names it."""
    topic, number = partition
    return f"{topic}/{number}"


def _shares(waiting: Mapping[Partition, int], most: int) -> dict[Partition, int]:
    """How many records to take of each partition: in proportion, each at least one."""
    total = sum(waiting.values())
    if total <= most:
        return {**waiting}
    return {each: max(1, count * most // total) for each, count in waiting.items()}
