"""Matching in linear time where every condition is a column.

In: a :class:`~headwater.patterns.program.PatternProgram`; for each row the set of satisfied
variables, as the bits of a number. Out: the steps of the preferred match at a row.

Two passes. The first goes from the last row to the first and finds for every row the steps that
can begin there and reach the end of a match; the sets are the states of an automaton that is built
as it is needed. The second goes forward and takes, of the steps that may follow, the first one in
the set: it never turns back, so no pattern takes exponential time.
"""

from __future__ import annotations

from collections.abc import Sequence

from headwater.errors import SqlError
from headwater.patterns.program import DONE, Follow, PatternProgram

MAX_STATES = 200_000
"""States of the automaton of one pattern; more of them would fill the memory."""

Way = int
"""A step of a match, doubled; odd if it crosses an odd number of ``{-`` and ``-}``."""

ENDED: Way = -1
START, START_OF_PARTITION = -2, -3


class Automaton:
    """The automaton of one pattern; its states outlive a partition.

    Attributes:
        program: the pattern.
    """

    def __init__(self, program: PatternProgram) -> None:
        self.program = program
        self.known: dict[int, AliveSteps] = {}
        self.variable_bits = [1 << variable for variable in program.variable_of]
        self._end = AliveSteps(self, 0, at_end=True)

    def alive(self, codes: Sequence[int]) -> list[AliveSteps]:
        """Return the steps that lead to a match, for each row of a partition and behind the last.

        Args:
            codes: the variables that each row satisfies.
        """
        state = self._end
        states = [state]
        for code in reversed(codes):
            state = state[code]
            states.append(state)
        states.reverse()
        return states

    def steps_of(self, way: Way, *, at_end: bool) -> Follow:
        """Return what may follow a way, the preferred step first."""
        if way == ENDED:
            return ()
        if way >= 0:
            return self.program.follow(way >> 1, at_end)
        return self.program.first(way == START_OF_PARTITION, at_end)


class AliveSteps(dict[int, "AliveSteps"]):
    """The steps that can begin at a row, and the state of the row before by that row's code.

    Attributes:
        bits: the steps, as bits.
        chosen: the preferred of the ways that may follow another one here.
        begins: a match can begin here, if the row is not the first of its partition.
    """

    __slots__ = ("_automaton", "_at_end", "begins", "bits", "chosen")

    def __init__(self, automaton: Automaton, bits: int, *, at_end: bool = False) -> None:
        super().__init__()
        self._automaton, self._at_end, self.bits = automaton, at_end, bits
        self.chosen = _Chosen(self)
        self.begins = self.choose(START) is not None

    def __missing__(self, code: int) -> AliveSteps:
        """Return the state of the row before, which satisfies the variables in ``code``."""
        automaton, bits = self._automaton, 0
        for step, variable in enumerate(automaton.variable_bits):
            if code & variable and self.choose(step << 1) is not None:
                bits |= 1 << step
        found = automaton.known.get(bits)
        if found is None:
            if len(automaton.known) >= MAX_STATES:
                raise SqlError(
                    "TOO_COMPLEX",
                    f"the pattern takes more than {MAX_STATES} states on this data",
                    hint="write smaller quantifiers, or conditions of which fewer hold at once",
                )
            found = automaton.known[bits] = AliveSteps(automaton, bits)
        self[code] = found
        return found

    def choose(self, way: Way) -> Way | None:
        """Return the preferred way behind another one that leads to a match, None without one."""
        for step, fenced in self._automaton.steps_of(way, at_end=self._at_end):
            if step == DONE:
                return ENDED
            if self.bits >> step & 1:
                return step << 1 | fenced
        return None


class _Chosen(dict[Way, "Way | None"]):
    __slots__ = ("_state",)

    def __init__(self, state: AliveSteps) -> None:
        super().__init__()
        self._state = state

    def __missing__(self, way: Way) -> Way | None:
        self[way] = found = self._state.choose(way)
        return found


def walk(states: Sequence[AliveSteps], row: int, *, first: bool) -> list[Way] | None:
    """Return the ways of the preferred match that begins at a row; None if no match does.

    Args:
        states: of the rows of a partition and of its end.
        row: where the match begins.
        first: the row is the partition's first.
    """
    way = states[row].chosen[START_OF_PARTITION if first else START]
    if way is None:
        return None
    ways = []
    while way != ENDED:
        ways.append(way)
        row += 1
        way = states[row].chosen[way]
        assert way is not None  # the state holds only steps that lead to a match
    return ways
