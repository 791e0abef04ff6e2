"""The connectors by name: one line each, and those of other packages by entry point.

In: a connector's name. Out: its entry (:mod:`headwater.analyze.connectors.contract`). A package
that adds a connector declares an entry point in the group ``headwater.connectors``, which names a
:class:`~headwater.analyze.connectors.contract.Plugin`. Redis is found in this way too.
"""

from __future__ import annotations

from collections.abc import Mapping

from headwater.analyze.connectors.contract import ConnectorOptions, Option, Plugin, SinkOptions
from headwater.analyze.connectors.datagen import DATAGEN
from headwater.analyze.connectors.files import FILES
from headwater.analyze.connectors.kafka import KAFKA, KAFKA_SINK
from headwater.analyze.connectors.lake_tables import DELTA, ICEBERG
from headwater.analyze.connectors.registered import Registered
from headwater.analyze.connectors.sink_tables import DELTA_SINK, ICEBERG_SINK
from headwater.analyze.connectors.webhook import WEBHOOK_SINK
from headwater.dialect.splitter import BODY_DIALECTS

GROUP = "headwater.connectors"


def _plugin(found: object) -> Plugin:
    if not isinstance(found, Plugin):
        raise TypeError
    return found


CONNECTORS: Registered[ConnectorOptions] = Registered(
    {
        "files": FILES,
        "datagen": DATAGEN,
        "kafka": KAFKA,
        "iceberg": ICEBERG,
        "delta": DELTA,
        "postgres": ConnectorOptions(built=False),
        "http": ConnectorOptions(built=False),
    },
    GROUP,
    lambda found: _plugin(found).source,
)
"""The connectors of sources and tables."""

SINKS: Registered[SinkOptions] = Registered(
    {
        "kafka": KAFKA_SINK,
        "iceberg": ICEBERG_SINK,
        "delta": DELTA_SINK,
        "webhook": WEBHOOK_SINK,
    },
    GROUP,
    lambda found: _plugin(found).sink,
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
    "dialect": Option("choice", "SQL dialect of the query", default="trino", choices=BODY_DIALECTS),
    "max_recursion_depth": Option(
        "integer", "how many rounds WITH RECURSIVE may take", default="100", minimum=1
    ),
    "allow_unbounded_state": Option(
        "boolean", "whether to run a view whose state grows without bound", default="false"
    ),
}
"""Options of ``CREATE STREAMING VIEW … WITH (…)``."""
