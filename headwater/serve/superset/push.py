"""A bundle brought to a running Superset by its REST interface.

In: the files of a bundle, an address, a user. Out: the dashboards' addresses, or one error that
says what to do. Objects are known by their uuids, so a second push replaces what the first one
made, removes what the project has no more, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import requests

from headwater.errors import ConfigError, ServiceError
from headwater.serve.superset.bundle import zipped
from headwater.serve.superset.naming import uuid_of
from headwater.serve.superset.project import ProjectBundle

_TIMEOUT = (5.0, 120.0)  # seconds, to connect and to read: importing many charts takes a while
_PAGE = 100  # Superset's own limit of a list
_CHART = (
    *("id", "uuid", "slice_name", "is_managed_externally"),
    *("datasource_id", "datasource_type", "dashboards.id"),
)


@dataclass(frozen=True, slots=True)
class Pushed:
    """What a push has done.

    Attributes:
        addresses: of the dashboards.
        removed: charts and datasets of earlier pushes that the project has no more.
        left: those among them that people use in dashboards and charts of their own.
    """

    addresses: tuple[str, ...]
    removed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


class Superset:
    """A session with a server.

    Args:
        url: its address.
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

    def push(self, bundle: ProjectBundle, trino_password: str | None = None) -> Pushed:
        """Bring a bundle to the server, and remove what it has no more of earlier ones.

        Args:
            trino_password: of the user of the bundle's database, if it has one.

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
        removed, left = self._tidy(bundle, self._require(slugs))
        addresses = tuple(f"{self._url}/superset/dashboard/{slug}/" for slug in slugs)
        return Pushed(addresses, tuple(removed), tuple(left))

    def _require(self, slugs: Sequence[str]) -> set[int]:
        """Return the numbers of the dashboards: some wrong requests are answered with 200."""
        return {self._ask("GET", f"dashboard/{slug}")["result"]["id"] for slug in slugs}

    def _tidy(self, bundle: ProjectBundle, pages: set[int]) -> tuple[list[str], list[str]]:
        """Remove what earlier pushes have made and this one has not, but not what people use."""
        removed: list[str] = []
        left: list[str] = []
        datasets = self._datasets(bundle.database.namespace)
        for chart in self._old_charts(bundle, datasets):
            if {page["id"] for page in chart["dashboards"]} <= pages:
                self._ask("DELETE", f"chart/{chart['id']}")
                removed.append(f'chart "{chart["slice_name"]}"')
            else:
                left.append(f'chart "{chart["slice_name"]}"')
        for number, name in datasets.items():
            if name in bundle.datasets:
                continue
            if self._ask("GET", f"dataset/{number}/related_objects")["charts"]["count"]:
                left.append(f"dataset {name}")
            else:
                self._ask("DELETE", f"dataset/{number}")
                removed.append(f"dataset {name}")
        return removed, left

    def _datasets(self, namespace: str) -> dict[int, str]:
        """The names of the datasets that pushes have made: their uuids are made of these."""
        return {
            each["id"]: each["table_name"]
            for each in self._all("dataset", ("id", "uuid", "table_name"))
            if each["uuid"] == uuid_of(namespace, "dataset", each["table_name"])
        }

    def _old_charts(self, bundle: ProjectBundle, datasets: Collection[int]) -> list[dict[str, Any]]:
        """The charts of these datasets that were pushed, for people's are not managed elsewhere."""
        charts = (each.name for page in bundle.dashboards for each in page.charts)
        drawn = {uuid_of(bundle.database.namespace, "chart", name) for name in charts}
        return [
            each
            for each in self._all("chart", _CHART)
            if each["is_managed_externally"] and each["uuid"] not in drawn
            if each["datasource_type"] == "table" and each["datasource_id"] in datasets
        ]

    def _all(self, kind: str, columns: Sequence[str]) -> list[dict[str, Any]]:
        """The objects of a kind that the user sees, with some of their columns."""
        found: list[dict[str, Any]] = []
        while len(found) % _PAGE == 0:
            # Superset reads Rison, which is JSON without quotes
            said = f"(columns:!({','.join(columns)}),page:{len(found) // _PAGE},page_size:{_PAGE})"
            page = self._ask("GET", f"{kind}/", params={"q": said})["result"]
            if not page:
                break
            found += page
        return found

    def _ask(self, method: str, path: str, **content: Any) -> Any:  # noqa: ANN401 — JSON
        url = f"{self._url}/api/v1/{path}"
        try:
            answer = self._session.request(method, url, timeout=_TIMEOUT, **content)
        except requests.RequestException as error:
            hint = "start it, for example with headwater superset, or name another: --url"
            message = f"{self._url} cannot be reached: {_reason(error)}"
            raise ServiceError("SUPERSET_UNREACHABLE", message, hint=hint) from None
        try:
            found = answer.json()
        except ValueError:
            found = None
        if answer.status_code == 401:
            hint = "correct [superset] username and password, those of Superset's log-in page"
            message = f"{self._url} refuses the user name or the password"
            raise ConfigError("SUPERSET_LOGIN", message, hint=hint)
        if answer.status_code >= 500:
            hint = (
                "check that Superset reaches Trino at the address in the bundle; see Superset's log"
            )
            message = f"{url} failed with status {answer.status_code}"
            raise ServiceError("SUPERSET_REFUSED", message, hint=hint)
        if not isinstance(found, dict):
            hint = "correct the address: that of the page, without /superset or /login"
            message = f"{url} answers {answer.status_code} without JSON: it is not Superset"
            raise ServiceError("SUPERSET_ANSWER", message, hint=hint)
        if not answer.ok:
            raise ServiceError("SUPERSET_REFUSED", f"{url}: {_refusal(found, answer.status_code)}")
        return found


def _reason(error: requests.RequestException) -> str:
    if isinstance(error, ValueError):
        return "not an address"
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    if isinstance(error, requests.ConnectionError):
        return "nothing answers there"
    return "the request failed"


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
