"""A regular expression as a tree, and what is known of it before it meets a text.

In: nodes made by the parser; flags are gone, every letter is a set of characters. Out: whether it
can match the empty text, which groups take part in every match, where it meets the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from headwater.analyze.literals.characters import Ranges

Place = Literal["start", "end", "very end", "line start", "line end"]
"""An empty match. ``end`` is the end of the text, also before a last line feed."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place in the text."""

    place: Place
    at: int


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after another; empty if there are none."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The first branch that leads to a match."""

    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A part that is remembered under a number."""

    body: Node
    number: int
    at: int


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part several times; ``high`` is None if there is no limit."""

    body: Node
    low: int
    high: int | None
    lazy: bool
    at: int


Node = Chars | Anchor | Sequence | Choice | Group | Repeat


@dataclass(frozen=True, slots=True)
class Regex:
    """A parsed pattern.

    Attributes:
        root: its tree.
        groups: how many groups it has.
        names: numbers of the groups that have a name.
    """

    root: Node
    groups: int
    names: dict[str, int]

    @property
    def branches(self) -> tuple[Node, ...]:
        """The alternatives of the whole pattern."""
        return self.root.branches if isinstance(self.root, Choice) else (self.root,)


def children(node: Node) -> tuple[Node, ...]:
    """Return the parts of a node."""
    match node:
        case Sequence():
            return node.items
        case Choice():
            return node.branches
        case Group() | Repeat():
            return (node.body,)
    return ()


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and everything in it."""
    yield node
    for child in children(node):
        yield from walk(child)


def shortest(node: Node) -> int:
    """Return how many characters a node matches at least."""
    match node:
        case Chars():
            return 1
        case Sequence():
            return sum(map(shortest, node.items))
        case Choice():
            return min(map(shortest, node.branches))
        case Group():
            return shortest(node.body)
        case Repeat():
            return node.low * shortest(node.body)
    return 0


def longest(node: Node) -> int | None:
    """Return how many characters a node matches at most, None if there is no limit."""
    match node:
        case Chars():
            return 1
        case Sequence() | Choice():
            lengths = [longest(child) for child in children(node)]
            known = [length for length in lengths if length is not None]
            if len(known) < len(lengths):
                return None
            return sum(known) if isinstance(node, Sequence) else max(known)
        case Group():
            return longest(node.body)
        case Repeat():
            length = longest(node.body)
            return None if length is None or node.high is None else length * node.high
    return 0


def nullable(node: Node) -> bool:
    """Return whether a node can match the empty text."""
    return shortest(node) == 0


def certain_groups(node: Node) -> frozenset[int]:
    """Return the groups that take part in every match."""
    match node:
        case Sequence():
            return frozenset().union(*map(certain_groups, node.items))
        case Choice():
            return frozenset.intersection(*map(certain_groups, node.branches))
        case Group():
            return certain_groups(node.body) | {node.number}
        case Repeat():
            return certain_groups(node.body) if node.low else frozenset()
    return frozenset()


def last_places(node: Node) -> Iterator[Anchor]:
    """Yield the anchors ``end`` behind which nothing more is matched, whatever the branch."""
    match node:
        case Anchor():
            if node.place == "end":
                yield node
        case Sequence() if node.items:
            yield from last_places(node.items[-1])
        case Choice():
            for branch in node.branches:
                yield from last_places(branch)
        case Group():
            yield from last_places(node.body)


def ends(node: Node) -> list[Anchor]:
    """Return all anchors ``end`` of a node."""
    return [each for each in walk(node) if isinstance(each, Anchor) and each.place == "end"]
