"""PostgreSQL as the catalog's database.

In: ``postgresql://user:${env:NAME}@host:port/database`` from ``headwater.toml``. Out: a
:class:`PostgresDatabase`. The password is read when a connection is made, and goes neither into an
address that is logged nor onto a command line.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from headwater.config.settings import Secret
from headwater.errors import ConfigError, ServiceError
from headwater.lake.catalogs.database import BUSY_TIMEOUT, CatalogDatabase, Statements

if TYPE_CHECKING:
    import psycopg

CONNECT_TIMEOUT = 10
"""How long a new connection may take, in seconds."""

SILENCE = 60
"""Seconds after which a server that says nothing at all is given up."""

_FORM = re.compile(
    r"postgres(?:ql)?://(?:(?P<user>[^:@/]*)(?::(?P<password>[^@/]*))?@)?"
    r"(?P<host>\[[^]]+\]|[^:/?]+)(?::(?P<port>\d+))?/(?P<database>[^?/]+)(?:\?(?P<options>.*))?"
)
_OPTIONS = ("sslmode", "sslrootcert", "sslcert", "sslkey")
_CREATING = 4_839_201_177  # any number: all who create tables of ours take this advisory lock


@dataclass(frozen=True, slots=True)
class Address:
    """Where a PostgreSQL database is; printing it shows references to secrets only.

    Attributes:
        host: name or address of the server.
        port: its port.
        database: name of the database.
        user: who connects; None for the default of the client.
        password: None if none is needed.
        options: options of the connection (``sslmode`` and its files).
    """

    host: str
    port: int
    database: str
    user: Secret | None
    password: Secret | None
    options: tuple[tuple[str, str], ...]

    @classmethod
    def parse(cls, uri: Secret) -> Address:
        """Read an address.

        Args:
            uri: the address; references in it are resolved when they are needed, so that a password
                may hold any character. An address that is one reference is resolved now.

        Raises:
            ConfigError: ``INVALID_OPTION`` or ``SECRET_MISSING``.
        """
        template = uri.template if "://" in uri.template else uri.reveal()
        found = _FORM.fullmatch(template)
        if not found:
            raise _invalid("it is no address of a PostgreSQL database")
        options = parse_qsl(found["options"] or "")
        for name, _ in options:
            if name not in _OPTIONS:
                raise _invalid(f'"{name}" is not among {", ".join(_OPTIONS)}')

        def part(name: str) -> Secret | None:
            return Secret(unquote(found[name])) if found[name] else None

        return cls(
            host=found["host"].strip("[]"),
            port=int(found["port"] or 5432),
            database=unquote(found["database"]),
            user=part("user"),
            password=part("password"),
            options=tuple(options),
        )


def _invalid(reason: str) -> ConfigError:
    return ConfigError(
        "INVALID_OPTION",
        f'option "catalog.uri": {reason}',
        hint='write uri = "postgresql://user:${env:NAME}@host:5432/database"',
    )


class PostgresDatabase(CatalogDatabase):
    """A PostgreSQL database.

    Args:
        address: where it is.
        keep_open: whether connections are kept for the next transaction, until :meth:`close`.
    """

    jars = ("core", "postgres")
    driver = "org.postgresql.Driver"
    classes = (driver,)

    def __init__(self, address: Address, *, keep_open: bool = False) -> None:
        self._address = address
        self._keep_open = keep_open
        self._idle: deque[psycopg.Connection[Any]] = deque()

    def jdbc_settings(self) -> dict[str, str]:
        """Return the address by which Iceberg's JDBC catalog opens the database, and the user."""
        address = self._address
        options = {
            "ApplicationName": "headwater",
            "connectTimeout": str(CONNECT_TIMEOUT),
            "socketTimeout": str(SILENCE),
            "tcpKeepAlive": "true",
            "options": f"-c lock_timeout={BUSY_TIMEOUT}",
            **dict(address.options),
        }
        place = f"{_host(address)}:{address.port}/{quote(address.database)}"
        settings = {"uri": f"jdbc:postgresql://{place}?{urlencode(options, quote_via=quote)}"}
        if address.user:
            settings["jdbc.user"] = address.user.reveal()
        return settings

    def spark_secrets(self) -> dict[str, str]:
        """Return the password as Iceberg's JDBC catalog takes it."""
        password = self._address.password
        return {"jdbc.password": password.reveal()} if password else {}

    def reader_uri(self) -> str:
        """Return the address by which SQLAlchemy reads the database."""
        return self._uri({"options": "-c default_transaction_read_only=on"})

    def writer_uri(self) -> str:
        """Return the address by which SQLAlchemy may change the catalog too."""
        return self._uri({})

    def _uri(self, further: Mapping[str, str]) -> str:
        address = self._address
        user = quote(address.user.reveal(), safe="") if address.user else ""
        if address.password:
            user += ":" + quote(address.password.reveal(), safe="")
        options = {
            "connect_timeout": str(CONNECT_TIMEOUT),
            **further,
            **dict(address.options),
        }
        place = f"{_host(address)}:{address.port}/{quote(address.database)}"
        query = urlencode(options, quote_via=quote)
        return f"postgresql+psycopg://{user}{'@' if user else ''}{place}?{query}"

    def has_table(self, name: str) -> bool:
        """Return whether a table exists."""
        with self.transaction(writes=False) as run:
            found = run("SELECT to_regclass(?)", name).fetchone()
            return found is not None and found[0] is not None

    def create_table(self, ddl: str) -> None:
        """Run ``CREATE TABLE IF NOT EXISTS …`` safely beside others who do the same."""
        with self.transaction() as run:
            run("SELECT pg_advisory_xact_lock(?)", _CREATING)  # IF NOT EXISTS looks, then creates
            run(ddl)

    def close(self) -> None:
        """Close the connections that are kept open."""
        self._keep_open = False
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _transaction(self, writes: bool) -> Iterator[Statements]:
        connection = self._idle_connection() or self._connect()
        try:
            with connection.transaction():
                yield lambda sql, *values: connection.execute(sql.replace("?", "%s"), values)
        except BaseException:
            connection.close()
            raise
        if self._keep_open:
            self._idle.append(connection)
        else:
            connection.close()

    def _idle_connection(self) -> psycopg.Connection[Any] | None:
        """A connection that was kept and still works; a new one costs a login (15 ms)."""
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            try:
                with connection.transaction():
                    connection.execute("SELECT 1")
            except self._errors_of_client():
                connection.close()
            else:
                return connection

    def _connect(self) -> psycopg.Connection[Any]:
        address, client = self._address, _psycopg()
        connection: psycopg.Connection[Any] = client.connect(
            host=address.host,
            port=address.port,
            dbname=address.database,
            user=address.user.reveal() if address.user else None,
            password=address.password.reveal() if address.password else None,
            connect_timeout=CONNECT_TIMEOUT,
            tcp_user_timeout=SILENCE * 1000,
            application_name="headwater",
            options=f"-c lock_timeout={BUSY_TIMEOUT}",
            autocommit=True,  # what is outside of a block is a transaction of its own
            **dict(address.options),
        )
        return connection

    def _is_failure(self, error: Exception) -> bool:
        return isinstance(error, self._errors_of_client())

    @staticmethod
    def _errors_of_client() -> tuple[type[Exception], ...]:
        return (_psycopg().Error, OSError)


def _host(address: Address) -> str:
    return f"[{address.host}]" if ":" in address.host else address.host


def _psycopg() -> Any:  # noqa: ANN401 - the module
    try:
        import psycopg
    except ImportError as error:
        raise ServiceError(
            "EXTRA_MISSING",
            "PostgreSQL as catalog needs the Python package psycopg",
            hint="install it with: pip install 'headwater[postgres]'",
        ) from error
    return psycopg
