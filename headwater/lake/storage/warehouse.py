"""The warehouse: where the files of the tables are, a folder or a bucket of an object store.

In: a project's configuration. Out: a :class:`Warehouse`, the one place that knows how Spark's
Iceberg and PyIceberg reach the files. Knows neither of them, so that readers without a JVM find the
same files.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from headwater.config.secrets import private_folder
from headwater.errors import HeadwaterError, ServiceError
from headwater.lake.failures import explain_failure
from headwater.lake.storage.object_store import ObjectStore

if TYPE_CHECKING:
    from pyarrow.fs import S3FileSystem

    from headwater.config.settings import Config, WarehouseSection


WAREHOUSE = "spark.headwater.warehouse"
"""The setting of a Spark session that holds the address of the warehouse."""


class Warehouse(ABC):
    """Where the files of the tables are.

    Attributes:
        uri: its address, as it stands before the names of namespaces.
        jars: configurations of ``headwater/jars/ivy.xml`` that Spark needs to reach it.
        classes: a class of those jars.
    """

    uri: str
    jars: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()

    def spark_settings(self) -> dict[str, str]:
        """Return how Iceberg in Spark reads and writes files, below the name of the catalog."""
        return {}

    def spark_secrets(self) -> dict[str, str]:
        """Return those settings that must not stand on a command line, likewise.

        Raises:
            ConfigError: ``SECRET_MISSING``.
        """
        return {}

    def reader_settings(self) -> dict[str, str]:
        """Return how PyIceberg reads files, as properties of its catalog; they may hold secrets.

        Raises:
            ConfigError: ``SECRET_MISSING``.
        """
        return {}

    @abstractmethod
    def read(self, path: str) -> bytes | None:
        """Return what a file holds, None if it is missing.

        Args:
            path: its path below the warehouse.

        Raises:
            ServiceError: the warehouse cannot be read.
        """

    @abstractmethod
    def write(self, path: str, content: bytes) -> None:
        """Write a file as a whole; readers see all of it or what was there before.

        Args:
            path: its path below the warehouse.

        Raises:
            OSError, ServiceError: the warehouse cannot be written.
        """

    @abstractmethod
    def listed(self, folder: str) -> dict[str, int]:
        """Return the size of each file below a folder, by its path below the warehouse.

        Args:
            folder: its path below the warehouse; it may be missing.

        Raises:
            ServiceError: the warehouse cannot be read.
        """

    @abstractmethod
    def check_writable(self) -> None:
        """Write a file and remove it.

        Raises:
            OSError: a folder cannot be written; ``headwater.lake.failures`` explains it.
            ConfigError: ``SECRET_MISSING``.
            ServiceError: ``STORE_DOWN``, ``STORE_REFUSED``, ``BUCKET_MISSING``.
        """


class FolderWarehouse(Warehouse):
    """A folder of this machine, or one that all machines of a cluster see.

    Args:
        path: the folder, absolute; made if it is missing.
    """

    def __init__(self, path: Path) -> None:
        self.uri = folder_uri(path)
        self._path = path

    def read(self, path: str) -> bytes | None:
        """See :meth:`Warehouse.read`."""
        try:
            return (self._path / path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise explain_failure(error) or _unreadable(error) from error

    def write(self, path: str, content: bytes) -> None:
        """See :meth:`Warehouse.write`."""
        file = self._path / path
        private_folder(self._path)
        file.parent.mkdir(parents=True, exist_ok=True)
        hidden = file.with_name(f".{file.name}.{os.getpid()}")
        with hidden.open("wb") as written:
            written.write(content)
            written.flush()
            os.fsync(written.fileno())
        os.replace(hidden, file)

    def listed(self, folder: str) -> dict[str, int]:
        """See :meth:`Warehouse.listed`."""
        found: dict[str, int] = {}
        for below, _, names in os.walk(self._path / folder):
            for file in (Path(below) / name for name in names):
                with suppress(FileNotFoundError):
                    found[str(file.relative_to(self._path))] = file.stat().st_size
        return found

    def check_writable(self) -> None:
        """Write a file and remove it."""
        check_folder(self._path)


class BucketWarehouse(Warehouse):
    """A place in a bucket of S3 or of a store with its interface.

    Args:
        section: its address and how it is reached; without keys the environment, the files and the
            machine's role say who asks, as AWS's own tools find them.
    """

    jars = ("s3",)
    classes = ("org.apache.iceberg.aws.s3.S3FileIO",)

    def __init__(self, section: WarehouseSection) -> None:
        self.uri = section.path.rstrip("/")
        self.store = store_of(section)
        self._section = section

    def spark_settings(self) -> dict[str, str]:
        """Return how Iceberg in Spark reads and writes objects."""
        section = self._section
        settings = {"io-impl": self.classes[0], "client.region": section.region}
        if section.endpoint:
            settings |= {"s3.endpoint": section.endpoint, "s3.path-style-access": "true"}
        return settings

    def spark_secrets(self) -> dict[str, str]:
        """Return the keys as Iceberg takes them."""
        access_key, secret_key = self.store.keys()
        found = {"s3.access-key-id": access_key, "s3.secret-access-key": secret_key}
        return {name: key for name, key in found.items() if key}

    def reader_settings(self) -> dict[str, str]:
        """Return how PyIceberg reads objects."""
        section = self._section
        place = {"s3.endpoint": section.endpoint} if section.endpoint else {}
        return {"s3.region": section.region, **place, **self.spark_secrets()}

    def read(self, path: str) -> bytes | None:
        """See :meth:`Warehouse.read`."""
        try:
            with self._files.open_input_file(f"{self._root}/{path}") as content:
                return bytes(content.read())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise store_failure(error) from error

    def write(self, path: str, content: bytes) -> None:
        """See :meth:`Warehouse.write`."""
        try:
            with self._files.open_output_stream(f"{self._root}/{path}") as sink:
                sink.write(content)
        except OSError as error:
            raise store_failure(error) from error

    def listed(self, folder: str) -> dict[str, int]:
        """See :meth:`Warehouse.listed`."""
        from pyarrow.fs import FileSelector, FileType

        below = FileSelector(f"{self._root}/{folder}", allow_not_found=True, recursive=True)
        try:
            found = self._files.get_file_info(below)
        except OSError as error:
            raise store_failure(error) from error
        begin = len(self._root) + 1
        return {each.path[begin:]: each.size for each in found if each.type == FileType.File}

    @cached_property
    def _files(self) -> S3FileSystem:
        return self.store.files()

    @property
    def _root(self) -> str:
        return self.uri.removeprefix("s3://")

    def check_writable(self) -> None:
        """Write an object and remove it."""
        store, probe = self._files, f"{self._root}/.probe-{os.getpid()}"
        try:
            with store.open_output_stream(probe) as sink:
                sink.write(b"headwater")
            store.delete_file(probe)
        except OSError as error:
            raise store_failure(error) from error


def _unreadable(error: OSError) -> ServiceError:
    hint = "check [warehouse] in headwater.toml"
    return ServiceError("IO_FAILED", f"the warehouse cannot be read: {error}", hint=hint)


def store_failure(error: OSError) -> HeadwaterError:
    """Return what a failure of an object store means."""
    first = str(error).splitlines()[0]
    hint = "check [warehouse] in headwater.toml, and read the log of the object store"
    return explain_failure(error) or ServiceError("STORE_FAILED", first, hint=hint)


def store_of(section: WarehouseSection) -> ObjectStore:
    """Return the object store of a warehouse."""
    return ObjectStore(section.endpoint, section.region, section.access_key, section.secret_key)


def warehouse_for(config: Config) -> Warehouse:
    """Return where the tables of a project are."""
    return (
        BucketWarehouse(config.bucket)
        if config.bucket
        else FolderWarehouse(config.warehouse.absolute())
    )


def folder_of(written: str, directory: Path) -> Path | None:
    """Return the folder of a table that somebody else writes; None for one of a catalog.

    Args:
        written: namespace and table, or a folder, in which there is a slash.
        directory: where relative folders begin.
    """
    return directory / written if "/" in written else None


def table_folder(warehouse: str, namespace: str, name: str) -> Path | None:
    """Return the folder of a table of a warehouse.

    Args:
        warehouse: address of the warehouse.

    Returns:
        The folder; None in an object store, which has none.
    """
    parts = urlsplit(warehouse)
    if parts.scheme not in ("", "file"):
        return None
    return Path(parts.path) / namespace / name


def folder_uri(folder: Path) -> str:
    """Return the address of a folder as Hadoop, Iceberg and Delta take it.

    They take ``%20`` for three characters, and would make another folder beside the one that is
    meant: nothing is quoted.

    Args:
        folder: the folder, absolute.
    """
    return f"file://{folder}"


def check_folder(folder: Path) -> None:
    """Write a file into a folder, which is made if it is missing, and remove it.

    Raises:
        OSError: it cannot be written.
    """
    private_folder(folder)
    probe = folder / f".probe-{os.getpid()}"
    try:
        probe.write_bytes(b"headwater")
    finally:
        probe.unlink(missing_ok=True)
