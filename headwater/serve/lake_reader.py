"""The lake as readers without a JVM see it.

In: a project's configuration. Out: its tables. Works while a run is writing: a loaded table never
changes, and what it points at stays until maintenance expires it.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import weakref
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.errors import ConfigError, HeadwaterError, ServiceError
from headwater.errors.plain import plain
from headwater.lake.catalogs.backend import CATALOG
from headwater.lake.catalogs.opening import catalog_backend
from headwater.lake.delta.log import is_delta
from headwater.lake.delta.metastore import remove_table
from headwater.lake.failures import OUT_OF_REACH, explain_failure
from headwater.lake.identity import LakeIdentity
from headwater.lake.reserved_names import PAUSED
from headwater.lake.storage.warehouse import folder_of, table_folder, warehouse_for
from headwater.serve.stored_table import unreadable

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table

    from headwater.config.settings import Config
    from headwater.serve.iceberg import StoredIcebergTable
    from headwater.serve.stored_table import StoredTable

NOTHING_IS_READABLE = OUT_OF_REACH | {
    *("CATALOG_UNREADABLE", "CATALOG_DAMAGED", "CATALOG_FAILED"),
    *("LAKE_MOVED", "LAKE_RENAMED", "WAREHOUSE_TAKEN"),
}
"""Conditions that end a report about all tables; any other is of one table."""
_OUTSIDE = ("CATALOG_", "STORE_", "BUCKET_")
"""How conditions begin that are of the catalog's server or the object store."""
_METADATA_FILE = re.compile(r"(file:/+|/).*\.metadata\.json$")
"""The metadata file of a table in a folder."""


class LakeReader:
    """The tables of one project; its catalog is opened read-only.

    Args:
        external: by name, the tables that somebody else writes: namespace and table, or the folder
            of a Delta table.
    """

    def __init__(self, config: Config, external: Mapping[str, str] | None = None) -> None:
        self.namespace = config.namespace
        self._config = config
        self._warehouse = warehouse_for(config)
        self._external = external or {}
        self._is_checked = False
        self._pointers: Mapping[str, str] | None = None
        self._loaded: dict[str, tuple[str, StoredIcebergTable]] = {}

    @cached_property
    def _catalog(self) -> Catalog | None:
        """The catalog, or None before the first run made it."""
        catalog = open_catalog(self._config)
        if catalog is not None:
            # its pool keeps connections, which would wait for the garbage collector
            weakref.finalize(self, catalog.close)
        return catalog

    @contextmanager
    def one_look(self) -> Iterator[None]:
        """Ask once where all tables are, so that the block opens each as of the same moment."""
        self._check_place()
        self._pointers = catalog_backend(self._config).pointers(self.namespace)
        try:
            yield
        finally:
            self._pointers = None

    def names(self) -> tuple[str, ...]:
        """Return the names of all tables, side tables included, in alphabetical order.

        Raises:
            ServiceError: ``CATALOG_UNREADABLE``.
        """
        self._check_place()
        folder = self._folder("")
        found = {path.parent.name for path in folder.glob("*/_delta_log")} if folder else set()
        pointers = catalog_backend(self._config).pointers(self.namespace)
        if pointers is not None:
            found |= pointers.keys()
        elif self._catalog is not None:
            from pyiceberg.exceptions import NoSuchNamespaceError

            try:
                found |= {name for *_, name in self._catalog.list_tables(self.namespace)}
            except NoSuchNamespaceError:
                pass
            except Exception as error:
                raise _unreadable(error) from error
        return tuple(sorted(found))

    def paused(self) -> frozenset[str]:
        """Return the views that are paused.

        Raises:
            ServiceError: ``CATALOG_UNREADABLE``.
        """
        self._check_place()
        found = catalog_backend(self._config).properties(self.namespace)
        if found is None and self._catalog is not None:
            from pyiceberg.exceptions import NoSuchNamespaceError

            with catalog_failures(), suppress(NoSuchNamespaceError):
                found = self._catalog.load_namespace_properties(self.namespace)
        keys = (key for key in found or () if key.startswith(PAUSED))
        return frozenset(key.removeprefix(PAUSED) for key in keys)

    def table(self, name: str) -> StoredTable | None:
        """Return a table as it is now, or None if it does not exist.

        Args:
            name: name of the table, without its namespace.

        Raises:
            ServiceError: ``READ_FAILED`` of the table, or one of :data:`NOTHING_IS_READABLE`.
        """
        self._check_place()
        written = self._external.get(name, "")
        in_place = folder_of(written, self._config.directory)
        folder = in_place or (None if written else self._folder(name))
        if is_delta(folder):
            from headwater.serve.delta import StoredDeltaTable

            return StoredDeltaTable(name, folder)
        if in_place:
            return None
        if not written:
            pointers = self._pointers or catalog_backend(self._config).pointers(self.namespace)
            if pointers is not None and name not in pointers:
                return None
            if pointers is not None and (found := self._quickly(name, pointers[name])):
                return found
        if self._catalog is None:
            return None
        from pyiceberg.exceptions import NoSuchTableError

        from headwater.serve.iceberg import StoredIcebergTable

        identifier = written or (self.namespace, name)
        try:
            table = self._catalog.load_table(identifier)
            metadata = json.loads(table.metadata.model_dump_json())
            return StoredIcebergTable(name, metadata, lambda: table)
        except NoSuchTableError:
            return None
        except Exception as error:
            raise _of_table(name, error) from error

    def _quickly(self, name: str, location: str) -> StoredTable | None:
        """A table whose metadata is a file here; None if it is not, or if something is wrong."""
        if not _METADATA_FILE.match(location):
            return None
        known = self._loaded.get(name)
        if known is not None and known[0] == location:
            return known[1]
        from headwater.serve.iceberg import StoredIcebergTable

        try:
            path = Path(re.sub("^file:/*", "/", location))
            written = path.read_bytes()
            packed = path.name.endswith(".gz.metadata.json")
            text = (gzip.decompress(written) if packed else written).decode()
            metadata = json.loads(text)
        except (OSError, ValueError):
            return None

        def open_table() -> Table:
            from pyiceberg.catalog.noop import NoopCatalog
            from pyiceberg.io import load_file_io
            from pyiceberg.table import Table
            from pyiceberg.table.metadata import TableMetadataUtil

            return Table(
                (self.namespace, name),
                TableMetadataUtil.parse_raw(text),
                location,
                load_file_io(self._warehouse.reader_settings(), location),
                NoopCatalog(CATALOG),
            )

        found = StoredIcebergTable(name, metadata, open_table, known[1] if known else None)
        self._loaded[name] = location, found
        return found

    def _check_place(self) -> None:
        """Refuse to read a lake that lies elsewhere than where it was written; look once."""
        if not self._is_checked:
            with catalog_failures():
                LakeIdentity(self._config).check()
            self._is_checked = True

    def _folder(self, name: str) -> Path | None:
        return table_folder(self._warehouse.uri, self.namespace, name)


