"""Keys: which columns no two rows of a node share, and which columns follow from others.

Values are compared as GROUP BY does: a NULL equals a NULL. A column follows from others where rows
with the same values of those have the same value of it; from none, if all rows have the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from sqlglot import exp

from headwater.algebra.nodes import (
    ONE_SIDED,
    Aggregate,
    AsOf,
    Column,
    Computed,
    Filter,
    Fixpoint,
    FlatMap,
    Join,
    JoinKind,
    Match,
    Node,
    Project,
    Query,
    RowsRead,
    Scan,
    Self,
    Session,
    SetOperation,
    TimeWindows,
    Top,
    Union,
    Values,
    Window,
    from_bottom,
)
from headwater.algebra.scalars import conjuncts, is_floating, names_in

Key = tuple[str, ...]
Follows = tuple[frozenset[str], frozenset[str]]
"""What follows from what: first the columns that are known, then those that follow."""

_MANY = 8
"""So many keys of a node are looked at."""


@dataclass(frozen=True)
class Keys:
    """What identifies the rows of a node.

    Attributes:
        keys: no two rows share the values of one; ``()`` if there is at most one row.
        follows: what follows from what, besides that all does from a key.
    """

    keys: tuple[Key, ...] = ()
    follows: tuple[Follows, ...] = ()

    def known(self, names: Iterable[str]) -> frozenset[str]:
        """Return all columns whose values follow from those of some columns, and these."""
        return _closed(frozenset(names), self.follows)

    def least(self, key: Key) -> Key:
        """Return a key without the columns that follow from its others; the first ones stay."""
        follow = frozenset[str]().union(*(then for _, then in self.follows))
        for name in reversed([each for each in key if each in follow]):
            rest = tuple(each for each in key if each != name)
            if name in self.known(rest):
                key = rest
        return key

    def among(self, names: Sequence[str]) -> Key | None:
        """Return the first key that has only some columns, or could have them for its own."""
        for key in self.keys:
            if (found := self.seen(key, names)) is not None:
                return found
        return None

    def seen(self, key: Key, names: Sequence[str]) -> Key | None:
        """Return a key with other columns for those that are not among some, or None."""
        for hidden in [each for each in key if each not in names]:
            rest = tuple(each for each in key if each != hidden)
            others = ((), *((each,) for each in names))
            instead = next((each for each in others if hidden in self.known(rest + each)), None)
            if instead is None:
                return None
            at = key.index(hidden)
            key = tuple(dict.fromkeys((*key[:at], *instead, *key[at + 1 :])))
        return self.least(key)


KeyOf = Callable[[str], "Key | None"]


def key_of(query: Query, relation: KeyOf) -> Key | None:
    """Return the visible columns that identify a row of a query, or None.

    Args:
        query: a tree with the names that people see.
        relation: says what the key of a relation is, in its own columns.
    """
    names = {name: label for label, name in reversed(query.labels)}
    found = keys_of(query.root, relation).among([*dict.fromkeys(name for _, name in query.labels)])
    return None if found is None else tuple(names[each] for each in found)


def keys_of(root: Node, relation: KeyOf) -> Keys:
    """Return what identifies the rows of a tree.

    Args:
        root: its topmost node.
        relation: says what the key of a relation is, in its own columns.
    """
    found: dict[Node, Keys] = {}
    for node in from_bottom(root):
        below = [found[each] for each in node.inputs]
        found[node] = _tidy(_keys(node, below, relation))
    return found[root]


def _keys(node: Node, below: Sequence[Keys], relation: KeyOf) -> Keys:
    match node:
        case Scan(name, reads, state):
            if state is RowsRead.CHANGE:
                return Keys()  # a row before and after has one key
            names = {own: column.name for column, own in reads}
            key = relation(name)
            if key is None or not names.keys() >= {*key}:
                return Keys()
            return Keys((tuple(names[each] for each in key),))
        case Values(_, rows):
            return Keys(((),) if len(rows) < 2 else ())  # noqa: PLR2004  a row has no other
        case Project(input, outputs):
            return _projected(below[0], input, outputs)
        case Filter(input, predicate):
            return Keys(below[0].keys, (*below[0].follows, *_equated(predicate, input)))
        case FlatMap(input, TimeWindows(call), given):
            return _in_windows(below[0], input, call, given)
        case FlatMap():
            return Keys((), _with_keys(below[0], node.inputs[0]))
        case Union():
            return Keys()  # two parts can have the same row
        case Join():
            return _joined(node, below)
        case AsOf():
            return below[0]
        case Session(_, keys, time, _, given):
            start, end = (each.name for each in given)
            pairs = (((*keys, time), start), ((*keys, start), end), ((*keys, end), start))
            follows = ((frozenset(known), frozenset({then})) for known, then in pairs)
            return Keys(below[0].keys, (*below[0].follows, *follows))
        case Aggregate(_, keys):
            own = below[0]
            unique = [each for each in own.keys if {*each} <= {*keys}]
            return Keys((keys, *unique), tuple(_within(own.follows, keys)))
        case SetOperation(left, _, _, every, given):
            to = {
                old.name: [new.name]
                for old, new in zip(left.columns, given, strict=True)
                if old.type == new.type  # of another type, different values can become equal
            }
            kept = _renamed(below[0], to)
            return kept if every else Keys((*kept.keys, _names(given)), kept.follows)
        case Window(_, partition, calls=calls):
            return Keys((*below[0].keys, *_numbered(partition, calls)), below[0].follows)
        case Top(_, _, limit, _, ties):
            one = isinstance(limit, exp.Literal) and limit.this == "1" and not ties
            return Keys(((),), below[0].follows) if one else below[0]
        case Fixpoint(_, _, _, distinct, given):
            return Keys((_names(given),) if distinct else ())
        case Match() | Self():
            return Keys()
    raise NotImplementedError(type(node).__name__)


def _tidy(found: Keys) -> Keys:
    """Keys without what they need not have, each once."""
    keys = dict.fromkeys(map(found.least, found.keys))
    least = [each for each in keys if not any({*other} < {*each} for other in keys)]
    return Keys(tuple(least[:_MANY]), found.follows)


def _with_keys(found: Keys, node: Node) -> tuple[Follows, ...]:
    """What follows from what, also where the keys of a node are none any more."""
    every = frozenset(node.by_name)
    return (*found.follows, *((frozenset(each), every) for each in found.keys))


def _projected(below: Keys, input: Node, outputs: Sequence[Computed]) -> Keys:
    new: dict[str, list[str]] = {}
    for each in outputs:
        if isinstance(each.value, exp.Column):
            new.setdefault(each.value.name, []).append(each.name)
    keys = [seen for key in below.keys if (seen := below.seen(key, [*new])) is not None]
    follows = _with_keys(below, input)
    found = _renamed(Keys(tuple(keys), follows), new)
    known = {each for each, _ in follows if each <= new.keys()}
    made: list[Follows] = []
    for each in outputs:
        read = frozenset(names_in([each.value]))
        if isinstance(each.value, exp.Column) or not all(_is_exact(input.by_name[n]) for n in read):
            continue
        for names in known | ({read} if read <= new.keys() else set()):
            if read <= _closed(names, follows):
                made.append((frozenset(new[one][0] for one in names), frozenset({each.name})))
    return Keys(found.keys, (*found.follows, *made))


def _renamed(found: Keys, new: dict[str, list[str]]) -> Keys:
    """The same of columns with other names; a column can have several now, or none."""
    keys = tuple(tuple(new[name][0] for name in key) for key in found.keys if {*key} <= new.keys())
    follows: list[Follows] = []
    for known, then in found.follows:
        if known <= new.keys() and (seen := [new[name][0] for name in then if name in new]):
            follows.append((frozenset(new[name][0] for name in known), frozenset(seen)))
    for names in new.values():
        follows += [(frozenset({one}), frozenset(names)) for one in names if len(names) > 1]
    return Keys(keys, tuple(follows))


def _equated(predicate: exp.Expr, *inputs: Node) -> Iterator[Follows]:
    """What follows where a predicate is true: a column that equals a constant or another one."""
    columns = {name: each for node in inputs for name, each in node.by_name.items()}
    for term in conjuncts(predicate):
        if not isinstance(term, (exp.EQ, exp.NullSafeEQ)):
            continue
        for one, other in ((term.this, term.expression), (term.expression, term.this)):
            read = names_in([other])
            if (
                isinstance(one, exp.Column)
                and not any(other.find_all(exp.Query))
                and all(_is_exact(columns[name]) for name in (one.name, *read))
            ):
                yield frozenset(read), frozenset({one.name})


def _in_windows(below: Keys, input: Node, call: exp.Expr, given: Sequence[Column]) -> Keys:
    start, end = (frozenset({each.name}) for each in given)
    time = frozenset({call.args["time"].name})
    kind = call.args["kind"]
    follows = [(end, start)]  # of CUMULATE, windows that start together end apart
    if kind != "cumulate":
        follows.append((start, end))
    if kind == "tumble":
        follows.append((time, start))
        return Keys(below.keys, (*below.follows, *follows))
    (edge,) = end if kind == "cumulate" else start
    keys = tuple((*key, edge) for key in below.keys)
    return Keys(keys, (*_with_keys(below, input), *follows))


def _joined(node: Join, below: Sequence[Keys]) -> Keys:
    left, right = below
    if node.kind in ONE_SIDED or node.mark is not None:
        return left
    from_left, from_right = [*_pairs(node, 0)], [*_pairs(node, 1)]
    follows = [*_kept(node, left, right)]
    if node.kind is JoinKind.INNER:
        follows += [*from_left, *from_right]
        if node.residual is not None:
            follows += _equated(node.residual, node.left, node.right)
    one_right = _at_most_one(right, from_left)
    one_left = node.kind is JoinKind.INNER and _at_most_one(left, from_right)
    keys: list[Key] = []
    if node.kind is JoinKind.FULL:
        known = node.left.by_name | node.right.by_name
        keys = [
            each
            for each in map(_sum, product(left.keys, right.keys))
            if any(not known[name].nullable for name in each)
        ]
    elif one_right or one_left:
        keys = [*(left.keys if one_right else ()), *(right.keys if one_left else ())]
    else:
        keys = [*map(_sum, product(left.keys, right.keys))]
    alone = node.residual is None and len(from_left) == len(node.equal)
    if node.kind is JoinKind.LEFT and alone:
        # whether a row has a match, and what is equal of it, is told by what it is equal to
        read = frozenset(each for known, _ in from_left for each in known)
        equal = (each for _, names in from_left for each in names)
        follows.append((read, frozenset(node.right.by_name if one_right else equal)))
    return Keys(tuple(keys), tuple(follows))


def _kept(node: Join, left: Keys, right: Keys) -> Iterator[Follows]:
    """What follows from what on each side, and still does beside rows that are all NULL."""
    sides = (
        (left, node.left, node.kind is JoinKind.FULL),
        (right, node.right, node.kind is not JoinKind.INNER),
    )
    for found, below, missing in sides:
        for known, then in _with_keys(found, below):
            if not missing or any(not below.by_name[name].nullable for name in known):
                yield known, then


def _pairs(node: Join, of: int) -> Iterator[Follows]:
    """What follows for the other side of a pair of rows from one side: 0 the left, 1 the right."""
    columns = node.left.by_name | node.right.by_name
    for each in node.equal:
        one, other = (each.left, each.right)[:: -1 if of else 1]
        read = names_in([one])
        if isinstance(other, exp.Column) and all(
            _is_exact(columns[name]) for name in (other.name, *read)
        ):
            yield frozenset(read), frozenset({other.name})


def _at_most_one(of: Keys, pairs: Sequence[Follows]) -> bool:
    """Whether a row of the one side of a join has at most one of the other."""
    fixed = of.known(name for _, names in pairs for name in names)
    return any(fixed >= {*key} for key in of.keys)


def _numbered(partition: Sequence[exp.Expr], calls: Sequence[Computed]) -> Iterator[Key]:
    """The keys that ``row_number()`` makes: a partition, and the place in it."""
    if all(isinstance(each, exp.Column) for each in partition):
        for call in calls:
            if isinstance(call.value, exp.RowNumber):
                yield (*(each.name for each in partition), call.name)


def _within(follows: Iterable[Follows], names: Collection[str]) -> Iterator[Follows]:
    for known, then in follows:
        if known <= {*names} and (kept := then & {*names}):
            yield known, kept


def _closed(names: frozenset[str], follows: Sequence[Follows]) -> frozenset[str]:
    found, size = names, -1
    while len(found) > size:
        size = len(found)
        found = found.union(*(then for known, then in follows if known <= found))
    return found


def _sum(keys: tuple[Key, Key]) -> Key:
    return tuple(dict.fromkeys((*keys[0], *keys[1])))


def _names(columns: Iterable[Column]) -> Key:
    return tuple(each.name for each in columns)


def _is_exact(column: Column) -> bool:
    """Whether equal values are the same: ``0.0`` and ``-0.0`` are not."""
    return not is_floating(column.type)
