"""The SQL of rule 4 run by DuckDB: whether the right units are touched, without a JVM.

In: a case. Out: the rows of its query kept by ticks in DuckDB, as the engine keeps them in Spark.
The units have few names here, so that some collide: that must not matter either. A case that is
wrong is made small and kept in ``kept.jsonl``, which the unit tests run from then on.
"""

from __future__ import annotations

import sys
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
from headwater.plan.program import UNIT, UNITS, UnitsProgram
from headwater.plan.shape import shape_of
from headwater.plan.units import units_program
from tests.fuzz.cases import TICKS, Case, Tick, keep, random_ticks, smallest
from tests.fuzz.expressions import KINDS
from tests.fuzz.queries import COLUMNS, CORRECTED, DEFINITIONS, INPUTS, query

_COLUMNS = ", ".join(f"{name} {KINDS[kind]}" for name, kind in COLUMNS)


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
        self.query = query
        program: UnitsProgram = units_program(view, shape_of(view, catalog), catalog, None)
        self.everything = _in_duckdb(program.all_sql, names)
        self.rows = _in_duckdb(program.rows_sql, names)
        self.steps = {step.name: _in_duckdb(step.sql, names) for step in program.steps}
        self.steps[UNITS] = _in_duckdb(program.units_sql, names)
        self.duck = duckdb.connect()
        self.started = False
        for name in INPUTS:
            for ending in ("", "__before", "__change"):
                self.duck.execute(f"CREATE TABLE {name}{ending} ({_COLUMNS})")
        self.duck.execute(f"CREATE VIEW {CORRECTED}__any AS FROM {CORRECTED} UNION ALL FROM"
                          f" {CORRECTED}__change")  # fmt: skip

    def tick(self, contents: Tick) -> None:
        """Replace what the inputs hold, and bring the view up to it.

        Args:
            contents: by input, all its rows.
        """
        for name in INPUTS:
            self._run(f"DELETE FROM {name}__before", f"INSERT INTO {name}__before FROM {name}")
            self._run(f"DELETE FROM {name}", f"DELETE FROM {name}__change")
            if contents[name]:
                self.duck.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", contents[name])
            for one, other in ((name, f"{name}__before"), (f"{name}__before", name)):
                self._run(f"INSERT INTO {name}__change FROM {one} EXCEPT ALL FROM {other}")
        if not self.started:
            self._run(f"CREATE TABLE v AS {self.everything}")
            self.started = True
            return
        for name, sql in self.steps.items():
            self._run(f"CREATE OR REPLACE TEMP TABLE {name} AS {sql}")
        self._run(
            f"DELETE FROM v WHERE {UNIT} IN (SELECT unit FROM {UNITS})",
            f"INSERT INTO v {self.rows}",
        )

    def wrong(self) -> list[tuple[object, ...]]:
        """Return the rows that are missing or too many."""
        held, right = f"SELECT * EXCLUDE ({UNIT}) FROM v", f"FROM ({self.query})"
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


def _in_duckdb(sql: str, names: int) -> str:
    """A step as DuckDB runs it, with few names for all units."""

    def named(node: exp.Expression) -> exp.Expression:
        if isinstance(node, exp.Anonymous) and node.name.lower() == "xxhash64":
            hashed = exp.Anonymous(this="hash", expressions=node.expressions)
            return exp.cast(exp.Mod(this=hashed, expression=exp.Literal.number(names)), "BIGINT")
        return node

    return parse_one(sql, dialect="spark").transform(named).sql(dialect="duckdb")


def wrong(case: Case) -> str:
    """Return what is wrong with a case after some tick, empty if nothing is.

    Args:
        case: the query and its ticks.

    Raises:
        HeadwaterError: the query is refused.
    """
    algebra = Algebra(case.query)
    try:
        for number, held in enumerate(case.contents()):
            algebra.tick(held)
            if found := algebra.wrong():
                return f"after tick {number}: {found[:4]}"
    except duckdb.Error as error:
        return str(error)
    finally:
        algebra.close()
    return ""


def fails(case: Case) -> bool:
    """Return whether a case is wrong, and not refused.

    Args:
        case: the query and its ticks.
    """
    try:
        return bool(wrong(case))
    except HeadwaterError:
        return False


@click.command()
@click.option("--queries", "count", default=500, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(count: int, seed: int) -> None:
    """Try random queries in DuckDB; what is wrong is made small and kept."""
    bad = refused = 0
    for number in range(count):
        rnd = Random(f"{seed}-{number}")
        case = Case(query(rnd).text, random_ticks(rnd))
        try:
            why = wrong(case)
        except HeadwaterError as error:
            refused += 1
            click.echo(f"refused {seed}-{number}: {str(error).splitlines()[0]}")
            continue
        if why:
            bad += 1
            small = smallest(case, fails)
            keep(small)
            click.echo(f"WRONG {seed}-{number}: {small}\n  {why}")
    ticks = (count - refused) * TICKS
    click.echo(f"queries={count - refused} ticks={ticks} wrong={bad} refused={refused} seed={seed}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
