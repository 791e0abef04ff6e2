"""Questions to the servers that speak HTTP and JSON.

In: a URL, perhaps an object. Out: the object that the server answers.
"""

from __future__ import annotations

import json
import urllib.request
from typing import Any

_TIMEOUT = 10.0  # seconds; the first answer of a server that has just started is slow


def ask(url: str, body: object = None, method: str | None = None) -> Any:  # noqa: ANN401 — JSON
    """Ask a server and return its answer; None if it has nothing to say.

    Args:
        url: the address.
        body: what is sent as JSON, if anything.
        method: of HTTP; by default GET, or POST with a body.

    Raises:
        OSError: the server cannot be reached (``URLError``) or refuses (``HTTPError``).
    """
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    # no proxy of the environment: all servers are on this machine
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=_TIMEOUT) as answer:
        text = answer.read()
    return json.loads(text) if text else None
