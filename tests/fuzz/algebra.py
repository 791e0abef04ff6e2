"""The SQL of rule 4 run by DuckDB: whether the right units are touched, without a JVM.

In: a bound query. Out: its rows kept by ticks in DuckDB, as the engine keeps them in Spark. The
units have few names here, so that some collide: that must not matter either.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random

import click
import duckdb
from sqlglot import exp, parse_one

from headwater.analyze.binder import bind
from headwater.analyze.definitions import Catalog
from headwater.analyze.portable import portable
from headwater.dialect import parse
from headwater.errors import HeadwaterError
from headwater.plan.program import UNIT, UnitsProgram
from headwater.plan.shape import shape_of
from headwater.plan.top import top_of, top_program
from headwater.plan.units import units_program
from tests.fuzz.queries import CORRECTED, DEFINITIONS, LOGS, Row, query, rows
from tests.fuzz.shrink import shrink

INPUTS = (*LOGS, CORRECTED)
TICKS = 5


def catalog_of(query: str) -> Catalog:
    """Return the definitions of the inputs and of a view ``v``."""
    text = f"{DEFINITIONS}CREATE STREAMING VIEW v AS {query};"
    return bind({"fuzz.sql": parse(text, file="fuzz.sql")})


class Algebra:
    """One query kept by ticks.

    Args:
        query: a SELECT over the inputs.
        names: how many different names units have.
    """

    def __init__(self, query: str, names: int = 50) -> None:
        catalog = catalog_of(query)
        bound = catalog.views["v"]
        view = replace(bound, query=portable(bound.query, "spark"))
        self.query, self.names = query, names
        top = top_of(view.query) and not any(name == CORRECTED for name in bound.inputs)
        build = top_program if top else units_program
        self.program: UnitsProgram = build(view, shape_of(view, catalog), catalog, None)
        self.duck = duckdb.connect()
        self.started = False
        for name in INPUTS:
            for ending in ("", "__before", "__change"):
                self.duck.execute(f"CREATE TABLE {name}{ending} (id BIGINT, k VARCHAR, x BIGINT)")
        self.duck.execute(f"CREATE VIEW {CORRECTED}__any AS FROM {CORRECTED} UNION ALL FROM"
                          f" {CORRECTED}__change")  # fmt: skip

    def tick(self, contents: Mapping[str, Sequence[Row]]) -> None:
        """Replace what the inputs hold, and bring the view up to it.

        Args:
            contents: by input, all its rows.
        """
        for name in INPUTS:
            self._run(f"DELETE FROM {name}__before", f"INSERT INTO {name}__before FROM {name}")
            self._run(f"DELETE FROM {name}", f"DELETE FROM {name}__change")
            if contents[name]:
                self.duck.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", contents[name])
            for one, other in ((name, f"{name}__before"), (f"{name}__before", name)):
                self._run(f"INSERT INTO {name}__change FROM {one} EXCEPT ALL FROM {other}")
        if not self.started:
            self._run(f"CREATE TABLE v AS {self._duck(self.program.all_sql)}")
            self.started = True
            return
        self._run("CREATE OR REPLACE TEMP TABLE __current AS FROM v")
        for step in self.program.steps:
            self._run(f"CREATE OR REPLACE TEMP TABLE {step.name} AS {self._duck(step.sql)}")
        units = self._duck(self.program.units_sql)
        some = "SELECT count(*) > 0 FROM __units" if self.program.one_unit else "false"
        self._run(
            f"CREATE OR REPLACE TEMP TABLE __units AS {units}",
            f"DELETE FROM v WHERE {UNIT} IN (SELECT unit FROM __units) OR ({some})",
            f"INSERT INTO v {self._duck(self.program.rows_sql)}",
        )

    def wrong(self) -> list[tuple[object, ...]]:
        """Return the rows that are missing or too many."""
        hidden = ", ".join([*(name for name, _ in self.program.state), UNIT])
        held, right = f"SELECT * EXCLUDE ({hidden}) FROM v", f"FROM ({self.query})"
        return self.duck.sql(
            f"SELECT 'missing', * FROM ({right} EXCEPT ALL {held}) UNION ALL"
            f" SELECT 'surplus', * FROM ({held} EXCEPT ALL {right})"
        ).fetchall()

    def close(self) -> None:
        """Forget everything."""
        self.duck.close()

    def _run(self, *statements: str) -> None:
        for statement in statements:
            self.duck.execute(statement)

    def _duck(self, sql: str) -> str:
        def named(node: exp.Expression) -> exp.Expression:
            if isinstance(node, exp.Anonymous) and node.name.lower() == "xxhash64":
                hashed = exp.Anonymous(this="hash", expressions=node.expressions)
                count = exp.Literal.number(self.names)
                return exp.cast(exp.Mod(this=hashed, expression=count), "BIGINT")
            return node

        return parse_one(sql, dialect="spark").transform(named).sql(dialect="duckdb")


def contents(rnd: Random) -> Iterator[Mapping[str, Sequence[Row]]]:
    """Yield what the inputs hold after each tick: logs gain rows, the corrected view any change."""
    held: dict[str, list[Row]] = {name: [] for name in INPUTS}
    count = 0
    for _ in range(TICKS):
        for name in rnd.sample(LOGS, rnd.randint(0, 3)):
            new = rows(rnd, [0])
            held[name] += [(count + n, k, x) for n, (_, k, x) in enumerate(new)]
            count += len(new)
        if rnd.random() < 0.6:
            kept = [row for row in held[CORRECTED] if rnd.random() < 0.7]
            held[CORRECTED] = kept + rows(rnd, range(6), 3)
        yield held


def wrong(text: str, seed: str) -> str:
    """Return what is wrong with a query after some tick, empty if nothing is.

    Args:
        text: the query.
        seed: of the rows.

    Raises:
        HeadwaterError: the query is refused.
    """
    algebra = Algebra(text)
    try:
        for number, held in enumerate(contents(Random(seed))):
            algebra.tick(held)
            if found := algebra.wrong():
                return f"after tick {number}: {found[:4]}"
    except duckdb.Error as error:
        return str(error)
    finally:
        algebra.close()
    return ""


def smallest(text: str, seed: str) -> str:
    """Return the smallest query found that is still wrong."""

    def fails(candidate: str) -> bool:
        try:
            return bool(wrong(candidate, seed))
        except HeadwaterError:
            return False

    return shrink(text, fails)


@click.command()
@click.option("--queries", "count", default=500, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(count: int, seed: int) -> None:
    """Try random queries in DuckDB; what is wrong is made small."""
    bad = refused = 0
    for number in range(count):
        text = query(Random(f"{seed}-{number}")).text
        try:
            why = wrong(text, f"{seed}-{number}")
        except HeadwaterError as error:
            refused += 1
            click.echo(f"refused {seed}-{number}: {str(error).splitlines()[0]}")
            continue
        if why:
            bad += 1
            click.echo(f"WRONG {seed}-{number}: {smallest(text, f'{seed}-{number}')}\n  {why}")
    ticks = (count - refused) * TICKS
    click.echo(f"queries={count - refused} ticks={ticks} wrong={bad} refused={refused} seed={seed}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
