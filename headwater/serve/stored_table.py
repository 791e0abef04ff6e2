"""A table as readers without a JVM see it: a history of snapshots that DuckDB can read."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from headwater.errors import HeadwaterError, ServiceError
from headwater.errors.plain import plain
from headwater.lake.failures import OUT_OF_REACH, explain_failure
from headwater.lake.protocol.history import Commit, History, Snapshot
from headwater.lake.reserved_names import DEFINITION, FORMERLY, SWAPPING, definitions_in
from headwater.serve.connection import quoted

if TYPE_CHECKING:
    import duckdb


NUMBER, AT = "__why", "__at"
"""Columns of numbered rows: a number that no other row has, and the row's place in its file."""
ROWS_OF_FILE = 36
"""Bits of a number for the place in a file, below those for the file."""


class StoredTable(History):
    """One table as it was when it was opened.

    Attributes:
        is_delta: whether it is a Delta table, not an Iceberg table.
    """

    is_delta: ClassVar[bool] = False

    @property
    @abstractmethod
    def properties(self) -> Mapping[str, str]:
        """Its properties."""

    @property
    @abstractmethod
    def refs(self) -> Mapping[str, int]:
        """The snapshot of each branch and tag."""

    @property
    def definition(self) -> str:
        """The SQL that its newest commit is of, if it is a view of format 2."""
        return self.properties.get(DEFINITION, "")

    @property
    def definitions(self) -> Mapping[int, str]:
        """The SQL of earlier versions, by number."""
        return definitions_in(self.properties)

    @property
    def formerly(self) -> Sequence[str]:
        """The names that it had."""
        found: list[str] = json.loads(self.properties.get(FORMERLY, "[]"))
        return found

    @property
    def is_shadow(self) -> bool:
        """Whether a view is taking over its files, by an apply that is not done."""
        return SWAPPING in self.properties

    @cached_property
    def _histories(self) -> dict[str, Sequence[Commit]]:
        return {}

    def history(self, view: str) -> Sequence[Commit]:
        """Return all commits of a view, newest first; they are read once.

        Args:
            view: the view.
        """
        if view not in self._histories:
            self._histories[view] = tuple(self.commits(view))
        return self._histories[view]

    def rows_at(self, snapshot: Snapshot) -> int:
        """Return how many rows the table has at a snapshot."""
        return snapshot.total

    @abstractmethod
    def columns(self, snapshot_id: int | None = None) -> dict[str, str]:
        """Return name and type of every column in order, hidden ones included.

        Args:
            snapshot_id: the snapshot whose columns are meant; the columns are those of now by
                default.
        """

    @abstractmethod
    def select(
        self,
        connection: duckdb.DuckDBPyConnection,
        name: str,
        snapshot_id: int | None,
        columns: Sequence[str],
    ) -> str:
        """Return the SELECT by which DuckDB reads one snapshot.

        Args:
            connection: gets what the SELECT reads.
            name: a name that no other table has there.
            snapshot_id: the snapshot to read; None reads an empty table.
            columns: the columns, in order.

        Raises:
            ConfigError: ``DELTA_READER_MISSING``.
            ServiceError: ``READ_FAILED``, ``UNSUPPORTED_TYPE``.
        """

    @abstractmethod
    def is_readable(self, snapshot_id: int) -> bool:
        """Return whether a snapshot and its files are kept.

        Args:
            snapshot_id: its id.
        """

    @abstractmethod
    def lost_files(self) -> list[str]:
        """Return the files that the current snapshot names and that do not exist."""

    def numbered(
        self,
        connection: duckdb.DuckDBPyConnection,
        name: str,
        snapshot_id: int | None,
        columns: Sequence[str],
        first: int,
    ) -> str:
        """Return the SELECT of one snapshot with two more columns, :data:`NUMBER` and :data:`AT`.

        Args:
            connection: gets what the SELECT reads.
            name: a name that no other table has there.
            snapshot_id: the snapshot to read; None reads an empty table.
            columns: the columns, in order.
            first: the least number of a row.
        """
        body = self.select(connection, f"{name}$plain", snapshot_id, columns)
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {quoted(name)} AS {body}")
        return f"SELECT *, {first} + rowid AS {NUMBER}, rowid AS {AT} FROM {quoted(name)}"

    def create_view(
        self,
        connection: duckdb.DuckDBPyConnection,
        name: str,
        snapshot_id: int | None,
        columns: Sequence[str],
        first: int | None = None,
    ) -> None:
        """Create a DuckDB view over one snapshot.

        Args:
            connection: where to create it.
            name: name of the view; ``"as_of.orders"`` is one name, not schema and name.
            snapshot_id: the snapshot to read; None reads an empty table.
            columns: the columns of the view, in order.
            first: the least number of a row if rows are :meth:`numbered`.

        Raises:
            ConfigError: ``DELTA_READER_MISSING``.
            ServiceError: ``READ_FAILED``, ``UNSUPPORTED_TYPE``.
        """
        with reading(self.name):
            rows = f"{name}$rows"
            if first is None:
                body = self.select(connection, rows, snapshot_id, columns)
            else:
                body = self.numbered(connection, rows, snapshot_id, columns, first)
            connection.execute(f"CREATE OR REPLACE TEMP VIEW {quoted(name)} AS {body}")


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Say of what cannot be read which table it is of.

    Raises:
        HeadwaterError: ``READ_FAILED``, or what is known of the catalog and the object store.
    """
    try:
        yield
    except HeadwaterError:
        raise
    except Exception as error:  # PyIceberg and DuckDB raise what the storage raises
        known = explain_failure(error)
        if known is not None and known.condition in OUT_OF_REACH:
            raise known from error
        raise unreadable(name, error) from error


def unreadable(name: str, error: BaseException) -> ServiceError:
    """Return the error of a table that cannot be read."""
    hint = "restore missing files from a backup; see: headwater doctor"
    message = f'table "{name}" cannot be read: {plain(error)}'
    return ServiceError("READ_FAILED", message, hint=hint)
