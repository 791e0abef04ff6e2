"""What the systems and the shared core hand to each other.

In: nothing. Out: drafts of tables, views and sinks, lines of the report, and the records of which
a system's tables consist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sqlglot import exp


class ImportResult(StrEnum):
    """What became of a statement."""

    DIFFERS = "differs"
    """It was turned, and means something else than before; a comment in the file says what."""
    EDIT = "edit"
    """It was turned, and needs an edit before the project can run."""
    LEFT_OUT = "left out"
    """It was not turned."""
    REFUSED = "refused"
    """It was turned, and ``check`` refuses the result."""


@dataclass(frozen=True, slots=True)
class ReportLine:
    """One line of the report.

    Attributes:
        place: file and line of the statement that was read.
        what: kind and name, for example ``view q5``.
        result: what became of it.
        reason: why, in one sentence.
        remedy: what to do, or an empty string.
    """

    place: str
    what: str
    result: ImportResult
    reason: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A remark about something that was turned; it becomes a comment and a finding.

    Attributes:
        reason: what differs, in one sentence.
        remedy: what to do, or an empty string.
        result: ``DIFFERS`` or ``EDIT``.
    """

    reason: str
    remedy: str = ""
    result: ImportResult = ImportResult.DIFFERS


class LeftOut(Exception):
    """A statement cannot be turned.

    Attributes:
        reason: why, in one sentence.
        remedy: what to do instead.
        at: offset of the place in the text, if it is not the start of the statement.
    """

    def __init__(self, reason: str, remedy: str = "", at: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.remedy, self.at = reason, remedy, at


@dataclass(slots=True)
class ColumnDraft:
    """A column of a table: read from the record, computed, or known by the connector."""

    name: str
    type: str = ""
    computed: str = ""
    metadata: str = ""
    not_null: bool = False
    comment: str = ""


@dataclass(slots=True)
class Draft:
    """A statement of the project under way.

    Attributes:
        name: its name in the project.
        place: file and line that it was read from.
        leading: comments that stood before it.
        notes: what differs or needs an edit.
    """

    name: str
    place: str
    leading: str = ""
    notes: list[Note] = field(default_factory=list)
    kind = "statement"

    @property
    def what(self) -> str:
        """Its kind and name."""
        return f"{self.kind} {self.name}"

    def remark(
        self, reason: str, remedy: str = "", result: ImportResult = ImportResult.DIFFERS
    ) -> None:
        """Add a note, once."""
        note = Note(reason, remedy, result)
        if note not in self.notes:
            self.notes.append(note)


@dataclass(slots=True)
class TableDraft(Draft):
    """A table of the project, or where rows of a view go.

    Attributes:
        columns: its columns.
        key: its primary key.
        watermark: the event time column and the delay as SQL, which may be empty.
        options: options of the connector, by Headwater's names.
        format: ``PLAIN``, ``UPSERT`` or ``DEBEZIUM``; empty for connectors without.
        encode: ``JSON`` and the like.
        encode_options: options behind ``ENCODE``.
        start_from: the words after ``START FROM``.
        idle: the interval after ``IDLE TIMEOUT``.
        comment: its comment.
        clocks: its columns that hold the clock, which are left out.
        outside: the connector there, if nothing here delivers to it.
        foreign: options as they were written, for what the mapping has to look up again.
    """

    columns: list[ColumnDraft] = field(default_factory=list)
    key: list[str] = field(default_factory=list)
    watermark: tuple[str, str] | None = None
    options: dict[str, str] = field(default_factory=dict)
    format: str = ""
    encode: str = ""
    encode_options: dict[str, str] = field(default_factory=dict)
    start_from: str = ""
    idle: str = ""
    comment: str = ""
    clocks: list[str] = field(default_factory=list)
    outside: str = ""
    foreign: dict[str, str] = field(default_factory=dict)
    kind = "table"


@dataclass(slots=True)
class ViewDraft(Draft):
    """A view of the project.

    Attributes:
        query: its SELECT, in Headwater's dialect.
        final: whether its rows appear when they are final.
        grace: for how long late rows count, as an interval; empty for the default.
        comment: its comment.
    """

    query: exp.Query = field(default_factory=exp.Select)
    final: bool = False
    grace: str = ""
    comment: str = ""
    kind = "view"


@dataclass(slots=True)
class SinkDraft(Draft):
    """Where the rows of a view go, in the options of a table."""

    view: str = ""
    to: TableDraft = field(default_factory=lambda: TableDraft("", ""))
    kind = "sink"


@dataclass(slots=True)
class FunctionDraft(Draft):
    """A function, as SQL."""

    sql: str = ""
    kind = "function"


# -- tables of a system


@dataclass(frozen=True, slots=True)
class CallMapping:
    """What a function becomes.

    Attributes:
        sql: an expression of Headwater, its arguments written ``_1``, ``_2``, …
        note: what differs, or an empty string.
    """

    sql: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class RefusedCall:
    """A word that has no equal here.

    Attributes:
        reason: why, in one sentence.
        remedy: what to write instead.
    """

    reason: str
    remedy: str = ""


Build = Callable[[list[exp.Expr]], exp.Expr]
Functions = Mapping[
    str,
    "str | CallMapping | RefusedCall | Build | Mapping[int, str | CallMapping | RefusedCall]",
]
"""By upper-case name: SQL with ``_1``, ``_2``; by number of arguments if they matter."""


@dataclass(frozen=True, slots=True)
class OptionMapping:
    """What an option of a connector becomes.

    Attributes:
        to: the option here; ``@start_from`` and the like name a clause; empty if it has no meaning
            here.
        values: values by the other system's, if they differ.
        note: what differs, or an empty string.
        secret: whether the value must not be written to a file.
        read: reads the value into the table, if that is more than a name.
    """

    to: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    secret: bool = False
    read: Callable[[TableDraft, str], None] | None = None


Types = Mapping[str, "str | tuple[str, str]"]
"""By upper-case name: the type here, or the type and what differs; no type if there is none."""

NO_MEANING = OptionMapping()
"""An option that changes no rows."""
Options = Mapping[str, "str | OptionMapping"]
"""By name there, the name here, or more; a name that ends in ``*`` stands for all that begin so."""


@dataclass(frozen=True, slots=True)
class ConnectorMapping:
    """What a connector becomes.

    Attributes:
        to: the connector here; empty if there is none.
        options: its options.
        format: the FORMAT that it implies, or an empty string.
        sink: whether rows that are written to it need a sink; a view alone will do otherwise.
        remedy: what to do if there is none here.
    """

    to: str = ""
    options: Options = field(default_factory=dict)
    format: str = ""
    sink: bool = True
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class EncodingMapping:
    """What a format of records becomes: FORMAT and ENCODE, and options of ENCODE."""

    format: str
    encode: str
    options: Options = field(default_factory=dict)
    fixed: Mapping[str, str] = field(default_factory=dict)
    note: Note | None = None
