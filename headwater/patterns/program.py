"""A pattern tree → the states of a matcher, in the order of SQL's preference.

In: :mod:`headwater.patterns.tree`. Out: :class:`PatternProgram`. A *step* stands for one place of a
variable in the pattern (with repetitions written out), so a match is a sequence of steps, one per
row. Behind each step, and at the start, the program lists the steps that may follow, the most
preferred first. An empty turn of a loop is tried once per row, as Trino does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import permutations

from headwater.patterns.grammar import PatternMistake
from headwater.patterns.tree import (
    Alternation,
    Concatenation,
    EmptyPattern,
    Exclusion,
    PartitionAnchor,
    PatternVariable,
    Permutation,
    Repetition,
    RowPattern,
    variables,
)

MAX_STEPS = 10_000
"""The longest pattern with its repetitions and permutations written out."""

DONE = -1
"""Stands for a step where the pattern is complete."""

Follow = tuple[tuple[int, bool], ...]
"""Steps in the order of preference, each with whether it crosses an odd number of fences.

A fence is ``{-`` or ``-}``.
"""


class PatternProgram:
    """What a matcher needs of a pattern.

    Attributes:
        names: the variables.
        variable_of: the index in ``names``, by step.
        excludes: the pattern has ``{- … -}``.
        reads_end: the pattern has ``$``.
    """

    def __init__(self, pattern: RowPattern) -> None:
        self.names = variables(pattern)
        self._index = {name: index for index, name in enumerate(self.names)}
        self._code: list[tuple[str, int, int]] = []
        self._emitted, self._excluding = 0, False
        self._emit(pattern)
        self._code.append(("done", 0, 0))
        places = [place for place, (kind, *_) in enumerate(self._code) if kind == "row"]
        self._step_at = {place: step for step, place in enumerate(places)}
        self._places = places
        self.variable_of = [self._code[place][1] for place in places]
        self.excludes = any(kind == "fence" for kind, *_ in self._code)
        self.reads_end = any(kind == "end" for kind, *_ in self._code)
        self._follow: dict[tuple[int, bool], Follow] = {}

    def first(self, at_start: bool, at_end: bool) -> Follow:
        """Return the steps a match may begin with; :data:`DONE` among them is an empty match.

        Args:
            at_start: the row is the partition's first.
            at_end: there is no row any more.
        """
        return self._first[at_start, at_end]

    def follow(self, step: int, at_end: bool) -> Follow:
        """Return the steps that may follow a step; :data:`DONE` ends the match."""
        if (step, at_end) not in self._follow:
            self._follow[step, at_end] = self._reach(self._places[step] + 1, False, at_end)
        return self._follow[step, at_end]

    @cached_property
    def rows_to_end(self) -> int | None:
        """How many rows complete any match that has begun, if each satisfies all variables.

        None if a step leads to no match: ``^`` stands behind it.
        """
        before: dict[int, set[int]] = {}
        for step in range(len(self.variable_of)):
            for each, _ in self.follow(step, at_end=False):
                before.setdefault(each, set()).add(step)
        found, ends, count = {DONE}, {DONE}, 0
        while ends := set[int]().union(*(before.get(end, ()) for end in ends)) - found:
            found |= ends
            count += 1
        return count if len(found) > len(self.variable_of) else None

    @cached_property
    def _first(self) -> dict[tuple[bool, bool], Follow]:
        both = (False, True)
        return {(start, end): self._reach(0, start, end) for start in both for end in both}

    # the pattern written out: jumps and forks, as a regular expression's program

    def _emit(self, pattern: RowPattern) -> None:
        self._emitted += 1
        if self._emitted > 3 * MAX_STEPS:
            message = f"the pattern has more than {MAX_STEPS} steps when it is written out"
            hint = "write smaller quantifiers, or fewer parts in PERMUTE"
            raise PatternMistake("TOO_COMPLEX", message, hint)
        match pattern:
            case PatternVariable(name):
                self._code.append(("row", self._index[name], 0))
            case EmptyPattern():
                pass
            case PartitionAnchor(at_end):
                self._code.append(("end" if at_end else "start", 0, 0))
            case Concatenation(parts):
                for part in parts:
                    self._emit(part)
            case Alternation(parts):
                self._alternatives([(part,) for part in parts])
            case Permutation(parts):
                self._alternatives(permutations(parts))
            case Exclusion(part) if self._excluding:
                self._emit(part)
            case Exclusion(part):
                self._code.append(("fence", 0, 0))
                self._excluding = True
                self._emit(part)
                self._excluding = False
                self._code.append(("fence", 0, 0))
            case Repetition(part, least, None, greedy):
                self._loop(part, least, greedy)
            case Repetition(part, least, most, greedy):
                self._range(part, least, int(most or 0), greedy)

    def _alternatives(self, options: Iterable[Sequence[RowPattern]]) -> None:
        jumps: list[int] = []
        fork = -1
        for option in options:
            if fork >= 0:  # the alternative before is not the last one
                jumps.append(self._hole())
                self._code[fork] = ("fork", fork + 1, len(self._code))
            fork = self._hole()
            for part in option:
                self._emit(part)
        self._code[fork] = ("jump", fork + 1, 0)
        for jump in jumps:
            self._code[jump] = ("jump", len(self._code), 0)

    def _loop(self, part: RowPattern, least: int, greedy: bool) -> None:
        skip = self._hole() if least == 0 else -1
        begin = len(self._code)
        for _ in range(max(1, least)):
            begin = len(self._code)
            self._emit(part)
        behind = len(self._code) + 1
        self._code.append(self._fork(begin, behind, greedy))
        if skip >= 0:
            self._code[skip] = self._fork(skip + 1, behind, greedy)

    def _range(self, part: RowPattern, least: int, most: int, greedy: bool) -> None:
        for _ in range(least):
            self._emit(part)
        forks = []
        for _ in range(least, most):
            forks.append(self._hole())
            self._emit(part)
        for fork in forks:
            self._code[fork] = self._fork(fork + 1, len(self._code), greedy)

    def _hole(self) -> int:
        self._code.append(("jump", 0, 0))
        return len(self._code) - 1

    @staticmethod
    def _fork(inside: int, behind: int, greedy: bool) -> tuple[str, int, int]:
        return ("fork", inside, behind) if greedy else ("fork", behind, inside)

    def _reach(self, place: int, at_start: bool, at_end: bool) -> Follow:
        """Walk all ways from a place to the next rows, the preferred first, each place once."""
        found: list[tuple[int, bool]] = []
        seen: set[int] = set()
        waiting = [(place, False)]
        while waiting:
            place, fenced = waiting.pop()
            if place in seen:
                continue
            seen.add(place)
            kind, first, second = self._code[place]
            if kind == "row":
                found.append((self._step_at[place], fenced))
            elif kind == "done":
                found.append((DONE, fenced))
            elif kind == "jump":
                waiting.append((first, fenced))
            elif kind == "fork":
                waiting += [(second, fenced), (first, fenced)]
            elif kind == "fence":
                waiting.append((place + 1, not fenced))
            elif at_end if kind == "end" else at_start:
                waiting.append((place + 1, fenced))
        return tuple(found)
