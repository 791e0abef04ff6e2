"""What a rule of the planner is, and the facts that rules look at.

A rule is one object: its name, its engine, when it applies and the program it writes. A module of
this folder ends with its rule, and :mod:`headwater.plan.rules.registry` has one line for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from sqlglot import exp

from headwater.algebra.ages import Ages
from headwater.algebra.nodes import Fixpoint, Values, nodes_of
from headwater.algebra.properties.moves import shows_watermark
from headwater.analyze.definitions import Catalog, ChangelogMode, Emit, View
from headwater.analyze.time.settling import Settled, Unsettled
from headwater.plan.program import Program
from headwater.plan.query_shape import Shape
from headwater.plan.rules.folds import APPROXIMATE


class Engine(StrEnum):
    """What maintains a view."""

    STREAMING = "streaming"
    INCREMENTAL = "incremental"
    FULL = "full"


class InputKind(StrEnum):
    """What a view reads; rows of a source are not kept."""

    TABLE = "table"
    VIEW = "view"
    SOURCE = "source"


@dataclass(frozen=True, slots=True)
class Input:
    """One relation that a view reads.

    Attributes:
        name: its name.
        kind: table, view or source.
        appends: whether it only gains rows.
        streams: whether Spark can read it as a stream: not a Delta table.
        evolves: whether its columns can change: it is landed, or made of changes that are.
        ages: which of its rows are read by the view's watermark, and what compares them with it.
        timed: whether it has a watermark, so that it holds back that of the view.
    """

    name: str
    kind: InputKind
    appends: bool = True
    streams: bool = True
    evolves: bool = False
    ages: Ages = Ages()
    timed: bool = True


@dataclass(frozen=True, slots=True)
class Facts:
    """What the rules look at, computed once per view.

    Attributes:
        view: the bound view.
        shape: its shape.
        emit: when its rows appear, as decided.
        inputs: what it reads.
        mode: what it emits itself.
        closing: when the rows of each branch are final.
    """

    view: View
    shape: Shape
    emit: Emit
    inputs: tuple[Input, ...]
    mode: ChangelogMode
    closing: Sequence[Settled | Unsettled | None] = ()

    def appends(self, name: str) -> bool:
        """Return whether an input only gains rows."""
        return next(each.appends for each in self.inputs if each.name == name)

    @property
    def reads_source(self) -> bool:
        """Whether an input is a SOURCE, whose rows can be read once only."""
        return any(item.kind is InputKind.SOURCE for item in self.inputs)

    @property
    def recursive(self) -> bool:
        """Whether rows depend on others by any number of steps, so that no change is local."""
        return bool(nodes_of(self.view.tree.root, Fixpoint))

    @property
    def clocked(self) -> bool:
        """Whether rows show the watermark itself, or what it is compared with cannot be dated."""
        return shows_watermark(self.view.tree.root)

    @property
    def constant(self) -> bool:
        """Whether a part of the query reads no table, so that its rows never change."""
        return bool(nodes_of(self.view.tree.root, Values))

    @property
    def streams(self) -> bool:
        """Whether Spark can read all inputs as streams."""
        return all(item.streams for item in self.inputs)

    @property
    def append_only(self) -> bool:
        """Whether all inputs only gain rows."""
        return all(item.appends for item in self.inputs)

    @property
    def corrects(self) -> bool:
        """Whether rows are corrected as data comes, over inputs that can be read again."""
        return self.emit is Emit.CHANGES and not self.reads_source

    @property
    def timed(self) -> bool:
        """Whether every relation has a watermark of its own."""
        return all(relation.event_time for relation in self.shape.relations)

    @property
    def aggregates_distinct(self) -> bool:
        """Whether an aggregate has DISTINCT, which Spark does not compute in a stream."""
        return any(call.find(exp.Distinct) for call in self.view.query.find_all(exp.AggFunc))

    @property
    def approximates_inside(self) -> bool:
        """Whether an approximate aggregate stands where its bounds say nothing of the view's rows.

        Within a part of the query, or where it decides which rows there are.
        """
        query = self.view.query
        chooses = query.args.get("limit") or query.args.get("qualify")
        calls = query.find_all(*APPROXIMATE)
        return any(chooses or call.find_ancestor(exp.Select) is not query for call in calls)


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to maintain a view.

    Attributes:
        name: as ``explain`` and ``check`` print it.
        engine: what runs its program.
        applies: the reason why it fits a view, None if it does not fit.
        program: writes the program for a view whose query Spark can read, its shape, the catalog
            and the allowed lateness (None if every row counts).
        by_tree: whether it is made from the tree of that view, and not from its query alone.
    """

    name: str
    engine: Engine
    applies: Callable[[Facts], str | None]
    program: Callable[[View, Shape, Catalog, timedelta | None], Program]
    by_tree: bool = False
