"""A stream in a Redis server: how far it reaches, how many entries it ever had, who reads it.

In: the options of a source. Out: what there is in its stream, and ids between which entries can be
read. Entries themselves are read by ``headwater.connectors.redis.entries``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwater.config.secrets import Secret
from headwater.errors import ServiceError

BEGIN = "0-0"
"""Before every id."""
GROUP = "headwater"
"""The group of a table that names none."""

Span = tuple[str, str, int]
"""Entries: the id before the first, the id of the last, and how many they are."""

_TIMEOUTS: Mapping[str, Any] = {"socket_timeout": 20.0, "socket_connect_timeout": 10.0}
_PER_SPAN = 200
"""Entries that the server looks at between two other clients."""
_WALK = """
local found = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[2], 'COUNT', ARGV[3])
return {#found, #found > 0 and found[#found][1] or ''}
"""
"""Counts entries where they are: Redis tells their ids only together with all that they hold."""
_MISSING = "no such key"


@dataclass(frozen=True, slots=True)
class RedisStreamState:
    """A stream as it was at one moment.

    Attributes:
        length: how many entries it has.
        added: how many it ever had.
        first: id of the oldest one; without entries :data:`BEGIN`.
        last: the highest id that was ever given; no later entry has a lower one.
        delivered: the id up to which our group has read; None without the group.
        consumers: how many others read as our group.
    """

    length: int
    added: int
    first: str
    last: str
    delivered: str | None
    consumers: int


def place(entry: str) -> tuple[int, int]:
    """Return an id as numbers, which have its order.

    Args:
        entry: the id, ``<milliseconds>-<number>``.
    """
    millis, _, number = entry.partition("-")
    return int(millis), int(number)


def client_settings(options: Mapping[str, str], directory: Path) -> dict[str, str]:
    """Return the settings of a client, secrets revealed.

    Args:
        directory: where relative paths start.

    Raises:
        ConfigError: ``SECRET_MISSING``.
    """
    settings = {name: options[name] for name in ("url", "username") if name in options}
    if "password" in options:
        settings["password"] = Secret(options["password"]).reveal()
    if "ssl_ca" in options:
        settings["ssl_ca_certs"] = str(directory / options["ssl_ca"])
    return settings


def client(settings: Mapping[str, str]) -> Any:  # noqa: ANN401 - its types are those of two clients
    """Return a client that connects when it is first asked, and tries a broken connection twice.

    Args:
        settings: from :func:`client_settings`.
    """
    from redis import Redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    return Redis.from_url(**settings, **_TIMEOUTS, retry=Retry(NoBackoff(), 1))


class Server:
    """A connection to the server of a stream; made when it is first needed.

    Args:
        source: name of the table, for messages.
        settings: of the client, see :func:`client_settings`.

    Raises:
        ServiceError: ``EXTRA_MISSING``.
    """

    def __init__(
        self, source: str, options: Mapping[str, str], settings: Mapping[str, str]
    ) -> None:
        self._source, self._url = source, options["url"]
        self._stream, self._group = options["stream"], options.get("group", GROUP)
        try:
            self._client = client(settings)
        except ImportError as error:
            raise ServiceError(
                "EXTRA_MISSING",
                "tables over Redis need the Python package redis",
                hint="install it with: pip install 'headwater[redis]'",
            ) from error

    def look(self) -> RedisStreamState | None:
        """Return the stream as it is now; None if there is none.

        Raises:
            ServiceError: ``REDIS_UNAVAILABLE``, ``REDIS_REFUSED``.
        """
        from redis import ResponseError

        with self._asking():
            at_once = self._client.pipeline(transaction=True)
            at_once.xinfo_stream(self._stream)
            at_once.xinfo_groups(self._stream)
            try:
                held, groups = at_once.execute()
            except ResponseError as error:
                if _MISSING in str(error):
                    return None
                raise
            if "entries-added" not in held:
                raise self.explained("it is older than Redis 7.0", refused=True)
        ours = next((each for each in groups if each["name"].decode() == self._group), None)
        return RedisStreamState(
            held["length"],
            held["entries-added"],
            held["recorded-first-entry-id"].decode(),
            held["last-generated-id"].decode(),
            ours["last-delivered-id"].decode() if ours else None,
            ours["consumers"] if ours else 0,
        )

    def walk(self, after: str, upto: str, most: int | None = None) -> list[Span]:
        """Return the entries between two ids, in pieces; nothing of them leaves the server.

        Args:
            after: the id before the first.
            upto: the highest id.
            most: how many entries to take.

        Raises:
            ServiceError: ``REDIS_UNAVAILABLE``, ``REDIS_REFUSED``.
        """
        spans: list[Span] = []
        left = most
        with self._asking():
            while left is None or left > 0:
                asked = _PER_SPAN if left is None else min(left, _PER_SPAN)
                script = (_WALK, 1, self._stream, f"({after}", upto, asked)
                count, last = self._client.execute_command("EVAL_RO", *script)
                if count:
                    spans.append((after, last.decode(), count))
                if count < asked:
                    break
                after, left = last.decode(), None if left is None else left - count
        return spans

    def join(self, after: str) -> None:
        """Make our group.

        Args:
            after: the id up to which it has read.

        Raises:
            ServiceError: ``REDIS_UNAVAILABLE``, ``REDIS_REFUSED``.
        """
        with self._asking():
            self._client.xgroup_create(self._stream, self._group, after)

    def acknowledge(self, after: str, added: int, *, trim: bool) -> None:
        """Say how far the stream was landed.

        Args:
            after: the id up to which our group has read.
            added: how many entries there ever were up to it.
            trim: whether those entries are to go.

        Raises:
            ServiceError: ``REDIS_UNAVAILABLE``, ``REDIS_REFUSED``.
        """
        with self._asking():
            self._client.xgroup_setid(self._stream, self._group, after, entries_read=added)
            if trim:
                millis, number = place(after)
                self._client.xtrim(self._stream, minid=f"{millis}-{number + 1}", approximate=False)

    def close(self) -> None:
        """End the connection."""
        self._client.close()

    def explained(self, cause: str, *, refused: bool = False) -> ServiceError:
        """Return what a failure of the client means.

        Args:
            refused: whether the server has answered.
        """
        if refused:
            return ServiceError(
                "REDIS_REFUSED",
                f'Redis at {self._url} refuses "{self._source}": {cause}',
                hint="check username, password and rights of the user, and that the server is "
                "Redis 7.0 or newer",
            )
        return ServiceError(
            "REDIS_UNAVAILABLE",
            f'Redis at {self._url} does not answer for "{self._source}": {cause}',
            hint="start the server, or correct the option url",
        )

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Make the client's errors ours."""
        from redis import exceptions

        try:
            yield
        except (exceptions.AuthenticationError, exceptions.ResponseError) as error:
            raise self.explained(str(error), refused=True) from error
        except exceptions.RedisError as error:
            raise self.explained(str(error)) from error
