"""The reference of ``headwater.toml``, from the models that read it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from datetime import timedelta

from docs.generate.markdown import code, table
from headwater.config.sections import SECTIONS, File, Section

_ENTRY = re.compile(r"^(\w+): (.*)$")
_SIZES = {"target_file_size": 10**6, "max_bytes_per_epoch": 10**6}
"""Options whose number is shown in megabytes."""


def configuration() -> Iterator[str]:
    """Yield the options outside of sections, then every section."""
    yield "## Top level"
    yield ""
    yield from _section(File, "", ("name", "namespace"))
    for name, model in SECTIONS.items():
        yield f"## `[{name}]`"
        yield ""
        yield from _section(model, name, tuple(model.model_fields))


def _section(model: type[Section], name: str, fields: tuple[str, ...]) -> Iterator[str]:
    yield (model.__doc__ or "").splitlines()[0]
    yield ""
    meaning = described(model)
    rows = []
    for field in fields:
        variable = "_".join(filter(None, ("HEADWATER", name, field))).upper()
        shown = code(variable) if field != "settings" else "—"
        rows.append((code(field), _default(model, field), _meaning(meaning[field]), shown))
    yield from table(("option", "default", "meaning", "environment variable"), rows)


def described(model: type[Section]) -> dict[str, str]:
    """Return what the docstring of a section says of each option."""
    _, _, attributes = inspect.cleandoc(model.__doc__ or "").partition("Attributes:\n")
    found: dict[str, str] = {}
    name = ""
    for line in inspect.cleandoc(attributes).splitlines():
        if entry := _ENTRY.match(line):
            name = entry[1]
            found[name] = entry[2]
        elif name:
            found[name] += f" {line.strip()}"
    return found


def _meaning(text: str) -> str:
    return text.replace("``", "`")


def _default(model: type[Section], field: str) -> str:
    value = model.model_fields[field].get_default()
    if model.model_fields[field].is_required() or value is None or value == {}:
        return "—"
    if isinstance(value, timedelta):
        return code(f'"{_duration(value)}"')
    if field in _SIZES:
        return code(f'"{value // _SIZES[field]} MB"')
    return code(f'"{value}"' if isinstance(value, str) else str(value))


def _duration(value: timedelta) -> str:
    seconds = int(value.total_seconds())
    units = {"day": 86400, "hour": 3600, "minute": 60, "second": 1}
    unit, length = next((u, n) for u, n in units.items() if seconds % n == 0)
    count = seconds // length
    return f"{count} {unit}{'s' * (count != 1)}"
