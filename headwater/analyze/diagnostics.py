"""Gathering errors instead of stopping at the first, and names as users may write them.

In: what is wrong and the node where. Out: a list of :class:`~headwater.errors.SqlError` with
    places.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType

from sqlglot import exp

from headwater.analyze.definitions import NEXT
from headwater.analyze.literals.mistake import Mistake
from headwater.dialect.position import SourceText, place_within, source_of, span_of, written_at
from headwater.dialect.syntax import FUNCTION
from headwater.dialect.vocabulary import is_system_column, is_unnamed
from headwater.errors import Span, SqlError

NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
_WORDS = re.compile(r"(?=.{1,63}$)[a-z0-9_<>()/&+-]+([ .][a-z0-9_<>()/&+-]+)*")
RESERVED_SUFFIXES = (
    *("__changes", "__late", "__quarantine", "__heartbeat", "__change", "__keys"),
    *("__sink", "__begun", NEXT),
)


_LONGEST = 40
_NAME_OF_CALL = re.compile(r"([A-Za-z_]\w*)(\s*\(|$)")


class Diagnostics:
    """The errors of one statement; the same error at the same place is kept once.

    Attributes:
        statement: the statement, whose place serves nodes that have none.
        functions: names of the functions that the project defines.
        local_tables: names that WITH defines anywhere in the statement, for hints.
        clock: of a view, whether an input has a watermark, by which ``watermark()`` has a value.
        errors: what was found, in the order of finding.
    """

    def __init__(self, statement: exp.Expr, functions: Collection[str] = ()) -> None:
        self.statement = statement
        self.functions = functions
        self.local_tables: list[str] = []
        self.clock: bool | None = None
        self.errors: list[SqlError] = []
        self._source: SourceText | None = source_of(statement)
        self._seen: set[tuple[str, str, Span | None]] = set()

    def place(self, node: exp.Expr | None) -> Span | None:
        """Return where a node stands, or the statement's own place."""
        span = span_of(node, self._source) if node is not None else None
        return span or span_of(self.statement, self._source)

    def place_within(self, literal: exp.Expr, mistake: Mistake) -> Span | None:
        """Return where a mistake is inside a literal; of any other node, the place of it all."""
        span = place_within(literal, self._source, mistake.at, mistake.length)
        return span or self.place(literal)

    def add(self, condition: str, message: str, at: exp.Expr | None, hint: str = "") -> None:
        """Note one error.

        Args:
            message: what is wrong, lower case, no full stop.
            at: the node to underline; one that a call of a function became stands at the call.
        """
        if at is not None and (function := at.meta.get(FUNCTION)):
            message = f"in function {function}: {message}"
        self.note(condition, message, hint, self.place(at))

    def note(self, condition: str, message: str, hint: str, span: Span | None) -> None:
        """Note one error at a place."""
        self.put_back(SqlError(condition, message, hint=hint, span=span))

    def put_back(self, error: SqlError) -> None:
        """Note an error that was noted already and taken back."""
        key = (error.condition, error.message, error.span)
        if key not in self._seen:
            self._seen.add(key)
            self.errors.append(error)

    def take_back(self, count: int) -> list[SqlError]:
        """Forget what was noted after the first errors, and return it.

        Args:
            count: how many errors remain.
        """
        found, self.errors[count:] = self.errors[count:], []
        self._seen -= {(each.condition, each.message, each.span) for each in found}
        return found

    def within(self, literal: exp.Expr) -> _Within:
        """Note the :class:`Mistake` that ends the block, at its place inside a literal.

        Args:
            literal: a text literal; any other node is underlined as a whole.
        """
        return _Within(self, literal)

    def word(self, node: exp.Expr) -> str:
        """Return the name of a call as the user wrote it, lower case; empty for operators."""
        found = _NAME_OF_CALL.match(self._written(node))
        return found[1].lower() if found else ""

    def excerpt(self, node: exp.Expr) -> str:
        """Return a node as the user wrote it, in quotes and shortened, or ``this``."""
        text = " ".join(self._written(node).split())
        if not text:
            return "this"
        return f'"{text[:_LONGEST]}…"' if len(text) > _LONGEST else f'"{text}"'

    def cast_of(self, node: exp.Expr, kind: str = "DECIMAL(18, 6)") -> str:
        """Return a cast of a node as the user could paste it."""
        text = " ".join(self._written(node).split())
        return f"CAST({text if 0 < len(text) <= 2 * _LONGEST else 'x'} AS {kind})"

    def _written(self, node: exp.Expr) -> str:
        """The text of a node; sqlglot places some calls at their arguments only."""
        if self._source is None or node.meta.get(FUNCTION):
            return ""
        return written_at(node, self._source)

    def not_yet(self, what: str, at: exp.Expr | None, hint: str = "") -> None:
        """Note a feature of the grammar that this version does not run."""
        self.add("NOT_YET", f"not supported: {what}", at, hint)


@dataclass(frozen=True, slots=True)
class _Within(AbstractContextManager[None, bool]):
    """A block in which a literal is parsed; a class, since the type of its exit matters."""

    report: Diagnostics
    literal: exp.Expr

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if not isinstance(error, Mistake):
            return False
        span = self.report.place_within(self.literal, error)
        self.report.note(error.condition, error.message, error.hint, span)
        return True


def fold(name: str) -> str:
    """Return a name as it is kept: lower case."""
    return name.lower()


def check_name(
    report: Diagnostics,
    name: str,
    at: exp.Expr,
    what: str,
    *,
    words: bool = False,
    otherwise: str = "",
) -> None:
    """Note an error if a user may not define this name.

    Args:
        name: the folded name.
        at: the node that defines it.
        what: ``column``, ``view``, …, for the message.
        words: whether several may be one name, and signs may be in it: ``31-60 days``, ``a.id``.
        otherwise: what to do about a name that cannot be changed.
    """
    if what == "column" and (is_system_column(name) or is_unnamed(name)):
        hint = f"choose another name: names that begin with _ are reserved{otherwise}"
    elif words and not _WORDS.fullmatch(name):
        signs = "_ - + & / < > ( )"
        hint = f"use up to 63 letters, digits and {signs}, with single spaces or dots between"
    elif not words and not NAME.fullmatch(name):
        hint = f"use a letter, then up to 62 letters, digits or underscores{otherwise}"
    elif what != "column" and name.endswith(RESERVED_SUFFIXES) and not at.meta.get(NEXT):
        hint = f"choose another ending: {', '.join(RESERVED_SUFFIXES)} are reserved"
    else:
        return
    shown = re.sub(r"[^\S ]", " ", name)[:80]
    report.add("BAD_NAME", f'"{shown}" is not a valid {what} name', at, hint)
