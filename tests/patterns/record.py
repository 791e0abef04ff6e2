"""Trino's answers as they are recorded: ``answers.jsonl``, a case a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("answers.jsonl")


def read() -> dict[str, Any]:
    """Return the recorded answers by case."""
    return dict(json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines())


def write(answers: Mapping[str, Any]) -> None:
    """Write answers in the order given."""
    lines = (
        json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in answers.items()
    )
    FILE.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
