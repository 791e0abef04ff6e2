"""Random patterns give what plain backtracking in SQL's order of preference gives.

Loops over a part that may be empty are left out: Trino takes no step twice at one row, which no
simple backtracking does. Trino's own answers judge these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from random import Random

import pyarrow as pa
import pytest

from headwater.patterns import MatchClause, read_clause
from headwater.patterns.grammar import read
from headwater.patterns.matcher import PatternMatcher
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
    bounds,
    nodes,
)
from tests.patterns.product import parsed
from tests.patterns.random_clauses import random_pattern

SECOND = 1_000_000
Labels = tuple[str, ...]


@dataclass(frozen=True)
class _Backtracking:
    """Matches by trying everything, the preferred first."""

    codes: Sequence[frozenset[str]]
    limit: int

    def ways(self, node: RowPattern, row: int) -> Iterator[tuple[int, Labels]]:  # noqa: C901
        match node:
            case PatternVariable(name):
                if row < self.limit and name in self.codes[row]:
                    yield row + 1, (name,)
            case EmptyPattern():
                yield row, ()
            case PartitionAnchor(at_end):
                if row == (len(self.codes) if at_end else 0):
                    yield row, ()
            case Exclusion(part):
                yield from self.ways(part, row)
            case Alternation(parts):
                for part in parts:
                    yield from self.ways(part, row)
            case Concatenation(parts):
                yield from self.all_of(parts, row)
            case Permutation(parts):
                for order in permutations(parts):
                    yield from self.all_of(order, row)
            case Repetition(part, least, most, greedy):
                for now, first in self.all_of([part] * least, row):
                    more = None if most is None else most - least
                    for end, rest in self.repeated(part, now, more, greedy):
                        yield end, first + rest

    def all_of(self, parts: Sequence[RowPattern], row: int) -> Iterator[tuple[int, Labels]]:
        if not parts:
            yield row, ()
            return
        for now, first in self.ways(parts[0], row):
            for end, rest in self.all_of(parts[1:], now):
                yield end, first + rest

    def repeated(
        self, part: RowPattern, row: int, most: int | None, greedy: bool
    ) -> Iterator[tuple[int, Labels]]:
        if not greedy:
            yield row, ()
        if most is None or most > 0:
            for now, first in self.ways(part, row):
                left = None if most is None else most - 1
                for end, rest in self.repeated(part, now, left, greedy):
                    yield end, first + rest
        if greedy:
            yield row, ()


def _has_empty_turns(pattern: RowPattern) -> bool:
    loops = [node for node in nodes(pattern) if isinstance(node, Repetition) and node.most is None]
    return any(bounds(loop.part)[0] == 0 for loop in loops)


def _expected(
    pattern: RowPattern, codes: Sequence[frozenset[str]], times: Sequence[int], within: int | None
) -> list[tuple[int, Labels]]:
    found, row = [], 0
    while row < len(codes):
        late = (at for at, time in enumerate(times) if within and time > times[row] + within)
        search = _Backtracking(codes, next(late, len(codes)))
        match = next(search.ways(pattern, row), None)
        if match is not None:
            found.append((row, match[1]))
        row = row + 1 if match is None else max(match[0], row + 1)
    return found


def _found(clause: MatchClause, table: pa.Table) -> list[tuple[int, Labels]]:
    matches = PatternMatcher(clause).matches(table)
    program = clause.program
    labels = [program.names[program.variable_of[way >> 1]] for way in matches.ways]
    ends = matches.offsets.tolist()
    parts = zip(matches.first.tolist(), ends, ends[1:], strict=False)
    return [(row, tuple(labels[begin:end])) for row, begin, end in parts]


@pytest.mark.parametrize("walked", [False, True], ids=["columns", "walked"])
@pytest.mark.parametrize("seed", range(25))
def test_the_preferred_match_is_found(seed: int, walked: bool) -> None:
    for number in range(10):
        random = Random(f"{seed}/{number}")
        pattern = f"{random_pattern(random)} | A B"
        while _has_empty_turns(read(pattern)):
            pattern = f"{random_pattern(random)} | A B"
        within = random.choice((None, None, 1, 2, 4))
        bound = f" WITHIN INTERVAL '{within}' SECOND" if within else ""
        also = " AND count(*) > 0" if walked else ""
        define = ", ".join(f"{name} AS is_{name}{also}" for name in "ABCD" if name in pattern)
        text = f"ORDER BY ts PATTERN ({pattern}) {bound} DEFINE {define}"
        clause = read_clause(parsed(text))
        count = random.randint(0, 7)
        times = sorted(random.sample(range(12), count))
        codes = [
            frozenset(name for name in clause.names if random.random() < 0.6) for _ in range(count)
        ]
        given = {
            f"is_{name.lower()}": pa.array([name in code for code in codes], pa.bool_())
            for name in "ABCD"
        }
        stamps = pa.array([time * SECOND for time in times], pa.int64())
        table = pa.table({"ts": stamps.cast(pa.timestamp("us")), **given})
        expected = _expected(clause.pattern, codes, times, within)
        assert _found(clause, table) == expected, (text, codes, times)
