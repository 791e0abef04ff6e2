"""Gathering errors instead of stopping at the first, and names as users may write them.

In: what is wrong and the node where. Out: a list of :class:`~headwater.errors.SqlError` with
    places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from sqlglot import exp

from headwater.analyze.literals.mistake import Mistake
from headwater.dialect.position import SourceText, place_within, source_of, span_of
from headwater.errors import Span, SqlError

NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
RESERVED_SUFFIXES = (
    *("__changes", "__late", "__quarantine", "__heartbeat", "__change", "__keys"),
    *("__sink", "__begun"),
)


class Diagnostics:
    """The errors of one statement; the same error at the same place is kept once.

    Attributes:
        statement: the statement, whose place serves nodes that have none.
        errors: what was found, in the order of finding.
    """

    def __init__(self, statement: exp.Expr) -> None:
        self.statement = statement
        self.errors: list[SqlError] = []
        self._source: SourceText | None = source_of(statement)
        self._seen: set[tuple[str, str, Span | None]] = set()

    def place(self, node: exp.Expr | None) -> Span | None:
        """Return where a node stands, or the statement's own place."""
        span = span_of(node, self._source) if node is not None else None
        return span or span_of(self.statement, self._source)

    def add(self, condition: str, message: str, at: exp.Expr | None, hint: str = "") -> None:
        """Note one error.

        Args:
            message: what is wrong, lower case, no full stop.
            at: the node to underline.
        """
        span = self.place(at)
        if (condition, message, span) not in self._seen:
            self._seen.add((condition, message, span))
            self.errors.append(SqlError(condition, message, hint=hint, span=span))

    def add_within(self, mistake: Mistake, literal: exp.Expr) -> None:
        """Note what is wrong inside a literal, at its place there.

        Args:
            literal: a text literal; any other node is underlined as a whole.
        """
        span = place_within(literal, self._source, mistake.at, mistake.length)
        span = span or self.place(literal)
        key = (mistake.condition, mistake.message, span)
        if key not in self._seen:
            self._seen.add(key)
            error = SqlError(mistake.condition, mistake.message, hint=mistake.hint, span=span)
            self.errors.append(error)

    def not_yet(self, what: str, at: exp.Expr | None, hint: str = "") -> None:
        """Note a feature of the grammar that this version does not run."""
        self.add("NOT_YET", f"not supported: {what}", at, hint)


def fold(name: str) -> str:
    """Return a name as it is kept: lower case."""
    return name.lower()


def did_you_mean(name: str, names: Iterable[str], what: str) -> str:
    """Return a hint for an unknown name: the nearest one, or what there is.

    Args:
        what: plural noun for the list, for example ``columns``.
    """
    known = sorted(set(names))
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0]}?"
    if not known:
        return f"there are no {what} here"
    shown = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
    return f"{what} are: {shown}"


def check_name(report: Diagnostics, name: str, at: exp.Expr, what: str) -> None:
    """Note an error if a user may not define this name.

    Args:
        name: the folded name.
        at: the node that defines it.
        what: ``column``, ``view``, …, for the message.
    """
    if what == "column" and name.startswith("_"):
        hint = "choose another name: names that begin with _ are reserved"
    elif not NAME.fullmatch(name):
        hint = "use a letter, then up to 62 letters, digits or underscores"
    elif what != "column" and name.endswith(RESERVED_SUFFIXES):
        hint = f"choose another ending: {', '.join(RESERVED_SUFFIXES)} are reserved"
    else:
        return
    shown = re.sub(r"[^\S ]", " ", name)[:80]
    report.add("BAD_NAME", f'"{shown}" is not a valid {what} name', at, hint)
