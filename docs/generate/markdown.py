"""Markdown's tables and phrases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table, and an empty line behind it; no cell can hold a bar."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def code(text: str) -> str:
    """Return a text as code, or nothing for none."""
    return f"`{text}`" if text else ""


def sentence(text: str) -> str:
    """Return a phrase with a capital letter and a full stop."""
    text = text[:1].upper() + text[1:]
    return text if text.endswith(".") else f"{text}."


def listed(items: Iterable[str]) -> str:
    """Return items as code, with commas."""
    return ", ".join(map(code, items))
