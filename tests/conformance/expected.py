"""Which differences from Trino are expected: those kept on purpose, and those not mended yet.

In: ``purposes.toml``, written by hand; ``differences.jsonl``, which ``python -m tests.conformance
settle`` writes. Out: the verdict on a form, and what nobody expected.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from tests.conformance.forms import Form
from tests.conformance.judge import REFUSED, Difference
from tests.conformance.values import group_of, rows_of

_PURPOSES = Path(__file__).with_name("purposes.toml")
_LISTED = Path(__file__).with_name("differences.jsonl")

Verdict = Literal["refused", "different", "wrong"]


@dataclass(frozen=True, slots=True)
class Purpose:
    """Why forms differ from Trino on purpose.

    Attributes:
        forms: matches their text.
        functions: the functions of the reference that say so.
        reason: in one sentence.
        only: a row must hold one of these values to be excused; if there are none, any row is.
    """

    forms: re.Pattern[str]
    functions: tuple[str, ...]
    reason: str
    only: tuple[str, ...] = ()

    def excuses(self, form: Form, difference: Difference) -> bool:
        """Return whether a difference is the one that is meant."""
        if not self.forms.search(form.text):
            return False
        return not self.only or (
            difference.key is not None and not _held(form, difference).isdisjoint(self.only)
        )


def _held(form: Form, difference: Difference) -> set[str]:
    rows = rows_of(form.columns)
    if not form.grouped and " OVER " not in form.text:
        return set(map(str, rows[difference.key or 0]))
    group = (
        difference.key if form.grouped else group_of(difference.key or 0, rows[difference.key or 0])
    )
    return {
        str(value) for at, row in enumerate(rows) if group_of(at, row) == group for value in row
    }


@cache
def purposes() -> tuple[Purpose, ...]:
    """Return all purposes."""
    found = tomllib.loads(_PURPOSES.read_text(encoding="utf-8"))["purpose"]
    return tuple(
        Purpose(
            re.compile(each["forms"]),
            tuple(each["functions"]),
            each["reason"],
            tuple(each.get("only", ())),
        )
        for each in found
    )


@dataclass(frozen=True, slots=True)
class Listed:
    """A form that differs.

    Attributes:
        form: its text.
        verdict: refused, different on purpose, or wrong and known.
        where: ``refused``, ``check`` (the type), ``duckdb``, ``spark``: who differs.
    """

    form: str
    verdict: Verdict
    where: tuple[str, ...]


@cache
def listed() -> Mapping[str, Listed]:
    """Return the forms that differ, by text."""
    lines = _LISTED.read_text(encoding="utf-8").splitlines() if _LISTED.exists() else []
    found = (Listed(form, verdict, tuple(where)) for form, verdict, where in map(json.loads, lines))
    return {each.form: each for each in found}


def write(found: Iterable[Listed]) -> None:
    """Write the list anew."""
    lines = (
        json.dumps([each.form, each.verdict, each.where], ensure_ascii=False) for each in found
    )
    _LISTED.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def verdict_of(form: Form, found: Mapping[str, Sequence[Difference]]) -> Verdict | None:
    """Return the verdict on a form, None if it is equal.

    Args:
        found: differences by where they are.
    """
    if found.get(REFUSED):
        return "refused"
    differences = [each for part in found.values() for each in part]
    if not differences:
        return None
    excused = all(
        any(purpose.excuses(form, difference) for purpose in purposes())
        for difference in differences
    )
    return "different" if excused else "wrong"


def surprise(form: Form, where: str, differences: Sequence[Difference]) -> str:
    """Return what nobody expected of a form, empty if all is as listed.

    Args:
        where: ``check``, ``duckdb`` or ``spark``.
        differences: what was found there.
    """
    entry, verdict = listed().get(form.text), verdict_of(form, {where: differences})
    known = entry is not None and where in entry.where
    if known and verdict is None:
        return f"{form.text}: is equal in {where} now; run: python -m tests.conformance settle"
    if known and entry is not None and verdict == "wrong" and entry.verdict != "wrong":
        verdict, known = "wrong", False
    if not known and verdict is not None:
        words = "; ".join(each.text for each in differences[:3])
        return f"{form.text}: {where} differs from Trino: {words}"
    return ""
