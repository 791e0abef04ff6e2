"""A schema registry: numbers → schemas, over the HTTP interface of Confluent's.

In: the options of ``ENCODE AVRO``. Out: :class:`~headwater.intake.avro_schema.Schema`, or why a
number has none that can be read. What a number stands for never changes, so a schema is asked for
once; one that the registry does not have yet is asked for again.

See "Schema Registry API Reference": ``GET /schemas/ids/{id}``,
``GET /subjects/{subject}/versions/{version}``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import requests

from headwater.analyze.definitions import Source
from headwater.errors import ServiceError, TerminalError
from headwater.intake.avro_schema import Schema, SchemaRefused, parse
from headwater.secrets import Secret

_TIMEOUT = (5.0, 20.0)  # seconds, to connect and to read
_ACCEPT = {"Accept": "application/vnd.schemaregistry.v1+json, application/json"}
_UNKNOWN = (40401, 40402, 40403)
"""What a registry itself says of a subject, a version and a schema that it does not have; any
server says 404 of an address that it does not have."""


class Registry:
    """A registry, for one source.

    Args:
        source: the definition.
        directory: where relative paths start.

    Raises:
        ConfigError: ``SECRET_MISSING``.
    """

    def __init__(self, source: Source, directory: Path) -> None:
        options = source.encode_options
        self._source, self._address = source, options["registry"].rstrip("/")
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

    def _asked(self, path: str) -> dict[str, Any] | None:
        """What the registry answers; None if it does not have that."""
        url = f"{self._address}/{path}"
        try:
            answer = requests.get(
                url, auth=self._auth, verify=self._verify, timeout=_TIMEOUT, headers=_ACCEPT
            )
        except OSError as error:
            raise self._unavailable(str(error)[:300]) from error
        said = _json(answer)
        if answer.status_code == 200 and "schema" in said:
            return said
        if answer.status_code == 404 and said.get("error_code") in _UNKNOWN:
            return None
        if answer.status_code in (401, 403):
            raise TerminalError(
                "REGISTRY_REFUSED",
                f'the registry at {self._address} does not let "{self._source.name}" read: '
                f"{answer.status_code} {answer.reason}",
                hint="check registry_username and registry_password, and what the user may read",
                span=self._source.span,
            )
        raise self._unavailable(f"{answer.status_code} {answer.reason} to GET {url}")

    def _unavailable(self, reason: str) -> ServiceError:
        return ServiceError(
            "REGISTRY_UNAVAILABLE",
            f'the registry at {self._address} does not answer for "{self._source.name}": {reason}',
            hint="check that it runs, and the option registry: the address under which"
            " /subjects is (of Apicurio …/apis/ccompat/v7); https may need registry_ca",
            span=self._source.span,
        )


def _json(answer: requests.Response) -> dict[str, Any]:
    try:
        said = answer.json()
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
