"""The plan of a view as inert data: decision, columns, program.

The planner decides, ``explain`` prints the plan, the engines run its program, and ``verify`` asks
for the SELECT at rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from headwater.algebra.properties.moves import moves
from headwater.analyze.definitions import ChangelogMode, Emit, LateRows, View
from headwater.analyze.time.settling import Settled
from headwater.analyze.typing.types import spark_type
from headwater.plan.full_program import FullProgram
from headwater.plan.guards.bad_rows import Guard
from headwater.plan.identity import FORMAT, FORMER, Identity, Order
from headwater.plan.program import Program
from headwater.plan.query_shape import Shape
from headwater.plan.rules.contract import Engine, Input, Rule


@dataclass(frozen=True, slots=True)
class Decision:
    """Which rule maintains a view, and why.

    Attributes:
        rule: the rule, with its engine.
        reason: one sentence.
    """

    rule: Rule
    reason: str

    @property
    def engine(self) -> Engine:
        """What runs the program of the rule."""
        return self.rule.engine

    @property
    def words(self) -> str:
        """Engine and rule, as a person reads them."""
        one = self.engine.value == self.rule.name
        return self.engine.value if one else f"{self.engine} ({self.rule.name})"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column of a view's table.

    Attributes:
        name: column name; hidden state starts with ``_``.
        spark_type: Spark SQL type.
        hidden: True for state that readers leave out.
    """

    name: str
    spark_type: str
    hidden: bool = False


@dataclass(frozen=True)
class ViewPlan:
    """Everything an engine, ``explain`` and ``verify`` need to know of one view.

    Attributes:
        view: the bound view.
        shape: what its query is made of.
        decision: engine, rule and reason.
        inputs: what it reads, in order of first use.
        mode: what the view emits to those who read it.
        emit: when rows appear, as decided.
        late: what happens to late rows, as decided.
        build: writes the program when it is first asked for; ``check`` only decides, and stays
            fast. It takes the order of terms.
        partitioned_by: Spark DDL transforms.
        identify: says what the definition means, in a format of fingerprints; of a keyed table
            without its columns.
        printed: hash of the printed definition, by which lakes of format 1 know it.
        earlier_rule: by which releases kept it that did not look at its tree; empty for the same.
        closing: when the rows of each branch are final, of a view that waits for it.
        follows: the log of a keyed table whose columns follow its definition; empty for others.
        find_guard: finds the rows on which its expressions fail.
        build_guarded: writes the program without these rows.
        build_whole: writes the program for when a sum has left its type; None if none can.
    """

    view: View
    shape: Shape
    decision: Decision
    inputs: tuple[Input, ...]
    mode: ChangelogMode
    emit: Emit
    late: LateRows
    build: Callable[[Order], Program]
    partitioned_by: tuple[str, ...]
    identify: Callable[[int], Identity]
    printed: str
    earlier_rule: str = ""
    closing: Sequence[Settled] = ()
    follows: str = ""
    find_guard: Callable[[], Guard | None] = lambda: None
    build_guarded: Callable[[Guard], Program] | None = None
    build_whole: Callable[[Guard], FullProgram] | None = None

    @property
    def stream_key(self) -> tuple[str, ...]:
        """The columns that identify a row; empty for a view of one row, or without a key."""
        return self.view.key or ()

    @cached_property
    def program(self) -> Program:
        """The SQL to run."""
        return self.build(Order.SETTLED)

    @cached_property
    def guard(self) -> Guard | None:
        """The rows on which its expressions fail, None if they cannot.

        Raises:
            SqlError: ``FALLIBLE_EXPRESSION`` if no row is to blame.
        """
        return self.find_guard()

    @cached_property
    def guarded_program(self) -> Program:
        """The SQL to run without the rows on which expressions fail."""
        return self.build_guarded(self.guard) if self.build_guarded and self.guard else self.program

    @cached_property
    def whole(self) -> FullProgram | None:
        """The query of all rows, NULL for a sum beyond its type; state columns are NULL."""
        if self.build_whole is None or self.guard is None:
            return None
        found = self.build_whole(self.guard)
        empty = "".join(f", CAST(NULL AS {kind}) AS {name}" for name, kind in self.program.hidden)
        return FullProgram(f"SELECT *{empty} FROM (\n{found.sql}\n)") if empty else found

    @cached_property
    def identity(self) -> Identity:
        """What its definition means."""
        return self.identify(FORMAT)

    @cached_property
    def former(self) -> str:
        """The fingerprint by which lakes of the format before know the definition."""
        return self.identify(FORMER).fingerprint

    @property
    def fingerprint(self) -> str:
        """The hash of :attr:`identity`, for its markers."""
        return self.identity.fingerprint

    def is_of(self, fingerprint: str) -> bool:
        """Return whether the fingerprint in a marker is that of this definition, or none at all."""
        known = fingerprint in ("", self.printed) or fingerprint == self.fingerprint
        return known or fingerprint == self.former

    @property
    def moves(self) -> bool:
        """Whether the watermark alone can change the view."""
        return self.program.moves or moves(self.view.tree.root)

    @cached_property
    def columns(self) -> tuple[TableColumn, ...]:
        """The columns of its table: visible ones in the order of the SELECT, then hidden state."""
        return (
            *(TableColumn(field.name, spark_type(field.type)) for field in self.view.fields),
            *(TableColumn(name, kind, hidden=True) for name, kind in self.program.hidden),
        )

    @property
    def lateness(self) -> timedelta | None:
        """The allowed lateness where too late rows are left out, None where every row counts."""
        return None if self.late.accept else self.late.allowed

    @property
    def final(self) -> bool:
        """Whether rows appear only once the watermark has made them final."""
        return self.emit is Emit.ON_WINDOW_CLOSE
