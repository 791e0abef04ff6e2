"""Transactions of a database in a topic of its changes: none of them is cut in two.

In: a range of a topic that Debezium writes, and the topic in which it says how many changes each
transaction has (``provide.transaction.metadata``). Out: how far the range may go.

A topic of one partition has the changes of one transaction after those of another, so only the
newest in a range can be there in part. It is whole once its last change has the number that its END
tells for the table. Before that the range ends in front of it; one that has more changes than an
epoch takes is read at once.

Source: Debezium's documentation, "Transaction metadata"; what its events really hold was tried: the
id of PostgreSQL is ``<xid>:<lsn>``, another one in BEGIN, in END and in each change.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 - Spark's own convention

from headwater.connectors.kafka.cluster import Cluster, Partition
from headwater.errors import ServiceError

_WINDOW = 1_000
"""Records at the end of a range that are looked at first; most transactions are shorter."""
_SLACK = 10_000
"""Milliseconds by which the END of a transaction may be dated before its changes."""
_OF_PAYLOAD = "coalesce(get_json_object(v, '$.{0}'), get_json_object(v, '$.payload.{0}'))"
_XID = "regexp_replace({0}, '^([0-9]+):.*$', '$1')"
_OF_END = ("status", "id", "data_collections")
_END = "status STRING, id STRING, data_collections ARRAY<STRUCT<data_collection: STRING,"
_END += " event_count: BIGINT>>"


class Transactions:
    """Finds the offset up to which a topic holds whole transactions.

    Args:
        topic: where Debezium writes BEGIN and END.
        texts: reads fields of the records of some offsets, as JSON ``v`` with ``offset`` and
            ``timestamp``; a tombstone is none.
    """

    def __init__(self, topic: str, texts: Callable[..., DataFrame], cluster: Cluster) -> None:
        self._topic, self._texts, self._cluster = topic, texts, cluster

    def upto(self, place: Partition, begin: int, end: int, latest: int) -> int:
        """Return the offset at which a range has to end.

        Args:
            place: the partition, the only one of its topic.
            begin: first offset of the range.
            end: where it would end otherwise.
            latest: how far the partition can be read.

        Returns:
            An offset from ``begin`` to ``latest``; ``begin`` if there is nothing to read yet.

        Raises:
            ServiceError: ``TOPIC_MISSING`` if nobody says where transactions end.
        """
        low = max(begin, end - _WINDOW)
        found = self._newest(place, low, end)
        if not found or self._is_whole(place, found[0]):
            return end
        while len(found) < 2 and low > begin:
            low = max(begin, end - 8 * (end - low))
            found = self._newest(place, low, end)
        if len(found) > 1:
            return int(found[1].last) + 1
        return begin if end == latest else self._end_of_first(place, begin, latest)

    def _end_of_first(self, place: Partition, begin: int, latest: int) -> int:
        """Where the transaction ends with which a range begins; its begin if that is not known."""
        first = self._by_transaction(place, begin, latest).orderBy("last").limit(2).collect()
        is_whole = len(first) > 1 or self._is_whole(place, first[0])
        return int(first[0].last) + 1 if is_whole else begin

    def _newest(self, place: Partition, begin: int, end: int) -> list[Row]:
        """The two transactions that end last: ``tx``, ``last`` offset, ``number``, ``at``."""
        every = self._by_transaction(place, begin, end)
        return every.orderBy(F.desc("last")).limit(2).collect()

    def _by_transaction(self, place: Partition, begin: int, end: int) -> DataFrame:
        """The last change of each transaction in a range."""
        tx = _XID.format(_OF_PAYLOAD.format("transaction.id"))
        number = _OF_PAYLOAD.format("transaction.data_collection_order")
        changes = self._texts([(*place, begin, end)], "transaction").selectExpr(
            f"{tx} AS tx",
            f"CAST({number} AS BIGINT) AS number",
            "offset",
            "unix_millis(timestamp) AS at",
        )
        # a connector that starts again may send changes twice: the last one of all counts
        return changes.groupBy("tx").agg(
            F.max("offset").alias("last"),
            F.max_by("number", "offset").alias("number"),
            F.max_by("at", "offset").alias("at"),
        )

    def _is_whole(self, place: Partition, newest: Row) -> bool:
        """Return whether a transaction's last change is there; a snapshot's row has none."""
        if newest.tx is None:
            return True
        topic = self._cluster.topics([self._topic], None).get(self._topic)
        if topic is None:
            raise ServiceError(
                "TOPIC_MISSING",
                f'transaction topic "{self._topic}" does not exist',
                hint="set provide.transaction.metadata=true in Debezium's connector, or correct the"
                " option transaction_topic",
            )
        places = [(self._topic, number) for number in range(topic.partitions)]
        begins, ends = self._cluster.at(places, newest.at - _SLACK), self._cluster.latest(places)
        told = self._texts(
            [
                (*each, begins[each], ends[each])
                for each in places
                if 0 <= begins[each] < ends[each]
            ],
            *_OF_END,
        )
        message = F.coalesce(F.get_json_object("v", "$.payload"), F.col("v"))
        count = (
            told.select(F.from_json(message, _END).alias("end"))
            .where("end.status = 'END'")
            .where(F.expr(_XID.format("end.id")) == newest.tx)
            .selectExpr("explode(end.data_collections) AS told")
            .where(F.lit(f".{place[0]}").endswith(F.concat(F.lit("."), "told.data_collection")))
            .selectExpr("told.event_count")
            .first()
        )
        return count is not None and (newest.number or 0) >= count[0]
