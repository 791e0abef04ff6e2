"""The right to run a project: one process at a time, with a token that rises with each owner.

In: a project's configuration. Out: a :class:`Lease`, or an error that names the owner.

Two locks. In the state folder one of the operating system, which drops it when its process dies,
however it dies. In the catalog, next to what it protects, a row (or table) with the owner, which
the owner renews: a newcomer that sees no renewal for a whole lease takes over with a higher token.
It counts renewals by its own clock, so clocks of hosts are never compared. An owner that was only
stopped finds the higher token at its next commit.
"""

from __future__ import annotations

import fcntl
import json
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from headwater.config.secrets import private_folder
from headwater.errors import ServiceError, TerminalError
from headwater.lake.catalogs.lease_record import LeaseRecord, Life, Owner, Standing
from headwater.lake.catalogs.opening import lease_record
from headwater.lake.failures import explain_failure
from headwater.lake.identity import LakeIdentity
from headwater.runtime.events import LeaseAwaited, Progress, silent

if TYPE_CHECKING:
    from headwater.config.settings import Config

log = logging.getLogger(__name__)

LOCK_FILE = "lease.lock"

RENEW_EVERY = 3.0
"""Seconds between two renewals, at most; a lease shorter than thrice this is renewed thrice. It is
also how long a newcomer needs to find out that the owner is alive."""

LOOK_EVERY = 1.0
"""Seconds between two looks of a newcomer at the row, at most."""


class Lease:
    """The right to run a project, held until :meth:`release` or the end of the process.

    Attributes:
        token: fence token; higher than that of every owner before.
        lost: the error that says so, once another process has taken over; None until then.
    """

    def __init__(
        self, lock: TextIO, row: LeaseRecord, token: int, owner: Owner, on_lost: Callable[[], None]
    ) -> None:
        self.token = token
        self.lost: TerminalError | None = None
        self._lock = lock
        self._row = row
        self._on_lost = on_lost
        self._released = threading.Event()
        self._every = min(owner.lease / 3, RENEW_EVERY)
        self._thread = threading.Thread(target=self._renew, name="lease", daemon=True)
        self._thread.start()

    @classmethod
    def acquire(
        cls,
        config: Config,
        *,
        progress: Progress = silent,
        on_lost: Callable[[], None] = lambda: None,
        moved: bool = False,
    ) -> Lease:
        """Take the lease of a project; wait for a silent owner's lease to run out.

        Args:
            progress: told while a silent owner is waited for.
            on_lost: called, in a thread of the lease's own, when another process has taken over.
            moved: whether the lake may lie elsewhere than where it was written.

        Raises:
            ServiceError: ``ALREADY_RUNNING`` with pid, host and age of the owner;
                ``LAKE_MOVED``, ``WAREHOUSE_TAKEN``;
                ``WAREHOUSE_NOT_WRITABLE``, ``CATALOG_LOCKED``, ``CATALOG_DOWN``, ``DISK_FULL``, ….
        """
        row = lease_record(config, keep_open=True)
        owner = Owner.this_process(config.run.lease)
        lake = LakeIdentity(config)
        try:
            private_folder(config.state)
            lock = (config.state / LOCK_FILE).open("a+", encoding="utf-8")
            try:
                _lock(lock)
                if not moved:
                    lake.check()
                row.create()
                token = _take(row, owner, progress)
                _sign(lock, owner)
                if not moved:
                    _take_turn(lake, row, token)
            except BaseException:
                lock.close()
                row.close()
                raise
        except OSError as error:
            raise explain_failure(error) or error from error
        return cls(lock, row, token, owner, on_lost)

    def check(self) -> None:
        """Make sure that nobody has taken over.

        Raises:
            TerminalError: ``FENCED`` if a later owner has a higher token.
            ServiceError: the catalog's database cannot be read.
        """
        standing = self._row.read()
        newest = standing.token if standing else 0
        if newest != self.token:
            by = f" by {standing.owner}" if standing and standing.owner else ""
            raise TerminalError(
                "FENCED",
                f'namespace "{self._row.namespace}" was taken over{by}: '
                f"its fence token is {newest}, that of this process is {self.token}",
                hint="stop this process: it was silent for longer than its lease (run.lease)",
            )

    def release(self) -> None:
        """Give the lease back; harmless if it was given back or lost before."""
        if not self._released.is_set():
            self._released.set()
            self._thread.join()
            with suppress(ServiceError):  # then the next owner sees that this process is dead
                self._row.release(self.token)
            self._row.close()
        self._lock.close()

    def _renew(self) -> None:
        while not self._released.wait(self._every):
            try:
                if self._row.renew(self.token):
                    continue
                self.check()
            except TerminalError as error:
                self.lost = error
                self._on_lost()
                return
            except ServiceError as error:  # what is not renewed may be taken; commits find out
                log.warning("the lease could not be renewed: %s", error.message)

    def __enter__(self) -> Lease:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def _take(row: LeaseRecord, owner: Owner, progress: Progress) -> int:
    """Take the lease as soon as nobody holds it.

    Raises:
        ServiceError: ``ALREADY_RUNNING`` as soon as the holder gives a sign of life.
    """
    watched: Standing | None = None
    since = time.monotonic()
    while True:
        seen = row.read()
        holder = (
            seen.owner if seen and (not seen.owner or seen.owner.life is not Life.DEAD) else None
        )
        if holder is not None and seen is not None:
            if watched is not None and seen != watched:
                raise _already_running(str(holder))
            watched = seen
            left = since + holder.lease - time.monotonic()
            if left > 0:
                progress(LeaseAwaited(str(holder), left))
                time.sleep(min(LOOK_EVERY, owner.lease / 10, left))
                continue
        token = row.take(owner, seen)
        if token is not None:
            return token


def _take_turn(lake: LakeIdentity, row: LeaseRecord, token: int) -> None:
    """Note in the lake who writes, or give the lease back at once."""
    try:
        lake.take_turn()
    except BaseException:
        row.release(token)
        raise


def _lock(lock: TextIO) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.seek(0)
        raise _already_running(_signed(lock.read())) from error


def _already_running(owner: str) -> ServiceError:
    return ServiceError(
        "ALREADY_RUNNING",
        f"this project is run by {owner}",
        hint="stop that process first: one process at a time may write the tables of a namespace",
    )


def _signed(text: str) -> str:
    try:
        return str(Owner(**json.loads(text)))
    except (ValueError, TypeError):
        return "a process that has just started"


def _sign(lock: TextIO, owner: Owner) -> None:
    lock.seek(0)
    lock.truncate()
    json.dump(asdict(owner), lock)
    lock.flush()
