"""Who may ask the console: pages of its own, and a person who opens its address.

In: a request. Out: the answer of the application, with headers that confine the page, or 403.

A browser carries requests of any web page to loopback. Three checks keep such pages out. ``Host``
must be a name of this machine, so a foreign name that is bound to 127.0.0.1 (DNS rebinding) is
refused. ``Origin`` must be the console's own. A request that starts work must carry a header that
no foreign page can send without asking first, and nobody answers that question.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOCAL = ("127.0.0.1", "localhost", "::1")
"""Names of this machine; the port is free, for a tunnel has one of its own."""
OWN_PAGES = "hx-request"
"""The header that htmx sends, and a form of another page cannot."""
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class LocalGuard:
    """Refuses requests that no page of the console made.

    Args:
        app: the application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def confined(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        reason = refusal(scope["method"], Headers(scope=scope))
        app = PlainTextResponse(f"{reason}\n", 403) if reason else self._app
        await app(scope, receive, confined)


def refusal(method: str, headers: Headers) -> str:
    """Return why a request is refused, or an empty text.

    Args:
        method: ``GET``, ``POST``, …
        headers: what it carries.
    """
    host = headers.get("host", "")
    if _name(host) not in LOCAL:
        return f'host "{host}" is not a name of this machine; open http://127.0.0.1 instead'
    origin = headers.get("origin")
    if origin is not None and origin != f"http://{host}":
        return f'origin "{origin}" is another page'
    if headers.get("sec-fetch-site") in ("cross-site", "same-site") and not (
        method == "GET" and headers.get("sec-fetch-mode") == "navigate"
    ):
        return "another page asks for this"
    if method not in ("GET", "HEAD") and headers.get(OWN_PAGES) != "true":
        return "only a page of the console may ask for this"
    return ""


def _name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
