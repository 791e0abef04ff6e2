"""Opens the connector of a source or sink: imports the class that its registry entry names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from headwater.analyze.connectors.registry import CONNECTORS, SINKS
from headwater.analyze.definitions import Sink, Source
from headwater.connectors.contract import Connector, HasLedger, HasPositions, IntakeConfig
from headwater.connectors.sink_contract import SinkConnector


def reader_of(source: Source) -> type[Connector[Any]]:
    """Return the class of a source's connector."""
    found = resolve_name(CONNECTORS[source.connector].reader)
    if not issubclass(found, HasLedger | HasPositions) or not issubclass(found, Connector):
        raise TypeError(f"{found} is no Connector with a ledger or positions")
    reader: type[Connector[Any]] = found
    return reader


def open_connector(source: Source, config: IntakeConfig, *, once: bool = False) -> Connector[Any]:
    """Return the connector of a source.

    Args:
        once: take only what is there now: the input ends with what the first listing finds.
    """
    return reader_of(source)(source, config, once=once)


def writer_of(sink: Sink) -> type[SinkConnector]:
    """Return the class of a sink's connector."""
    found = resolve_name(SINKS[sink.connector].writer)
    if not issubclass(found, SinkConnector):
        raise TypeError(f"{found} is no SinkConnector")
    writer: type[SinkConnector] = found
    return writer


def open_sink(sink: Sink, directory: Path) -> SinkConnector:
    """Return the connector that delivers the changes of a sink.

    Args:
        directory: the project's folder, where relative paths start.
    """
    return writer_of(sink)(sink, directory)


def jars_of(source: Source) -> tuple[str, ...]:
    """Return the configurations of ``headwater/jars/ivy.xml`` that reading a source needs."""
    return CONNECTORS[source.connector].jars(source.options)


def jars_for(sinks: Iterable[Sink], directory: Path) -> tuple[str, ...]:
    """Return the configurations of ``headwater/jars/ivy.xml`` that Spark needs for some sinks.

    Args:
        directory: the project's folder, where relative paths start.
    """
    found = (writer_of(sink).jars(sink, directory) for sink in sinks)
    return tuple(dict.fromkeys(name for names in found for name in names))
