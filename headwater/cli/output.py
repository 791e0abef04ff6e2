"""How a command says what it found: a table for people, JSON or CSV for programs.

In: rows, documents, texts, notes, errors. Out: results on standard output, everything else on
standard error, both without the secrets that were read. No other module prints.
"""

from __future__ import annotations

import csv
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TextIO

from headwater.errors import ErrorGroup, HeadwaterError
from headwater.redact import clean, scrub
from headwater.serve.values import as_json, as_text, is_number

Row = Sequence[object]
TABLE_LIMIT = 1000
"""Rows a terminal table shows at most; the other formats have no limit."""


class Output(ABC):
    """Where the results of one command go.

    Args:
        out: stream of the results; standard output by default.
        err: stream of notes, progress and errors; standard error by default.

    Attributes:
        for_people: whether a person reads it, so that several tables may follow each other.
    """

    for_people = False

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.out = clean(out or sys.stdout)
        self.err = clean(err or sys.stderr)

    @abstractmethod
    def rows(
        self, columns: Sequence[str], rows: Iterable[Row], title: str = "", null: str = "NULL"
    ) -> None:
        """Write a result with columns.

        Args:
            rows: the rows, read once and lazily.
            title: a heading; only people see it.
            null: what stands for a missing value; only people see it.
        """

    @abstractmethod
    def document(self, value: Mapping[str, object], text: str) -> None:
        """Write one thing that is no table.

        Args:
            value: the thing for a program.
            text: the same for a person.
        """

    @abstractmethod
    def error(self, error: HeadwaterError) -> None:
        """Write an error, or all errors of a group, to the error stream."""

    def note(self, text: str) -> None:
        """Write a remark for people; it is never part of the result."""
        self.err.write(text + "\n")
        self.err.flush()


class TableOutput(Output):
    """For people: aligned columns, as wide as the terminal or as needed when there is none."""

    for_people = True

    def rows(
        self, columns: Sequence[str], rows: Iterable[Row], title: str = "", null: str = "NULL"
    ) -> None:
        """Write an aligned table; beyond :data:`TABLE_LIMIT` rows say only how many there are."""
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        source = iter(rows)
        shown = list(islice(source, TABLE_LIMIT))
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for index, name in enumerate(columns):
            numbers = shown and all(is_number(row[index]) for row in shown)
            table.add_column(Text(name), justify="right" if numbers else "left", overflow="fold")
        for row in shown:
            # before a narrow terminal breaks a secret into lines
            texts = (null if value is None else scrub(as_text(value)) for value in row)
            table.add_row(*map(Text, texts))
        width = None if self.out.isatty() else 10_000
        console = Console(file=self.out, width=width, highlight=False, soft_wrap=False)
        with console.capture() as capture:
            console.print(table)
        lines = [line.rstrip() for line in capture.get().splitlines()]
        heading = f"{title}\n\n" if title else ""  # as a title, it would be as narrow as the table
        self.out.write(heading + "\n".join(lines).strip("\n") + "\n")
        more = sum(1 for _ in source)
        if more:
            self.note(f"... {more} more rows; --output csv or json prints them all")

    def document(self, value: Mapping[str, object], text: str) -> None:
        """Write the text."""
        self.out.write(text.rstrip("\n") + "\n")

    def error(self, error: HeadwaterError) -> None:
        """Write an error as text: one line, caret, hint."""
        self.note(error.render())


class JsonOutput(Output):
    """For programs: one JSON array or object; errors as JSON on the error stream."""

    def rows(
        self, columns: Sequence[str], rows: Iterable[Row], title: str = "", null: str = "NULL"
    ) -> None:
        """Write an array with one object per row, as the rows come."""
        count = 0
        for count, row in enumerate(rows, 1):
            text = json.dumps(as_json(dict(zip(columns, row, strict=True))), ensure_ascii=False)
            self.out.write(("[\n " if count == 1 else ",\n ") + text)
        self.out.write("\n]\n" if count else "[]\n")

    def document(self, value: Mapping[str, object], text: str) -> None:
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
        self, columns: Sequence[str], rows: Iterable[Row], title: str = "", null: str = "NULL"
    ) -> None:
        """Write a header line and a line per row, as the rows come."""
        writer = csv.writer(self.out, lineterminator="\n")
        writer.writerow(columns)
        for row in rows:
            writer.writerow("" if value is None else as_text(value) for value in row)

    def document(self, value: Mapping[str, object], text: str) -> None:
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
