"""The console as a web application: an address per page, HTML that the server renders.

In: requests. Out: pages. A page that is open asks for itself every two seconds, and htmx puts what
has changed in its place; so each page is one template, with and without scripts. Nothing writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from headwater import __version__
from headwater.console.checks import Checks
from headwater.console.guard import LocalGuard
from headwater.console.overview import TONES, graph_of, reads_of, sums
from headwater.console.pages import templates
from headwater.console.project_reader import ProjectReader, ProjectReading
from headwater.console.query import LIMITS, ROWS, bounded, run_query
from headwater.console.relation import (
    LIVE,
    READING,
    SECTIONS,
    Asked,
    Remembered,
    quarantined,
    sections_of,
)
from headwater.errors import ErrorGroup, HeadwaterError
from headwater.serve.quarantine import waiting

STATIC = Path(__file__).parent / "static"
LONGEST_QUERY = 100_000


class Console:
    """The pages of one project.

    Args:
        root: the folder of the project.
    """

    def __init__(self, root: Path) -> None:
        self.reader = ProjectReader(root)
        self.checks = Checks()
        self._remembered = Remembered()
        self._templates = templates()

    def prepare(self) -> None:
        """Read the project, before somebody asks."""
        with suppress(HeadwaterError):
            self.reader.look()

    def app(self) -> Starlette:
        """Return the application."""
        routes = [
            Route("/", self._overview),
            Route("/relations/{name}", self._relation),
            Route("/relations/{name}/verify", self._verify, methods=["POST"]),
            Route("/relations/{name}/{section}", self._relation),
            Route("/quarantine", self._quarantine),
            Route("/sql", self._query),
            Route("/sql", self._answer, methods=["POST"]),
            Mount("/static", _Assets(directory=STATIC)),
        ]
        middleware = [Middleware(LocalGuard)]
        handlers = {HeadwaterError: self._failed, HTTPException: self._missing}
        return Starlette(routes=routes, middleware=middleware, exception_handlers=handlers)

    def _overview(self, request: Request) -> Response:
        look = self.reader.look()
        values = {"graph": graph_of(look), "sums": sums(look), "live": True}
        return self._page(request, "overview.html", look, values)

    def _relation(self, request: Request) -> Response:
        look = self.reader.look()
        name = request.path_params["name"]
        sections = sections_of(look, name)
        broken = look.project.broken.get(name)
        if not sections and not broken:
            raise HTTPException(404, f'the project has no table, view or sink "{name}"')
        section = request.path_params.get("section") or next(iter(sections), "")
        if section and section not in sections:
            raise HTTPException(404, f'"{name}" has no page "{section}"')
        values: dict[str, object] = {"sections": sections, "section": section, "broken": broken}
        try:
            asked = Asked(look, name, request.query_params, self.checks, self._remembered)
            with bounded() if section in READING else nullcontext():
                values |= SECTIONS[section](asked) if section else {}
        except HeadwaterError as error:
            values["error"] = error
        reads = reads_of(look)
        values |= {
            "name": name,
            "status": look.relation(name),
            "quarantined": quarantined(look, name),
            "inputs": [each for each in reads.get(name, ()) if each in reads],
            "readers": [each for each, read in reads.items() if name in read],
            "live": section in LIVE,
        }
        return self._page(request, "relation.html", look, values)

    def _verify(self, request: Request) -> Response:
        look = self.reader.look()
        name = request.path_params["name"]
        if name not in look.plans:
            raise HTTPException(404, f'the project has no view "{name}"')
        self.checks.start(look, name)
        request.scope["path_params"] = {"name": name, "section": "verify"}
        return self._relation(request)

    def _quarantine(self, request: Request) -> Response:
        look = self.reader.look()
        counts = tuple((each.name, each.quarantined) for each in look.relations)

        def read() -> Mapping[str, object]:
            unread: dict[str, str] = {}
            with bounded():
                return {"reasons": waiting(look.project, (), unread), "unread": unread}

        found = self._remembered.get(("quarantine", ""), (look.version, counts), read)
        return self._page(request, "quarantine.html", look, {**found, "live": True})

    def _query(self, request: Request) -> Response:
        look = self.reader.look()
        values = {"sql": request.query_params.get("q", ""), "limits": LIMITS, "most": ROWS}
        return self._page(request, "sql.html", look, values)

    async def _answer(self, request: Request) -> Response:
        from starlette.concurrency import run_in_threadpool

        body = await _text(request)
        return await run_in_threadpool(self._answered, request, body)

    def _answered(self, request: Request, sql: str) -> Response:
        values: dict[str, object] = {}
        try:
            project = self.reader.look().project
            with bounded():
                values["answer"] = run_query(project, sql)
        except HeadwaterError as error:
            values["error"] = error
        return self._templates.TemplateResponse(request, "answer.html", values)

    def _page(
        self, request: Request, template: str, look: ProjectReading, values: Mapping[str, object]
    ) -> Response:
        shared = {"look": look, "tones": TONES, "version": __version__}
        return self._templates.TemplateResponse(request, template, {**shared, **values})

    def _failed(self, request: Request, error: Exception) -> Response:
        errors = error.errors if isinstance(error, ErrorGroup) else (error,)
        values = {"errors": errors, "version": __version__, "live": True}
        return self._templates.TemplateResponse(request, "failed.html", values, status_code=503)

    def _missing(self, request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 404
        detail = error.detail if isinstance(error, HTTPException) else str(error)
        values = {"detail": detail, "version": __version__}
        return self._templates.TemplateResponse(request, "missing.html", values, status)


class _Assets(StaticFiles):
    """Files whose addresses change with their content, so that browsers never ask twice."""

    def file_response(self, *args: Any, **settings: Any) -> Response:  # noqa: ANN401
        answer = super().file_response(*args, **settings)
        answer.headers["cache-control"] = "public, max-age=31536000, immutable"
        return answer


async def _text(request: Request) -> str:
    """Return the query of a form; a body that is too long is cut, and then no query."""
    from urllib.parse import parse_qs

    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_QUERY:
            raise HTTPException(413, "the query is too long")
    return parse_qs(body.decode("utf-8", "replace")).get("sql", [""])[0]
