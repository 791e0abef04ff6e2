"""Connector ``iceberg``: changes into a table of another catalog, each exactly once.

In: changes. Out: one commit of the table holds them and the number of their epoch. Rows are written
by the commit protocol of our own tables (:mod:`headwater.lake.commit`): on a staging branch, which
becomes ``main`` by a compare-and-swap. Whatever others have committed in between, the epoch is
looked for first, and the rows are decided on the table as it is.

The table may lie in a catalog of the same name, so it is seen through a session in which that name
means the other one; no other session ever knows its address or its secrets. Spark makes a catalog,
at its first use, from the settings of the session that is active, whichever one asks: so the
session is made the active one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from headwater.analyze.definitions import Sink
from headwater.errors import ConfigError, HeadwaterError, ServiceError, TerminalError
from headwater.incremental.merge import Before, Upsert, upsert
from headwater.intake.sqltext import name as quoted
from headwater.lake.backend import CATALOG
from headwater.lake.catalog import Lake, TableSpec, create_table_sql
from headwater.lake.commit import commit
from headwater.lake.elsewhere import other_catalog
from headwater.lake.failures import OUT_OF_REACH, explain_failure
from headwater.lake.java import active, in_session, session_with
from headwater.lake.marker import Marker
from headwater.lake.table import Commit
from headwater.lake.warehouse import WAREHOUSE
from headwater.plan.program import SIGN
from headwater.sinks.connectors.base import Epoch, Outlet
from headwater.sinks.target import SinkTarget

ATTEMPTS = 20
"""How often a delivery is tried while others commit to its table: they owe us no pause."""

_CATALOGS = "spark.sql.catalog."
_NOT_NULL = " NOT NULL"
_SOURCE, _AFTER, _GONE = "__delivered", "__after", "__gone"
_NO_CATALOG = re.compile(r"no such table: iceberg_\w+|relation \"iceberg_\w+\" does not exist")
_AGAIN = "give the sink another name and a table of its own: it delivers the whole view"


class IcebergTable(Outlet):
    """The table of one sink.

    Args:
        sink: its definition.
        directory: where relative paths of options start.
    """

    def __init__(self, sink: Sink, directory: Path) -> None:
        self._sink = sink
        self._namespace, _, self._table = sink.options["table"].partition(".")
        self._other = other_catalog(sink.options, directory)
        self._catalog = self._other.name if self._other else CATALOG
        self._lake: Lake
        self._session: SparkSession
        self._target: SinkTarget
        self._kinds: Mapping[str, str] = {}
        self._comment = ""

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
        self._lake = lake
        if self._other is None:
            self._session = lake.spark
        else:
            settings = self._other.spark_settings()
            self._session = session_with(lake.spark, settings, without=_CATALOGS)
        parts = (self._catalog, self._namespace, self._table)
        identifier = ".".join(quoted(part) for part in parts)
        name = self._sink.options["table"]
        self._target = SinkTarget(self._session, name, identifier, self._who)
        view = lake.table(self._sink.view)
        held = view.columns()
        self._kinds = {each.name: held[each.name] for each in self._sink.fields}
        self._comment = str(view.java.properties().get("comment") or "")

    @property
    def _who(self) -> str:
        """Who delivers, in the markers of the table: sinks of several projects may share one."""
        return f"{self._lake.namespace}.{self._sink.name}"

    def place(self, before: str | None) -> str:
        """See :meth:`Outlet.place`: the table's identity, and the snapshot of the beginning."""
        known, _, first = (before or "").partition("/")
        target = self._target
        with self._failures(), active(self._session):
            if self._other is None and self._namespace == self._lake.namespace:
                raise self._refused("OWN_TABLE", "is in the namespace of the project itself")
            if not target.reload():
                if known:
                    raise self._missing()
                self._create()
            if known and known != target.uuid:
                raise self._refused("TABLE_RECREATED", "was dropped and made again: it is empty")
            if target.is_kept_by_headwater:
                raise self._refused("OWN_TABLE", "is kept by a Headwater project itself")
            self._check_columns()
            target.ensure_first_snapshot()
            target.first = int(first) if first else target.snapshot_id()
            return f"{target.uuid}/{target.first}"

    def deliver(self, changed: DataFrame, epoch: Epoch) -> None:
        """See :meth:`Outlet.deliver`: an epoch that the table has is not written again."""
        marker = replace(epoch.marker, view=self._who)
        with self._failures(), active(self._session):
            self._check_epochs(self._target.newest(self._who), marker)
            commit(
                self._target,
                marker,
                partial(self._write, changed),
                session=self._session,
                fence=epoch.fence,
                attempts=ATTEMPTS,
            )

    # -- the table

    def _create(self) -> None:
        """Make the table like the view, where its catalog or the option says."""
        spec = TableSpec(
            self._table,
            tuple(
                (column, kind.removesuffix(_NOT_NULL), True) for column, kind in self._kinds.items()
            ),
            comment=self._comment,
            column_comments={each.name: each.comment for each in self._sink.fields},
        )
        if self._other is None:
            home = self._session.conf.get(WAREHOUSE) or ""
        else:
            home = self._other.warehouse.uri if self._other.warehouse else ""
        location = f"{home}/{self._namespace}/{self._table}" if home else ""
        namespace = f"{quoted(self._catalog)}.{quoted(self._namespace)}"
        self._session.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace}")
        self._session.sql(create_table_sql(self._target.identifier, spec, location))

    def _check_columns(self) -> None:
        """Refuse a table whose columns are not those of the view, in whatever order."""
        held, table, view = self._target.columns(), self._target.name, self._sink.view
        for column, kind in self._kinds.items():
            found = held.get(column)
            if found is None:
                raise self._unlike(f'table "{table}" has no column "{column}" ({kind})')
            if found not in (kind, kind.removesuffix(_NOT_NULL)):
                what = f'column "{column}" of table "{table}" is {found}, in "{view}" {kind}'
                raise self._unlike(what)
        if further := [column for column in held if column not in self._kinds]:
            raise self._unlike(f'column "{further[0]}" of table "{table}" is not in "{view}"')

    def _check_epochs(self, newest: Commit | None, marker: Marker) -> None:
        """Refuse a table that lacks what was delivered, or holds what this sink did not deliver."""
        held = newest.marker if newest else None
        if (held.epoch if held else -1) < marker.epoch - 1:
            raise self._refused("TABLE_ROLLED_BACK", "lacks what this sink has delivered into it")
        if held is None or _follows(held, marker) or _is_same(held, marker):
            return
        raise self._refused(
            "TABLE_TAKEN",
            f"holds deliveries of {self._who} that this project knows nothing of: they are those of"
            " another project, or the lake was restored from an older copy",
        )

    # -- the rows

    def _write(self, changed: DataFrame, into: str) -> None:
        if self._sink.format == "plain":
            in_session(changed.drop(SIGN), self._session).writeTo(into).append()
            return
        keys = self._sink.key or ()
        columns = [each.name for each in self._sink.fields]
        rows = in_session(_net(changed, keys, columns), self._session).persist()
        rows.createOrReplaceTempView(_SOURCE)
        change = Upsert(
            _SOURCE,
            keys,
            {each: f"s.{quoted(each)}" for each in columns if each not in keys},
            {each: f"s.{quoted(each)}" for each in columns},
            delete_when=f"s.{_GONE}",
            insert_when=f"NOT s.{_GONE}",
        )
        try:
            upsert(self._session, into, change, Before.of(self._target))
        finally:
            rows.unpersist()

    # -- what goes wrong

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Say whose catalog or store it is that fails."""
        try:
            yield
        except (Py4JError, PySparkException, OSError) as error:
            if _NO_CATALOG.search(str(error)):
                what = f'the database of sink "{self._sink.name}" holds no catalog of Iceberg'
                hint = "correct catalog_uri, or make the catalog there"
                raise self._service("CATALOG_MISSING", what, hint) from error
            known = explain_failure(error)
            if known is None or known.condition not in OUT_OF_REACH or self._answers():
                raise
            what = f'of sink "{self._sink.name}": {known.message}'
            hint = "start it, or correct the sink's options: what waits is kept until then"
            raise self._service(known.condition, what, hint) from error

    def _answers(self) -> bool:
        """Whether the table can be reached: then it is the project's own lake that cannot."""
        if self._other is None:
            return True
        try:
            with active(self._session):
                self._target.reload()
                self._target.read().limit(1).collect()
        except (Py4JError, PySparkException, OSError):
            return False
        return True

    def _missing(self) -> HeadwaterError:
        what = f'table "{self._target.name}" of sink "{self._sink.name}" does not exist any more'
        return self._service("TABLE_NOT_FOUND", what, f"bring it back, or {_AGAIN}")

    def _service(self, condition: str, what: str, hint: str) -> HeadwaterError:
        return ServiceError(condition, what, hint=hint, span=self._sink.span)

    def _refused(self, condition: str, what: str) -> TerminalError:
        said = f'table "{self._target.name}" of sink "{self._sink.name}" {what}'
        return TerminalError(condition, said, hint=_AGAIN, span=self._sink.span)

    def _unlike(self, what: str) -> TerminalError:
        hint = "give the table the columns of the view, and start again; or another table"
        said = f'sink "{self._sink.name}": {what}'
        return TerminalError("SCHEMA_CHANGED", said, hint=hint, span=self._sink.span)


