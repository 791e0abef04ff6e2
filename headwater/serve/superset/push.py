"""A bundle brought to a running Superset by its REST interface.

In: the files of a bundle, an address, a user. Out: the dashboards' addresses, or one error that
says what to do. Objects are known by their uuids, so a second push replaces what the first one made
and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import requests

from headwater.errors import ConfigError, ServiceError
from headwater.serve.superset.bundle import zipped
from headwater.serve.superset.project import ProjectBundle

_TIMEOUT = (5.0, 120.0)  # seconds, to connect and to read: importing many charts takes a while


class Superset:
    """A session with a server.

    Args:
        url: its address.
        username: as whom.
        password: of the user.

    Raises:
        ConfigError: ``SUPERSET_LOGIN`` if user or password are wrong.
        ServiceError: ``SUPERSET_UNREACHABLE`` or ``SUPERSET_ANSWER``.
    """

    def __init__(self, url: str, username: str, password: str) -> None:
        self._url = url.rstrip("/")
        self._session = requests.Session()
        # Superset compares it with the address when it checks the token against forged requests.
        self._session.headers["Referer"] = self._url
        user = {"username": username, "password": password, "provider": "db"}
        answer = self._ask("POST", "security/login", json=user)
        self._session.headers["Authorization"] = f"Bearer {answer['access_token']}"
        self._session.headers["X-CSRFToken"] = self._ask("GET", "security/csrf_token/")["result"]

    def push(self, bundle: ProjectBundle, trino_password: str | None = None) -> list[str]:
        """Bring a bundle to the server.

        Args:
            bundle: what to bring.
            trino_password: of the user of the bundle's database, if it has one.

        Returns:
            The addresses of its dashboards.

        Raises:
            ServiceError: ``SUPERSET_REFUSED`` if the server does not take it; as above.
        """
        passwords = {bundle.database.file: trino_password} if trino_password else {}
        self._ask(
            "POST",
            "assets/import/",
            files={"bundle": ("headwater.zip", zipped(bundle.files), "application/zip")},
            data={"passwords": json.dumps(passwords)},
        )
        slugs = [dashboard.slug for dashboard in bundle.dashboards]
        self._require(slugs)
        return [f"{self._url}/superset/dashboard/{slug}/" for slug in slugs]

    def _require(self, slugs: Sequence[str]) -> None:
        """Make sure that the dashboards are there: some wrong requests are answered with 200."""
        for slug in slugs:
            self._ask("GET", f"dashboard/{slug}")

    def _ask(self, method: str, path: str, **content: Any) -> Any:  # noqa: ANN401 — JSON
        url = f"{self._url}/api/v1/{path}"
        try:
            answer = self._session.request(method, url, timeout=_TIMEOUT, **content)
        except requests.RequestException as error:
            hint = "start it, for example by make superset, or name another address: --url"
            message = f"{self._url} cannot be reached: {_reason(error)}"
            raise ServiceError("SUPERSET_UNREACHABLE", message, hint=hint) from None
        try:
            found = answer.json()
        except ValueError:
            found = None
        if answer.status_code == 401:
            hint = "look at [superset] username and password; they are those of its own log-in page"
            message = f"{self._url} does not let the user in"
            raise ConfigError("SUPERSET_LOGIN", message, hint=hint)
        if answer.status_code >= 500:
            hint = "does Superset reach Trino at the address in the bundle? it asks it; see its log"
            message = f"{url} failed with status {answer.status_code}"
            raise ServiceError("SUPERSET_REFUSED", message, hint=hint)
        if not isinstance(found, dict):
            hint = "look at the address: it is that of the page without /superset or /login"
            message = f"{url} answers {answer.status_code} and no JSON: it is no Superset"
            raise ServiceError("SUPERSET_ANSWER", message, hint=hint)
        if not answer.ok:
            raise ServiceError("SUPERSET_REFUSED", f"{url}: {_refusal(found, answer.status_code)}")
        return found


def _reason(error: requests.RequestException) -> str:
    if isinstance(error, ValueError):
        return "it is no address"
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    if isinstance(error, requests.ConnectionError):
        return "nobody answers there"
    return type(error).__name__


def _refusal(found: dict[str, Any], status: int) -> str:
    """What the server says of a request that it refuses, in one line."""
    errors = found.get("errors")
    if isinstance(errors, list) and errors:
        said = [f"{each.get('message')} {_details(each.get('extra'))}".strip() for each in errors]
        return "; ".join(said)
    return str(found.get("message") or f"status {status}")


def _details(extra: object) -> str:
    if not isinstance(extra, dict):
        return ""
    files = {name: text for name, text in extra.items() if name != "issue_codes"}
    return json.dumps(files, ensure_ascii=False) if files else ""
