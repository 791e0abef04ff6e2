"""The results of the conformance lane: how each form compares with Trino."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape

from docs.generate.markdown import code, table
from tests.conformance.expected import listed, purposes
from tests.conformance.forms import FORMS

_VERDICTS = ("equal", "refused", "different", "wrong")
_HEADS = ("forms of", "forms", "equal", "refused", "different on purpose", "wrong")


def results() -> Iterator[str]:
    """Yield the count of forms by family and verdict."""
    counts: dict[str, Counter[str]] = {}
    for form in FORMS:
        entry = listed().get(form.text)
        verdict = entry.verdict if entry else "equal"
        counts.setdefault(form.family, Counter())[verdict] += 1
    total = sum(counts.values(), Counter())
    yield (
        f"**{total.total()} forms, equal {total['equal']}, refused {total['refused']}, different on"
        f" purpose {total['different']}, wrong {total['wrong']}.**"
    )
    yield ""
    rows = [
        (family, str(found.total()), *(str(found[verdict]) for verdict in _VERDICTS))
        for family, found in sorted(counts.items())
    ]
    yield from table(_HEADS, rows)


def different() -> Iterator[str]:
    """Yield the differences on purpose, each with an example."""
    texts = [form.text for form in FORMS if _verdict(form.text) == "different"]
    rows = []
    for purpose in purposes():
        found = [text for text in texts if purpose.forms.search(text)]
        rows.append((_shown(found[0]) if found else "", str(len(found)), purpose.reason))
    yield from table(("for example", "forms", "reason"), rows)


def wrong() -> Iterator[str]:
    """Yield the forms that are known to be wrong."""
    rows = [(_shown(form.text), form.family) for form in FORMS if _verdict(form.text) == "wrong"]
    yield from table(("form", "family"), rows) if rows else ("None is known.",)


def _shown(text: str) -> str:
    """A form as a cell of a table: no bar, no line break."""
    shown = text.replace("\n", "␤")
    return f"<code>{escape(shown).replace('|', '&#124;')}</code>" if "|" in shown else code(shown)


def _verdict(text: str) -> str:
    entry = listed().get(text)
    return entry.verdict if entry else "equal"
