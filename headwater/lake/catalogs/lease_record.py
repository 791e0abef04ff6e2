"""Who owns a project: the lease in its catalog, a row of the catalog's database.

In: the catalog and a namespace. Out: the :class:`Owner` on record, and the moves of a
lease (take, renew, release), each one compare-and-swap. What is written survives its owner: the
token only rises. Needs no JVM, so ``status`` and ``doctor`` may ask for the owner.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import uuid
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from enum import Enum
from functools import cache
from pathlib import Path

from headwater.errors import ServiceError
from headwater.errors.words import about
from headwater.lake.catalogs.database import CatalogDatabase

TABLE = "headwater_lease"
_BEGAN = time.time()
"""When this process began: the module is loaded within its first second or two."""

_CREATE = (
    f"CREATE TABLE IF NOT EXISTS {TABLE} (namespace VARCHAR(255) PRIMARY KEY,"
    " token BIGINT NOT NULL, renewals BIGINT, owner TEXT)"
)
_READ = f"SELECT token, renewals, owner FROM {TABLE} WHERE namespace = :namespace"
_TAKE = (
    f"INSERT INTO {TABLE} (namespace, token, renewals, owner) VALUES (:namespace, 1, 0, :owner)"
    f" ON CONFLICT (namespace) DO UPDATE SET token = {TABLE}.token + 1, renewals = 0,"
    f" owner = excluded.owner WHERE {TABLE}.token = :token"
    f" AND COALESCE({TABLE}.renewals, 0) = :renewals"
    " RETURNING token"
)
_RENEW = (
    f"UPDATE {TABLE} SET renewals = renewals + 1"
    " WHERE namespace = :namespace AND token = :token AND owner IS NOT NULL"
)
_RELEASE = f"UPDATE {TABLE} SET owner = NULL WHERE namespace = :namespace AND token = :token"

_NEVER = {"token": -1, "renewals": -1}
"""What no row says: a namespace that had no owner is taken by the INSERT alone."""


class Life(Enum):
    """What is known of a process from here."""

    DEAD = "dead"
    ALIVE = "alive"
    ELSEWHERE = "on another host"


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that owns a project.

    Attributes:
        host: name of its host.
        machine: identity of that host since its last start, and of the process namespace in it.
        pid: its process id there.
        started: when the process started, in the system's own words: process ids are used again.
        since: when it began to run, by its own clock, in seconds since 1970 UTC. It may have
            given the lease back and taken it again since then, for example to apply changes.
        lease: for how many seconds without a sign of life it stays the owner.
    """

    host: str
    machine: str
    pid: int
    started: str
    since: float
    lease: float

    @classmethod
    def this_process(cls, lease: timedelta) -> Owner:
        """Return this process as the owner from now on.

        Args:
            lease: length of its lease.
        """
        pid = os.getpid()
        started = process_started(pid) or ""
        host = socket.gethostname()
        return cls(host, _machine(), pid, started, _BEGAN, lease.total_seconds())

    @classmethod
    def parse(cls, text: str | None) -> Owner | None:
        """Read an owner.

        Args:
            text: its fields as JSON; None if there is none.
        """
        return cls(**json.loads(text)) if text else None

    @property
    def life(self) -> Life:
        """Whether the process lives, as far as this host can know."""
        if self.machine != _machine():
            return Life.ELSEWHERE
        return Life.ALIVE if process_started(self.pid) == self.started else Life.DEAD

    def __str__(self) -> str:
        return f"process {self.pid} on host {self.host}, for {about(time.time() - self.since)}"


@dataclass(frozen=True, slots=True)
class Standing:
    """The lease row of a namespace at one moment.

    Attributes:
        token: fence token of the newest owner.
        renewals: how often that owner has renewed its lease.
        owner: the owner; None if it gave the lease back.
    """

    token: int
    renewals: int
    owner: Owner | None


