"""PostgreSQL as the catalog's database.

In: ``postgresql://user:${env:NAME}@host:port/database`` from ``headwater.toml``. Out: a
:class:`PostgresDatabase`. The password is read when a connection is needed, and goes neither into
an address that is logged nor onto a command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from headwater.config.secrets import REFERENCE
from headwater.config.settings import Secret
from headwater.errors import ConfigError, ServiceError
from headwater.lake.catalogs.database import BUSY_TIMEOUT, CatalogDatabase

if TYPE_CHECKING:
    from sqlalchemy import URL, Engine

CONNECT_TIMEOUT = 10
"""How long a new connection may take, in seconds."""

SILENCE = 60
"""Seconds after which a server that says nothing at all is given up."""

_SCHEMES = ("postgresql", "postgres")
_OPTIONS = ("sslmode", "sslrootcert", "sslcert", "sslkey")
_CREATING = 4_839_201_177  # any number: all who create tables of ours take this advisory lock


def postgres_url(uri: Secret) -> URL:
    """Read the address of a PostgreSQL database.

    Args:
        uri: the address. References in it to user and password stay references until a connection
            is made, so that a password may hold any character. An address that is one reference is
            resolved now.

    Raises:
        ConfigError: ``INVALID_OPTION`` or ``SECRET_MISSING``.
    """
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    template = uri.template if "://" in uri.template else uri.reveal()
    try:
        url = make_url(REFERENCE.sub(lambda found: quote(found[0], safe=""), template))
    except (ArgumentError, ValueError):
        raise _invalid("it is not the address of a PostgreSQL database") from None
    if url.drivername not in _SCHEMES or not url.host or not url.database or "%" in url.host:
        raise _invalid("it is not the address of a PostgreSQL database")
    for name, value in url.query.items():
        if name not in _OPTIONS:
            raise _invalid(f'"{name}" is not among {", ".join(_OPTIONS)}')
        if not isinstance(value, str):
            raise _invalid(f'"{name}" is given twice')
    return url.set(drivername="postgresql+psycopg", port=url.port or 5432)


def _invalid(reason: str) -> ConfigError:
    return ConfigError(
        "INVALID_OPTION",
        f'option "catalog.uri": {reason}',
        hint='write uri = "postgresql://user:${env:NAME}@host:5432/database"',
    )


class PostgresDatabase(CatalogDatabase):
    """A PostgreSQL database.

    Args:
        address: its address as :func:`postgres_url` reads it, with references to secrets.
        keep_open: whether connections stay open for the next transaction, until :meth:`close`.
    """

    jars = ("core", "postgres")
    driver = "org.postgresql.Driver"
    classes = (driver,)

    def __init__(self, address: URL, *, keep_open: bool = False) -> None:
        self._address = address
        self._keep_open = keep_open

    def jdbc_settings(self) -> dict[str, str]:
        """Return the address by which Iceberg's JDBC catalog opens the database, and the user."""
        address = self._address
        options = {
            "ApplicationName": "headwater",
            "connectTimeout": str(CONNECT_TIMEOUT),
            "socketTimeout": str(SILENCE),
            "tcpKeepAlive": "true",
            "options": f"-c lock_timeout={BUSY_TIMEOUT}",
            **address.query,
        }
        host = f"[{address.host}]" if ":" in str(address.host) else address.host
        place = f"{host}:{address.port}/{quote(str(address.database))}"
        settings = {"uri": f"jdbc:postgresql://{place}?{urlencode(options, quote_via=quote)}"}
        if address.username:
            settings["jdbc.user"] = Secret(address.username).reveal()
        return settings

    def spark_secrets(self) -> dict[str, str]:
        """Return the password as Iceberg's JDBC catalog takes it."""
        password = self._address.password
        return {"jdbc.password": Secret(password).reveal()} if password else {}

    def url(self, *, read_only: bool = False) -> URL:
        """Return the address by which SQLAlchemy opens the database."""
        address, options = self._address, {"connect_timeout": str(CONNECT_TIMEOUT)}
        if read_only:
            options["options"] = "-c default_transaction_read_only=on"
        return address.set(
            username=Secret(address.username).reveal() if address.username else None,
            password=Secret(address.password).reveal() if address.password else None,
        ).update_query_dict(options)

    def create_table(self, ddl: str) -> None:
        """Run ``CREATE TABLE IF NOT EXISTS …`` safely beside others who do the same."""
        with self.transaction() as run:
            # IF NOT EXISTS looks, then creates
            run("SELECT pg_advisory_xact_lock(:key)", key=_CREATING)
            run(ddl)

    def close(self) -> None:
        """Close the connections that are open; later ones are closed after each transaction."""
        self._keep_open = False
        super().close()

    def _open(self) -> Engine:
        from sqlalchemy import NullPool, QueuePool, create_engine

        pool: dict[str, Any] = {"poolclass": NullPool}
        if self._keep_open:
            # asked whether it still works before it is used: a new one costs a login (15 ms)
            pool = {"poolclass": QueuePool, "pool_pre_ping": True, "max_overflow": -1}
        try:
            return create_engine(
                self.url(),
                connect_args={
                    "tcp_user_timeout": SILENCE * 1000,
                    "application_name": "headwater",
                    "options": f"-c lock_timeout={BUSY_TIMEOUT}",
                },
                use_native_hstore=False,
                **pool,
            )
        except ImportError as error:
            raise ServiceError(
                "EXTRA_MISSING",
                "PostgreSQL as catalog needs the Python package psycopg",
                hint="install it with: pip install 'headwater[postgres]'",
            ) from error
