"""Patterns of ``date_format`` and ``date_parse``: MySQL's letters behind ``%``, as in Trino.

In: a call as the parser has it. Out: the node that sqlglot makes of it, whose pattern is in the
letters of ``strftime``; beside it the pattern as written, which decides what is refused. sqlglot
takes letters that only ``strftime`` has, and puts others in the place of some that are wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from sqlglot import exp

WRITTEN = "written"
"""Key of ``meta`` of a pattern in the letters of ``strftime``: the text that Trino reads."""

LETTERS: Mapping[str, str] = {
    **{letter: f"%{letter}" for letter in "YymbdaHIpS"},
    "c": "%-m",
    "M": "%B",
    "e": "%-d",
    "W": "%A",
    "k": "%-H",
    "h": "%I",
    "l": "%-I",
    "i": "%M",
    "s": "%S",
    "T": "%H:%M:%S",
    "r": "%I:%M:%S %p",
}
"""Letters of Trino that every engine has, as those of ``strftime``."""
JAVA: Mapping[str, str] = {
    "%Y": "yyyy",
    "%y": "yy",
    "%m": "MM",
    "%-m": "M",
    "%B": "MMMM",
    "%b": "MMM",
    "%d": "dd",
    "%-d": "d",
    "%A": "EEEE",
    "%a": "EEE",
    "%H": "HH",
    "%-H": "H",
    "%I": "hh",
    "%-I": "h",
    "%M": "mm",
    "%-M": "m",
    "%S": "ss",
    "%-S": "s",
    "%p": "a",
}
"""Letters of ``strftime`` as those of Java, where a letter that is repeated is another one."""
_OTHERS: Mapping[str, str] = {"f": "%f"}
"""Letters that text is read by only."""
_LETTERS = re.compile(r"%-?.|.", re.DOTALL)
_PARTS = re.compile(r"%(.)|(.)", re.DOTALL)


def pattern_parts(written: str) -> list[tuple[str, str]]:
    """Return the parts of a pattern of Trino, each with what it is for ``strftime``.

    A part that no engine but Trino has is empty for ``strftime``.
    """
    known = {**LETTERS, **_OTHERS}
    return [
        (found[0], found[0] if found[2] and found[2] != "%" else known.get(found[1] or "", ""))
        for found in _PARTS.finditer(written)
    ]


def is_torn(letters: str) -> bool:
    """Return whether a pattern of ``strftime`` takes letters of Java apart that are one: ``MMMMM``.

    Args:
        letters: as sqlglot reads a pattern of Spark or Flink.
    """
    found = [JAVA.get(part, "") for part in _LETTERS.findall(letters)]
    return any(one and other[:1] == one[0] for one, other in pairwise(found))


def build(kind: type[exp.Expr]) -> Callable[[Sequence[exp.Expr]], exp.Expr]:
    """Return what makes a node of the arguments of a call.

    Args:
        kind: ``TimeToStr`` or ``StrToTime``.
    """

    def made(given: Sequence[exp.Expr]) -> exp.Expr:
        value, pattern = [*given, None, None][:2]
        if pattern is not None and pattern.is_string:
            letters = "".join(letter or part for part, letter in pattern_parts(pattern.name))
            found = exp.Literal.string(letters)
            found.meta.update({**pattern.meta, WRITTEN: pattern.name})
            pattern = found
        return kind(this=value, format=pattern)

    return made
