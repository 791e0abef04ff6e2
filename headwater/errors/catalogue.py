"""Cause and remedy of every condition; ``conditions/*.toml`` has one file per family.

The files are read only when somebody asks: an error itself carries its own message and hint.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "conditions"
FAMILIES = (
    *("statements", "definitions", "queries", "project", "running"),
    *("lake", "inputs", "sinks", "reading"),
)
"""The files, in the order in which the reference shows them."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a condition means.

    Attributes:
        condition: its name, for example ``DISK_FULL``.
        cause: why it happens, in one or two sentences.
        remedy: the command or edit that mends it.
    """

    condition: str
    cause: str
    remedy: str


@dataclass(frozen=True, slots=True)
class ConditionFamily:
    """Conditions that belong together, sorted by name."""

    name: str
    title: str
    about: str
    conditions: tuple[Explanation, ...]


@cache
def families() -> tuple[ConditionFamily, ...]:
    """Return every condition, by family."""
    return tuple(_family(name) for name in FAMILIES)


@cache
def explanations() -> dict[str, Explanation]:
    """Return every condition by its name."""
    return {each.condition: each for family in families() for each in family.conditions}


def _family(name: str) -> ConditionFamily:
    content = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    title, about = content.pop("title"), content.pop("about")
    return ConditionFamily(name, title, about, tuple(_entries(content)))


def _entries(content: dict[str, dict[str, str]]) -> Iterator[Explanation]:
    for condition, entry in sorted(content.items()):
        yield Explanation(condition, **entry)
