"""The lake as readers without a JVM see it: tables, snapshots and commits, through PyIceberg.

In: a project's configuration. Out: PyIceberg tables, Delta tables that answer the same questions
(``headwater.serve.delta``), and the history of their commits. Works while
a run is writing: a loaded table never changes, and what it points at stays until maintenance
expires it.
"""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from headwater.errors import ConfigError, HeadwaterError, ServiceError
from headwater.lake.catalogs.backend import CATALOG
from headwater.lake.catalogs.opening import catalog_backend
from headwater.lake.delta.log import is_delta
from headwater.lake.delta.metastore import remove_table
from headwater.lake.failures import explain_failure
from headwater.lake.protocol.marker import Marker
from headwater.lake.storage.warehouse import folder_of, table_folder, warehouse_for

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table
    from pyiceberg.table.snapshots import Snapshot

    from headwater.config.settings import Config
    from headwater.serve.delta import StoredDeltaTable

    StoredTable: TypeAlias = Table | StoredDeltaTable


_OUTSIDE = ("CATALOG_", "STORE_", "BUCKET_")
"""How conditions begin that are of the catalog's server or the object store."""


class History(Protocol):
    """The snapshots of a table, whatever its format."""

    def name(self) -> tuple[str, ...]:
        """Return namespace and name."""

    def current_snapshot(self) -> Snapshot | None:
        """Return the current snapshot, or None if it has none yet."""

    def snapshot_by_id(self, snapshot_id: int) -> Snapshot | None:
        """Return one snapshot, or None if it is unknown or was expired.

        Args:
            snapshot_id: its id.
        """


@dataclass(frozen=True, slots=True)
class StoredCommit:
    """One commit of a view or landed table.

    Attributes:
        snapshot_id: the snapshot it made, or the one asked for if that holds the same rows.
        at: when it was committed.
        marker: what it says about itself.
        added: rows it added.
        removed: rows it removed (deleted or replaced).
        total: rows in the table after it.
    """

    snapshot_id: int
    at: datetime
    marker: Marker
    added: int = 0
    removed: int = 0
    total: int = 0


class LakeReader:
    """The tables of one project; its catalog is opened read-only.

    Args:
        config: the project's configuration.
        external: by name, the tables that somebody else writes: namespace and table, or the folder
            of a Delta table.
    """

    def __init__(self, config: Config, external: Mapping[str, str] | None = None) -> None:
        self.namespace = config.namespace
        self._config = config
        self._warehouse = warehouse_for(config)
        self._external = external or {}

    @cached_property
    def _catalog(self) -> Catalog | None:
        """The catalog, or None before the first run made it."""
        catalog = open_catalog(self._config)
        if catalog is not None:
            # its pool keeps connections, which would wait for the garbage collector
            weakref.finalize(self, catalog.close)
        return catalog

    def names(self) -> tuple[str, ...]:
        """Return the names of all tables, side tables included, in alphabetical order.

        Raises:
            ServiceError: ``CATALOG_UNREADABLE``.
        """
        from pyiceberg.exceptions import NoSuchNamespaceError

        folder = self._folder("")
        found = {path.parent.name for path in folder.glob("*/_delta_log")} if folder else set()
        if self._catalog is not None:
            try:
                found |= {name for *_, name in self._catalog.list_tables(self.namespace)}
            except NoSuchNamespaceError:
                pass
            except Exception as error:
                raise _unreadable(error) from error
        return tuple(sorted(found))

    def table(self, name: str) -> StoredTable | None:
        """Return a table as it is now, or None if it does not exist.

        Args:
            name: name of the table, without its namespace.

        Raises:
            ServiceError: ``CATALOG_UNREADABLE``.
        """
        from pyiceberg.exceptions import NoSuchTableError

        written = self._external.get(name, "")
        in_place = folder_of(written, self._config.directory)
        folder = in_place or (None if written else self._folder(name))
        if is_delta(folder):
            from headwater.serve.delta import StoredDeltaTable

            return StoredDeltaTable(self.namespace, name, folder)
        if self._catalog is None or in_place:
            return None
        try:
            return self._catalog.load_table(self._external.get(name) or (self.namespace, name))
        except NoSuchTableError:
            return None
        except Exception as error:
            raise _unreadable(error) from error

    def _folder(self, name: str) -> Path | None:
        return table_folder(self._warehouse.uri, self.namespace, name)


def open_catalog(config: Config) -> Catalog | None:
    """Return the catalog of a project as PyIceberg reads it, None before the first run made it.

    Args:
        config: the project's configuration.

    Raises:
        ServiceError: ``CATALOG_UNREADABLE``, ``CATALOG_DOWN``, ``CATALOG_REFUSED``, …
    """
    from pyiceberg.catalog import load_catalog

    try:
        settings = catalog_backend(config).reader_settings()
        if settings is None:
            return None
        return load_catalog(CATALOG, **settings, **warehouse_for(config).reader_settings())
    except Exception as error:
        raise _unreadable(error) from error


def drop_table(config: Config, name: str) -> None:
    """Remove a table from the catalog; its files stay until maintenance removes orphans.

    A Delta table is its folder, and goes with it. The caller holds the lease of the project.

    Args:
        config: the project's configuration.
        name: name of the table, without its namespace; it may be missing.

    Raises:
        ServiceError: ``CATALOG_UNREADABLE``.
    """
    from pyiceberg.catalog import load_catalog
    from pyiceberg.exceptions import NoSuchTableError

    warehouse = warehouse_for(config)
    folder = table_folder(warehouse.uri, config.namespace, name)
    if is_delta(folder):
        shutil.rmtree(folder)
        remove_table(folder)
        return
    try:
        settings = {**catalog_backend(config).writer_settings(), **warehouse.reader_settings()}
        with load_catalog(CATALOG, **settings) as catalog:
            catalog.drop_table((config.namespace, name))
    except NoSuchTableError:
        return
    except Exception as error:
        raise _unreadable(error) from error


