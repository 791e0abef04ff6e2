"""Queries to Trino.

In: a project's configuration and SQL of Trino. Out: column names and rows. What Trino refuses and
what keeps it from answering are errors of ours; nothing is written, Trino's rules see to that.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from headwater.config.secrets import Secret
from headwater.errors import ConfigError, HeadwaterError, ServiceError, SqlError
from headwater.errors.plain import plain, plain_text
from headwater.serve.embedded import Result

if TYPE_CHECKING:
    import trino

    from headwater.config.settings import Config

SOURCE = "headwater"
"""What Trino's own list of queries says they came from."""

_FETCH = 1000


@contextmanager
def trino_connection(config: Config) -> Iterator[trino.dbapi.Connection]:
    """Open a session in UTC, whose tables without a schema are those of the project.

    Raises:
        ConfigError: ``TRINO_UNKNOWN`` if the project names no Trino, ``SECRET_MISSING``.
        ServiceError: ``EXTRA_MISSING`` without the Python package ``trino``; ``TRINO_DOWN``,
            ``QUERY_FAILED`` and ``QUERY_REFUSED`` (SqlError) within the block.
    """
    settings = config.trino
    if settings.url is None:
        hint = (
            'write [trino] url = "http://HOST:PORT" into headwater.toml, or set HEADWATER_TRINO_URL'
        )
        raise ConfigError("TRINO_UNKNOWN", "the project does not name Trino's address", hint=hint)
    try:
        import trino
    except ImportError as error:
        hint = "install it with: pip install 'headwater[trino]'"
        raise ServiceError(
            "EXTRA_MISSING", "Trino needs the Python package trino", hint=hint
        ) from error

    parts = urlsplit(settings.url)
    password = settings.password
    connection = trino.dbapi.Connection(
        host=parts.hostname or "",
        port=parts.port,
        http_scheme=parts.scheme,
        user=settings.user,
        auth=trino.auth.BasicAuthentication(settings.user, Secret(password).reveal())
        if password
        else None,
        source=SOURCE,
        catalog=settings.catalog,
        schema=config.namespace,
        timezone="UTC",
    )
    try:
        yield connection
    except trino.exceptions.Error as error:
        raise _explained(error, settings.url) from error
    finally:
        connection.close()  # type: ignore[no-untyped-call]


@contextmanager
def trino_query(config: Config, sql: str) -> Iterator[Result]:
    """Run one query; its rows can be read until the block ends.

    Args:
        sql: what Trino reads, as it stands.

    Raises:
        HeadwaterError: as :func:`trino_connection`.
    """
    with trino_connection(config) as connection:
        cursor = connection.cursor()
        try:
            cursor.execute(sql.strip().removesuffix(";"))
            names = tuple(column.name for column in cursor.description or ())
            yield Result(names, _rows(cursor))
        finally:
            cursor.cancel()


def _rows(cursor: trino.dbapi.Cursor) -> Iterator[tuple[object, ...]]:
    while rows := cursor.fetchmany(_FETCH):
        yield from map(tuple, rows)


def _explained(error: trino.exceptions.Error, url: str) -> HeadwaterError:
    from trino.exceptions import TrinoConnectionError, TrinoQueryError, TrinoUserError

    if isinstance(error, TrinoUserError):
        denied = error.error_name == "PERMISSION_DENIED"
        hint = "tables change by their definitions; Trino only reads them" if denied else ""
        return SqlError("QUERY_REFUSED", plain_text(error.message or ""), hint=hint)
    if isinstance(error, TrinoQueryError):
        hint = f"see query {error.query_id} at {url}"
        return ServiceError("QUERY_FAILED", plain_text(error.message or ""), hint=hint)
    down = isinstance(error, TrinoConnectionError)
    message = f"Trino at {url} does not answer" if down else f"Trino at {url}: {plain(error)}"
    hint = "start it, or correct [trino] url of headwater.toml"
    return ServiceError("TRINO_DOWN", message, hint=hint)
