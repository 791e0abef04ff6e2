"""The reference of functions, one entry each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from docs.generate.markdown import code, listed, table
from headwater.analyze.typing import types as t
from headwater.analyze.typing.determinism import HAZARDS
from headwater.analyze.typing.functions import (
    FAMILIES,
    FORMS,
    KINDS,
    SYNTAX,
    WANTED,
    Described,
    Function,
)
from headwater.analyze.typing.functions.aggregates import EXAMPLE_TABLE
from headwater.analyze.typing.functions.windows import WINDOWS
from headwater.plan.rules.folds import FOLDS, SIGNED_FOLDS
from tests.conformance.expected import purposes

_SAMPLES: Sequence[exp.DataType] = (
    *(t.BIGINT, t.DOUBLE, t.decimal(10, 2), t.VARCHAR, t.BOOLEAN, t.DATE, t.TIMESTAMP),
    *(t.array(t.BIGINT), t.array(t.VARCHAR), t.VARBINARY, t.INTEGER),
)
"""Types of arguments that tell a result of one type from one that depends on them."""
_PASS_OVER_NULL = ("coalesce", "concat_ws")
_EXAMPLE_ROWS = "Examples of {} read this table, `sales`:"


def functions() -> Iterator[str]:
    """Yield all families, then what is written like a function, then window functions."""
    for title, family in FAMILIES.items():
        entries: list[Described] = list(family.values())
        entries += FORMS.get(title, ())
        yield f"## {title}"
        yield ""
        if title == "Aggregates":
            yield from _sales("aggregates")
        for entry in sorted(entries, key=lambda each: each.name):
            yield from _entry(entry)
    yield "## Window functions"
    yield ""
    yield "These functions stand before `OVER` only; aggregates can stand there too."
    yield ""
    yield from _sales("window functions")
    for entry in WINDOWS:
        yield from _entry(entry)
    yield "## Syntax"
    yield ""
    yield "Expressions, conditions and table functions that are written in their own way."
    yield ""
    for entry in SYNTAX:
        yield from _entry(entry)


def folds() -> Iterator[str]:
    """Yield which aggregates are maintained by merging changes."""
    for rows, known in (("only come", FOLDS), ("come and go", SIGNED_FOLDS)):
        named = sorted(
            each.name
            for node, each in FAMILIES["Aggregates"].items()
            if node in known
        )  # fmt: skip
        yield f"- Where rows {rows}: {listed(named)}."


def refused() -> Iterator[str]:
    """Yield what is refused, with the reason and what to write instead."""
    rows = [
        (listed(hazard.names), hazard.reason, hazard.hint, f"`{hazard.condition}`")
        for hazard in HAZARDS
        if hazard.answer == "refused"
    ]
    yield from table(("refused", "why", "instead", "condition"), rows)


def _sales(what: str) -> Iterator[str]:
    columns, rows = EXAMPLE_TABLE
    yield _EXAMPLE_ROWS.format(what)
    yield ""
    yield from table([code(each) for each in columns], [row.split(", ") for row in rows])


def _entry(entry: Described) -> Iterator[str]:
    yield f"### `{entry.name}`"
    yield ""
    yield f"`{entry.usage}`"
    yield ""
    yield entry.about
    yield ""
    if isinstance(entry, Function):
        yield f"- **Arguments:** {_arguments(entry)}"
        yield f"- **Result:** {_result(entry)}"
    label = "Example" if len(entry.examples) == 1 else "Examples"
    examples = "; ".join(f"`{call}` → `{result}`" for call, result in entry.examples)
    yield f"- **{label}:** {examples}"
    if entry.aliases:
        yield f"- **Also called:** {', '.join(f'`{each}`' for each in entry.aliases)}"
    if entry.engines:
        yield f"- **Engines:** {entry.engines}"
    for purpose in purposes():
        if entry.name in purpose.functions:
            yield f"- **Differs from Trino:** {purpose.reason}"
    yield ""


def _arguments(entry: Function) -> str:
    if not entry.params:
        return "none."
    words = []
    for at, param in enumerate(entry.params):
        word = WANTED.get(param.rstrip("?*"), "a value")
        word += ", once or more" if param.endswith("*") else ""
        notes = ["optional"] * param.endswith("?") + ["a literal"] * (at in entry.constant)
        words.append(word + (f" ({', '.join(notes)})" if notes else ""))
    return "; ".join(words) + ("; all of one type." if entry.one_type else ".")


def _result(entry: Function) -> str:
    fits = KINDS[entry.params[0].rstrip("?*")] if entry.params else KINDS["any"]
    found = {t.sql_type(entry.result([each] * 3)) for each in _SAMPLES if fits(each)}
    words = f"`{found.pop()}`." if len(found) == 1 else _first_line(entry)
    if entry.nullable == "never":
        return f"{words} Never NULL."
    if entry.nullable == "always" or entry.name in _PASS_OVER_NULL:
        return words
    return f"{words} NULL if an argument is NULL."


def _first_line(entry: Function) -> str:
    words = (entry.result.__doc__ or "").splitlines()[0]
    return words[:1].lower() + words[1:] if words.startswith(("The", "An ")) else words
