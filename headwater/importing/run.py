"""One import under way: what was read so far, and what is reported.

In: statements, from the handlers of a system. Out: the parts of the project, in order, and
findings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headwater.importing.bodies import Body, Grammar, QueryScope, read_body, read_expression
from headwater.importing.contract import (
    Draft,
    ImportResult,
    LeftOut,
    ReportLine,
    TableDraft,
    Types,
    ViewDraft,
)
from headwater.importing.statements import Cursor, Statement


@dataclass(frozen=True)
class System:
    """A system whose files are read.

    Attributes:
        name: as after ``--from``.
        title: its name for people.
        grammar: how its queries are read.
        types: its types by name.
        statements: by its first words, what turns a statement; the longest match counts.
        signs: patterns that only texts of this system match.
        defines: pattern of a line that gives a variable a value, as two groups.
        finish: called when every statement was read.
        collect: reads the files, if they are no plain SQL.
    """

    name: str
    title: str
    grammar: Grammar
    types: Types
    statements: Mapping[str, Handler]
    signs: Sequence[str]
    defines: str = ""
    finish: Callable[[ImportRun], None] | None = None
    collect: Callable[[ImportRun, Sequence[Path]], None] | None = None


@dataclass
class ImportRun:
    """What was read so far.

    Attributes:
        system: the system that the files are written for.
        variables: values of ``${NAME}``.
        parts: what the project will define, in order.
        findings: what could not be turned.
        statements: number of statements that define something.
        known: number of statements that the system has, turned or not.
        skipped: by first word, number of statements that define nothing, such as ``SET``.
        scope: what earlier statements say that queries need.
        targets: tables that rows are only written to, by name.
        foreign: by table, the options of its connector as written.
        rows: by table, rows that were written to it as literals.
        copies: by path in the project, files that are copied.
        settings: by name, values of ``SET`` that change what queries mean.
        topics: by topic, the view that is written to it.
        types: the system's types, and those that the files define.
    """

    system: System
    variables: Mapping[str, str] = field(default_factory=dict)
    parts: list[Draft] = field(default_factory=list)
    findings: list[ReportLine] = field(default_factory=list)
    statements: int = 0
    known: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    scope: QueryScope = field(default_factory=QueryScope)
    targets: dict[str, TableDraft] = field(default_factory=dict)
    foreign: dict[str, dict[str, str]] = field(default_factory=dict)
    rows: dict[str, list[dict[str, object]]] = field(default_factory=dict)
    copies: dict[str, Path] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    topics: dict[str, str] = field(default_factory=dict)
    types: Types = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.types = self.types or self.system.types

    @property
    def tables(self) -> dict[str, TableDraft]:
        """The tables by name."""
        return {each.name: each for each in self.parts if isinstance(each, TableDraft)}

    @property
    def views(self) -> dict[str, ViewDraft]:
        """The views by name."""
        return {each.name: each for each in self.parts if isinstance(each, ViewDraft)}

    def add(self, part: Draft) -> None:
        """Add a part; a name that is defined twice is left out the second time."""
        for each in self.parts:
            written = isinstance(each, TableDraft) and each.name in self.targets
            if each.name == part.name and not written and not isinstance(each, Gap):
                raise LeftOut(f'"{part.name}" is defined twice', "rename one of them")
        self.parts.append(part)
        if isinstance(part, TableDraft):
            self.scope.clocks[part.name] = set(part.clocks)

    def body(self, cursor: Cursor) -> Body:
        """Read a query."""
        return read_body(self.system.grammar, self.scope, cursor)

    def expression(self, cursor: Cursor) -> str:
        """Read an expression."""
        return read_expression(self.system.grammar, cursor)

    def view(
        self, statement: Statement, name: str, body: Body, *, final: bool = False, grace: str = ""
    ) -> ViewDraft:
        """Add a view."""
        view = ViewDraft(
            self.scope.name_of(name),
            statement.place(),
            statement.leading,
            list(body.notes),
            query=body.query,
            final=final,
            grace=grace,
        )
        self.add(view)
        self.scope.clocks[view.name] = body.clocks
        return view

    def skip(self, word: str) -> None:
        """Count a statement that defines nothing."""
        self.skipped[word] += 1

    def differs(self, statement: Statement, what: str, reason: str) -> None:
        """Report a statement that defines nothing, and still changes what queries mean."""
        result = ImportResult.DIFFERS
        self.findings.append(ReportLine(statement.place(), what, result, reason))
        self.parts.append(Gap(what, statement.place(), reason=reason, result=result))

    def leave_out(self, statement: Statement, what: str, why: LeftOut) -> None:
        """Report a statement that cannot be turned."""
        place = statement.place(why.at)
        self.findings.append(ReportLine(place, what, ImportResult.LEFT_OUT, why.reason, why.remedy))
        self.parts.append(Gap(what, place, statement.leading, reason=why.reason, remedy=why.remedy))


@dataclass(slots=True)
class Gap(Draft):
    """The place of a statement that defines nothing here: a comment."""

    reason: str = ""
    remedy: str = ""
    result: ImportResult = ImportResult.LEFT_OUT
    kind = "gap"


Handler = Callable[[ImportRun, Statement], None]
"""Turns one statement."""
