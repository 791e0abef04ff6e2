"""One import under way: what was read so far, and what is reported.

In: statements, from the handlers of a system. Out: the parts of the project, in order, and
findings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from headwater.importing.bodies import Body, read_body, read_expression
from headwater.importing.contract import (
    Finding,
    LeftOut,
    Part,
    Result,
    Sink,
    System,
    Table,
    View,
)
from headwater.importing.statements import Cursor, Statement, plain_name


@dataclass
class Run:
    """What was read so far.

    Attributes:
        system: the system that the files are written for.
        variables: values of ``${NAME}``.
        parts: what the project will define, in order.
        findings: what could not be turned.
        statements: number of statements that define something.
        skipped: by first word, number of statements that define nothing, such as ``SET``.
        state: what the system remembers between statements.
    """

    system: System
    variables: Mapping[str, str] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    statements: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    state: dict[str, object] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def name_of(self, written: str) -> str:
        """Return the name in the project of an object by its name there."""
        return self.names.get(written.lower(), plain_name(written.rpartition(".")[2]))

    @property
    def tables(self) -> dict[str, Table]:
        """The tables by name."""
        return {each.name: each for each in self.parts if isinstance(each, Table)}

    @property
    def views(self) -> dict[str, View]:
        """The views by name."""
        return {each.name: each for each in self.parts if isinstance(each, View)}

    def add(self, part: Part) -> None:
        """Add a part; a name that is defined twice is left out the second time."""
        taken = {each.name for each in self.parts if not isinstance(each, Sink | Gap)}
        if part.name in taken and not isinstance(part, Sink):
            raise LeftOut(f'"{part.name}" is defined twice', "rename one of them")
        self.parts.append(part)

    def body(self, cursor: Cursor) -> Body:
        """Read a query."""
        return read_body(self, cursor)

    def expression(self, cursor: Cursor) -> str:
        """Read an expression."""
        return read_expression(self, cursor)

    def view(
        self, statement: Statement, name: str, body: Body, *, final: bool = False, late: str = ""
    ) -> View:
        """Add a view."""
        view = View(
            self.name_of(name),
            statement.place(),
            statement.leading,
            list(body.notes),
            query=body.query,
            final=final,
            late=late,
        )
        self.add(view)
        return view

    def skip(self, word: str) -> None:
        """Count a statement that defines nothing."""
        self.skipped[word] += 1

    def leave_out(self, statement: Statement, what: str, why: LeftOut) -> None:
        """Report a statement that cannot be turned."""
        place = statement.place(why.at)
        self.findings.append(Finding(place, what, Result.LEFT_OUT, why.reason, why.remedy))
        self.parts.append(Gap(what, place, statement.leading, reason=why.reason, remedy=why.remedy))


@dataclass(slots=True)
class Gap(Part):
    """The place of a statement that is left out: a comment."""

    reason: str = ""
    remedy: str = ""
    kind = "gap"
