"""The functions of the language as something to search in.

In: a name or a word. Out: the functions that it fits, and what to write instead of the functions of
other systems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from headwater.analyze.typing.functions import FAMILIES, FORMS
from headwater.analyze.typing.functions.elsewhere import ELSEWHERE
from headwater.analyze.typing.functions.entry import Described, Function
from headwater.analyze.typing.functions.windows import WINDOWS

_ENGINES = ("spark", "trino", "duckdb")


@dataclass(frozen=True, slots=True)
class FoundFunction:
    """What a search says of a function.

    Attributes:
        name: Trino's name.
        family: the part of the reference that it stands in.
        usage: how it is written, optional parts in brackets.
        about: what it returns, in one sentence.
        examples: calls with their results.
        aliases: its other names.
        engines: the engines that compute it.
        note: what an engine would do otherwise.
    """

    name: str
    family: str
    usage: str
    about: str
    examples: Sequence[tuple[str, str]]
    aliases: Sequence[str]
    engines: Sequence[str]
    note: str

    def document(self) -> Mapping[str, object]:
        """Return it for a program."""
        return asdict(self)


def find(pattern: str) -> list[FoundFunction]:
    """Return the functions that a pattern fits; the ones with such a name if there are any.

    Args:
        pattern: a part of a name, or a word of a description; all functions if it is empty.
    """
    sought = pattern.lower()
    everything = [_described(family, each) for family, each in _entries()]
    exact = [each for each in everything if sought in (each.name, *each.aliases)]
    named = [
        each for each in everything if any(sought in name for name in (each.name, *each.aliases))
    ]
    return exact or named or [each for each in everything if sought in each.about.lower()]


def instead(name: str) -> str:
    """Return what to write instead of a function of another system, empty if it is not known."""
    return ELSEWHERE.get(name.lower(), "")


def _entries() -> list[tuple[str, Described]]:
    found = [(family, each) for family, table in FAMILIES.items() for each in table.values()]
    others = [(family, each) for family, forms in FORMS.items() for each in forms]
    listed: list[tuple[str, Described]] = [
        *found,
        *others,
        *(("Window functions", each) for each in WINDOWS),
    ]
    return sorted(listed, key=lambda each: each[1].name)


def _described(family: str, entry: Described) -> FoundFunction:
    aliases = entry.aliases if isinstance(entry, Function) else ()
    return FoundFunction(
        entry.name,
        family,
        entry.usage,
        entry.about,
        entry.examples,
        aliases,
        _ENGINES,
        entry.engines,
    )
