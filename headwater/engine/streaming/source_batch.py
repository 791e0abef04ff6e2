"""What a view does that reads SOURCEs, beside keeping its SELECT: nothing bad goes in unseen.

In: a batch that reads files or topics from outside. Out: the batch written, and word of bad rows
before it is published; or an error, and then nothing is published.

JSON is first read as flat lines (``headwater.formats.flat_json``). Whether they are is found
while the batch is being written. The first line that is not makes the batch fail with
:class:`NotFlat`, and leaves a mark in the state folder by which the view reads carefully from then
on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from pyarrow import ArrowException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from headwater.analyze.definitions import OnError, Source
from headwater.checkpoints.offsets import OffsetStream
from headwater.connectors.contract import SameInput, StreamsByOffsets
from headwater.connectors.files.folder import PATTERN_CHARACTERS
from headwater.connectors.files.form import form_of_parquet
from headwater.connectors.files.place import FileFault, is_hidden
from headwater.connectors.registry import reader_of
from headwater.engine.streaming.execution import files_read, with_bad_rows
from headwater.errors import TerminalError
from headwater.formats.flat_json import are_flat, may_be_flat
from headwater.lake.protocol.table import Target

OnBad = Callable[[str, int, int], None]
"""Takes the name of a SOURCE, its bad rows in a batch, and all its rows in the batch."""


class NotFlat(Exception):
    """A batch was read as flat lines, and is not; started again, the view reads it right."""


class SourceBatchWriter:
    """Writes the batches of one view that reads SOURCEs.

    Args:
        directory: what their paths are relative to.
        on_bad: called before a batch is published with the name of a source that has bad rows in
            it, how many, and how many rows the batch has of it.
    """

    def __init__(
        self,
        session: SparkSession,
        sources: Mapping[str, Source],
        directory: Path,
        state: Path,
        on_bad: OnBad,
    ) -> None:
        self._session = session
        self._sources = sources
        self._directory = directory
        self._careful = state / "careful"
        self._on_bad = on_bad
        self._inputs: dict[str, SameInput] = {}
        self._checks = ThreadPoolExecutor(1, thread_name_prefix="flat")
        self.flat = not self._careful.exists()

    def begin(self, cut: Mapping[str, str]) -> None:
        """Make sure that the topics, or the like, are those that were read before.

        Args:
            cut: that of the newest commit.

        Raises:
            ServiceError: ``TOPIC_MISSING``, ``KAFKA_UNAVAILABLE``, ``KAFKA_REFUSED``.
            TerminalError: ``TOPIC_RECREATED``.
        """
        for name, source in self._sources.items():
            reader = reader_of(source)
            if issubclass(reader, StreamsByOffsets):
                position = cut.get(name)
                same = reader.same_input(self._session, source, self._directory, position)
                self._inputs[name] = same
                same.check()

    def cut(self, cut: dict[str, str]) -> dict[str, str]:
        """Return a cut as markers have it: with the ids of topics.

        Raises:
            HeadwaterError: what :meth:`begin` raises, of a topic that is new.
        """
        for name, same in self._inputs.items():
            if name in cut:
                cut[name] = same.position(cut[name])
        return cut

    def write(
        self, query: StreamingQuery, order: Sequence[OffsetStream], rows: DataFrame, target: Target
    ) -> None:
        """Write a batch.

        Args:
            order: its sources, as the leaves of its plan have them.
            rows: what the batch adds to the view.

        Raises:
            NotFlat: the batch must be read another way.
            ServiceError: what :meth:`begin` raises, if the topics are not the same any more.
            TerminalError: ``BAD_ROW`` with ON ERROR FAIL; ``FILE_NAME_IS_A_PATTERN``;
                ``UNREADABLE_FILE``.
        """
        files = {
            name: [path for path in paths if not is_hidden(Path(path).name)]
            for name, paths in files_read(query, order).items()
        }
        for name, paths in files.items():
            self._refuse_patterns(name, paths)
            self._refuse_types(name, paths)
        checks = [self._check(name, paths) for name, paths in files.items()] if self.flat else []
        target.append(rows)
        if not all(check.result() for check in checks if check):
            self._careful.touch()
            raise NotFlat
        for same in self._inputs.values():
            same.check()
        for name, (bad, seen) in with_bad_rows(query, list(self._sources)).items():
            self._on_bad(name, bad, seen)
            if self._sources[name].on_error == OnError.FAIL:
                raise TerminalError(
                    "BAD_ROW",
                    f'source "{name}" has bad rows',
                    hint="correct the input and start again, or write ON ERROR QUARANTINE",
                )

    def close(self) -> None:
        """End the thread of the checks, and the connections."""
        self._checks.shutdown()
        for same in self._inputs.values():
            same.close()

    def _check(self, name: str, paths: Sequence[str]) -> Future[bool] | None:
        source = self._sources[name]
        if not paths or not may_be_flat(source):
            return None
        return self._checks.submit(lambda: are_flat(self._session, source, paths))

    def _refuse_types(self, name: str, paths: Sequence[str]) -> None:
        """Refuse a file of Parquet that Spark reads as what it is not, or with a Java name."""
        source = self._sources[name]
        for path in paths if source.encode == "parquet" else ():
            try:
                with Path(path).open("rb") as file:
                    form_of_parquet(source, file)
            except FileFault as fault:
                raise TerminalError(
                    "UNREADABLE_FILE",
                    f'source "{name}" cannot read file "{path}": {fault}',
                    hint="take the file away, or write CREATE TABLE instead of CREATE SOURCE",
                    span=source.span,
                ) from fault
            except (OSError, ArrowException):
                continue  # Spark says why it cannot be read

    def _refuse_patterns(self, name: str, paths: Sequence[str]) -> None:
        """Refuse file names that a file stream takes for patterns, reading matching files twice."""
        # Spark 4.1.3 (apache/spark#57769). A folder of such a name has one file in a batch.
        if (below := self._sources[name].options.get("path")) is None:  # files of Headwater's own
            return
        folder = os.path.normpath(self._directory / below)
        for path in paths:
            if PATTERN_CHARACTERS.intersection(path.removeprefix(folder)):
                raise TerminalError(
                    "FILE_NAME_IS_A_PATTERN",
                    f'source "{name}" cannot read file "{path}": Spark takes its name as a pattern',
                    hint="rename the file, or write CREATE TABLE instead of CREATE SOURCE",
                )
