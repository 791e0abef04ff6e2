"""The streams that a streaming program reads, registered under the names it uses.

In: the inputs of a view. Out: temporary views ``<input>`` and ``<input>__heartbeat`` in the view's
session, and the order in which the checkpoint lists them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame

from headwater.analyze.definitions import Catalog
from headwater.checkpoints.offsets import HEARTBEAT, OffsetStream
from headwater.connectors.contract import StreamConfig
from headwater.connectors.files.folder import stream_of
from headwater.connectors.source_stream import stream
from headwater.engine.streaming.heartbeat import SCHEMA, Heartbeats
from headwater.lake.catalog import Lake
from headwater.plan.program import StreamingProgram
from headwater.plan.rules.contract import InputKind
from headwater.plan.view_plan import ViewPlan


class Streams:
    """Holds the streams of one session.

    Args:
        tables: full table name → input.
        outside: the inputs that are read straight from outside, in order of first use.
    """

    def __init__(self, tables: Mapping[str, str], outside: Sequence[str], heartbeats: str) -> None:
        self._tables = tables
        self._heartbeats = heartbeats
        self._outside = outside

    def order(self, frame: DataFrame) -> tuple[OffsetStream, ...]:
        """Return the sources of a query in the order in which its checkpoint lists them."""
        leaves: Any = frame._jdf.queryExecution().analyzed().collectLeaves()  # noqa: SLF001
        outside = list(self._outside)
        found = []
        for index in range(leaves.size()):
            leaf = leaves.apply(index)
            if leaf.isStreaming():
                found.append(self._own(leaf) or OffsetStream(outside.pop(0), False))
        return tuple(found)

    def _own(self, leaf: Any) -> OffsetStream | None:  # noqa: ANN401 - a Java object
        if leaf.getClass().getSimpleName() == "StreamingRelationV2":
            name = self._tables.get(leaf.table().name())
            return OffsetStream(name, True) if name else None
        return HEARTBEAT if self._heartbeats in leaf.toString() else None


def open_streams(
    lake: Lake,
    plan: ViewPlan,
    catalog: Catalog,
    heartbeats: Heartbeats,
    config: StreamConfig | None = None,
    *,
    flat: bool = False,
) -> Streams:
    """Register the streams of a view's program in the lake's session.

    Args:
        lake: the lake seen through the view's own session.
        plan: the view's plan, with a streaming program.
        flat: whether to read JSON as flat lines, which the caller checks.
    """
    assert isinstance(plan.program, StreamingProgram)
    session = lake.spark
    tables: dict[str, str] = {}
    outside: list[str] = []
    for item in plan.inputs:
        if item.kind is InputKind.SOURCE:
            assert config is not None
            outside.append(item.name)
            rows = stream(session, catalog.sources[item.name], config, flat=flat)
            rows.createOrReplaceTempView(item.name)
        else:
            identifier = lake.identifier(item.name)
            tables[identifier] = item.name
            session.readStream.format("iceberg").load(identifier).createOrReplaceTempView(item.name)
        if item.name in plan.program.delays:
            # a heartbeat is of no use once its batch is committed
            reader = session.readStream.schema(SCHEMA).option("cleanSource", "delete")
            reader, path = stream_of(reader, heartbeats.folder(item.name))
            beats = reader.json(path)
            beats.createOrReplaceTempView(f"{item.name}__heartbeat")
    _, root = stream_of(session.readStream, heartbeats.root)
    return Streams(tables, outside, root)