def current_snapshot_id(table: History) -> int | None:
    """Return the id of a table's current snapshot, or None if it has none yet."""
    snapshot = table.current_snapshot()
    return snapshot.snapshot_id if snapshot else None


def ancestors(table: History, snapshot_id: int | None) -> Iterator[Snapshot]:
    """Yield a snapshot and those it was built on, newest first, as far as they are kept.

    Args:
        table: the table.
        snapshot_id: where to start; nothing is yielded for None.
    """
    while snapshot_id is not None and (found := table.snapshot_by_id(snapshot_id)) is not None:
        yield found
        snapshot_id = found.parent_snapshot_id


def commits(
    table: History, snapshot_id: int | None = None, *, view: str | None = None
) -> Iterator[StoredCommit]:
    """Yield the commits of one view, newest first; maintenance between them is skipped.

    A commit can be several snapshots, published together: only the last of them is yielded, since
    only there the law holds.

    Args:
        table: the table.
        snapshot_id: where to start; the current snapshot by default.
        view: whose commits, for side tables; those of the table's own view by default.
    """
    view = view or table.name()[-1]
    start = current_snapshot_id(table) if snapshot_id is None else snapshot_id
    commit: StoredCommit | None = None
    for snapshot in ancestors(table, start):
        found = _commit(snapshot)
        if found is None or found.marker.view != view:
            continue
        if commit is not None and found.marker.epoch == commit.marker.epoch:
            added, removed = commit.added + found.added, commit.removed + found.removed
            commit = replace(commit, added=added, removed=removed)
            continue
        if commit is not None:
            yield commit
        commit = found
    if commit is not None:
        yield commit


def commits_of_others(table: History, name: str) -> Iterator[StoredCommit]:
    """Yield the changes of a table that somebody else writes, newest first.

    They have no marker: their epoch is Iceberg's sequence number.

    Args:
        table: the table.
        name: its name in the project.
    """
    for snapshot in ancestors(table, current_snapshot_id(table)):
        if snapshot.summary is None or snapshot.summary.operation.value != "replace":
            yield _as_commit(snapshot, Marker(name, 0, snapshot.sequence_number or 0, {}, {}))


def marker_of(snapshot: Snapshot) -> Marker | None:
    """Return the commit marker in a snapshot's summary, or None for a snapshot of no view."""
    return Marker.from_summary(summary_of(snapshot))


def summary_of(snapshot: Snapshot) -> dict[str, str]:
    """Return all properties of a snapshot's summary but its operation."""
    return dict(snapshot.summary.additional_properties) if snapshot.summary else {}


def _commit(snapshot: Snapshot) -> StoredCommit | None:
    marker = marker_of(snapshot)
    return _as_commit(snapshot, marker) if marker else None


def _as_commit(snapshot: Snapshot, marker: Marker) -> StoredCommit:
    summary = summary_of(snapshot)

    def count(name: str) -> int:
        return int(summary.get(name, 0))

    return StoredCommit(
        snapshot.snapshot_id,
        datetime.fromtimestamp(snapshot.timestamp_ms / 1000, UTC),
        marker,
        added=count("added-records"),
        removed=count("deleted-records") + count("added-position-deletes"),
        total=count("total-records") - count("total-position-deletes"),
    )


def newest_commit(table: History, snapshot_id: int | None = None) -> StoredCommit | None:
    """Return the newest commit at or before a snapshot, or None if there is none.

    Args:
        table: the table.
        snapshot_id: the snapshot; the current one by default.

    Raises:
        ConfigError: ``UNKNOWN_SNAPSHOT``, ``PART_OF_A_COMMIT``.
    """
    if snapshot_id is not None and table.snapshot_by_id(snapshot_id) is None:
        raise ConfigError(
            "UNKNOWN_SNAPSHOT",
            f'table "{table.name()[-1]}" has no snapshot {snapshot_id}; maybe it was expired',
            hint=f"list them with: headwater sql 'SELECT * FROM \"{table.name()[-1]}$snapshots\"'",
        )
    found = next(commits(table, snapshot_id), None)
    if snapshot_id is not None and found is not None and found.snapshot_id == snapshot_id:
        _refuse_part(table, found)
    return found


def _refuse_part(table: History, found: StoredCommit) -> None:
    """Refuse a snapshot that was published only with a later one of the same epoch."""
    for whole in commits(table):
        if whole.marker.epoch == found.marker.epoch and whole.snapshot_id != found.snapshot_id:
            raise ConfigError(
                "PART_OF_A_COMMIT",
                f"snapshot {found.snapshot_id} is only a part of epoch {found.marker.epoch}",
                hint=f"the whole epoch is snapshot {whole.snapshot_id}",
            )


def _unreadable(error: Exception) -> HeadwaterError:
    known = explain_failure(error) if not isinstance(error, ConfigError) else error
    if known is not None and (known is error or known.condition.startswith(_OUTSIDE)):
        return known
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    return ServiceError("CATALOG_UNREADABLE", f"the catalog could not be read: {first}")
