"""The connectors by name; :mod:`headwater.connectors.contract` is their contract."""

from __future__ import annotations

from headwater.analyze.definitions import Source
from headwater.connectors.contract import Connector, IntakeConfig
from headwater.connectors.datagen import Datagen
from headwater.connectors.files.source import Files
from headwater.connectors.kafka.source import Kafka
from headwater.connectors.redis.source import Redis
from headwater.connectors.source_stream import quarantine_stream, stream
from headwater.errors import SqlError

__all__ = ["CONNECTORS", "open_connector", "quarantine_stream", "stream"]

CONNECTORS: dict[str, type[Files] | type[Datagen] | type[Kafka] | type[Redis]] = {
    "files": Files,
    "datagen": Datagen,
    "kafka": Kafka,
    "redis": Redis,
}


def open_connector(source: Source, config: IntakeConfig, *, once: bool = False) -> Connector:
    """Return the connector of a source.

    Args:
        source: the definition.
        config: the project's settings.
        once: take only what is there now: the input ends with what the first look finds.

    Raises:
        SqlError: ``UNKNOWN_CONNECTOR``.
    """
    kind = CONNECTORS.get(source.connector)
    if kind is None:
        raise SqlError(
            "UNKNOWN_CONNECTOR",
            f'connector "{source.connector}" of "{source.name}" is not built',
            hint=f"connectors are: {', '.join(CONNECTORS)}",
            span=source.span,
        )
    return kind(source, config, once=once)
