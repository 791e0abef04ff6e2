"""How a command says what it found: a table for people, JSON or CSV for programs.

In: rows, documents, texts, notes, errors. Out: results on standard output, everything else on
standard error, both without the secrets that were read. No other module prints.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, TextIO

from headwater.cli.layout import columns_of, fitted, wrapped
from headwater.errors import ErrorGroup, HeadwaterError
from headwater.redact import clean, scrub
from headwater.serve.values import as_json, as_text

if TYPE_CHECKING:
    from rich.live import Live

Row = Sequence[object]
TABLE_LIMIT = 1000
"""Rows a terminal table shows at most; the other formats have no limit."""
PIPED = 120
"""Characters of a line if there is no terminal, and COLUMNS does not say."""
NARROWEST = 40
"""Characters of a line at least, however narrow the terminal is."""


class Output(ABC):
    """Where the results of one command go.

    Args:
        out: stream of the results; standard output by default.
        err: stream of notes, progress and errors; standard error by default.

    Attributes:
        for_people: whether a person reads it, so that several tables may follow each other.
        live: writes a remark while a display of progress has the error stream.
    """

    for_people = False

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.out = clean(out or sys.stdout)
        self.err = clean(err or sys.stderr)
        self.live: Callable[[str], None] | None = None
        self._warned: set[str] = set()

    @abstractmethod
    def rows(
        self,
        columns: Sequence[str],
        rows: Iterable[Row],
        title: str = "",
        null: str = "NULL",
        below: Sequence[str] = (),
        spare: Sequence[str] = (),
    ) -> None:
        """Write a result with columns.

        Args:
            rows: the rows, read once and lazily.
            title: a heading; only people see it.
            null: what stands for a missing value; only people see it.
            below: columns of long texts: below the table if the screen is too narrow for them, the
                first one first.
            spare: columns to leave out on a narrow screen, the least needed first.
        """

    @abstractmethod
    def document(self, value: Mapping[str, object], text: str, *, prose: bool = False) -> None:
        """Write one thing that is no table.

        Args:
            value: the thing for a program.
            text: the same for a person.
            prose: whether its lines may be broken between words; those of SQL may not.
        """

    @abstractmethod
    def error(self, error: HeadwaterError) -> None:
        """Write an error, or all errors of a group, to the error stream."""

    def note(self, text: str) -> None:
        """Write a remark for people; it is never part of the result."""
        self.err.write(text + "\n")
        self.err.flush()

    def step(self, text: str, minor: bool = False) -> None:  # noqa: B027 - programs do not wait
        """Show what the command begins to do, for people who wait.

        Args:
            text: for example ``starting Spark``.
            minor: whether only a terminal shows it.
        """

    def end_step(self) -> None:  # noqa: B027
        """Take away what :meth:`step` shows."""

    def warn(self, text: str) -> None:
        """Write a warning, once."""
        if text not in self._warned:
            self._warned.add(text)
            say = self.live or self.note
            say(text)


class TableOutput(Output):
    """For people: aligned columns that fit the screen.

    Args:
        width: of the screen; by default that of the terminal, or :data:`PIPED`.
    """

    for_people = True

    def __init__(
        self, out: TextIO | None = None, err: TextIO | None = None, width: int | None = None
    ) -> None:
        super().__init__(out, err)
        self._width = width
        self._spinner: Live | None = None

    @property
    def width(self) -> int:
        """How many characters a line may have."""
        said = os.environ.get("COLUMNS", "")
        if self._width is None and said.isdigit() and int(said):
            return max(int(said), NARROWEST)
        if self._width is None and self.out.isatty():
            return max(shutil.get_terminal_size().columns, NARROWEST)
        return self._width or PIPED

    def rows(
        self,
        columns: Sequence[str],
        rows: Iterable[Row],
        title: str = "",
        null: str = "NULL",
        below: Sequence[str] = (),
        spare: Sequence[str] = (),
    ) -> None:
        """Write a table; beyond :data:`TABLE_LIMIT` rows say only how many there are."""
        source = iter(rows)
        # before a narrow screen breaks a secret into lines
        shown = [
            [null if value is None else scrub(as_text(value)) for value in row]
            for row in islice(source, TABLE_LIMIT)
        ]
        found = columns_of(columns, shown, {null})
        lines, out = fitted(found, self.width, below=below, spare=spare, empty=null)
        self.end_step()
        heading = [*wrapped(title, self.width), ""] if title else []
        self.out.write("\n".join([*heading, *lines]) + "\n")
        if more := sum(1 for _ in source):
            self.note(f"... {more:,} more rows; --output csv or json prints them all")
        if out:
            self.note(f"no room for: {', '.join(out)}; widen the terminal, or: --output json")

    def document(self, value: Mapping[str, object], text: str, *, prose: bool = False) -> None:
        """Write the text."""
        self.end_step()
        lines = wrapped(text.rstrip("\n"), self.width) if prose else [text.rstrip("\n")]
        self.out.write("\n".join(lines) + "\n")

    def error(self, error: HeadwaterError) -> None:
        """Write an error as text: one line, caret, hint."""
        self.note(error.render())

    def note(self, text: str) -> None:
        """Write a remark; on a terminal, broken between words."""
        self.end_step()
        if self.err.isatty():
            text = "\n".join(wrapped(text, self.width))
        super().note(text)

    def step(self, text: str, minor: bool = False) -> None:
        """Show what begins: beside a spinner on a terminal, as a line elsewhere."""
        if not self.err.isatty():
            if not minor:
                super().note(text)
            return
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner
        from rich.text import Text

        if self._spinner is None:
            console = Console(file=self.err, width=self.width)
            self._spinner = Live(console=console, transient=True, refresh_per_second=8)
            self._spinner.start()
        shown = Text(text, overflow="ellipsis", no_wrap=True)
        self._spinner.update(Spinner("dots", shown), refresh=True)

    def end_step(self) -> None:
        """Take the spinner away."""
        spinner, self._spinner = self._spinner, None
        if spinner is not None:
            spinner.stop()


class JsonOutput(Output):
    """For programs: one JSON array or object; errors as JSON on the error stream."""

    def rows(
        self,
        columns: Sequence[str],
        rows: Iterable[Row],
        title: str = "",
        null: str = "NULL",
        below: Sequence[str] = (),
        spare: Sequence[str] = (),
    ) -> None:
        """Write an array with one object per row, as the rows come."""
        count = 0
        for count, row in enumerate(rows, 1):
            text = json.dumps(as_json(dict(zip(columns, row, strict=True))), ensure_ascii=False)
            self.out.write(("[\n " if count == 1 else ",\n ") + text)
        self.out.write("\n]\n" if count else "[]\n")

    def document(self, value: Mapping[str, object], text: str, *, prose: bool = False) -> None:
        """Write one JSON object."""
        self.out.write(json.dumps(as_json(value), ensure_ascii=False, indent=1) + "\n")

    def error(self, error: HeadwaterError) -> None:
        """Write one JSON object with a list of errors."""
        errors = error.errors if isinstance(error, ErrorGroup) else (error,)
        text = json.dumps({"errors": [_error_fields(each) for each in errors]}, ensure_ascii=False)
        self.err.write(text + "\n")

    def note(self, text: str) -> None:
        """Write nothing: a program that asked for JSON reads the error stream too."""


class CsvOutput(Output):
    """For programs: a header line and comma-separated values (RFC 4180); NULL is an empty field."""

    def rows(
        self,
        columns: Sequence[str],
        rows: Iterable[Row],
        title: str = "",
        null: str = "NULL",
        below: Sequence[str] = (),
        spare: Sequence[str] = (),
    ) -> None:
        """Write a header line and a line per row, as the rows come."""
        writer = csv.writer(self.out, lineterminator="\n")
        writer.writerow(columns)
        for row in rows:
            writer.writerow("" if value is None else as_text(value) for value in row)

    def document(self, value: Mapping[str, object], text: str, *, prose: bool = False) -> None:
        """Write a header line and one line of values."""
        self.rows(list(value), [list(value.values())])

    def error(self, error: HeadwaterError) -> None:
        """Write an error as text: one line, caret, hint."""
        self.note(error.render())


FORMATS: Mapping[str, type[Output]] = {"table": TableOutput, "json": JsonOutput, "csv": CsvOutput}


def _error_fields(error: HeadwaterError) -> dict[str, object]:
    span = error.span
    return {
        "condition": error.condition,
        "message": error.message,
        "hint": error.hint,
        "file": span.file if span else None,
        "line": span.line if span else None,
        "column": span.column if span else None,
    }
