"""Changes: the rows that a node gains and loses, from those of what it reads.

In: a tree. Out: a tree of its change. Its scans read the change of a relation, or the relation as
it was before or is after it. A row that came has the sign 1, one that went -1; a row stands there
as often as that, so the signs of equal rows sum up to how many more there are.

Writing C for the change of an input, 0 for the input before and 1 for it after:

=========================  =======================================================
node                       its change
=========================  =======================================================
Project, Filter, FlatMap   the node over C: each row on its own
Union                      the changes of its inputs
Join inner                 CL with R0, and L1 with CR
Join full                  as a left join, and the rows of R that an anti join finds
any other join             CL with R0; and of T, the rows of L1 that match one of
                           CR, T with R1 less T with R0
DISTINCT of what only      the rows of C that are not in 0, each once
comes
Aggregate, Window,         of the parts that C touches: the node over 1, less the
SetOperation               node over 0
=========================  =======================================================

The line of other joins holds since each row of the left side is joined on its own, and differently
only if what it matches has changed. A part is what a node looks at together: the rows of a group,
of a partition, of one value. Where all rows are one part, as for a limit, everything would be
computed twice. Sessions, as-of joins, patterns and recursion have no change here yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from headwater.algebra.nodes import (
    Aggregate,
    Column,
    Computed,
    Equal,
    Filter,
    FlatMap,
    Join,
    JoinKind,
    Node,
    Project,
    RowsRead,
    Scan,
    SetOperation,
    Union,
    Values,
    Window,
    from_bottom,
)
from headwater.algebra.scalars import BOOLEAN, column, conjunction, fresh, nothing, passed_on

SIGN = "__sign"
"""Column of a change: 1 in the rows that came, -1 in those that went."""

_SIGN = exp.DataType.build("int")


def has_change(node: Node) -> bool:
    """Return whether a node's change follows from single rows of what it reads.

    That of ``EXISTS`` without a condition does not: each change of its right side touches all rows.

    Args:
        node: any node; only itself is looked at, not what stands below.
    """
    if isinstance(node, Join) and node.kind is not JoinKind.INNER:
        return bool(node.equal) or node.residual is not None
    return isinstance(node, (Scan, Values, Project, Filter, FlatMap, Union, Join))


def has_parts(node: Node) -> bool:
    """Return whether a node looks at parts of its input, each on its own, and so has a change.

    Args:
        node: any node; only itself is looked at, not what stands below.
    """
    match node:
        case Aggregate(keys=parts) | Window(partition=parts):
            return bool(parts)
        case SetOperation():
            return True
    return False


@dataclass(frozen=True, slots=True)
class ChangeTree:
    """The change of a node.

    Attributes:
        node: the rows that came and went: the columns of the node, and the sign.
        sign: the name of the sign; empty if all rows came, which have none.
    """

    node: Node
    sign: str = ""


def change_of(root: Node, appends: Callable[[str], bool]) -> ChangeTree | None:
    """Return the change of a tree; None if it never changes.

    Args:
        root: a tree in which each node has a change.
        appends: whether a relation only gains rows, so that its change has no sign.

    Raises:
        NotImplementedError: a node that has none.
    """
    root = _without_full(root)
    found: dict[Node, ChangeTree | None] = {}
    for node in from_bottom(root):
        found[node] = _change(node, [found[each] for each in node.inputs], appends)
    return found[root]


def all_rows(node: Node) -> ChangeTree:
    """Return the change by which all rows of a node come."""
    return _signed(ChangeTree(node), 1)


def _change(
    node: Node, below: Sequence[ChangeTree | None], appends: Callable[[str], bool]
) -> ChangeTree | None:
    """The change of a node from those of its inputs."""
    match node:
        case Scan(relation, reads):
            if appends(relation) and not node.ages.moves:
                return ChangeTree(replace(node, state=RowsRead.CHANGE))
            sign = fresh(SIGN, node.by_name)
            reads = (*reads, (Column(sign, _SIGN, nullable=False), SIGN))
            return ChangeTree(replace(node, reads=reads, state=RowsRead.CHANGE), sign)
        case Values():
            return None
        case Filter() | FlatMap():
            return below[0] and _of_rows(below[0], lambda each: node.over([each]))
        case Project(_, outputs):
            if below[0] is None:
                return None
            every = (*outputs, *_passed(below[0]))
            return _of_rows(below[0], lambda each: Project(each, every))
        case Union(parts, given):
            return _united([*zip(parts, below, strict=True)], given)
        case Join(kind=JoinKind.INNER):
            return _united([(node, each) for each in _of_pairs(node, *below)], node.columns)
        case Join():
            return _united([(node, each) for each in _of_left(node, *below)], node.columns)
        case Aggregate(input, keys, measures):
            if below[0] is None:
                return None
            own = [input.by_name[each] for each in keys]
            equal = equal_columns(own, own)
            if not measures and not below[0].sign:
                some = Aggregate(below[0].node, keys, ())
                return ChangeTree(Join(some, read(input, RowsRead.BEFORE), JoinKind.ANTI, equal))
            return _of_parts(node, below[0].node, [equal])
        case Window(partition=partition):
            equal = tuple(Equal(each, each, null_safe=True) for each in partition)
            return below[0] and _of_parts(node, below[0].node, [equal])
        case SetOperation():
            touched = _united([*zip(node.inputs, below, strict=True)], node.columns)
            sides = [equal_columns(each.columns, node.columns) for each in node.inputs]
            return touched and _of_parts(node, touched.node, sides)
    raise NotImplementedError(f"the change of {type(node).__name__}")


def _of_rows(below: ChangeTree, made: Callable[[Node], Node]) -> ChangeTree:
    """What a node makes of each row of a change, in each part of it."""
    node, whole = below.node, made(below.node)
    if isinstance(node, Union) and all(
        each.by_name.keys() == node.by_name.keys() for each in node.parts
    ):
        whole = Union(tuple(map(made, node.parts)), whole.columns)
    return ChangeTree(whole, below.sign)


def _of_pairs(
    node: Join, left: ChangeTree | None, right: ChangeTree | None
) -> Iterator[ChangeTree]:
    if left:
        yield ChangeTree(node.over([left.node, read(node.right, RowsRead.BEFORE)]), left.sign)
    if right:
        yield ChangeTree(node.over([node.left, right.node]), right.sign)


def _of_parts(node: Node, touched: Node, equal: Sequence[tuple[Equal, ...]]) -> ChangeTree:
    """The change of a node that looks at parts of its inputs, each on its own.

    Args:
        node: the node.
        touched: rows of all parts that change.
        equal: what the rows of a part of each input have in common with those that touch it.
    """
    came, went = (
        node.over(
            [
                Join(read(each, state), touched, JoinKind.SEMI, own)
                for each, own in zip(node.inputs, equal, strict=True)
            ]
        )
        for state in (RowsRead.AFTER, RowsRead.BEFORE)
    )
    found = _united([(node, ChangeTree(came)), (node, _signed(ChangeTree(went), -1))], node.columns)
    assert found is not None
    return found


def equal_columns(left: Sequence[Column], right: Sequence[Column]) -> tuple[Equal, ...]:
    """Return what makes columns of two sides equal, each to the one in its place; NULL to NULL."""
    return tuple(
        Equal(column(one.name, one), column(other.name, other), null_safe=True)
        for one, other in zip(left, right, strict=True)
    )


def _of_left(node: Join, left: ChangeTree | None, right: ChangeTree | None) -> Iterator[ChangeTree]:
    """The change of a join that looks at each row of its left side on its own."""
    before = read(node.right, RowsRead.BEFORE)
    if left:
        yield ChangeTree(node.over([left.node, before]), left.sign)
    if right:
        touched = _matching(node, right.node)
        yield ChangeTree(node.over([touched, node.right]))
        yield _signed(ChangeTree(node.over([touched, before])), -1)


def _without_full(root: Node) -> Node:
    """A tree in which a full join is a left one, and the rows of its right side without a match."""
    found, taken = dict[Node, Node](), {*root.named}
    for node in from_bottom(root):
        found[node] = made = node.over([found[each] for each in node.inputs])
        if isinstance(made, Join) and made.kind is JoinKind.FULL:
            found[node] = _as_left(made, taken)
    return found[root]


def _as_left(node: Join, taken: set[str]) -> Node:
    turned = tuple(Equal(each.right, each.left, each.null_safe) for each in node.equal)
    rest = Join(node.right, node.left, JoinKind.ANTI, turned, node.residual)
    missing: list[Computed] = []
    for each in node.left.columns:
        name = fresh(each.name, taken)
        taken.add(name)
        missing.append(Computed(replace(each, name=name, nullable=True), nothing(each.type)))
    nulls = Project(rest, (*missing, *map(passed_on, node.right.columns)))
    return Union((replace(node, kind=JoinKind.LEFT), nulls), node.columns)


def read(node: Node, state: RowsRead) -> Node:
    """Return a tree over the rows of all its relations at another time.

    Args:
        node: its root.
        state: after the change, or before it.
    """
    if isinstance(node, Scan):
        return replace(node, state=state)
    return node.over([read(each, state) for each in node.inputs])


def _passed(change: ChangeTree) -> list[Computed]:
    return [passed_on(change.node.by_name[change.sign])] if change.sign else []


def _signed(change: ChangeTree, sign: int) -> ChangeTree:
    """The same change, whose rows have a sign in any case: a given one if they had none."""
    if change.sign:
        return change
    name = fresh(SIGN, change.node.named)
    value: exp.Expr = exp.Literal.number(abs(sign))
    value.type = _SIGN
    if sign < 0:
        value = exp.Neg(this=value)
        value.type = _SIGN
    made = Computed(Column(name, _SIGN, nullable=False), value)
    return ChangeTree(Project(change.node, (*map(passed_on, change.node.columns), made)), name)


def _united(
    parts: Sequence[tuple[Node, ChangeTree | None]], given: tuple[Column, ...]
) -> ChangeTree | None:
    """All rows of some changes.

    Args:
        parts: changes, each with the node whose columns it gives, in their order.
        given: the columns that they are here.
    """
    some = [(like, change) for like, change in parts if change]
    signed = any(change.sign for _, change in some)
    found = []
    for like, change in some:
        each = _signed(change, 1) if signed else change
        names = [*(column.name for column in like.columns), *([each.sign] if signed else [])]
        if names != [column.name for column in each.node.columns]:
            shown = (passed_on(each.node.by_name[name]) for name in names)
            each = ChangeTree(Project(each.node, tuple(shown)), each.sign)
        found.append(each)
    if len(found) < 2 and tuple(each.columns for each, _ in some) == (given,):  # noqa: PLR2004
        return found[0]
    if not found:
        return None
    below = frozenset[str]().union(*(each.node.named for each in found))
    signs = {each.sign for each in found}
    sign = (signs.pop() if len(signs) == 1 else fresh(SIGN, below)) if signed else ""
    columns = (*given, *([Column(sign, _SIGN, nullable=False)] if signed else []))
    return ChangeTree(Union(tuple(each.node for each in found), columns), sign)


def _matching(node: Join, changed: Node) -> Node:
    """The rows of the left side that a join looks at differently after a change of the right one.

    NOT IN asks of each value whether it is NULL, too: a NULL on either side matches all.
    """
    aware = node.kind in (JoinKind.NULL_AWARE_ANTI, JoinKind.NULL_AWARE_MARK)
    equal = node.equal[1:] if aware else node.equal
    terms = [node.residual] if node.residual is not None else []
    if aware:
        terms.append(_may_be(node.equal[0]))
    residual = conjunction([each.copy() for each in terms]) if terms else None
    return Join(node.left, changed, JoinKind.SEMI, equal, residual)


def _may_be(pair: Equal) -> exp.Expr:
    """Whether two values are equal, or may be since one is NULL."""
    sides = [exp.paren(each.copy()) for each in (pair.left, pair.right)]
    for side, own in zip(sides, (pair.left, pair.right), strict=True):
        side.type = own.type
    found: exp.Expr = exp.EQ(this=sides[0], expression=sides[1])
    found.type = BOOLEAN
    for side in sides:
        missing = exp.Is(this=side.copy(), expression=exp.Null())
        missing.type = BOOLEAN
        found = exp.Or(this=found, expression=missing)
        found.type = BOOLEAN
    return found
