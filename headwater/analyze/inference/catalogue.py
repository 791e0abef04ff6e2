"""The functions of the language as something to search in.

In: a name or a word. Out: the functions that it fits, and what to write instead of the functions of
other systems.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from sqlglot import exp

from headwater.analyze.inference.window_functions import WINDOW_FUNCTIONS
from headwater.analyze.typing.determinism import REFUSED
from headwater.analyze.typing.functions import FAMILIES, FORMS, FUNCTIONS, SYNTAX
from headwater.analyze.typing.functions.elsewhere import ELSEWHERE
from headwater.analyze.typing.functions.entry import Described
from headwater.analyze.typing.functions.windows import WINDOWS
from headwater.dialect import parse_all

_WRITTEN: Mapping[type[exp.Expr], str] = {
    exp.If: "if",
    exp.Case: "case",
    exp.Cast: "cast",
    exp.TryCast: "try_cast",
    exp.Try: "try",
    exp.Mod: "mod",
    exp.Median: "median",
    exp.PercentileCont: "percentile_cont",
    exp.PercentileDisc: "percentile_disc",
    exp.Explode: "unnest",
    exp.ExplodeOuter: "unnest",
    exp.Array: "array",
    exp.Struct: "row",
    exp.Interval: "interval",
    exp.DPipe: "||",
    exp.AtTimeZone: "at time zone",
    exp.Like: "like",
    exp.Bracket: "x[n]",
    **WINDOW_FUNCTIONS,
}
"""Nodes of what has no entry by its node: the name of its entry."""
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
    exact = _exact(sought)
    named = [
        each for each in everything if any(sought in name for name in (each.name, *each.aliases))
    ]
    told = [each for each in everything if sought in f"{each.about} {each.usage}".lower()]
    return [_described(family, each) for family, each in exact] or named or told


def instead(name: str) -> str:
    """Return what to write instead of a function of another system, empty if this one has it."""
    return "" if _exact(name.lower()) else ELSEWHERE.get(name.lower(), "")


def refused(name: str) -> str:
    """Return why a function of this name is refused and what to write, empty if it is not."""
    hazard = None if _exact(name.lower()) else REFUSED.get(name.lower())
    return f"{hazard.reason}; {hazard.hint}" if hazard else ""


def _exact(name: str) -> list[tuple[str, Described]]:
    """What has a name, or is meant by a call of it."""
    entries = _entries()
    found = [each for each in entries if name in (each[1].name, *each[1].aliases)]
    if not found and (spelled := _spelled(name)):
        found = [each for each in entries if each[1].name == spelled]
    return found


def _spelled(name: str) -> str:
    """The name of the function that a call by another name is read as; empty if it is none."""
    if not re.fullmatch(r"[a-z]\w*", name):
        return ""
    for arguments in ("", "x", "x, y", "x, y, z", "'a', x, y"):
        statements, _ = parse_all(f"SELECT {name}({arguments})")
        if statements and isinstance(statements[0], exp.Select):
            node = type(statements[0].selects[0].unalias())
            if node in FUNCTIONS or node in _WRITTEN:
                return FUNCTIONS[node].name if node in FUNCTIONS else _WRITTEN[node]
    return ""


def _entries() -> list[tuple[str, Described]]:
    found = [(family, each) for family, table in FAMILIES.items() for each in table.values()]
    others = [(family, each) for family, forms in FORMS.items() for each in forms]
    listed: list[tuple[str, Described]] = [
        *found,
        *others,
        *(("Window functions", each) for each in WINDOWS),
        *(("Syntax", each) for each in SYNTAX),
    ]
    return sorted(listed, key=lambda each: each[1].name)


def _described(family: str, entry: Described) -> FoundFunction:
    return FoundFunction(
        entry.name,
        family,
        entry.usage,
        entry.about,
        entry.examples,
        entry.aliases,
        _ENGINES,
        entry.engines,
    )
