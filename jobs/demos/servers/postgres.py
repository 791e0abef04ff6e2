"""PostgreSQL, with the programs that are installed on the machine.

In: ``postgres/postgresql.conf``. Out: a server whose changes can be read as they are committed.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.errors import ServiceError
from jobs.demos.servers.service import CONFIGURATION, DEFAULTS, HOST, Service

if TYPE_CHECKING:
    import psycopg

_INSTALLATIONS = "usr/lib/postgresql/*/bin"  # below /: Debian has the programs outside of PATH


class Postgres(Service):
    """A server.

    Args:
        folder: of the stack.
        lasting: whether the server outlives this program.
        password: of the superuser, when the server is made.

    Attributes:
        host: where it listens.
        user: the superuser; its database is ``postgres``.
        password: its password.
    """

    name = "postgres"
    files = ("postgres/postgresql.conf",)
    port_names = ("POSTGRES_PORT",)
    stop_signal = signal.SIGINT  # at SIGTERM it would wait until its clients go by themselves

    host = HOST
    user = DEFAULTS["POSTGRES_USER"]

    def __init__(
        self, folder: Path, *, lasting: bool = False, password: str = DEFAULTS["POSTGRES_PASSWORD"]
    ) -> None:
        super().__init__(folder, lasting=lasting)
        self.password = password

    @property
    def port(self) -> int:
        """Where it listens, on 127.0.0.1 only."""
        return self.ports["POSTGRES_PORT"]

    @property
    def address(self) -> str:
        """Where it is, without the password."""
        return f"postgresql://{self.user}@{HOST}:{self.port}/postgres"

    def uri(
        self,
        port: int | None = None,
        variable: str = "POSTGRES_PASSWORD",
        database: str = "postgres",
    ) -> str:
        """Return the address as it stands in headwater.toml.

        Args:
            port: another one, for example of a proxy.
            variable: of the environment, which holds the password.
            database: name of the database.
        """
        where = f"{HOST}:{port or self.port}/{database}"
        return f"postgresql://{self.user}:${{env:{variable}}}@{where}"

    def connect(self) -> psycopg.Connection[Any]:
        """Return a connection, in UTC; each statement is a transaction.

        Raises:
            psycopg.OperationalError: if the server does not answer.
        """
        return connection_to(HOST, self.port, self.user, self.password)

    def prepare(self) -> None:
        """Hand the folder to the server's user, and make the database once."""
        user, group = self.account()
        if user is not None and group is not None:
            self._check_reach()
            os.chown(self.folder, user, group)
        # a copy, since that user may not be able to read the project's files
        shutil.copyfile(CONFIGURATION / self.files[0], self._configuration)
        if not (self.folder / "data" / "PG_VERSION").exists():
            secret = self.folder / "password"
            secret.touch(mode=0o600)
            if user is not None and group is not None:
                os.chown(secret, user, group)
            secret.write_text(self.password, encoding="utf-8")
            options = ["-U", self.user, "-E", "UTF8", "--no-sync", "--auth=scram-sha-256"]
            self.run([_program("initdb"), "-D", "data", *options, f"--pwfile={secret}"])
            secret.unlink()

    def command(self) -> Sequence[str | Path]:
        """Return the command line of the server."""
        settings = [
            f"config_file={self._configuration}",
            f"listen_addresses={HOST}",
            "unix_socket_directories=",  # paths of sockets must be short
        ]
        options = [part for setting in settings for part in ("-c", setting)]
        return [_program("postgres"), "-D", "data", "-p", str(self.port), *options]

    def answers(self) -> bool:
        """Return whether the server takes connections; it says so in a file."""
        process = self.process
        status = (self.folder / "data" / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        ours = process is not None and status[:1] == [str(process.pid)]
        return ours and len(status) > 7 and status[7].strip() == "ready"

    def account(self) -> tuple[int, int] | tuple[None, None]:
        """Return the user ``nobody`` for root, as whom the server refuses to run."""
        if os.geteuid() != 0:
            return None, None
        nobody = pwd.getpwnam("nobody")
        return nobody.pw_uid, nobody.pw_gid

    @property
    def _configuration(self) -> Path:
        return self.folder / "postgresql.conf"

    def _check_reach(self) -> None:
        for parent in self.folder.parents:
            if not parent.stat().st_mode & 0o001:
                raise ServiceError(
                    "SERVICE_FOLDER",
                    f"PostgreSQL does not run as root, and user nobody cannot enter {parent}",
                    hint="run it as another user, or choose a folder below /tmp: --folder",
                )


def connection_to(
    host: str, port: int, user: str, password: str, database: str = "postgres"
) -> psycopg.Connection[Any]:
    """Return a connection to a database, in UTC; each statement is a transaction.

    Raises:
        psycopg.OperationalError: if the server does not answer.
    """
    import psycopg

    return psycopg.connect(
        host=host, port=port, user=user, password=password, dbname=database,
        autocommit=True, connect_timeout=5, options="-c timezone=UTC",
    )  # fmt: skip


def require_programs() -> None:
    """Make sure that a server can be started.

    Raises:
        ServiceError: ``POSTGRES_MISSING``.
    """
    _program("postgres")


def is_installed() -> bool:
    """Return whether the programs of a server are on this machine."""
    return _find("postgres") is not None


def _program(name: str) -> str:
    if found := _find(name):
        return found
    hint = "install PostgreSQL 15 or newer (for example apt-get install postgresql)"
    raise ServiceError("POSTGRES_MISSING", f"there is no {name} on PATH", hint=hint)


def _find(name: str) -> str | None:
    installed = sorted(map(str, Path("/").glob(_INSTALLATIONS)), reverse=True)
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), *installed]))
