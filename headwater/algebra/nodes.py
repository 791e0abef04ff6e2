"""The nodes: what a query means, without the many ways in which SQL can say it.

A node has inputs and gives a bag of rows. Its columns have a name each, and a name stands for one
value: a node passes a column of its input on under its name, or gives something new a new name. So
a scalar needs no qualifier, and a rewrite has nothing to capture. A scalar is an expression of
sqlglot over the columns of the inputs; nobody changes it in place.

A node that names a column which its input does not have cannot be built.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum, StrEnum
from functools import cached_property
from typing import Any, TypeVar

from sqlglot import exp

from headwater.algebra.ages import Ages

Scalar = exp.Expr
Kind = TypeVar("Kind", bound="Node")


class Malformed(ValueError):
    """A node that means nothing: a fault of ours, never of a query."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a node.

    Attributes:
        name: unique among the columns of its node, and of no other value below it.
        type: as a sqlglot data type (Trino's names).
        nullable: whether it can hold NULL.
        bound: what the absolute value of a decimal is at most, if that is less than its type says.
    """

    name: str
    type: exp.DataType
    nullable: bool = True
    bound: int | None = None


@dataclass(frozen=True, slots=True)
class Computed:
    """A column and its value: for each row, or of a call for each group or place in a window."""

    column: Column
    value: Scalar

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.column.name

    @property
    def passed(self) -> bool:
        """Whether it is a column of the input under its own name."""
        return isinstance(self.value, exp.Column) and self.value.name == self.column.name


@dataclass(frozen=True, eq=False)
class Node:
    """An operator: equal to another one if its fields are."""

    @cached_property
    def inputs(self) -> tuple[Node, ...]:
        """The nodes below, from left to right."""
        found: list[Node] = []
        for part in self._parts:
            parts = part if isinstance(part, tuple) else (part,)
            found += [each for each in parts if isinstance(each, Node)]
        return tuple(found)

    def over(self, inputs: Sequence[Node]) -> Node:
        """Return the node over other inputs, which have the columns that it reads."""
        given, found = iter(inputs), dict[str, Any]()
        for each in fields(self):
            part = getattr(self, each.name)
            if isinstance(part, Node):
                found[each.name] = next(given)
            elif isinstance(part, tuple) and part and isinstance(part[0], Node):
                found[each.name] = tuple(next(given) for _ in part)
        return replace(self, **found) if found else self

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """What its rows have, in order."""
        return _columns(self)

    @cached_property
    def by_name(self) -> dict[str, Column]:
        """The columns by name."""
        return {each.name: each for each in self.columns}

    @cached_property
    def named(self) -> frozenset[str]:
        """The names of all columns of this node and of those below."""
        return frozenset(self.by_name).union(*(each.named for each in self.inputs))

    @cached_property
    def scalars(self) -> tuple[Scalar, ...]:
        """The expressions of this node, as they stand in its fields."""
        return tuple(_scalars(self._parts))

    @cached_property
    def _parts(self) -> tuple[Any, ...]:
        return tuple(getattr(self, each.name) for each in fields(self))

    @cached_property
    def _hash(self) -> int:
        return hash((type(self), self._parts))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or hash(self) != hash(other):
            return False
        return self._parts == other._parts

    def __post_init__(self) -> None:
        names = [each.name for each in self.columns]
        if len(set(names)) < len(names):
            raise Malformed(f"{type(self).__name__} has two columns of one name: {names}")

    def _require(self, scalars: Sequence[Scalar | None], *inputs: Node) -> None:
        known = [each.by_name for each in inputs]
        for scalar in scalars:
            for column in scalar.find_all(exp.Column) if scalar is not None else ():
                if column.table or not any(column.name in names for names in known):
                    found = sorted(name for names in known for name in names)
                    kind = type(self).__name__
                    raise Malformed(f"{kind} has no column {column.sql()} below: {found}")

    def _new(self, made: Sequence[Computed], *inputs: Node) -> None:
        """A new value has a new name."""
        for each in made:
            if not each.passed and any(each.name in below.named for below in inputs):
                kind = type(self).__name__
                raise Malformed(f'{kind} gives a new value the name "{each.name}" of another')


class RowsRead(Enum):
    """Which rows of a relation are read: the ending of the temporary view that holds them."""

    AFTER = ""
    BEFORE = "__before"
    CHANGE = "__change"
    ANY = "__any"


@dataclass(frozen=True, eq=False)
class Scan(Node):
    """The rows of a source, table, log or view.

    Attributes:
        relation: its name.
        reads: columns, each with the name that the relation has for it.
        state: which rows, in the change of a tree; otherwise those that are there now.
        ages: which rows by the watermark, and which columns compare them with it.
    """

    relation: str
    reads: tuple[tuple[Column, str], ...]
    state: RowsRead = RowsRead.AFTER
    ages: Ages = Ages()


@dataclass(frozen=True, eq=False)
class Values(Node):
    """Rows that stand in the query; a SELECT without FROM is over one row without columns."""

    given: tuple[Column, ...] = ()
    rows: tuple[tuple[Scalar, ...], ...] = ((),)

    def __post_init__(self) -> None:
        super().__post_init__()
        for row in self.rows:
            if len(row) != len(self.given):
                raise Malformed(f"a row of {len(row)} values under {len(self.given)} columns")
            self._require(row)


@dataclass(frozen=True, eq=False)
class Project(Node):
    """Columns of the input, and values computed from a row."""

    input: Node
    outputs: tuple[Computed, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require([each.value for each in self.outputs], self.input)
        self._new(self.outputs, self.input)


@dataclass(frozen=True, eq=False)
class Filter(Node):
    """The rows for which a predicate is true."""

    input: Node
    predicate: Scalar

    def __post_init__(self) -> None:
        self._require([self.predicate], self.input)


@dataclass(frozen=True, slots=True)
class Elements:
    """The elements of arrays or maps side by side: ``UNNEST(xs, ys)``."""

    arrays: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class TimeWindows:
    """The windows that hold a time; ``call`` is a window table without its input."""

    call: exp.Expr


@dataclass(frozen=True, eq=False)
class FlatMap(Node):
    """Each row of the input as often as a generator has rows for it, with the columns of both.

    Attributes:
        given: the columns of the generator.
        outer: whether a row for which it has none stays, with NULL.
    """

    input: Node
    generator: Elements | TimeWindows
    given: tuple[Column, ...]
    outer: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        match self.generator:
            case Elements(arrays):
                self._require(arrays, self.input)
            case TimeWindows(call):
                self._require([call], self.input)
        if shared := {each.name for each in self.given} & self.input.named:
            raise Malformed(f"a generator gives names that stand below: {sorted(shared)}")


@dataclass(frozen=True, eq=False)
class Union(Node):
    """All rows of all inputs, whose columns correspond by their place."""

    parts: tuple[Node, ...]
    given: tuple[Column, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(len(each.columns) != len(self.given) for each in self.parts):
            raise Malformed("the inputs of a union have different numbers of columns")


class JoinKind(StrEnum):
    """What becomes of rows that match, and of those that do not.

    ``semi`` and ``anti`` give rows of the left side only. ``null-aware anti`` is ``NOT IN``: no row
    if the right side has a NULL, or the left value is NULL and the right side has rows. ``mark``
    gives each left row with one more column: whether it matches; and ``null-aware mark`` is ``IN``,
    which may be NULL.
    """

    INNER = "inner"
    LEFT = "left"
    FULL = "full"
    SEMI = "semi"
    ANTI = "anti"
    NULL_AWARE_ANTI = "null-aware anti"
    MARK = "mark"
    NULL_AWARE_MARK = "null-aware mark"


ONE_SIDED = (JoinKind.SEMI, JoinKind.ANTI, JoinKind.NULL_AWARE_ANTI)
MARKS = (JoinKind.MARK, JoinKind.NULL_AWARE_MARK)


@dataclass(frozen=True, slots=True)
class Equal:
    """What must be equal of both sides of a join, each over the columns of its side.

    Attributes:
        null_safe: whether two NULLs are equal.
    """

    left: Scalar
    right: Scalar
    null_safe: bool = False


@dataclass(frozen=True, eq=False)
class Join(Node):
    """Pairs of rows.

    Attributes:
        equal: what the rows of a pair have in common.
        residual: what else holds for a pair.
        mark: the column of a mark.
    """

    left: Node
    right: Node
    kind: JoinKind
    equal: tuple[Equal, ...] = ()
    residual: Scalar | None = None
    mark: Column | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require([each.left for each in self.equal], self.left)
        self._require([each.right for each in self.equal], self.right)
        self._require([self.residual], self.left, self.right)
        if (self.kind in MARKS) is (self.mark is None):
            raise Malformed(f"a {self.kind} join and its mark {self.mark}")
        if self.mark and self.mark.name in self.left.named | self.right.named:
            raise Malformed(f'the mark "{self.mark.name}" stands below')


@dataclass(frozen=True, eq=False)
class AsOf(Node):
    """Each row of the left side with the version of the right one that holds at its time.

    Attributes:
        equal: what a row and its versions have in common.
        at: the time of a row.
        strict: whether a version holds only after its own time.
        order: of the versions of a key: by their time, then by what breaks ties.
        held: whether a version is a row, and not the end of one; None if all are.
        outer: whether a row without a version stays, with NULL.
    """

    left: Node
    right: Node
    equal: tuple[Equal, ...]
    at: Scalar
    order: tuple[exp.Ordered, ...]
    strict: bool = False
    held: Scalar | None = None
    outer: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require([self.at, *(each.left for each in self.equal)], self.left)
        versions = [*self.order, self.held, *(each.right for each in self.equal)]
        self._require(versions, self.right)

    @property
    def time(self) -> str:
        """The column with the time of a version."""
        return str(self.order[0].this.name)


@dataclass(frozen=True, eq=False)
class Aggregate(Node):
    """One row for each group; without keys always one; without measures DISTINCT.

    Attributes:
        keys: columns of the input.
        measures: calls of aggregates, with their DISTINCT, FILTER and ORDER BY.
    """

    input: Node
    keys: tuple[str, ...]
    measures: tuple[Computed, ...]

    def __post_init__(self) -> None:
        self._require([exp.column(each) for each in self.keys], self.input)
        super().__post_init__()
        self._require([each.value for each in self.measures], self.input)
        self._new(self.measures, self.input)


@dataclass(frozen=True, eq=False)
class SetOperation(Node):
    """INTERSECT or EXCEPT of two inputs, whose columns correspond by their place.

    Attributes:
        kind: ``intersect`` or ``except``.
        all: whether equal rows are counted, and not taken as one.
    """

    left: Node
    right: Node
    kind: str
    all: bool
    given: tuple[Column, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(len(each.columns) != len(self.given) for each in self.inputs):
            raise Malformed(f"the sides of {self.kind} have different numbers of columns")


@dataclass(frozen=True, eq=False)
class Window(Node):
    """Each row with values computed from its partition.

    Attributes:
        partition: what the rows of a partition have in common.
        order: of its rows.
        frame: the rows that a call sees; None for the default.
        calls: of functions.
    """

    input: Node
    partition: tuple[Scalar, ...]
    order: tuple[exp.Ordered, ...]
    frame: exp.WindowSpec | None
    calls: tuple[Computed, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        calls = [each.value for each in self.calls]
        self._require([*self.partition, *self.order, *calls, self.frame], self.input)
        self._new(self.calls, self.input)


@dataclass(frozen=True, eq=False)
class Top(Node):
    """The first rows in an order.

    Attributes:
        limit: how many; None for all behind the offset.
        offset: how many are left out before them.
        ties: whether rows that tie with the last one are taken, too.
    """

    input: Node
    order: tuple[exp.Ordered, ...]
    limit: Scalar | None
    offset: Scalar | None = None
    ties: bool = False

    def __post_init__(self) -> None:
        self._require(self.order, self.input)


@dataclass(frozen=True, eq=False)
class Session(Node):
    """Each row that has a time, with the bounds of its session.

    A session is all rows of a key of which each comes less than the gap after the one before; it
    reaches from its first row to the gap after its last.

    Attributes:
        keys: columns that the rows of a session have in common.
        time: the column with the time of a row.
        gap: an interval.
        given: the columns of start and end.
    """

    input: Node
    keys: tuple[str, ...]
    time: str
    gap: Scalar
    given: tuple[Column, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require([exp.column(each) for each in (*self.keys, self.time)], self.input)
        if shared := {each.name for each in self.given} & self.input.named:
            raise Malformed(f"a session gives names that stand below: {sorted(shared)}")


@dataclass(frozen=True, eq=False)
class Match(Node):
    """The rows of the matches of a pattern (MATCH_RECOGNIZE).

    Attributes:
        order: of the rows of a partition.
        clause: a ``headwater.patterns.MatchClause``, over the names of :attr:`reads`.
        reads: the names that the clause has for the columns of the input, in order.
        gives: the names that it has for its own.
    """

    input: Node
    order: tuple[exp.Ordered, ...]
    clause: Any
    reads: tuple[str, ...]
    gives: tuple[str, ...]
    given: tuple[Column, ...]

    @cached_property
    def _parts(self) -> tuple[Any, ...]:  # a clause is what it is
        return (self.input, self.order, id(self.clause), self.reads, self.given)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require(self.order, self.input)
        if len(self.reads) != len(self.input.columns):
            raise Malformed("a pattern reads other columns than its input has")


@dataclass(frozen=True, eq=False)
class Self(Node):
    """The rows that the round before added, within the step of a :class:`Fixpoint`."""

    name: str
    given: tuple[Column, ...]


@dataclass(frozen=True, eq=False)
class Fixpoint(Node):
    """The rows of the anchor and of every round of the step, until it adds none.

    Attributes:
        name: of the :class:`Self` in its step.
        distinct: whether each row is taken once.
    """

    name: str
    anchor: Node
    step: Node
    distinct: bool
    given: tuple[Column, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(len(each.columns) != len(self.given) for each in self.inputs):
            raise Malformed("anchor and step have different numbers of columns")


@dataclass(frozen=True, slots=True)
class Query:
    """A tree with the names that people see.

    Attributes:
        root: the tree.
        labels: the visible columns in order: name, and the column of the root that it is.
    """

    root: Node
    labels: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        for _, name in self.labels:
            if name not in self.root.by_name:
                raise Malformed(f"no column {name} to show")


def from_bottom(root: Node) -> list[Node]:
    """Return every node of a tree once, those that are read before those that read them."""
    found: dict[Node, None] = {}
    waiting: list[tuple[Node, bool]] = [(root, False)]
    while waiting:
        node, ready = waiting.pop()
        if ready:
            found[node] = None
        elif node not in found:
            waiting.append((node, True))
            waiting += [(each, False) for each in reversed(node.inputs)]
    return [*found]


def nodes_of(root: Node, kind: type[Kind]) -> list[Kind]:
    """Return every node of a kind in a tree once, from the bottom."""
    return [each for each in from_bottom(root) if isinstance(each, kind)]


def _scalars(part: object) -> Iterator[Scalar]:
    """The expressions in a field of a node; a type is none."""
    if isinstance(part, exp.Expr) and not isinstance(part, exp.DataType):
        yield part
    elif isinstance(part, tuple):
        for each in part:
            yield from _scalars(each)
    elif is_dataclass(part) and not isinstance(part, (Node, Column)):
        for each in fields(part):
            yield from _scalars(getattr(part, each.name))


def _columns(node: Node) -> tuple[Column, ...]:
    match node:
        case Scan(_, reads):
            return tuple(column for column, _ in reads)
        case Project(_, outputs):
            return tuple(each.column for each in outputs)
        case Filter(input) | Top(input):
            return input.columns
        case FlatMap(input, given=given) | Session(input, given=given):
            return (*input.columns, *given)
        case Window(input, calls=calls):
            return (*input.columns, *(each.column for each in calls))
        case Aggregate(input, keys, measures):
            kept = (input.by_name[each] for each in keys)
            return (*kept, *(each.column for each in measures))
        case Join(left, right, kind):
            return _of_join(left.columns, right.columns, kind, node.mark)
        case AsOf(left, right, outer=outer):
            return (*left.columns, *(_optional(right.columns) if outer else right.columns))
        case Values() | Union() | SetOperation() | Match() | Self() | Fixpoint():
            return node.given
    raise NotImplementedError(type(node).__name__)


def _of_join(
    left: tuple[Column, ...], right: tuple[Column, ...], kind: JoinKind, mark: Column | None
) -> tuple[Column, ...]:
    if mark is not None:
        return (*left, mark)
    if kind in ONE_SIDED:
        return left
    if kind is JoinKind.FULL:
        left = _optional(left)
    return (*left, *(right if kind is JoinKind.INNER else _optional(right)))


def _optional(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The same columns, which may be NULL."""
    return tuple(Column(each.name, each.type, nullable=True, bound=each.bound) for each in columns)
