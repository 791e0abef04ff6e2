"""The SQL of rules 2 and 4 run by DuckDB: the right changes, the right units, without a JVM.

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
from headwater.analyze.definitions import Catalog, View
from headwater.analyze.portable import portable
from headwater.dialect import parse
from headwater.errors import HeadwaterError
from headwater.plan.folded import aggregate_program
from headwater.plan.program import SIGN, UNIT, AggregateProgram, Program, StateColumn, UnitsProgram
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
        self.program = self.planned(view, catalog)
        self.duck = duckdb.connect()
        self.started = False
        for name in INPUTS:
            sign = f", {SIGN} INT" if name == CORRECTED else ""
            for ending in ("", "__before", "__change"):
                more = sign if ending == "__change" else ""
                columns = f"id BIGINT, k VARCHAR, x BIGINT{more}"
                self.duck.execute(f"CREATE TABLE {name}{ending} ({columns})")
        self.duck.execute(f"CREATE VIEW {CORRECTED}__any AS FROM {CORRECTED} UNION ALL"
                          f" SELECT * EXCLUDE ({SIGN}) FROM {CORRECTED}__change")  # fmt: skip

    def planned(self, view: View, catalog: Catalog) -> Program:
        """Return the program of a view that is kept here."""
        gains = CORRECTED not in view.inputs
        build = top_program if gains and top_of(view.query) else units_program
        return build(view, shape_of(view, catalog), catalog, None)

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
            sides = ((name, f"{name}__before", 1), (f"{name}__before", name, -1))
            for one, other, sign in sides:
                more = f", {sign}" if name == CORRECTED else ""
                rows = f"SELECT *{more} FROM (FROM {one} EXCEPT ALL FROM {other})"
                self._run(f"INSERT INTO {name}__change {rows}")
        self.bring_up()
        self.started = True

    def bring_up(self) -> None:
        """Bring the view up to the inputs, as rule 4 does."""
        program = self.program
        assert isinstance(program, UnitsProgram)
        if not self.started:
            self._run(f"CREATE TABLE v AS {self._duck(program.all_sql)}")
            return
        self._run("CREATE OR REPLACE TEMP TABLE __current AS FROM v")
        for step in program.steps:
            self._run(f"CREATE OR REPLACE TEMP TABLE {step.name} AS {self._duck(step.sql)}")
        units = self._duck(program.units_sql)
        some = "SELECT count(*) > 0 FROM __units" if program.one_unit else "false"
        self._run(
            f"CREATE OR REPLACE TEMP TABLE __units AS {units}",
            f"DELETE FROM v WHERE {UNIT} IN (SELECT unit FROM __units) OR ({some})",
            f"INSERT INTO v {self._duck(program.rows_sql)}",
        )

    def wrong(self) -> list[tuple[object, ...]]:
        """Return the rows that are missing or too many."""
        held = "SELECT COLUMNS('^[^_]') FROM v"
        right = f"FROM ({self.query})"
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
            return portable(node, "duckdb") if isinstance(node, exp.CountIf) else node

        return parse_one(sql, dialect="spark").transform(named).sql(dialect="duckdb")


class Folded(Algebra):
    """One aggregate kept by ticks, its state in the table.

    Args:
        query: a SELECT over the inputs that rule 2 keeps.
    """

    def planned(self, view: View, catalog: Catalog) -> Program:
        """Return the program of a view that is kept here."""
        return aggregate_program(view, shape_of(view, catalog), catalog, None)

    def bring_up(self) -> None:
        """Bring the view up to the inputs, as rule 2 does."""
        program = self.program
        assert isinstance(program, AggregateProgram)
        self._run(f"CREATE OR REPLACE TEMP TABLE s AS {self._duck(program.change_sql)}")
        inserts = ", ".join(f"{self._of(c.insert, c)} AS {c.name}" for c in program.columns)
        new = f" WHERE {program.insert_when}" if program.insert_when else ""
        if not self.started:
            self._run(f"CREATE TABLE v AS SELECT {inserts} FROM s{new}")
            return
        same = " AND ".join(f"t.{key} IS NOT DISTINCT FROM s.{key}" for key in program.keys)
        updates = ", ".join(
            f"{c.name} = {self._of(c.update, c)}"
            for c in program.columns
            if c.name not in program.keys
        )
        self._run(
            f"CREATE OR REPLACE TEMP TABLE new AS SELECT * FROM s WHERE NOT EXISTS"
            f" (FROM v t WHERE {same or 'true'})"
        )
        if program.delete_when:
            self._run(f"DELETE FROM v t USING s WHERE {same} AND {program.delete_when}")
        if updates:
            self._run(f"UPDATE v t SET {updates} FROM s WHERE {same or 'true'}")
        self._run(f"INSERT INTO v SELECT {inserts} FROM new s{new}")

    def _of(self, expression: str, column: StateColumn) -> str:
        text = self._duck(f"SELECT CAST({expression} AS {column.type})")
        return text.removeprefix("SELECT ")


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


def wrong(text: str, seed: str, keep: type[Algebra] = Algebra) -> str:
    """Return what is wrong with a query after some tick, empty if nothing is.

    Args:
        text: the query.
        seed: of the rows.
        keep: how it is kept.

    Raises:
        HeadwaterError: the query is refused.
    """
    algebra = keep(text)
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
