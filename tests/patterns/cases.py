"""Patterns whose answers Trino has given: whole clauses, over small tables of VALUES.

A case is the text of ``MATCH_RECOGNIZE ( … )`` and the name of its table. :data:`CASES` run in
Trino as they are written; where ``WITHIN`` stands, Trino gets the condition that it means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Case:
    """One clause over one table.

    Attributes:
        table: a name in :data:`TABLES`.
        text: what stands in ``MATCH_RECOGNIZE ( … )``.
    """

    table: str
    text: str

    @property
    def rows(self) -> str:
        """The table, as it stands in FROM."""
        return TABLES[self.table]

    def __str__(self) -> str:
        return f"{self.table}: {self.text}"


def _letters(**partitions: str) -> str:
    rows = [
        f"('{key}', {ts}, {_quoted(letter)})"
        for key, letters in partitions.items()
        for ts, letter in enumerate(letters, 1)
    ]
    return f"(VALUES {', '.join(rows)}) AS t(k, ts, v)"


def _quoted(letter: str) -> str:
    return "NULL" if letter == "-" else f"'{letter}'"


TABLES = {
    # an x satisfies A, B and C alike, so that preference decides; a - is NULL
    "letters": _letters(
        p1="abcabc", p2="aaab", p3="xxxx", p4="bbb", p5="axbxc", p6="c", p7="cabxxab", p8="ab-ab"
    ),
    "prices": (
        "(VALUES ('p', 1, 90, 1.5), ('p', 2, 80, 2.5), ('p', 3, 70, 2.25), ('p', 4, 80, 0.5),"
        " ('p', 5, 90, 1.0), ('p', 6, 50, 7.75), ('p', 7, 40, 1.25), ('p', 8, 60, 3.5),"
        " ('q', 1, 5, 1.0), ('q', 2, 5, 1.0), ('q', 3, 7, NULL), ('q', 4, NULL, 2.0),"
        " ('q', 5, 9, 3.0), ('q', 6, 8, 4.0), ('r', 1, 1, 1.0),"
        " (NULL, 1, 10, 1.0), (NULL, 2, 5, 1.0), (NULL, 3, 20, 1.0)) AS t(k, ts, x, y)"
    ),
    "times": (
        "(VALUES "
        + ", ".join(
            f"('{key}', TIMESTAMP '2024-01-01 00:{minute:02}:00', '{letter}')"
            for key, events in {
                "p": "0a1b2b3c9a10b25c26a27c",
                "q": "0a10c11a21c30a31b32b41b42c",
                "r": "0x1x2x3x4x5x6x7x8x9x10x11x12x",
                "s": "0a1b5a10b15c",
            }.items()
            for minute, letter in ((int(n), v) for n, v in re.findall(r"(\d+)([a-z])", events))
        )
        + ") AS t(k, ts, v)"
    ),
}
LETTERS = {name: f"v IN ('{name.lower()}', 'x')" for name in "ABC"}
_ORDER = "PARTITION BY k ORDER BY ts"


def _lines(name: str) -> Iterator[str]:
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line


def of_pattern(pattern: str, skip: str = "", table: str = "letters") -> Case:
    """Return a case that shows which rows a pattern of A, B and C takes; D is any row."""
    used = [name for name in LETTERS if re.search(rf"\b{name}\b", pattern)]
    define = ", ".join(f"{name} AS {LETTERS[name]}" for name in used)
    measures = "MEASURES MATCH_NUMBER() AS n, CLASSIFIER() AS c, count(*) AS z"
    shown = f"ALL ROWS PER MATCH {skip}".strip()
    text = f"{_ORDER} {measures} {shown} PATTERN ({pattern}) DEFINE {define or 'D AS true'}"
    return Case(table, text)


def _patterns() -> Iterator[Case]:
    for line in _lines("patterns.txt"):
        pattern, _, skip = line.partition(" ; ")
        yield of_pattern(pattern.strip(), skip.strip())


def _clauses() -> Iterator[Case]:
    for line in _lines("clauses.txt"):
        table, _, text = line.partition(": ")
        ordered = text.startswith(("PARTITION BY", "ORDER BY"))
        yield Case(table, text if ordered else f"{_ORDER} {text}")


def _within() -> Iterator[Case]:
    for line in _lines("within.txt"):
        pattern, _, minutes = line.partition(" ; ")
        case = of_pattern(pattern.strip(), table="times")
        within = f") WITHIN INTERVAL '{minutes.strip()}' MINUTE DEFINE"
        yield Case(case.table, case.text.replace(") DEFINE", within))


CASES: Sequence[Case] = (*_patterns(), *_clauses(), *_within())
REFUSED: Sequence[Case] = tuple(
    Case("prices", f"{_ORDER} {line}") for line in _lines("refused.txt")
)
"""Clauses that Trino refuses to analyse."""
