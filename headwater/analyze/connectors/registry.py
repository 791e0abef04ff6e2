"""The connectors by name: one line each, and those of other packages by entry point.

In: a connector's name. Out: its entry (:mod:`headwater.analyze.connectors.contract`). A package
that adds a connector declares an entry point in the group ``headwater.connectors``, which names a
:class:`~headwater.analyze.connectors.contract.Plugin`. Entry points are looked for when a
definition names a connector that is not among ours; Redis is found in this way too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from headwater.analyze.connectors.contract import ConnectorOptions, Option, Plugin, SinkOptions
from headwater.analyze.connectors.datagen import DATAGEN
from headwater.analyze.connectors.files import FILES
from headwater.analyze.connectors.kafka import KAFKA, KAFKA_SINK
from headwater.analyze.connectors.lake_tables import DELTA, ICEBERG
from headwater.analyze.connectors.sink_tables import DELTA_SINK, ICEBERG_SINK
from headwater.errors import ConfigError

GROUP = "headwater.connectors"
Entry = TypeVar("Entry")


class ConnectorRegistry(Mapping[str, Entry], Generic[Entry]):
    """Entries by name: ours, then those of installed packages.

    Args:
        own: ours.
        of: what a plugin adds to them.
    """

    def __init__(self, own: Mapping[str, Entry], of: Callable[[Plugin], Entry | None]) -> None:
        self._entries = dict(own)
        self._of = of

    @property
    def loaded(self) -> Mapping[str, Entry]:
        """Our entries and the ones that were asked for, without a look at installed packages."""
        return self._entries

    def __getitem__(self, name: str) -> Entry:
        """Return an entry.

        Raises:
            ConfigError: ``CONNECTOR_NOT_LOADED``.
        """
        if name not in self._entries:
            entry = self._of(plugin(name)) if name in _points() else None
            if entry is None:
                raise KeyError(name)
            self._entries[name] = entry
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        further = (name for name in _points() if name not in self._entries)
        return iter([*self._entries, *(name for name in further if self.get(name) is not None)])

    def __len__(self) -> int:
        return len(list(iter(self)))


@cache
def _points() -> Mapping[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


@cache
def plugin(name: str) -> Plugin:
    """Load the connector of an installed package.

    Raises:
        ConfigError: ``CONNECTOR_NOT_LOADED``.
    """
    point = _points()[name]
    package = point.dist.name if point.dist else point.module
    try:
        found = point.load()
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            "CONNECTOR_NOT_LOADED",
            f'connector "{name}" of package "{package}" cannot be loaded: {error}',
            hint=f"install the package again: pip install --force-reinstall {package}",
        ) from error
    if not isinstance(found, Plugin):
        raise ConfigError(
            "CONNECTOR_NOT_LOADED",
            f'connector "{name}" of package "{package}" is not a connector of this release',
            hint=f"update the package: pip install --upgrade {package}",
        )
    return found


CONNECTORS: ConnectorRegistry[ConnectorOptions] = ConnectorRegistry(
    {
        "files": FILES,
        "datagen": DATAGEN,
        "kafka": KAFKA,
        "iceberg": ICEBERG,
        "delta": DELTA,
        "postgres": ConnectorOptions(built=False),
        "http": ConnectorOptions(built=False),
    },
    lambda plugin: plugin.source,
)
"""The connectors of sources and tables."""

SINKS: ConnectorRegistry[SinkOptions] = ConnectorRegistry(
    {"kafka": KAFKA_SINK, "iceberg": ICEBERG_SINK, "delta": DELTA_SINK},
    lambda plugin: plugin.sink,
)
"""The connectors of sinks."""

VIEW_OPTIONS: Mapping[str, Option] = {
    "format": Option(
        "choice", "format of the view's table", default="iceberg", choices=("iceberg", "delta")
    ),
    "engine": Option(
        "choice",
        "engine that maintains the view; default: Headwater chooses",
        choices=("streaming", "incremental", "full"),
    ),
    "dialect": Option(
        "choice", "SQL dialect of the query", default="trino", choices=("trino", "spark", "duckdb")
    ),
    "allow_unbounded_state": Option(
        "boolean", "whether to run a view whose state grows without bound", default="false"
    ),
}
"""Options of ``CREATE STREAMING VIEW … WITH (…)``."""
