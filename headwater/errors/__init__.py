"""Every error Headwater raises on purpose: condition, place, what happened, what to do next.

In: the condition (an upper-case name that tests and scripts may rely on), a message, a hint, a
span.
Out: one line ``file:line:col CONDITION — message`` with the source line, a caret and the hint.
The texts follow PostgreSQL's error style: the message is short and factual, the hint is an action.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headwater.redact import scrub

EXIT_OK, EXIT_NO, EXIT_BAD_INPUT, EXIT_SERVICE = 0, 1, 2, 3


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A place in a source file.

    Attributes:
        file: path as the user wrote it, or ``<string>``.
        line: line number, from 1.
        column: column of the first character, from 1.
        length: number of characters to underline, at least 1.
        text: the whole source line, without its line break.
    """

    file: str
    line: int
    column: int
    length: int = 1
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def underlined(self) -> str:
        """Return the source line with a caret line below it; empty if the line is unknown."""
        if not self.text:
            return ""
        room = max(1, min(self.length, len(self.text) - self.column + 1))
        indent = "".join("\t" if char == "\t" else " " for char in self.text[: self.column - 1])
        return f"  {self.text}\n  {indent}{'^' * room}"


class HeadwaterError(Exception):
    """Root of all errors raised on purpose.

    Attributes:
        condition: stable upper-case name, for example ``UNKNOWN_COLUMN``.
        message: what happened, one sentence, lower case, no full stop.
        hint: what to do next, or an empty string.
        span: where in a file it happened, if it did.
        exit_code: what the command line exits with (see ``EXIT_*``).
    """

    exit_code = EXIT_BAD_INPUT

    def __init__(
        self, condition: str, message: str, *, hint: str = "", span: Span | None = None
    ) -> None:
        self.condition = condition
        self.message = scrub(message)
        self.hint = scrub(hint)
        super().__init__(self.message)
        self.span = span

    def render(self) -> str:
        """Return the error as a person reads it: one line, then caret and hint if it has them.

        No secret that was read is in it, nor in ``message`` and ``hint``.
        """
        where = f"{self.span} " if self.span else ""
        lines = [f"{where}{self.condition} — {self.message}"]
        if self.span and (picture := self.span.underlined()):
            lines.append(picture)
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return scrub("\n".join(lines))

    def __str__(self) -> str:
        return self.render()


class SqlError(HeadwaterError):
    """The SQL text cannot be parsed, bound, typed or planned."""


class ConfigError(HeadwaterError):
    """``headwater.toml``, an environment variable or a command line option is wrong."""


class ServiceError(HeadwaterError):
    """Something outside Headwater failed, such as a disk or a catalog; trying again may help."""

    exit_code = EXIT_SERVICE


class TerminalError(ServiceError):
    """A view cannot go on without a decision of a person; restarting it would not help."""


class ErrorGroup(HeadwaterError):
    """All errors of all files, gathered so that they are reported at once, ordered by place.

    Attributes:
        errors: the single errors, never empty.
    """

    def __init__(self, errors: Sequence[HeadwaterError]) -> None:
        self.errors = tuple(sorted(errors, key=_place))
        super().__init__(self.errors[0].condition, f"{len(self.errors)} errors")
        self.exit_code = max(error.exit_code for error in self.errors)

    def render(self) -> str:
        """Return every error, one after the other."""
        return "\n".join(error.render() for error in self.errors)


def _place(error: HeadwaterError) -> tuple[str, int, int]:
    span = error.span
    return (span.file, span.line, span.column) if span else ("", 0, 0)


def raise_all(errors: Sequence[HeadwaterError]) -> None:
    """Raise nothing, the one error, or an :class:`ErrorGroup` of all of them.

    Args:
        errors: what was found; may be empty.
    """
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ErrorGroup(errors)
