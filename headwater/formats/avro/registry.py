"""A schema registry: numbers → schemas and back, over the HTTP interface of Confluent's.

In: the options of ``ENCODE AVRO``. Out: :class:`~headwater.formats.avro.schema.Schema`, or why a
number has none that can be read; the number of a schema that is ours. What a number stands for
never changes, so a schema is asked for once; one that the registry does not have yet is asked for
again.

See "Schema Registry API Reference": ``GET /schemas/ids/{id}``,
``GET /subjects/{subject}/versions/{version}``, ``POST /subjects/{subject}/versions``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import requests

from headwater.analyze.definitions import Sink, Source
from headwater.config.secrets import Secret
from headwater.errors import ServiceError, TerminalError
from headwater.formats.avro.schema import Schema, SchemaRefused, parse

_TIMEOUT = (5.0, 20.0)  # seconds, to connect and to read
_ACCEPT = {"Accept": "application/vnd.schemaregistry.v1+json, application/json"}
_SENT = {"Content-Type": "application/vnd.schemaregistry.v1+json"}
_UNKNOWN = (40401, 40402, 40403)
"""What a registry itself says of a subject, a version and a schema that it does not have; any
server says 404 of an address that it does not have."""


class Registry:
    """A registry, for one source or sink.

    Args:
        directory: where relative paths start.

    Raises:
        ConfigError: ``SECRET_MISSING``.
    """

    def __init__(self, user: Source | Sink, directory: Path) -> None:
        options = user.encode_options
        self._user, self._address = user, options["registry"].rstrip("/")
        self._auth: tuple[str, str] | None = None
        if "registry_username" in options:
            password = Secret(options["registry_password"]).reveal()
            self._auth = options["registry_username"], password
        ca = options.get("registry_ca")
        self._verify: str | bool = str(directory / ca) if ca else True
        self._known: dict[int, Schema] = {}

    def schema(self, number: int) -> Schema | str:
        """Return the schema of a number, or the reason why records with it cannot be read.

        Args:
            number: from the beginning of a record.

        Raises:
            ServiceError: ``REGISTRY_UNAVAILABLE``.
            TerminalError: ``REGISTRY_REFUSED``.
        """
        if number in self._known:
            return self._known[number]
        found = self._asked(f"schemas/ids/{number}")
        if found is None:
            return f"schema {number} is not in the registry"
        schema = self._parsed(number, found)
        if isinstance(schema, Schema):
            self._known[number] = schema
        return schema

    def _parsed(self, number: int, found: dict[str, Any]) -> Schema | str:
        kind = found.get("schemaType") or "AVRO"
        if kind != "AVRO":
            return f"schema {number} is of type {kind}, not AVRO"
        try:
            return parse(number, str(found.get("schema")), [*self._referred(found, set())])
        except SchemaRefused as refused:
            return f"schema {number} cannot be read: {refused}"

    def _referred(self, found: dict[str, Any], seen: set[tuple[str, int]]) -> Iterator[str]:
        """Yield the schemas that one refers to, each after those that it refers to itself."""
        for reference in found.get("references") or []:
            place = reference["subject"], reference["version"]
            if place in seen:
                continue
            seen.add(place)
            subject = quote(place[0], safe="")
            held = self._asked(f"subjects/{subject}/versions/{place[1]}")
            if held is None:
                raise SchemaRefused(f'version {place[1]} of "{place[0]}" is not in the registry')
            yield from self._referred(held, seen)
            yield str(held["schema"])

    def number(self, subject: str, schema: str) -> int:
        """Return the number of a schema; one that the registry does not have yet gets one.

        Args:
            subject: what the schema is of, for example ``<topic>-value``.
            schema: JSON.

        Raises:
            ServiceError: ``REGISTRY_UNAVAILABLE``.
            TerminalError: ``REGISTRY_REFUSED``; ``SCHEMA_REFUSED`` if the subject has others, with
                which it does not go together.
        """
        url = f"{self._address}/subjects/{quote(subject, safe='')}/versions"
        answer = self._answer("POST", url, {"schema": schema})
        said = _json(answer)
        if answer.status_code == 200 and isinstance(said.get("id"), int):
            return int(said["id"])
        if answer.status_code in (409, 422):
            raise TerminalError(
                "SCHEMA_REFUSED",
                f'the registry at {self._address} does not take the schema of "{self._user.name}" '
                f'for subject "{subject}": {str(said.get("message", ""))[:300]}',
                hint="let it take the schema (the compatibility of the subject), or deliver to a"
                " topic of its own",
                span=self._user.span,
            )
        raise self._unavailable(f"{answer.status_code} {answer.reason} to POST {url}")

    def _asked(self, path: str) -> dict[str, Any] | None:
        """What the registry answers; None if it does not have that."""
        url = f"{self._address}/{path}"
        answer = self._answer("GET", url)
        said = _json(answer)
        if answer.status_code == 200 and "schema" in said:
            return said
        if answer.status_code == 404 and said.get("error_code") in _UNKNOWN:
            return None
        raise self._unavailable(f"{answer.status_code} {answer.reason} to GET {url}")

    def _answer(
        self, method: str, url: str, body: dict[str, str] | None = None
    ) -> requests.Response:
        """What is answered to one question; whoever asks is let in."""
        try:
            answer = requests.request(
                method,
                url,
                json=body,
                auth=self._auth,
                verify=self._verify,
                timeout=_TIMEOUT,
                headers=_ACCEPT if body is None else _ACCEPT | _SENT,
            )
        except OSError as error:
            raise self._unavailable(str(error)[:300]) from error
        if answer.status_code in (401, 403):
            may = "read" if method == "GET" else "write"
            raise TerminalError(
                "REGISTRY_REFUSED",
                f'the registry at {self._address} does not let "{self._user.name}" {may}: '
                f"{answer.status_code} {answer.reason}",
                hint=f"check registry_username and registry_password, and what the user may {may}",
                span=self._user.span,
            )
        return answer

    def _unavailable(self, reason: str) -> ServiceError:
        return ServiceError(
            "REGISTRY_UNAVAILABLE",
            f'the registry at {self._address} does not answer for "{self._user.name}": {reason}',
            hint="check that it runs, and the option registry: the address under which"
            " /subjects is (of Apicurio …/apis/ccompat/v7); https may need registry_ca",
            span=self._user.span,
        )


def _json(answer: requests.Response) -> dict[str, Any]:
    try:
        said = answer.json()
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
