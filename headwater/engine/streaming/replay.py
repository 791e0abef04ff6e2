"""A committed epoch run again, to rebuild the state of a streaming query.

In: a query whose checkpoint has the range and the watermark of the epoch, from its marker; the
commit. Out: Spark's state after the epoch. Nothing is written to the table, and the rows that come
out are compared with those that the commit added: the state is proved by what it yields.
"""

from __future__ import annotations

import json

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headwater.checkpoints.folder import Checkpoint
from headwater.engine.streaming.failures import failed
from headwater.errors import TerminalError
from headwater.lake.java import java_class, java_session
from headwater.lake.protocol.history import Commit
from headwater.lake.protocol.table import Table

_OFFSETS = "org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqMetadata"
_INEXACT = ("double", "float", "map<", "variant")
"""Types that may differ in a second run, or that cannot be hashed."""


def relevant_settings(session: SparkSession) -> dict[str, str]:
    """Return the settings that Spark binds the batches of a new checkpoint to."""
    planned = java_class(session, _OFFSETS).apply(0, 0, java_session(session).conf())
    conf = json.loads(planned.json())["conf"]
    return {name: value for name, value in conf.items() if value is not None}


def run_again(query: DataFrame, checkpoint: Checkpoint, target: Table, commit: Commit) -> None:
    """Run one committed epoch, whose range is the last one planned in the checkpoint.

    Args:
        commit: the commit of the epoch.

    Raises:
        TerminalError: ``REPLAY_DIFFERS`` if other rows come out; what Spark's failure means.
    """
    view = commit.marker.view
    found: list[tuple[object, ...] | TerminalError] = []

    def batch(rows: DataFrame, epoch: int) -> None:
        if epoch != commit.marker.epoch:
            raise _differs(commit, f"Spark ran epoch {epoch}")
        found.append(_content(rows))

    try:
        running = (
            query.writeStream.queryName(view)
            .foreachBatch(batch)
            .option("checkpointLocation", str(checkpoint.folder))
            .trigger(once=True)
            .start()
        )
        running.awaitTermination()
        expected = _content(target.added_by(commit.snapshot_id).select(query.columns))
    except (PySparkException, Py4JError) as error:
        raise failed(view, error) from error
    if found != [expected] or not checkpoint.is_finished(commit.marker.epoch):
        raise _differs(commit, f"the result is {found}, but {expected} was committed")


def _content(rows: DataFrame) -> tuple[object, ...]:
    """The number of rows, and a hash of them that does not depend on their order."""
    exact = [name for name, kind in rows.dtypes if not any(inexact in kind for inexact in _INEXACT)]
    row = F.xxhash64(*(F.col(f"`{name}`") for name in exact)).cast("decimal(38,0)")
    return tuple(rows.agg(F.count("*"), F.sum(row if exact else F.lit(0))).collect()[0])


def _differs(commit: Commit, what: str) -> TerminalError:
    view = commit.marker.view
    return TerminalError(
        "REPLAY_DIFFERS",
        f'epoch {commit.marker.epoch} of view "{view}" cannot be repeated: {what}',
        hint=f"run `headwater doctor {view}`, which can rebuild the view",
    )
