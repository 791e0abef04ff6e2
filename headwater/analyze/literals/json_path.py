"""JSON paths of ``json_extract_scalar``.

In: a path as Trino reads it: ``$``, then ``.key``, ``[0]``, ``["any key"]``. Out: its steps. A step
of digits is an element of an array and also a key of an object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from headwater.analyze.literals.mistake import Mistake

_INSTEAD = {
    ".": "name each key on the way: $.a.b",
    "*": "name one element: [0]",
    "'": 'write double quotes: ["key"]',
    "-": 'count from the start: [0]; a key with a hyphen is ["a-b"]',
    "?": "filters do not exist; use UNNEST",
}
_MOST_NUMBERS = 3


def parse(text: str) -> tuple[str, ...]:
    """Return the steps of a path; none for ``$``.

    Raises:
        Mistake: it is malformed, or an engine cannot look the key up.
    """
    if not text.startswith("$"):
        raise Mistake("a JSON path starts with $", "write it like '$.a.b'", 0, len(text) or 1)
    steps: list[str] = []
    at = 1
    while at < len(text):
        if text[at] == ".":
            step, end = _word(text, at + 1, extra=":")
        elif text.startswith('["', at):
            step, end = _quoted(text, at + 2)
        elif text[at] == "[":
            step, end = _word(text, at + 1)
            if text[end : end + 1] != "]":
                raise _wrong(text, end)
            end += 1
        else:
            raise _wrong(text, at)
        _check(step, at)
        steps.append(step)
        at = end
    if sum(step.isdecimal() for step in steps) > _MOST_NUMBERS:
        message = f"a JSON path with more than {_MOST_NUMBERS} numbers is not supported"
        raise Mistake(message, "UNNEST one level first", 0, len(text), condition="NOT_PORTABLE")
    return tuple(steps)


def readings(steps: tuple[str, ...]) -> Iterator[tuple[str | int, ...]]:
    """Yield the ways to read a path: a step of digits is a key, or the number of an element."""
    if not steps:
        yield ()
        return
    for rest in readings(steps[1:]):
        if steps[0].isdecimal():
            yield (int(steps[0]), *rest)
        yield (steps[0], *rest)


def _word(text: str, at: int, extra: str = "") -> tuple[str, int]:
    end = at
    while end < len(text) and (text[end] == "_" or text[end].isalnum() or text[end] in extra):
        end += 1
        extra = ":" if extra else ""
    if end == at:
        raise _wrong(text, at)
    return text[at:end], end


def _quoted(text: str, at: int) -> tuple[str, int]:
    found = re.compile(r'((?:[^"\\]|\\["\\])*)"\]').match(text, at)
    if found is None:
        raise Mistake('malformed JSON path: no "] follows', 'write it like ["a b"]', at - 1)
    return re.sub(r"\\(.)", r"\1", found[1]), found.end()


def _check(step: str, at: int) -> None:
    if any(char in step for char in "'?\"\\") or not step.isprintable():
        message = f"the key {step} cannot be looked up in every engine"
        raise Mistake(
            message, "rename the key where the JSON is made", at, condition="NOT_PORTABLE"
        )
    if step.isdecimal() and (not step.isascii() or int(step) >= 2**31):
        raise Mistake(
            f"there is no element {step}", "write a smaller number", at, condition="NOT_PORTABLE"
        )


def _wrong(text: str, at: int) -> Mistake:
    char = text[at : at + 1]
    what = f"{char} cannot stand here" if char else "it ends too early"
    hint = _INSTEAD.get(char, 'write it like $.a.b[0]["any key"]')
    return Mistake(f"malformed JSON path: {what}", hint, min(at, len(text) - 1))
