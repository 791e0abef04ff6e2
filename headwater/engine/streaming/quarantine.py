"""The quarantine of a SOURCE: its bad rows, kept by a streaming query of their own.

In: a ``CREATE SOURCE``, and word from the views that read it that they met bad rows. Out: commits
of ``<name>__quarantine``; with ON ERROR FAIL an error, with ON ERROR DROP only the counts.

A streaming plan has one output, and that of a view is good rows; so the bad ones are found by
reading the source again. That happens only when a view has counted some (:class:`WaitingMark`): the
query then takes what its checkpoint has not seen, and ends. One serves all views of a source.
"""

from __future__ import annotations

import threading
from pathlib import Path
from uuid import uuid4

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from headwater.analyze.definitions import OnError, Source
from headwater.checkpoints.folder import Checkpoint
from headwater.checkpoints.moves import follow, paths_of
from headwater.connectors.contract import StreamConfig
from headwater.connectors.kafka.schemas import learned
from headwater.connectors.registry import reader_of
from headwater.connectors.source_stream import quarantine_stream
from headwater.engine.streaming.execution import finish
from headwater.engine.target import Writer
from headwater.errors import HeadwaterError, ServiceError, TerminalError
from headwater.intake.quarantine import counts, open_quarantine
from headwater.lake.catalog import Lake
from headwater.lake.protocol.commit import SideWrite, commit_side
from headwater.lake.protocol.commit_lock import CommitLock
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import Target


class WaitingMark:
    """Says that a source has bad rows which its quarantine may lack. A file, to survive a crash.

    Args:
        folder: the state folder of the quarantine.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "waiting"
        self._lock = threading.Lock()

    def mark(self) -> None:
        """Say so; to be called before the good rows beside the bad ones are published."""
        with self._lock:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.write_text(uuid4().hex)

    def seen(self) -> str | None:
        """Return the newest mark, None if nothing is waiting."""
        try:
            return self._file.read_text()
        except FileNotFoundError:
            return None

    def clear(self, mark: str) -> None:
        """Take a mark away, unless there is a newer one.

        Args:
            mark: what :meth:`seen` returned before the source was read.
        """
        with self._lock:
            if self.seen() == mark:
                self._file.unlink()


class SourceQuarantine:
    """Keeps the bad rows of one source.

    Args:
        lake: the lake seen through a session that nothing else uses.
    """

    def __init__(
        self,
        lake: Lake,
        source: Source,
        config: StreamConfig,
        state: Path,
        waiting: WaitingMark,
        *,
        writer: Writer,
    ) -> None:
        self._lake = lake
        self._source = source
        self._config = config
        self._state = state
        self._writer = writer
        self._waiting = waiting
        self._taken = ""
        self._query: StreamingQuery | None = None
        self._failure: HeadwaterError | None = None
        self.epoch = -1
        self.gate = CommitLock()

    def start(self) -> None:
        """Make ready; reads nothing before there is word of bad rows."""
        self._table = open_quarantine(self._lake, self._source.name, reader_of(self._source))

    def check(self) -> None:
        """Start a pass if bad rows are waiting; notice the end of one.

        Raises:
            TerminalError: ``BAD_ROW`` with ON ERROR FAIL; ``CHECKPOINT_LOST``;
                ``REGISTRY_REFUSED``.
            ServiceError: ``QUERY_FAILED``; ``REGISTRY_UNAVAILABLE``.
        """
        query = self._query
        if query is None:
            if (mark := self._waiting.seen()) is not None:
                self._taken, self._query = mark, self._pass()
        elif not query.isActive:
            error = self._failure or query.exception()
            if error is None:
                self._waiting.clear(self._taken)
                self._query = None
            elif learned(self._lake.spark, error, {self._source.name: self._source}, self._config):
                self._query = self._pass()
            else:
                raise self._failure or ServiceError(
                    "QUERY_FAILED",
                    f'the quarantine of source "{self._source.name}" failed: {error}',
                    hint="Headwater restarts it; if it fails repeatedly, run with --debug",
                )

    @property
    def exhausted(self) -> bool:
        """Whether every bad row that a view has met is kept."""
        return self._query is None and self._waiting.seen() is None

    def _pass(self) -> StreamingQuery:
        """Read what the checkpoint has not seen."""
        self._check_checkpoint()
        follow(self._state / "checkpoint", self._config.directory, paths_of([self._source]))
        rows = quarantine_stream(self._lake.spark, self._source, self._config)
        return (
            rows.writeStream.queryName(self._table.name)
            .foreachBatch(self._batch)
            .option("checkpointLocation", str(self._state / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )

    def _check_checkpoint(self) -> None:
        """Refuse one that is lost or old: the epochs it would begin with count as committed."""
        newest = self._table.newest(self._source.name)
        checkpoint = Checkpoint(self._state / "checkpoint")
        checkpoint.sweep()
        planned = checkpoint.last_planned()
        if newest and (planned is None or planned < newest.marker.epoch):
            raise TerminalError(
                "CHECKPOINT_LOST",
                f'the quarantine of source "{self._source.name}" lacks the record of files read',
                hint=f"run `headwater doctor {self._source.name}`, which shows the safe repairs",
            )

    def stop(self) -> None:
        """Finish the running batch, then stop the query."""
        query, self._query = self._query, None
        if query is None:
            return
        finish(query)

    def _batch(self, rows: DataFrame, epoch: int) -> None:
        with self.gate.commit():
            self._commit(rows, epoch)

    def _commit(self, rows: DataFrame, epoch: int) -> None:
        self.epoch = epoch
        if (bad := rows.count()) == 0:
            return
        name, policy = self._source.name, self._source.on_error
        if policy == OnError.FAIL:
            reason = rows.first()["reason"]  # type: ignore[index]
            self._failure = TerminalError(
                "BAD_ROW",
                f'source "{name}" has a bad row: {reason}',
                hint="correct the input and start again, or write ON ERROR QUARANTINE",
            )
            raise self._failure
        kept = policy == OnError.QUARANTINE
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

        def write(target: Target) -> None:
            if kept:
                target.append(rows)

        commit_side(SideWrite(self._table, write), marker, rows.sparkSession)
