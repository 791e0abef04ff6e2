"""Connector ``iceberg``: changes into a table of another catalog, each exactly once.

In: changes. Out: a commit on a staging branch of the table, which becomes ``main`` by a
compare-and-swap; see :mod:`headwater.connectors.lake_tables.sink`.

The table may lie in a catalog of the same name, so it is seen through a session in which that name
means the other one; no other session ever knows its address or its secrets. Spark makes a catalog,
at its first use, from the settings of the session that is active, whichever one asks: so the
session is made the active one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from headwater.analyze.definitions import Sink
from headwater.connectors.lake_tables.sink import TableOutlet
from headwater.connectors.lake_tables.target import SinkTarget
from headwater.errors import ConfigError
from headwater.lake.catalog import Lake
from headwater.lake.catalogs.backend import CATALOG
from headwater.lake.catalogs.foreign import other_catalog
from headwater.lake.failures import OUT_OF_REACH, explain_failure
from headwater.lake.iceberg import files
from headwater.lake.java import active, session_with
from headwater.lake.spec import create_table_sql
from headwater.lake.storage.warehouse import WAREHOUSE
from headwater.plan.sql.spark_text import name as quoted

_CATALOGS = "spark.sql.catalog."
_NO_CATALOG = re.compile(r"no such table: iceberg_\w+|relation \"iceberg_\w+\" does not exist")


class IcebergTable(TableOutlet):
    """The table of one sink.

    Args:
        directory: where relative paths of options start.
    """

    def __init__(self, sink: Sink, directory: Path) -> None:
        super().__init__(sink, directory)
        self._namespace, _, self._table = sink.options["table"].partition(".")
        self._other = other_catalog(sink.options, directory)
        self._catalog = self._other.name if self._other else CATALOG
        self._target: SinkTarget

    @staticmethod
    def jars(sink: Sink, directory: Path) -> tuple[str, ...]:
        """See :meth:`Outlet.jars`."""
        other = other_catalog(sink.options, directory)
        if other is None:
            return ()
        with suppress(ConfigError):  # the sink says itself what it misses, and nobody else stops
            other.secrets()
        return other.jars

    def open(self, lake: Lake) -> None:
        """See :meth:`Outlet.open`: nothing is asked of the catalog yet."""
        super().open(lake)
        if self._other is not None:
            settings = {**self._other.spark_settings(), **files.SETTINGS}
            self._session = session_with(lake.spark, settings, without=_CATALOGS)
        parts = (self._catalog, self._namespace, self._table)
        identifier = ".".join(quoted(part) for part in parts)
        name = self._sink.options["table"]
        self._target = SinkTarget(self._session, name, identifier, self._who)

    def place(self, before: str | None) -> str:
        """See :meth:`Outlet.place`: the table's identity, and the snapshot of the beginning."""
        known, _, first = (before or "").partition("/")
        target = self._target
        with self._failing(), active(self._session):
            if self._other is None and self._namespace == self._lake.namespace:
                raise self._refused("OWN_TABLE", "is in the namespace of the project itself")
            if not target.reload():
                if known:
                    raise self._missing()
                self._create()
            if known and known != target.uuid:
                raise self._refused("TABLE_RECREATED", "was dropped and created again: it is empty")
            if target.is_kept_by_headwater:
                raise self._refused("OWN_TABLE", "belongs to a Headwater project")
            self._check_columns()
            target.ensure_first_snapshot()
            target.first = int(first) if first else target.snapshot_id()
            return f"{target.uuid}/{target.first}"

    # -- the table

    def _create(self) -> None:
        """Make the table like the view, where its catalog or the option says."""
        if self._other is None:
            home = self._session.conf.get(WAREHOUSE) or ""
        else:
            home = self._other.warehouse.uri if self._other.warehouse else ""
        location = f"{home}/{self._namespace}/{self._table}" if home else ""
        namespace = f"{quoted(self._catalog)}.{quoted(self._namespace)}"
        self._session.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace}")
        ddl = create_table_sql(self._target.identifier, self._spec(self._table), location)
        self._session.sql(ddl)

    # -- what goes wrong

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Say of what fails inside the block whose catalog or store it is."""
        try:
            yield
        except (Py4JError, PySparkException, OSError) as error:
            if _NO_CATALOG.search(str(error)):
                what = f'the database of sink "{self._sink.name}" holds no Iceberg catalog'
                hint = "correct catalog_uri, or make the catalog there"
                raise self._service("CATALOG_MISSING", what, hint) from error
            known = explain_failure(error)
            if known is None or known.condition not in OUT_OF_REACH or self._answers():
                raise
            what = f'of sink "{self._sink.name}": {known.message}'
            hint = "start it, or correct the sink's options; the snapshots that wait are retained"
            raise self._service(known.condition, what, hint) from error

    def _answers(self) -> bool:
        """Return whether the table can be reached; if so, the project's own lake cannot."""
        if self._other is None:
            return True
        try:
            with active(self._session):
                self._target.reload()
                self._target.read().limit(1).collect()
        except (Py4JError, PySparkException, OSError):
            return False
        return True
