"""The ``.slt`` format: SQL tests with stream verbs.

In: the text of a file. Out: its records, each with the lines it came from, so that expected results
can be written back in place. A record is a verb line, its body up to a blank line, and for some
verbs an expected result after ``----``:

    statement ok                     SQL follows: must succeed
    statement error CONDITION        SQL follows: must fail with this condition
    ingest TABLE                     rows follow: a header line, then comma-separated values
    ingest TABLE raw                 lines follow: written as they are, for broken input
    tick                             process all that is there, one epoch per ingest
    close                            end of input: every window is final
    crash POINT                      die at this step of a commit; the next tick starts anew
    advance DURATION                 move the processing-time clock
    query TYPES [rowsort|nosort]     a SELECT, ----, expected rows
    explain VIEW                     ----, the expected plan
    verify [VIEW...]                 the views equal their SELECT at rest

TYPES has one letter per column: I integer, R number, B boolean, P date or time, T anything else.
Values stand one space apart; NULL and (empty) stand for themselves; times are ISO 8601 in UTC.
``#`` starts a comment line. In an ``ingest``, NULL is no value, and (empty) or "" the empty text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from headwater.errors import ConfigError, Span

SEPARATOR = "----"
TYPE_LETTERS = "IRBPT"
# verb: fewest and most arguments, whether a body must follow, whether an expected result must
# follow
_VERBS: dict[str, tuple[int, int, bool, bool]] = {
    "statement": (1, 2, True, False),
    "ingest": (1, 2, True, False),
    "tick": (0, 0, False, False),
    "close": (0, 0, False, False),
    "crash": (1, 1, False, False),
    "advance": (1, 2, False, False),
    "query": (1, 2, True, True),
    "explain": (1, 1, False, True),
    "verify": (0, 99, False, False),
}
_OF_NAMES = ("ingest", "explain", "verify")
"""Verbs whose arguments are names of tables and views, in any case."""


@dataclass(frozen=True, slots=True)
class Record:
    """One step of a test.

    Attributes:
        verb: what to do.
        arguments: the words after the verb.
        body: the lines below the verb line: SQL or rows.
        expected: the lines after ``----``, or None for verbs without a result.
        span: where the verb stands.
        expected_at: index of the first line after ``----`` in the file, from 0.
    """

    verb: str
    arguments: tuple[str, ...]
    body: tuple[str, ...]
    expected: tuple[str, ...] | None
    span: Span
    expected_at: int = 0

    @property
    def sql(self) -> str:
        """The body as one text."""
        return "\n".join(self.body)


def parse(text: str, file: str = "<string>") -> list[Record]:
    """Split the text of a file into records.

    Args:
        text: the whole file.
        file: its name for error messages.

    Raises:
        ConfigError: ``TEST_SYNTAX`` at the line that is wrong.
    """
    return [_record(block, file) for block in _blocks(text)]


def rewritten(text: str, results: Sequence[tuple[Record, Sequence[str]]]) -> str:
    """Return the text of a file with expected results replaced.

    Args:
        text: the whole file.
        results: records of this text and the lines that they must expect from now on.
    """
    lines = text.splitlines()
    for record, result in sorted(results, key=lambda pair: -pair[0].expected_at):
        end = record.expected_at + len(record.expected or ())
        lines[record.expected_at : end] = result
    return "\n".join(lines) + "\n"


def render_rows(
    columns: Sequence[str], rows: Sequence[Sequence[object]], *, sort: bool = False
) -> list[str]:
    """Return rows as the lines of an expected result.

    Args:
        columns: names of the columns; only their number matters.
        rows: the rows.
        sort: whether to order the lines, for results without an ORDER BY.
    """
    lines = [" ".join(render_value(value) for value in row) for row in rows]
    return sorted(lines) if sort else lines


def render_value(value: object) -> str:
    """Return one value as an expected result shows it."""
    match value:
        case None:
            return "NULL"
        case "":
            return "(empty)"
        case bool():
            return "true" if value else "false"
        case float():
            return format(value, ".9g")
        case Decimal():
            return format(value, "f")
        case datetime():
            return value.replace(tzinfo=None).isoformat() + ("Z" if value.tzinfo else "")
        case date():
            return value.isoformat()
        case bytes():
            return value.hex() or "(empty)"
        case list() | dict():
            return json.dumps(
                value, default=render_value, separators=(",", ":"), ensure_ascii=False
            )
        case _:
            return " ".join(str(value).splitlines())


def type_letter(value: object) -> str | None:
    """Return the letter of TYPES that a value fits, or None for NULL, which fits all."""
    match value:
        case None:
            return None
        case bool():
            return "B"
        case int():
            return "I"
        case float() | Decimal():
            return "R"
        case date():
            return "P"
        case _:
            return "T"


def _blocks(text: str) -> Iterator[list[tuple[int, str]]]:
    """Yield runs of non-blank lines with their index from 0; comments before them are dropped."""
    block: list[tuple[int, str]] = []
    for index, line in enumerate([*text.splitlines(), ""]):
        if not line.strip():
            if block:
                yield block
            block = []
        elif block or not line.startswith("#"):
            block.append((index, line))


def _record(block: Sequence[tuple[int, str]], file: str) -> Record:
    index, line = block[0]
    verb, *arguments = line.split()
    span = Span(file, index + 1, 1, len(line), line)
    lines = [text for _, text in block[1:]]
    if verb not in _VERBS:
        raise _wrong(f'there is no verb "{verb}"', span, f"the verbs are: {', '.join(_VERBS)}")
    fewest, most, needs_body, needs_result = _VERBS[verb]
    if not fewest <= len(arguments) <= most:
        raise _wrong(f'"{verb}" does not take {len(arguments)} arguments', span)
    if verb == "statement" and arguments[0] not in {"ok", "error"}:
        raise _wrong(
            f'"statement {arguments[0]}" must be "statement ok" or "statement error"', span
        )
    if verb == "query" and set(arguments[0]) - set(TYPE_LETTERS):
        raise _wrong(f'"{arguments[0]}" has letters other than {TYPE_LETTERS}', span)
    cut = lines.index(SEPARATOR) if SEPARATOR in lines else len(lines)
    if needs_result != (cut < len(lines)):
        what = f'needs "{SEPARATOR}" and a result' if needs_result else "takes no result"
        raise _wrong(f'"{verb}" {what}', span)
    if needs_body != (cut > 0):
        raise _wrong(f'"{verb}" {"needs lines below it" if needs_body else "takes no lines"}', span)
    return Record(
        verb,
        tuple(map(str.lower, arguments)) if verb in _OF_NAMES else tuple(arguments),
        tuple(lines[:cut]),
        tuple(lines[cut + 1 :]) if needs_result else None,
        span,
        index + cut + 2,
    )


def _wrong(message: str, span: Span, hint: str = "") -> ConfigError:
    return ConfigError("TEST_SYNTAX", message, hint=hint, span=span)
