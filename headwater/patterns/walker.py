"""Matching where conditions read the match so far.

In: the codes and columns of a partition. Out: the preferred match at a row. The walk tries the
steps in the order of preference and turns back where a condition fails. Two walks that reach the
same step at the same row, and of which no condition can tell one from the other, are one; so most
patterns take no exponential time. Where that does not help, an attempt ends after a number of
steps, with an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from headwater.errors import SqlError
from headwater.patterns.aggregates import FOLDS, RunningAggregate, Value
from headwater.patterns.automaton import START, START_OF_PARTITION, Automaton, Way
from headwater.patterns.conditions import VariableCondition
from headwater.patterns.formula import Formula, compiled
from headwater.patterns.navigation import CLASSIFIER, Aggregation, Navigation, Reference
from headwater.patterns.program import DONE

MAX_LOOKS = 500_000
"""Steps that the walk from one row may try."""

State = Any
"""What a watch remembers of a walk; immutable."""


class _Watch:
    """Follows one navigation or aggregate along a walk.

    The state of a navigation holds the rows that it may mean, each with its variable.
    """

    def __init__(self, reference: Reference, columns: Mapping[str, Sequence[Any]]) -> None:
        self._reference = _counted(reference)
        self._columns = columns
        self.fold: RunningAggregate | None = None
        if isinstance(reference, Aggregation):
            self.fold = FOLDS[reference.function]

    def begin(self) -> State:
        return self.fold.begin if self.fold else ()

    def step(self, state: State, row: int, variable: int, names: Sequence[str]) -> State:
        """Return the state behind a row that the variable takes."""
        reference = self._reference
        if not isinstance(reference, Navigation | Aggregation):
            return state
        if reference.labels is not None and variable not in reference.labels:
            return state
        if self.fold and isinstance(reference, Aggregation):
            values = (
                names[variable] if column == CLASSIFIER else self._columns[column][row]
                for column in reference.arguments
            )
            return self.fold.add(state, *values)
        assert isinstance(reference, Navigation)
        here = (row, names[variable] if reference.column == CLASSIFIER else "")
        if reference.last:
            return (*state[-reference.logical :], here) if reference.logical else (here,)
        return state if len(state) > reference.logical else (*state, here)

    def value(self, state: State, match: _Match) -> Value:
        """Return the value after a row."""
        reference = self._reference
        if self.fold:
            return self.fold.result(state)
        if not isinstance(reference, Navigation):
            return match.number
        if not 0 <= reference.logical < len(state):
            return None
        row, name = state[0 if reference.last else reference.logical]
        if reference.column == CLASSIFIER:
            return name if reference.physical == 0 else match.variable(row + reference.physical)
        row = row + reference.physical
        return self._columns[reference.column][row] if 0 <= row < match.count else None

    @property
    def reads_path(self) -> bool:
        """Whether the value depends on more of the walk than the state holds."""
        found = self._reference
        if not isinstance(found, Navigation):
            return False
        return found.column == CLASSIFIER and found.physical != 0


def _counted(reference: Reference) -> Reference:
    """Count a distance between rows of the match as rows of any variable: these are the same."""
    if (
        isinstance(reference, Navigation)
        and reference.column == CLASSIFIER
        and reference.labels is None
    ):
        shift = -reference.physical if reference.last else reference.physical
        return replace(reference, logical=reference.logical + shift, physical=0)
    return reference


class _Match:
    """The match so far."""

    def __init__(self, walker: Walker, row: int, number: int) -> None:
        self._walker, self.row, self.number = walker, row, number
        self.count = len(walker.codes)
        self.ways: list[Way] = []

    def variable(self, row: int) -> str | None:
        """Return the variable that a row matches, None outside of the match."""
        at = row - self.row
        if not 0 <= at < len(self.ways):
            return None
        program = self._walker.automaton.program
        return program.names[program.variable_of[self.ways[at] >> 1]]


class WalkedConditions:
    """The walked conjuncts of all variables, compiled once.

    Attributes:
        references: what they read of the match.
        columns: the input columns that they read.
    """

    def __init__(self, conditions: Sequence[VariableCondition]) -> None:
        self.references: list[Reference] = []
        self.columns: set[str] = set()
        self.formulas: list[list[Formula]] = []
        for condition in conditions:
            slots = {}
            for name, reference in condition.names.items():
                if reference not in self.references:
                    self.references.append(reference)
                slots[name] = self.references.index(reference)
            made = [compiled(each, slots) for each in condition.walked]
            self.formulas.append(made)
            self.columns.update(column for each in made for column in each.columns)
        for reference in self.references:
            if isinstance(reference, Navigation):
                self.columns.add(reference.column)
            elif isinstance(reference, Aggregation):
                self.columns.update(reference.arguments)
        self.columns.discard(CLASSIFIER)


class Walker:
    """Finds matches in one partition.

    Args:
        automaton: of the pattern.
        conditions: of its variables.
        codes: the variables that each row may satisfy, by the columns alone.
        columns: the values of each column that the conditions read.
        limits: for each row the first row that is too late for a match from there.
        whole: the first row is the partition's first.
        prune: leaves out steps that by the columns alone lead nowhere; gives them by row.
    """

    def __init__(
        self,
        automaton: Automaton,
        conditions: WalkedConditions,
        codes: Sequence[int],
        columns: Mapping[str, Sequence[Any]],
        limits: Sequence[int] | None,
        whole: bool,
        prune: Callable[[int], int] | None,
    ) -> None:
        self.automaton, self.codes = automaton, codes
        self._formulas, self._columns = conditions.formulas, columns
        self._watches = [_Watch(each, columns) for each in conditions.references]
        self._remembers = not any(watch.reads_path for watch in self._watches)
        self._limits, self._prune = limits, prune
        self._first = 0 if whole else -1
        self.looked = 0

    def find(self, row: int, number: int) -> list[Way] | None:
        """Return the ways of the preferred match at a row.

        After it, ``looked`` is the last row that the answer depends on; the number of rows if it
        depends on rows that are not there.
        """
        limit = self._limits[row] if self._limits is not None else len(self.codes)
        match = _Match(self, row, number)
        self.looked = row
        budget = max(MAX_LOOKS, 20 * (limit - row))
        seen: set[Any] = set()
        begin = tuple(watch.begin() for watch in self._watches)
        start = START_OF_PARTITION if row == self._first else START
        waiting = [(iter(self._after(start, row)), begin)]
        while waiting:
            steps, states = waiting[-1]
            at = row + len(match.ways)
            for step, fenced in steps:
                if step == DONE:
                    return match.ways
                self.looked = max(self.looked, at)
                if at >= limit or not self._possible(step, at):
                    continue
                budget -= 1
                key = (step, at, states)
                if budget < 0:
                    self._too_long(at - row)
                if self._remembers:
                    if key in seen:
                        continue
                    seen.add(key)
                match.ways.append(step << 1 | fenced)
                after = self._take(step, at, states, match)
                if after is not None:
                    waiting.append((iter(self._after(step << 1, at + 1)), after))
                    break
                match.ways.pop()
            else:
                waiting.pop()
                if match.ways:
                    match.ways.pop()
        return None

    def _after(self, way: Way, row: int) -> Sequence[tuple[int, bool]]:
        return self.automaton.steps_of(way, at_end=row == len(self.codes))

    def _possible(self, step: int, row: int) -> bool:
        if not self.codes[row] & self.automaton.variable_bits[step]:
            return False
        return self._prune is None or bool(self._prune(row) >> step & 1)

    def _take(
        self, step: int, row: int, states: tuple[State, ...], match: _Match
    ) -> tuple[State, ...] | None:
        """Return the states behind a row, None if the conditions of the variable fail."""
        program = self.automaton.program
        variable = program.variable_of[step]
        after = tuple(
            watch.step(state, row, variable, program.names)
            for watch, state in zip(self._watches, states, strict=True)
        )
        for formula in self._formulas[variable]:
            slots = [
                watch.value(state, match) for watch, state in zip(self._watches, after, strict=True)
            ]
            if formula.value(slots, self._columns, row) is not True:
                return None
        return after

    def _too_long(self, rows: int) -> None:
        raise SqlError(
            "TOO_COMPLEX",
            f"the search for one match took more than {MAX_LOOKS} steps over {rows} rows",
            hint="bound the match with WITHIN, or write conditions that read no more than the row",
        )