def open_catalog(config: Config) -> Catalog | None:
    """Return the catalog of a project as PyIceberg reads it, None before the first run made it.

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
        name: name of the table, without its namespace; it may be missing.

    Raises:
        ServiceError: ``CATALOG_UNREADABLE``.
    """
    from pyiceberg.exceptions import NoSuchTableError

    LakeIdentity(config).check()
    folder = table_folder(warehouse_for(config).uri, config.namespace, name)
    if is_delta(folder):
        shutil.rmtree(folder)
        remove_table(folder)
        return
    with catalog_failures(), suppress(NoSuchTableError), writable_catalog(config) as catalog:
        catalog.drop_table((config.namespace, name))


def tag_tables(config: Config, tag: str, snapshots: Mapping[str, int]) -> None:
    """Put one tag on a snapshot of each of several Iceberg tables; one of this name is moved.

    Args:
        snapshots: by table, the snapshot.

    Raises:
        ServiceError: ``CATALOG_UNREADABLE``.
    """
    with catalog_failures(), writable_catalog(config) as catalog:
        for name, snapshot_id in snapshots.items():
            table = catalog.load_table((config.namespace, name))
            table.manage_snapshots().create_tag(snapshot_id, tag).commit()


def pause(config: Config, paused: Collection[str], resumed: Collection[str] = ()) -> None:
    """Note in the catalog that views are paused, and that others are not any more.

    Raises:
        ServiceError: ``NO_DATA_YET`` before the first run; ``CATALOG_UNREADABLE``.
    """
    nothing = ServiceError(
        "NO_DATA_YET", "nothing has been built yet", hint="run: headwater run --once"
    )
    with catalog_failures():
        if catalog_backend(config).reader_settings() is None:
            raise nothing
    with catalog_failures(), writable_catalog(config) as catalog:
        if not catalog.namespace_exists(config.namespace):
            raise nothing
        catalog.update_namespace_properties(
            config.namespace,
            removals={PAUSED + name for name in resumed},
            updates={PAUSED + name: "true" for name in paused},
        )


@contextmanager
def writable_catalog(config: Config) -> Iterator[Catalog]:
    """Give the catalog of a project for changes of metadata, until the block ends.

    Raises:
        ServiceError: ``LAKE_MOVED``, ``WAREHOUSE_TAKEN``.
    """
    from pyiceberg.catalog import load_catalog

    LakeIdentity(config).check()
    backend, warehouse = catalog_backend(config), warehouse_for(config)
    settings = {**backend.writer_settings(), **warehouse.reader_settings()}
    with load_catalog(CATALOG, **settings) as catalog:
        yield catalog


@contextmanager
def catalog_failures() -> Iterator[None]:
    """Raise what fails in the block as an error that says what is wrong with the catalog."""
    try:
        yield
    except HeadwaterError:
        raise
    except Exception as error:
        raise _unreadable(error) from error


def _of_table(name: str, error: Exception) -> HeadwaterError:
    """What is wrong with one table, unless it is the catalog or the object store."""
    known = _unreadable(error)
    return unreadable(name, error) if known.condition == "CATALOG_UNREADABLE" else known


def _unreadable(error: Exception) -> HeadwaterError:
    known = explain_failure(error) if not isinstance(error, ConfigError) else error
    if known is not None and (known is error or known.condition.startswith(_OUTSIDE)):
        return known
    return ServiceError("CATALOG_UNREADABLE", f"the catalog could not be read: {plain(error)}")
