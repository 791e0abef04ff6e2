"""The tree of a row pattern, and how many rows it may match.

In: nothing. Out: frozen nodes that :mod:`headwater.patterns.grammar` builds from text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp


@dataclass(frozen=True, slots=True)
class PatternVariable:
    """One row that satisfies the variable's condition."""

    name: str


@dataclass(frozen=True, slots=True)
class EmptyPattern:
    """``()``: no row."""


@dataclass(frozen=True, slots=True)
class PartitionAnchor:
    """``^``, the start of the partition, or ``$``, its end."""

    at_end: bool


@dataclass(frozen=True, slots=True)
class Concatenation:
    """One part after another."""

    parts: tuple[RowPattern, ...]


@dataclass(frozen=True, slots=True)
class Alternation:
    """The first alternative that leads to a match is preferred."""

    parts: tuple[RowPattern, ...]


@dataclass(frozen=True, slots=True)
class Permutation:
    """``PERMUTE(…)``: the parts in every order, orders nearer to the written one preferred."""

    parts: tuple[RowPattern, ...]


@dataclass(frozen=True, slots=True)
class Exclusion:
    """``{- … -}``: rows that match but are not shown."""

    part: RowPattern


@dataclass(frozen=True, slots=True)
class Repetition:
    """A quantified part.

    Attributes:
        most: None without an upper bound.
        greedy: more repetitions are preferred; otherwise fewer.
    """

    part: RowPattern
    least: int
    most: int | None
    greedy: bool


RowPattern = (
    PatternVariable
    | EmptyPattern
    | PartitionAnchor
    | Concatenation
    | Alternation
    | Permutation
    | Exclusion
    | Repetition
)


def nodes(pattern: RowPattern) -> Iterator[RowPattern]:
    """Yield every node of a pattern, from the left."""
    waiting = [pattern]
    while waiting:
        node = waiting.pop()
        yield node
        match node:
            case Concatenation(parts) | Alternation(parts) | Permutation(parts):
                waiting += reversed(parts)
            case Exclusion(part) | Repetition(part):
                waiting.append(part)


def variables(pattern: RowPattern) -> tuple[str, ...]:
    """Return the names of the variables in the order of their first appearance."""
    names = (node.name for node in nodes(pattern) if isinstance(node, PatternVariable))
    return tuple(dict.fromkeys(names))


def written(pattern: RowPattern) -> str:
    """Return a pattern as the text that it can be read from."""
    match pattern:
        case PatternVariable(name):
            return exp.to_identifier(name).sql("trino")
        case PartitionAnchor(at_end):
            return "$" if at_end else "^"
        case Concatenation(parts):
            return " ".join(map(_part, parts))
        case Alternation(parts):
            return " | ".join(map(_option, parts))
        case Permutation(parts):
            return f"PERMUTE({', '.join(map(written, parts))})"
        case Exclusion(part):
            return f"{{- {written(part)} -}}"
        case Repetition(part, least, most, greedy):
            inner = _part(part)
            inner = f"({inner})" if isinstance(part, Repetition) else inner
            quantifier = _QUANTIFIERS.get((least, most)) or _between(least, most)
            return f"{inner}{quantifier}{'' if greedy else '?'}"
    return "()"


def _part(pattern: RowPattern) -> str:
    text = written(pattern)
    return f"({text})" if isinstance(pattern, Alternation | Concatenation) else text


def _option(pattern: RowPattern) -> str:
    text = written(pattern)
    return f"({text})" if isinstance(pattern, Alternation) else text


def _between(least: int, most: int | None) -> str:
    return f"{{{least},{'' if most is None else most}}}"


_QUANTIFIERS = {(0, None): "*", (1, None): "+", (0, 1): "?"}


def bounds(pattern: RowPattern) -> tuple[int, int | None]:
    """Return the least and the greatest number of rows that a match may have.

    Returns:
        The second is None if the pattern sets no bound.
    """
    match pattern:
        case PatternVariable():
            return 1, 1
        case EmptyPattern() | PartitionAnchor():
            return 0, 0
        case Exclusion(part):
            return bounds(part)
        case Alternation(parts):
            return _combined(parts, min, max)
        case Concatenation(parts) | Permutation(parts):
            return _combined(parts, sum, sum)
        case Repetition(part, fewest, greatest):
            least, most = bounds(part)
            if most == 0:
                return 0, 0
            return least * fewest, None if most is None or greatest is None else most * greatest


Combine = Callable[[list[int]], int]


def _combined(parts: Sequence[RowPattern], least: Combine, most: Combine) -> tuple[int, int | None]:
    found = [bounds(part) for part in parts]
    limits = [limit for _, limit in found if limit is not None]
    return least([few for few, _ in found]), most(limits) if len(limits) == len(found) else None
