"""The right to run a project: one process at a time, with a token that rises with each owner.

In: state folder, warehouse and namespace of a project. Out: a :class:`Lease`, or an error that
names the owner. The operating system drops the lock when its process dies, however it dies. The
token lies in the catalog's database, next to what it protects: it survives the loss of the state
folder, and also fences off a process that runs the same namespace from another state folder.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import TextIO

from headwater.errors import ServiceError, TerminalError
from headwater.lake.embedded import BUSY_TIMEOUT, catalog_database
from headwater.lake.failures import explain_failure
from headwater.secrets import private_folder

LOCK_FILE = "lease.lock"

_CREATE = (
    "CREATE TABLE IF NOT EXISTS headwater_lease"
    " (namespace TEXT PRIMARY KEY, token INTEGER NOT NULL)"
)
_RAISE = (
    "INSERT INTO headwater_lease VALUES (?, 1)"
    " ON CONFLICT (namespace) DO UPDATE SET token = token + 1 RETURNING token"
)
_READ = "SELECT token FROM headwater_lease WHERE namespace = ?"


class Lease:
    """The right to run a project, held until :meth:`release` or the end of the process.

    Attributes:
        token: fence token; higher than that of every owner before.
    """

    def __init__(self, lock: TextIO, database: Path, namespace: str, token: int) -> None:
        self.token = token
        self._lock = lock
        self._database = database
        self._namespace = namespace

    @classmethod
    def acquire(cls, state: Path, warehouse: Path, namespace: str) -> Lease:
        """Take the lease of a project.

        Args:
            state: the project's state folder; holds the lock file.
            warehouse: the project's warehouse; its catalog holds the token.
            namespace: the project's namespace.

        Raises:
            ServiceError: ``ALREADY_RUNNING`` with pid, host and age of the owner;
                ``WAREHOUSE_NOT_WRITABLE``, ``CATALOG_LOCKED`` or ``DISK_FULL``.
        """
        database = catalog_database(warehouse)
        try:
            private_folder(state)
            private_folder(database.parent)
            lock = (state / LOCK_FILE).open("a+", encoding="utf-8")
            try:
                _lock(lock, state)
                token = _raise_token(database, namespace)
                _sign(lock, token)
            except BaseException:
                lock.close()
                raise
        except (OSError, sqlite3.Error) as error:
            raise explain_failure(error) or error from error
        return cls(lock, database, namespace, token)

    def check(self) -> None:
        """Make sure that nobody has taken over.

        Raises:
            TerminalError: ``FENCED`` if a later owner has a higher token.
        """
        try:
            with closing(_connect(self._database)) as connection:
                row = connection.execute(_READ, (self._namespace,)).fetchone()
        except sqlite3.Error as error:
            raise explain_failure(error) or error from error
        newest = row[0] if row else 0
        if newest != self.token:
            raise TerminalError(
                "FENCED",
                f'another process has taken over namespace "{self._namespace}": '
                f"its fence token is {newest}, the one of this process {self.token}",
                hint="stop this process",
            )

    def release(self) -> None:
        """Give the lease back; harmless if it was given back before."""
        self._lock.close()

    def __enter__(self) -> Lease:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def _lock(lock: TextIO, state: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.seek(0)
        raise ServiceError(
            "ALREADY_RUNNING",
            f"this project is run by {_owner(lock.read())}",
            hint=f"stop that process first, or give this one a state folder other than {state}",
        ) from error


def _owner(text: str) -> str:
    try:
        owner = json.loads(text)
        age = max(0, int(time.time() - owner["since"]))
        return f"process {owner['pid']} on host {owner['host']}, for {_duration(age)}"
    except (ValueError, KeyError, TypeError):
        return "a process that has just started"


def _duration(seconds: int) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def _sign(lock: TextIO, token: int) -> None:
    owner = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.time(), "token": token}
    lock.seek(0)
    lock.truncate()
    json.dump(owner, lock)
    lock.flush()


def _raise_token(database: Path, namespace: str) -> int:
    with closing(_connect(database)) as connection, connection:
        connection.execute(_CREATE)
        return int(connection.execute(_RAISE, (namespace,)).fetchone()[0])


def _connect(database: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(database, timeout=BUSY_TIMEOUT / 1000)
    connection.execute("PRAGMA journal_mode = WAL")
    return connection
