"""Every form of the allow-list: a function, operator, cast, literal or pattern over typed columns.

In: the allow-list itself, and ``forms.toml`` for what needs constants or a syntax of its own.
Out: :data:`FORMS`. A function gets its forms from the kinds of its arguments; one that takes
constants and is not named in the file is an error, so that no function is left untried.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from headwater.analyze.typing import functions as f
from headwater.analyze.typing.functions.windows import WINDOWS
from tests.conformance.values import COLUMNS, columns_of

_FILE = Path(__file__).with_name("forms.toml")
_KIND = re.compile(rf"\{{({'|'.join(f.KINDS)})\}}")
_ONLY = (
    "i",
    "b",
    "r",
    "d",
    "m",
    "w",
    "f",
    "s",
    "dt",
    "ts",
    "tz",
    "tm",
    "ui",
    "bn",
    "ai",
    "ax",
    "ad",
    "mp",
)
"""One column of each type; the other numbers and texts stand in forms of their own."""
_NUMBERS = (*_ONLY, "n", "h", "e")
_MIXED = (
    *("ib", "id", "im", "bm", "rd", "rm", "dm", "mw", "bd", "ir", "mn", "wh", "iw", "ew"),
    *(("dt", "ts"), ("ts", "tz")),
)
"""Pairs of types that meet in functions of two arguments; coercion has a lane of its own."""
_TARGETS = (
    *("BOOLEAN", "INTEGER", "BIGINT", "REAL", "DOUBLE", "DECIMAL(5, 2)", "DECIMAL(38, 0)"),
    *("DECIMAL(38, 6)", "VARCHAR", "DATE", "TIMESTAMP(6)", "TIMESTAMP(6) WITH TIME ZONE"),
)


@dataclass(frozen=True, slots=True)
class Form:
    """One form.

    Attributes:
        text: as an analyst writes it, over columns of :mod:`tests.conformance.values`.
        name: the function, or the group of :file:`forms.toml`.
        family: the part of the table of results that it counts in.
        grouped: whether it aggregates.
    """

    text: str
    name: str
    family: str
    grouped: bool

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads, sorted."""
        return columns_of(self.text)

    def query(self, table: str) -> str:
        """Return the SELECT of the form."""
        if self.grouped:
            return f"SELECT g, {self.text} AS x FROM {table} GROUP BY g"
        return f"SELECT k, {self.text} AS x FROM {table}"


def _forms() -> Iterator[Form]:
    written = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    given = {name: _lines(text) for name, text in written["functions"].items()}
    aggregates = {each.name for each in f.AGGREGATES.values()}
    for family, table in f.FAMILIES.items():
        for each in table.values():
            for text in given.pop(each.name, None) or calls(each):
                yield from _expanded(text, each.name, family, each.name in aggregates)
    for family, others in f.FORMS.items():
        for form in others:
            for text in given.pop(form.name, ()):
                yield from _expanded(text, form.name, family)
    for window in WINDOWS:
        for text in given.pop(window.name):
            yield from _expanded(text, window.name, "Window functions")
    assert not given, f"forms.toml names no function of the language: {', '.join(given)}"
    for family in ("operators", "literals", "patterns"):
        for name, text in written[family].items():
            for line in _lines(text):
                yield from _expanded(line, name, family.capitalize())
    for source, target, cast in itertools.product((*_NUMBERS, "sn", "st"), _TARGETS, _CASTS):
        yield Form(f"{cast}({source} AS {target})", "cast", "Casts", grouped=False)


_CASTS = ("CAST", "TRY_CAST")


def _lines(text: str) -> list[str]:
    return [line.replace("␤", "\n") for line in text.splitlines() if line]


def calls(function: f.Function) -> list[str]:
    """Return the calls of a function whose arguments are all columns.

    Args:
        function: none of its arguments has to be a constant.
    """
    assert not function.constant, f"write forms of {function.name} into {_FILE.name}"
    kinds = [f"{{{param.rstrip('?*')}}}" for param in function.params]
    needed = [
        kind for kind, param in zip(kinds, function.params, strict=True) if not param.endswith("?")
    ]
    if any(param.endswith("*") for param in function.params):
        needed = kinds = [*needed, *needed]
    return [f"{function.name}({', '.join(each)})" for each in _once(needed, kinds)]


def _once(*lists: list[str]) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(map(tuple, lists)))


def _expanded(text: str, name: str, family: str, aggregate: bool = False) -> Iterator[Form]:
    """Yield a form for every choice of columns for the kinds in it."""
    grouped = aggregate and " OVER " not in text
    kinds = _KIND.findall(text)
    for chosen in _chosen(kinds):
        yield Form(_filled(text, chosen), name, family, grouped)


def _filled(text: str, columns: Iterable[str]) -> str:
    following = iter(columns)
    return _KIND.sub(lambda kind: next(following), text)


def _chosen(kinds: list[str]) -> Iterator[tuple[str, ...]]:
    if not kinds:
        yield ()
        return
    fitting = [
        [c for c in (_NUMBERS if kind == "number" else _ONLY) if f.KINDS[kind](COLUMNS[c].kind)]
        for kind in kinds
    ]
    if len(kinds) == 1:
        yield from ((each,) for each in fitting[0])
    elif len(set(kinds)) == 1:
        yield from ((c, *[f"{c}{n}" for n in range(2, len(kinds) + 1)]) for c in fitting[0])
        pairs = [tuple(pair) for pair in _MIXED] if len(kinds) == 2 else []
        yield from (pair for pair in pairs if all(c in fitting[0] for c in pair))
    else:
        yield from itertools.product(*fitting)


FORMS: tuple[Form, ...] = tuple({form.text: form for form in reversed([*_forms()])}.values())[::-1]
"""All forms in the order of the reference."""