def _net(changed: DataFrame, keys: tuple[str, ...], columns: list[str]) -> DataFrame:
    """Of each key that differs the row as it is now, or the key alone, which says that it is gone.

    In SQL, keys are told apart as a table does it: -0.0 is 0.0 and NaN is NaN.
    """
    view = "__changed"
    changed.createOrReplaceTempView(view)
    listed = ", ".join(map(quoted, keys))
    row = f"struct({', '.join(map(quoted, columns))})"
    net = changed.sparkSession.sql(
        f"SELECT {f'{listed}, ' if keys else ''}"
        f"first({row}) FILTER (WHERE {SIGN} > 0) AS {_AFTER} FROM {view}"
        f"{f' GROUP BY {listed}' if keys else ''} HAVING count(*) > 0"
    )
    values = [
        each if each in keys else f"{_AFTER}.{quoted(each)} AS {quoted(each)}" for each in columns
    ]
    return net.selectExpr(*values, f"{_AFTER} IS NULL AS {_GONE}")


def _follows(held: Marker, marker: Marker) -> bool:
    return held.epoch == marker.epoch - 1 and dict(held.cut_to) == dict(marker.cut_from)


def _is_same(held: Marker, marker: Marker) -> bool:
    found = (held.epoch, dict(held.cut_from), dict(held.cut_to))
    return found == (marker.epoch, dict(marker.cut_from), dict(marker.cut_to))
