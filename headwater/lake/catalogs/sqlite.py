"""The embedded catalog: one SQLite database in the warehouse folder.

In: the warehouse folder. Out: a :class:`SqliteDatabase`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from headwater.config.secrets import private_folder
from headwater.lake.catalogs.database import BUSY_TIMEOUT, CatalogDatabase, Statements


class SqliteDatabase(CatalogDatabase):
    """A SQLite database in WAL mode: many readers beside one writer.

    Args:
        warehouse: folder of the warehouse; made by the first transaction.

    Attributes:
        path: the file.
    """

    jars = ("core",)
    driver = "org.sqlite.JDBC"
    classes = (driver,)

    def __init__(self, warehouse: Path) -> None:
        self.path = warehouse.absolute() / "catalog.db"

    def jdbc_settings(self) -> dict[str, str]:
        """Return the address by which Iceberg's JDBC catalog opens the database."""
        options = f"journal_mode=WAL&busy_timeout={BUSY_TIMEOUT}"
        return {"uri": f"jdbc:sqlite:file:{quote(str(self.path))}?{options}"}

    def reader_uri(self) -> str:
        """Return the address by which SQLAlchemy reads the database."""
        # quoted twice: SQLAlchemy takes off one layer, SQLite the other
        return f"sqlite:///file:{quote(quote(str(self.path)))}?mode=ro&uri=true"

    def writer_uri(self) -> str:
        """Return the address by which SQLAlchemy may change the catalog too."""
        return f"sqlite:///{quote(str(self.path))}"

    def has_table(self, name: str) -> bool:
        """Return whether a table exists; never creates the database."""
        with self._errors():
            if not self.path.is_file():
                return False
            address = f"file:{quote(str(self.path))}?mode=ro"
            with closing(sqlite3.connect(address, uri=True)) as connection:
                query = "SELECT 1 FROM sqlite_master WHERE name = ?"
                return connection.execute(query, (name,)).fetchone() is not None

    def close(self) -> None:
        """Do nothing: opening a file again costs a millisecond, and a copied file is noticed."""

    @contextmanager
    def _transaction(self, writes: bool) -> Iterator[Statements]:
        private_folder(self.path.parent)
        timeout = BUSY_TIMEOUT / 1000
        opened = sqlite3.connect(self.path, timeout=timeout, isolation_level=None)
        with closing(opened) as connection:
            _use_wal(connection)
            # a transaction that reads first could not become a writer's while another writes
            connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            try:
                yield lambda sql, *parameters: connection.execute(sql, parameters)
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    def _is_failure(self, error: Exception) -> bool:
        return isinstance(error, sqlite3.Error | OSError)


def _use_wal(connection: sqlite3.Connection) -> None:
    """Turn WAL on, which lasts; where another does so in a new database, wait for it.

    SQLite itself does not wait then, whatever the timeout: two that read could both want to write.
    """
    pragma = "PRAGMA journal_mode = WAL"
    try:
        connection.execute(pragma)
    except sqlite3.OperationalError as error:
        if not _is_busy(error):
            raise
        # seldom needed, and takes a while to load
        from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random

        Retrying(
            retry=retry_if_exception(_is_busy),
            wait=wait_random(0.001, 0.05),
            stop=stop_after_delay(BUSY_TIMEOUT / 1000),
            reraise=True,
        )(connection.execute, pragma)


def _is_busy(error: BaseException) -> bool:
    return (
        isinstance(error, sqlite3.OperationalError)
        and error.sqlite_errorcode == sqlite3.SQLITE_BUSY
    )
