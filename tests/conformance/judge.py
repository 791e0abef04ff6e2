"""The verdict on each form: what the product answers against what Trino answered.

In: Trino's recorded answers, the product's translation, an engine's answers. Out: the differences
of a form, and whether each is expected (:mod:`tests.conformance.expected`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from headwater.analyze.typing.types import sql_type
from tests.conformance.engines import ERROR, Answers, same, type_name
from tests.conformance.forms import Form
from tests.conformance.product import Translation, translated
from tests.conformance.record import Recorded
from tests.conformance.values import group_of, rows_of


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference from Trino.

    Attributes:
        key: of the row or group, None if it is the whole form.
        text: in words.
    """

    key: int | None
    text: str


REFUSED, CHECK = "refused", "check"
APPROXIMATE = ("approx_distinct", "approx_percentile")
"""Functions whose values may differ; their types may not."""


def is_refused_by_trino(recorded: Recorded) -> bool:
    """Return whether Trino does not analyse the form."""
    return not recorded.type


def keys_of(form: Form) -> list[int]:
    """Return the keys of a form's answers: groups, or rows."""
    rows = rows_of(form.columns)
    if form.grouped:
        return sorted({group_of(at, row) for at, row in enumerate(rows)})
    return list(range(len(rows)))


def of_the_type(recorded: Recorded, translation: Translation) -> list[Difference]:
    """Return what is wrong before anything runs: acceptance and the type of the value."""
    if is_refused_by_trino(recorded):
        return [Difference(None, f"Trino refuses it: {recorded.values[0][ERROR]}")]
    expected = type_name(recorded.type)
    if expected not in (found := sql_type(translation.kind), "UNKNOWN"):
        return [Difference(None, f"type {found}, Trino's is {expected}")]
    return []


def of_the_values(form: Form, recorded: Recorded, run: Callable[[], Answers]) -> list[Difference]:
    """Return where the values of an engine differ from Trino's.

    Args:
        run: asks the engine; a row that it leaves out is a fallible one.
    """
    if is_refused_by_trino(recorded):
        return []
    try:
        found = run()
    except Exception as error:  # noqa: BLE001  an engine's error is an answer
        if form.grouped and any(isinstance(value, dict) for value in recorded.values):
            return []  # a group has no row to blame: the query fails in both
        words = str(error).strip().splitlines()
        return [Difference(None, f"stops: {words[0][:150] if words else type(error).__name__}")]
    keys = keys_of(form)
    rows = rows_of(form.columns)
    differences = []
    for key, expected in zip(keys, recorded.values, strict=True):
        fails = isinstance(expected, dict)
        if fails and key not in found:
            continue
        got: Any = found.get(key, "left out")
        if key in found and not fails and (form.name in APPROXIMATE or same(got, expected)):
            continue
        wanted = expected[ERROR] if fails else repr(expected)
        of = f"group {key}" if form.grouped else f"{rows[key]}"
        differences.append(Difference(key, f"{of}: {got!r}, Trino {wanted}"))
    return differences


def differences(
    form: Form, recorded: Recorded, **engines: Callable[[Form], Answers]
) -> dict[str, list[Difference]]:
    """Return the differences of a form by where they are: ``refused``, ``check``, an engine.

    Args:
        engines: by name, what answers a form.
    """
    translation = translated(form)
    found: dict[str, list[Difference]] = {name: [] for name in (REFUSED, CHECK, *engines)}
    if translation.refused:
        found[REFUSED] = [Difference(None, translation.refused)]
        return found
    found[CHECK] = of_the_type(recorded, translation)
    for name, answer in engines.items():
        found[name] = of_the_values(form, recorded, partial(answer, form))
    return found