class LeaseRecord(ABC):
    """Where the lease of one namespace is written down; each move is compare-and-swap.

    Attributes:
        namespace: the namespace.
    """

    namespace: str

    @abstractmethod
    def exists(self) -> bool:
        """Return whether there is anything to read yet; never makes it.

        Raises:
            ServiceError: the catalog cannot be read.
        """

    @abstractmethod
    def create(self) -> None:
        """Make what :meth:`read` reads, once, before the lease is taken.

        Raises:
            ServiceError: the catalog cannot be written.
        """

    @abstractmethod
    def read(self) -> Standing | None:
        """Return what is written, or None if the namespace never had an owner.

        Raises:
            ServiceError: the catalog cannot be read.
        """

    @abstractmethod
    def take(self, owner: Owner, seen: Standing | None) -> int | None:
        """Become the owner, if what is written is still as it was seen.

        Args:
            owner: the new owner.
            seen: what :meth:`read` returned.

        Returns:
            The new token, higher than every one before; None if it has changed.

        Raises:
            ServiceError: the catalog cannot be written.
        """

    @abstractmethod
    def renew(self, token: int) -> bool:
        """Give a sign of life.

        Args:
            token: the owner's token.

        Returns:
            Whether it still is the owner.

        Raises:
            ServiceError: the catalog cannot be written.
        """

    @abstractmethod
    def release(self, token: int) -> None:
        """Give the lease back, if it is still held; the token stays, so that the next is higher.

        Args:
            token: the owner's token.

        Raises:
            ServiceError: the catalog cannot be written.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the connections to the catalog."""


class LeaseRow(LeaseRecord):
    """The lease of one namespace, as a row of the catalog's database.

    Args:
        database: the catalog's database.
        namespace: the namespace.
    """

    def __init__(self, database: CatalogDatabase, namespace: str) -> None:
        self._database = database
        self.namespace = namespace

    def exists(self) -> bool:
        """Return whether the table of leases is there."""
        return self._database.has_table(TABLE)

    def create(self) -> None:
        """Make the table of leases, or add what it lacks."""
        if not self.exists():  # a DBA may have made it, for a user who may create nothing
            self._database.create_table(_CREATE)
        try:
            self.read()
        except ServiceError as error:
            if error.condition != "CATALOG_FAILED":
                raise
            # version 0.1 knew tokens only
            for column in ("renewals BIGINT", "owner TEXT"):
                with self._database.transaction() as run:
                    run(f"ALTER TABLE {TABLE} ADD COLUMN {column}")

    def read(self) -> Standing | None:
        """Return the row, or None if the namespace never had an owner."""
        with self._database.transaction(writes=False) as run:
            row = run(_READ, namespace=self.namespace).first()
        return Standing(row[0], row[1] or 0, Owner.parse(row[2])) if row else None

    def take(self, owner: Owner, seen: Standing | None) -> int | None:
        """Become the owner, if the row is still as it was seen."""
        text = json.dumps(asdict(owner))
        at = {"token": seen.token, "renewals": seen.renewals} if seen else _NEVER
        with self._database.transaction() as run:
            row = run(_TAKE, namespace=self.namespace, owner=text, **at).first()
        return int(row[0]) if row else None

    def renew(self, token: int) -> bool:
        """Give a sign of life."""
        with self._database.transaction() as run:
            return run(_RENEW, namespace=self.namespace, token=token).rowcount == 1

    def release(self, token: int) -> None:
        """Give the lease back, if it is still held."""
        with self._database.transaction() as run:
            run(_RELEASE, namespace=self.namespace, token=token)

    def close(self) -> None:
        """Close the connection to the database."""
        self._database.close()


@cache
def _machine() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        # two containers of one host have process ids of their own
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return f"{uuid.getnode():x}"


def process_started(pid: int) -> str | None:
    """Return when a process of this host started, to tell it from a later one of the same number.

    Args:
        pid: its number.

    Returns:
        A text to compare (ticks of the system, or a date); None if it has ended.
    """
    if Path("/proc/self/stat").exists():
        with suppress(OSError, IndexError):
            # the name of the program comes second, in brackets, and may hold anything
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            return None if fields[0] in "ZX" else fields[19]
        return None
    found = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or None
