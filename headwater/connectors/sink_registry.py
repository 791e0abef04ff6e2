"""The connectors of sinks by name; :mod:`headwater.connectors.sink_contract` is their contract."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from headwater.analyze.definitions import Sink
from headwater.connectors.kafka.sink import KafkaTopic
from headwater.connectors.lake_tables.delta import DeltaFolder
from headwater.connectors.lake_tables.iceberg import IcebergTable
from headwater.connectors.sink_contract import SinkConnector

CONNECTORS: dict[str, type[SinkConnector]] = {
    "kafka": KafkaTopic,
    "iceberg": IcebergTable,
    "delta": DeltaFolder,
}


def open_outlet(sink: Sink, directory: Path) -> SinkConnector:
    """Return where the changes of a sink go.

    Args:
        sink: the definition.
        directory: the project's folder, where relative paths start.
    """
    return CONNECTORS[sink.connector](sink, directory)


def jars_for(sinks: Iterable[Sink], directory: Path) -> tuple[str, ...]:
    """Return the configurations of ``headwater/jars/ivy.xml`` that Spark needs for some sinks.

    Args:
        sinks: the definitions.
        directory: the project's folder, where relative paths start.
    """
    found = (CONNECTORS[sink.connector].jars(sink, directory) for sink in sinks)
    return tuple(dict.fromkeys(name for names in found for name in names))
