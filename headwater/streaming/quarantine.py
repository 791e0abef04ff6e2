"""The quarantine of a SOURCE: its bad rows, kept by a streaming query of their own.

In: a ``CREATE SOURCE``. Out: commits of ``<name>__quarantine``; with ON ERROR FAIL an error, with
ON ERROR DROP only the counts. A source is read and decoded a second time for it: a streaming plan
has one output, and that of a view holds good rows. One query serves all views of a source.
"""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from headwater.analyze.definitions import Source
from headwater.errors import HeadwaterError, ServiceError, TerminalError
from headwater.incremental.target import Writer
from headwater.intake.connectors import open_connector, quarantine_stream
from headwater.intake.connectors.streams import StreamConfig
from headwater.intake.quarantine import counts, open_quarantine
from headwater.lake.catalog import Lake
from headwater.lake.commit import SideWrite, commit_side
from headwater.lake.marker import Marker


class SourceQuarantine:
    """Keeps the bad rows of one source.

    Args:
        lake: the lake seen through a session that nothing else uses.
        source: the definition.
        config: the project's settings.
        state: folder for the checkpoint.
        writer: what its markers carry.
        poll: how often the source is looked at.
    """

    def __init__(
        self,
        lake: Lake,
        source: Source,
        config: StreamConfig,
        state: Path,
        *,
        writer: Writer,
        poll: timedelta,
    ) -> None:
        self._lake = lake
        self._source = source
        self._config = config
        self._state = state
        self._writer = writer
        self._poll = poll
        self._query: StreamingQuery | None = None
        self._failure: HeadwaterError | None = None
        self.epoch = -1

    def start(self) -> None:
        """Start the query where its checkpoint left off."""
        connector = open_connector(self._source, self._config)
        self._table = open_quarantine(self._lake, self._source.name, connector)
        rows = quarantine_stream(self._lake.spark, self._source, self._config)
        self._query = (
            rows.writeStream.queryName(self._table.name)
            .foreachBatch(self._batch)
            .option("checkpointLocation", str(self._state / "checkpoint"))
            .trigger(processingTime=f"{self._poll // timedelta(milliseconds=1)} milliseconds")
            .start()
        )

    def check(self) -> None:
        """Raise what made the query fail.

        Raises:
            TerminalError: ``BAD_ROW`` with ON ERROR FAIL.
            ServiceError: ``QUERY_FAILED``.
        """
        if self._query is None or self._query.isActive:
            return
        raise self._failure or ServiceError(
            "QUERY_FAILED",
            f'the quarantine of source "{self._source.name}" failed: {self._query.exception()}',
            hint="it is started again; if it keeps failing, run with --debug",
        )

    @property
    def exhausted(self) -> bool:
        """Whether it has looked for rows and found no more."""
        query = self._query
        if query is None or query.lastProgress is None:
            return False
        status = query.status
        return not status["isTriggerActive"] and not status["isDataAvailable"]

    def stop(self) -> None:
        """Finish the running batch, then stop the query."""
        query, self._query = self._query, None
        if query is None:
            return
        while query.isActive and query.status["isTriggerActive"]:
            time.sleep(0.01)
        query.stop()

    def _batch(self, rows: DataFrame, epoch: int) -> None:
        self.epoch = epoch
        if (bad := rows.count()) == 0:
            return
        name, policy = self._source.name, self._source.on_error
        if policy == "fail":
            reason = rows.first()["reason"]  # type: ignore[index]
            self._failure = TerminalError(
                "BAD_ROW",
                f'source "{name}" has a bad row: {reason}',
                hint="correct the input and start again, or say ON ERROR QUARANTINE",
            )
            raise self._failure
        kept = policy == "quarantine"
        self._table.refresh()
        known = dict(counts(self._table, name))
        known["quarantined" if kept else "dropped"] += bad
        marker = Marker(
            name,
            self._writer.version,
            epoch,
            {name: str(epoch)},
            {name: str(epoch + 1)},
            token=self._writer.token,
            counts=known,
        )

        def write(target: str) -> None:
            if kept:
                rows.writeTo(target).append()

        commit_side(SideWrite(self._table, write), marker, rows.sparkSession)
