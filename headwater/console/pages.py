"""How pages are rendered: the templates, and the words for values in them.

Every value that a template writes is escaped, and cleared of the secrets that this process knows.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.templating import Jinja2Templates

from headwater.console import text
from headwater.redact import scrub
from headwater.serve.status import from_micros
from headwater.serve.values import as_text, is_number

FOLDER = Path(__file__).parent


def templates() -> Jinja2Templates:
    """Return the templates."""
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {
        "age": text.age,
        "moment": text.moment,
        "number": text.number,
        "rate": text.rate,
        "sql": text.sql_html,
        "cell": _cell,
        "micros": lambda value: text.moment(from_micros(value)),
    }
    environment.tests["numeric"] = lambda value: value is not None and is_number(value)
    environment.globals |= {"asset": _asset, "relation_path": _relation_path}
    return Jinja2Templates(env=environment)


def _finalize(value: object) -> object:
    """Return a value without secrets; nothing for None."""
    if value is None:
        return ""
    if isinstance(value, Markup):
        return Markup(scrub(value))
    return scrub(value) if isinstance(value, str) else value


def _cell(value: object) -> str:
    """Return a value of a row, cut if it is long."""
    shown = as_text(value)
    return shown if len(shown) <= text.LONGEST else f"{shown[: text.LONGEST]}…"


def _relation_path(name: str, section: str = "", pairs: dict[str, str] | None = None) -> str:
    """Return the address of a relation's page."""
    path = f"/relations/{quote(name, safe='')}" + (f"/{section}" if section else "")
    return f"{path}?{urlencode(pairs)}" if pairs else path


@cache
def _asset(name: str) -> str:
    """Return the address of a file, another one for each content, so that browsers keep it."""
    content = (FOLDER / "static" / name).read_bytes()
    return f"/static/{name}?{hashlib.sha256(content).hexdigest()[:12]}"
