"""The connectors of sinks by name; :mod:`headwater.sinks.connectors.base` is their contract."""

from __future__ import annotations

from pathlib import Path

from headwater.analyze.definitions import Sink
from headwater.sinks.connectors.base import Outlet
from headwater.sinks.connectors.kafka import KafkaTopic

CONNECTORS: dict[str, type[KafkaTopic]] = {"kafka": KafkaTopic}


def open_outlet(sink: Sink, directory: Path) -> Outlet:
    """Return where the records of a sink go.

    Args:
        sink: the definition.
        directory: the project's folder, where relative paths start.
    """
    return CONNECTORS[sink.connector](sink, directory)
