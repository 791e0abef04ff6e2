"""A query and the rows of its inputs tick by tick: what the fuzz tries, makes small and keeps.

In: a random generator, or the file of kept cases (a line of JSON per case). Out: cases. Logs are
given by the rows that they gain, inputs whose rows also go by all of them: any row can be left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.fuzz.schemas import CORRECTED, INPUTS, KEYED, LOGS, MOVING, STANDARD, Draw, Row, Schema
from tests.fuzz.shrink import shrink

KEPT = Path(__file__).with_name("kept.jsonl")
"""The cases that were wrong once."""

TICKS = 5

Tick = Mapping[str, Sequence[Row]]


@dataclass(frozen=True, slots=True)
class Case:
    """One query over changing inputs.

    Attributes:
        query: a SELECT over the inputs.
        ticks: per tick and input, the rows that a log gains, or that another input holds.
        schema: what the inputs are.
        rule: the rule that keeps it, one of :data:`tests.algebra.rules.RULES`.
        clauses: what its view says before AS.
    """

    query: str
    ticks: Sequence[Tick]
    schema: Schema = STANDARD
    rule: str = "affected groups"
    clauses: str = ""

    def contents(self) -> Iterator[Tick]:
        """Yield what every input holds after each tick."""
        held: dict[str, list[Row]] = {name: [] for name in INPUTS}
        for tick in self.ticks:
            for name in LOGS:
                held[name] += tick.get(name, ())
            for name in MOVING:
                held[name] = list(tick.get(name, ()))
            yield held


def random_ticks(rnd: Draw, number: int = TICKS) -> list[Tick]:
    """Return random changes of the inputs.

    Args:
        rnd: the generator, and what the inputs are.
        number: how many ticks.
    """
    ticks: list[Tick] = []
    count = 0
    corrected: dict[object, Row] = {}
    keyed: dict[object, Row] = {}
    for _ in range(number):
        tick: dict[str, list[Row]] = {}
        for name in rnd.sample(LOGS, rnd.randint(0, 3)):
            new = rnd.schema.rows(rnd, name, [0])
            tick[name] = [(count + n, *rest) for n, (_, *rest) in enumerate(new)]
            count += len(new)
        if rnd.random() < 0.6:
            corrected = {key: row for key, row in corrected.items() if rnd.random() < 0.7}
            corrected |= {row[0]: row for row in rnd.schema.rows(rnd, CORRECTED, range(6), 3)}
        if rnd.random() < 0.6:
            keyed = {key: row for key, row in keyed.items() if rnd.random() < 0.8}
            keyed |= {row[0]: row for row in rnd.schema.rows(rnd, KEYED, range(6))}
        ticks.append({**tick, CORRECTED: [*corrected.values()], KEYED: [*keyed.values()]})
    return ticks


def smallest(case: Case, fails: Callable[[Case], bool]) -> Case:
    """Return the smallest case found that still fails.

    Args:
        case: one that fails.
        fails: whether a case does.
    """
    query = shrink(case.query, lambda text: fails(replace(case, query=text)))
    ticks: Sequence[Tick] | None = case.ticks
    while ticks is not None:
        case = replace(case, query=query, ticks=ticks)
        tries = (replace(case, ticks=each) for each in _fewer(case.ticks))
        ticks = next((each.ticks for each in tries if fails(each)), None)
    return replace(case, query=shrink(query, lambda text: fails(replace(case, query=text))))


def _fewer(ticks: Sequence[Tick]) -> Iterator[Sequence[Tick]]:
    """Yield the same ticks with one less, and with one row less."""
    for at, tick in enumerate(ticks[:-1]):
        later = ticks[at + 1]
        both: dict[str, Sequence[Row]] = {
            name: [*tick.get(name, ()), *later.get(name, ())] for name in LOGS
        }
        both |= {name: later.get(name, ()) for name in MOVING}
        yield [*ticks[:at], both, *ticks[at + 2 :]]
    if len(ticks) > 1:
        yield ticks[:-1]
    for at, tick in enumerate(ticks):
        for name, held in tick.items():
            for n in range(len(held)):
                less = {**tick, name: [*held[:n], *held[n + 1 :]]}
                yield [*ticks[:at], less, *ticks[at + 1 :]]


def keep(case: Case) -> None:
    """Add a case to those that are kept.

    Args:
        case: one that fails.
    """
    ticks = [{name: held for name, held in tick.items() if held} for tick in case.ticks]
    with KEPT.open("a", encoding="utf-8") as lines:
        schema = {} if case.schema == STANDARD else {"schema": case.schema.inputs}
        how = {"rule": case.rule, "clauses": case.clauses}
        whole = {"query": case.query, "ticks": ticks, **how, **schema}
        lines.write(
            json.dumps(whole, default=str) + "\n"
        )  # DuckDB reads values of any type from text


def kept() -> list[Case]:
    """Return the cases that are kept."""
    lines = KEPT.read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    for tick in (tick for case in found for tick in case["ticks"]):
        tick.update({name: [tuple(row) for row in held] for name, held in tick.items()})
    return [
        Case(
            case["query"],
            case["ticks"],
            Schema(case["schema"]) if "schema" in case else STANDARD,
            case.get("rule", "affected groups"),
            case.get("clauses", ""),
        )
        for case in found
    ]
