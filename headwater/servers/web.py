"""Questions to the servers that speak HTTP and JSON.

In: a URL, perhaps an object. Out: the object that the server answers.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Mapping
from typing import Any

_TIMEOUT = 10.0  # seconds; the first answer of a server that has just started is slow


def ask(
    url: str,
    body: object = None,
    method: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Any:  # noqa: ANN401 — JSON
    """Ask a server and return its answer; None if it has nothing to say.

    Args:
        url: the address.
        body: what is sent, if anything: a text as it is, anything else as JSON.
        method: of HTTP; by default GET, or POST with a body.
        headers: more of them.

    Raises:
        OSError: the server cannot be reached (``URLError``) or refuses (``HTTPError``).
    """
    text = body if isinstance(body, str) else json.dumps(body)
    data = None if body is None else text.encode()
    said = {"Content-Type": "application/json", **(headers or {})}
    request = urllib.request.Request(url, data=data, headers=said, method=method)
    # no proxy of the environment: all servers are on this machine
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=_TIMEOUT) as answer:
        found = answer.read()
    return json.loads(found) if found else None
