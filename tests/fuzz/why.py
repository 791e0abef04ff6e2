"""Random trials of ``headwater why``: what it names decides the row, and nothing else does.

In: how many random queries, a seed. Out: a line per row that is explained wrongly, and a line with
the counts; exit code 1 if something is wrong. DuckDB runs the SELECT at rest without some rows:

- without the rows that are named, the row is there less often than it was, or not at all;
- without any of the others, it is there as often as it was.

A row that is there without any named row too, as the count of no rows is, has to be known as such.

    python -m tests.fuzz.why --queries 500 --seed 7
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random

import click
import duckdb
from sqlglot import exp

from headwater.analyze.definitions import Catalog
from headwater.errors import HeadwaterError
from headwater.plan.at_rest import rendered
from headwater.plan.view_plan import ViewPlan
from headwater.serve.why.naming import CUT, Naming
from tests.algebra.query import definition, inputs
from tests.algebra.rules.streams import create, drawn, landed
from tests.algebra.world import planned
from tests.fuzz.as_of import as_of_query
from tests.fuzz.cases import Case, random_ticks
from tests.fuzz.closing import closing_query
from tests.fuzz.oracle import insert, open_duckdb
from tests.fuzz.queries import first, folded, grouped, linear, query
from tests.fuzz.schemas import INPUTS, STANDARD, TIMED, Draw
from tests.fuzz.streams import StreamingQuery

QUERIES = (query, query, query, folded, linear, grouped, first)
ROWS, SETS = 3, 6
"""Rows of a query that are explained, and sets of rows that are removed for each."""


@dataclass
class Tried:
    """What was found.

    Attributes:
        wrong: a text per row that is explained wrongly.
        rows: rows that were explained.
        stay: rows that are there without all rows that are named.
        empty: queries without rows.
        refused: queries that are refused, by condition.
        named: rows that were named, of :attr:`held`.
        held: rows that the inputs held, once for each row explained.
    """

    wrong: list[str] = field(default_factory=list)
    rows: int = 0
    stay: int = 0
    empty: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    named: int = 0
    held: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """A view over some rows.

    Attributes:
        text: its SELECT.
        definitions: the statements of its tables and of the view ``v``.
        fill: makes the tables in DuckDB, and returns the view's watermark.
        tables: their names.
    """

    text: str
    definitions: str
    fill: Callable[[duckdb.DuckDBPyConnection], int | None]
    tables: Sequence[str]


def random_question(seed: str) -> Question:
    """Return a random query and the rows of its inputs: of streams, every third one.

    Args:
        seed: the same seed, the same question.
    """
    number = sum(map(ord, seed))
    if number % 3 == 0:
        return _of_streams(f"why-{seed}", as_of_query if number % 2 else closing_query)
    rnd = Draw(f"why-{seed}", STANDARD if number % 2 else None)
    text = QUERIES[number % len(QUERIES)](rnd).text
    case = Case(text, random_ticks(rnd, 3), rnd.schema)
    return Question(text, definition(case), partial(_fill, case), INPUTS)


def _of_streams(seed: str, make: Callable[..., StreamingQuery]) -> Question:
    """A view whose rows are final, of windows, joins, ranks and moving aggregates."""
    view = drawn(seed, make)
    if view.query.views:
        return _of_streams(f"{seed}+", make)

    def fill(duck: duckdb.DuckDBPyConnection) -> int | None:
        create(duck, view.used)
        return list(landed(view.rnd, duck, view.used, 4))[-1]

    return Question(view.query.select, view.definitions, fill, [log.name for log in view.used])


def _fill(case: Case, duck: duckdb.DuckDBPyConnection) -> None:
    held = list(case.contents())[-1]
    for each in inputs(case.schema):
        stamped = case.schema.timed and each.name == TIMED
        duck.execute(f"CREATE TABLE {each.name} ({each.columns})")
        insert(duck, each.name, [(*row, None) if stamped else row for row in held[each.name]])


def attempt(question: Question, seed: str, tried: Tried) -> None:
    """Explain some rows of a view, and add what was found.

    Args:
        question: the view and the rows of its inputs.
        seed: chooses the rows, and what is removed.
        tried: gets what was found.
    """
    with open_duckdb() as duck:
        removal = _Removal(duck, question)
        try:
            catalog, plans = planned(question.definitions, as_written=True)
            rest = partial(_rest, catalog, plans["v"], removal.watermark)
            text = rest(CUT).sql("duckdb", identify=True)
            duck.execute(f"CREATE TABLE result AS {text}")
        except (HeadwaterError, duckdb.Error) as error:
            tried.refused[type(error).__name__] += 1
            return
        try:
            _Rows(removal, text, rest).try_some(Random(seed), tried)
        except (duckdb.Error, AssertionError) as error:
            tried.wrong.append(f"{type(error).__name__}: {error}")


def _rest(catalog: Catalog, plan: ViewPlan, watermark: int | None, cut: str) -> exp.Query:
    """Return the SELECT at rest of a view over inputs whose names have an ending."""
    return rendered(
        plan, catalog, "duckdb", watermark=watermark, relation=lambda name: f'"{name}@{cut}"'
    )


class _Removal:
    """The inputs in DuckDB, of which rows can be removed."""

    def __init__(self, duck: duckdb.DuckDBPyConnection, question: Question) -> None:
        self.duck, self.tables = duck, question.tables
        duck.execute("SET threads = 1")
        duck.execute("CREATE TABLE gone (number BIGINT)")
        self.watermark = question.fill(duck)
        self.numbers: list[int] = []
        for at, name in enumerate(self.tables):
            number = f"({at}::BIGINT << 40) + rowid"
            left = f"SELECT *, {number} AS __why FROM {name} WHERE __why NOT IN (FROM gone)"
            duck.execute(f'CREATE VIEW "{name}@{CUT}" AS {left}')
            found = duck.execute(f'SELECT __why FROM "{name}@{CUT}"').fetchall()
            self.numbers += [row[0] for row in found]

    def without(self, numbers: Iterable[int]) -> None:
        """Hold all rows but some."""
        self.duck.execute("DELETE FROM gone")
        values = ", ".join(f"({number})" for number in numbers)
        if values:
            self.duck.execute(f"INSERT INTO gone VALUES {values}")


class _Rows:
    """The rows of a query, and what decides each."""

    def __init__(self, removal: _Removal, select: str, rest: Callable[[str], exp.Query]) -> None:
        self._removal, self._select, duck = removal, select, removal.duck
        columns = [f'"{row[0]}"' for row in duck.execute("DESCRIBE result").fetchall()]
        copies = "SELECT *, count(*) AS copies FROM result GROUP BY ALL"
        duck.execute(f"CREATE TABLE held AS SELECT *, row_number() OVER () AS _n FROM ({copies})")
        self._same = " AND ".join(f"r.{c} IS NOT DISTINCT FROM held.{c}" for c in columns)
        self._naming = Naming(duck, removal.tables, rest, self._matching)
        found = 'SELECT _n, count(*) AS copies FROM "@found" GROUP BY _n'
        odd = f"SELECT _n, copies FROM held EXCEPT ({found})"
        assert not duck.execute(odd).fetchall(), "traced rows are others"

    def try_some(self, rnd: Random, tried: Tried) -> None:
        """Explain some rows."""
        duck = self._removal.duck
        count = duck.execute("SELECT count(*) FROM held").fetchall()[0][0]
        tried.empty += not count
        for n in rnd.sample(range(1, count + 1), min(ROWS, count)):
            self._removal.without(())
            stays = self._naming.settle(n)
            found = duck.execute(f'SELECT id FROM "@named" WHERE _n = {n} ORDER BY id').fetchall()
            named = [row[0] for row in found]
            others = [number for number in self._removal.numbers if number not in named]
            tried.rows += 1
            tried.stay += stays
            tried.named += len(named)
            tried.held += len(self._removal.numbers)
            for gone in _subsets(rnd, others):
                if not self._is_there(n, gone):
                    tried.wrong.append(f"row {n} needs some of {gone}, named are {named}")
                    return
            if self._is_there(n, named) is not stays:
                tried.wrong.append(f"row {n} does not need {named}")
                return

    def _matching(self, query: str, columns: str) -> str:
        return f"SELECT {columns} FROM ({query}) r JOIN held ON {self._same}"

    def _is_there(self, n: int, gone: Iterable[int]) -> bool:
        """Return whether a row is there as often as it was, without some rows."""
        self._removal.without(gone)
        query = (
            f"SELECT count(*) >= any_value(copies) FROM ({self._select}) r, held"
            f" WHERE _n = {n} AND {self._same}"
        )
        return bool(self._removal.duck.execute(query).fetchall()[0][0])


def _subsets(rnd: Random, numbers: list[int]) -> Iterator[list[int]]:
    """Yield all of some rows, some of them, and single ones."""
    if numbers:
        yield numbers
        for _ in range(SETS):
            yield rnd.sample(numbers, rnd.randint(1, len(numbers)))
        yield from ([number] for number in rnd.sample(numbers, min(SETS, len(numbers))))


@click.command()
@click.option("--queries", "count", default=500, show_default=True, help="random queries")
@click.option("--seed", default="1", show_default=True)
def main(count: int, seed: str) -> None:
    """Try ``headwater why`` on random queries."""
    tried = Tried()
    for number in range(count):
        before = len(tried.wrong)
        question = random_question(f"{seed}-{number}")
        attempt(question, f"{seed}-{number}", tried)
        for text in tried.wrong[before:]:
            click.echo(f"WRONG {seed}-{number}: {question.text}\n  {text}")
    share = tried.named / (tried.held or 1)
    click.echo(
        f"queries={count} rows={tried.rows} wrong={len(tried.wrong)} stay={tried.stay}"
        f" empty={tried.empty} refused={sum(tried.refused.values())} named={share:.0%} seed={seed}"
    )
    sys.exit(1 if tried.wrong else 0)


if __name__ == "__main__":
    main()
