"""Trino's answers as they are recorded: ``answers.jsonl``, a form a line, in the order of forms."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("answers.jsonl")


@dataclass(frozen=True, slots=True)
class Recorded:
    """What Trino answers to a form.

    Attributes:
        form: its text.
        type: Trino's name of the type of the value, empty if Trino does not analyse the form.
        rows: tells today's rows of its table from others.
        values: by key, as lists in the order of keys; an object stands for an error.
    """

    form: str
    type: str
    rows: str
    values: list[Any]


def read() -> dict[str, Recorded]:
    """Return the recorded answers by form."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    found = (Recorded(*json.loads(line)) for line in lines)
    return {each.form: each for each in found}


def write(answers: Iterable[Recorded]) -> None:
    """Write answers in the order given."""
    lines = (
        json.dumps(astuple(each), ensure_ascii=False, separators=(",", ":")) for each in answers
    )
    FILE.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
