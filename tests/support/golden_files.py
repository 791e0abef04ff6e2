"""Golden files: expected output kept beside its input, rewritten by one command.

``HEADWATER_REWRITE_GOLDEN=1 pytest …`` (or ``HEADWATER_REWRITE=1``) writes what the code gives now;
a person then reads the diff.

A file of cases is valid SQL and looks like this; title and expected part may be missing::

    --- what the case is about
    the input
    --- prints
    the expected output
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden"
REWRITE = "1" in (
    os.environ.get("HEADWATER_REWRITE_GOLDEN"),
    os.environ.get("HEADWATER_REWRITE"),
)

_TITLE = "---"


@dataclass(frozen=True, slots=True)
class Case:
    """One input with what is expected of it.

    Attributes:
        title: what it is about; may be empty where the input says it.
        text: the input.
        expected: the expected output, or None where the file has no such part.
    """

    title: str
    text: str
    expected: str | None = None


def check_golden(path: Path, actual: str) -> None:
    """Assert that a file holds a text, or write it there when goldens are being rewritten.

    Args:
        path: the golden file.
        actual: what the code gives now.
    """
    if REWRITE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(actual, encoding="utf-8")
        return
    assert path.exists(), f"{path} is missing; HEADWATER_REWRITE_GOLDEN=1 writes it"
    assert path.read_text(encoding="utf-8") == actual


def read_cases(path: Path, mark: str = "prints") -> list[Case]:
    """Read a file of cases.

    Args:
        path: the file.
        mark: the word that starts the expected part of a case.
    """
    cases: list[Case] = []
    expecting = False
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line == f"{_TITLE} {mark}":
            cases[-1] = replace(cases[-1], expected="")
            expecting = True
        elif line.startswith(_TITLE):
            cases.append(Case(line.removeprefix(_TITLE).strip(), ""))
            expecting = False
        elif not cases:
            assert not line, f"{path} does not start with a case"
        elif expecting:
            cases[-1] = replace(cases[-1], expected=f"{cases[-1].expected}{line}\n")
        else:
            cases[-1] = replace(cases[-1], text=f"{cases[-1].text}{line}\n")
    return [
        replace(case, text=case.text.strip("\n"), expected=_stripped(case.expected))
        for case in cases
    ]


def check_cases(path: Path, output: Callable[[str], str | None], mark: str = "prints") -> None:
    """Compare every case of a file with what a function gives for its input, or rewrite the file.

    Args:
        path: the file of cases.
        output: input → expected output, or None where the case needs none.
        mark: the word that starts the expected part of a case.
    """
    cases = [replace(case, expected=output(case.text)) for case in read_cases(path, mark)]
    check_golden(path, _render(cases, mark))


def _render(cases: Sequence[Case], mark: str) -> str:
    parts = []
    for case in cases:
        expected = "" if case.expected is None else f"{_TITLE} {mark}\n{case.expected}\n"
        title = f"{_TITLE} {case.title}".rstrip()
        parts.append(f"{title}\n{case.text}\n{expected}")
    return "\n".join(parts)


def _stripped(text: str | None) -> str | None:
    return None if text is None else text.strip("\n")
