"""The SQL of rules 2 and 4 run by DuckDB: the right changes, the right units, without a JVM.

In: a case. Out: the rows of its query kept by ticks in DuckDB, as the engine keeps them in Spark.
The units have few names here, so that some collide: that must not matter either. A case that is
wrong is made small and kept in ``kept.jsonl``, which the unit tests run from then on.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import click
import duckdb
from sqlglot import exp, parse_one

from headwater.analyze.bind.project import bind
from headwater.analyze.definitions import Catalog, View
from headwater.analyze.portable.rewrites import portable
from headwater.dialect import parse
from headwater.errors import HeadwaterError
from headwater.plan.program import SIGN, UNIT, UNITS, StateColumn
from headwater.plan.query_shape import shape_of
from headwater.plan.rules.fold import aggregate_program
from headwater.plan.rules.recompute_units import units_program
from headwater.plan.rules.top_n import top_of, top_program
from tests.fuzz.cases import TICKS, Case, Tick, keep, random_ticks, smallest
from tests.fuzz.oracle import for_duckdb, insert, open_duckdb
from tests.fuzz.queries import query
from tests.fuzz.schemas import INPUTS, MOVING, STANDARD, Draw, Schema


class _Gathered(exp.Expression, exp.AggFunc):
    """A list as DuckDB writes it, with holes for its arguments; it cannot sort as Spark does."""

    arg_types = {"this": True, "expressions": True}  # noqa: RUF012  as sqlglot has it
    is_var_len_args = True
    _sql_names = ("GATHERED",)


def _gathered(node: exp.Expr) -> exp.Expr:
    """Put a list into a form that the product passes on as it is."""
    if not isinstance(node, (exp.ArrayAgg, exp.GroupConcat)):
        return node
    order, distinct = node.this, isinstance(node.this.this, exp.Distinct)
    value = order.this.expressions[0] if distinct else order.this
    keys = [
        f"{{{at}}} {'DESC' if item.args.get('desc') else ''}"
        f" NULLS {'FIRST' if item.args.get('nulls_first') else 'LAST'}"
        for at, item in enumerate(order.expressions, 1)
    ]
    separator = node.args.get("separator")
    called = f"{'DISTINCT ' if distinct else ''}{{0}}{f', {separator}' if separator else ''}"
    name = "array_agg" if isinstance(node, exp.ArrayAgg) else "listagg"
    text = exp.Literal.string(f"{name}({called} ORDER BY {', '.join(keys)})")
    given = [value, *(item.this for item in order.expressions)]
    call = _Gathered(this=text, expressions=given)
    call.type = node.type
    return call


def _in_duckdb(node: exp.Anonymous) -> exp.Expr:
    template, *given = node.expressions
    return parse_one(
        template.name.format(*(each.sql("duckdb") for each in given)), dialect="duckdb"
    )


def catalog_of(query: str, schema: Schema = STANDARD) -> Catalog:
    """Return the definitions of the inputs and of a view ``v``."""
    text = f"{schema.definitions}CREATE STREAMING VIEW v AS {query};"
    return bind({"fuzz.sql": parse(text, file="fuzz.sql")})


class Algebra:
    """One query kept by ticks.

    Args:
        query: a SELECT over the inputs.
        schema: what the inputs are.
        names: how many different names units have.
    """

    def __init__(self, query: str, schema: Schema = STANDARD, names: int = 50) -> None:
        catalog = catalog_of(query, schema)
        bound = catalog.views["v"]
        view = replace(bound, query=portable(bound.query.transform(_gathered), "spark"))
        self.query, self.names = for_duckdb(query), names
        self.prepare(view, catalog)
        self.duck = open_duckdb()
        self.started = False
        for name in INPUTS:
            sign = f", {SIGN} INT" if name in MOVING else ""
            for ending in ("", "__before", "__change"):
                more = sign if ending == "__change" else ""
                self.duck.execute(f"CREATE TABLE {name}{ending} ({schema.in_duckdb(name)}{more})")
        for name in MOVING:
            change = f"SELECT * EXCLUDE ({SIGN}) FROM {name}__change"
            self.duck.execute(f"CREATE VIEW {name}__any AS FROM {name} UNION ALL {change}")

    def prepare(self, view: View, catalog: Catalog) -> None:
        """Plan the view and write its SQL as DuckDB runs it."""
        gains = not {*MOVING} & {*view.inputs}
        build = top_program if gains and top_of(view.query) else units_program
        program = build(view, shape_of(view, catalog), catalog, None)
        self.everything, self.rows = self._duck(program.all_sql), self._duck(program.rows_sql)
        self.steps = {step.name: self._duck(step.sql) for step in program.steps}
        self.steps[UNITS] = self._duck(program.units_sql)
        self.one_unit = program.one_unit

    def tick(self, contents: Tick) -> None:
        """Replace what the inputs hold, and bring the view up to it.

        Args:
            contents: by input, all its rows.
        """
        for name in INPUTS:
            self._run(f"DELETE FROM {name}__before", f"INSERT INTO {name}__before FROM {name}")
            self._run(f"DELETE FROM {name}", f"DELETE FROM {name}__change")
            insert(self.duck, name, contents[name])
            sides = ((name, f"{name}__before", 1), (f"{name}__before", name, -1))
            for one, other, sign in sides:
                more = f", {sign}" if name in MOVING else ""
                rows = f"SELECT *{more} FROM (FROM {one} EXCEPT ALL FROM {other})"
                self._run(f"INSERT INTO {name}__change {rows}")
        self.bring_up()
        self.started = True

    def bring_up(self) -> None:
        """Bring the view up to the inputs, as rule 4 does."""
        if not self.started:
            self._run(f"CREATE TABLE v AS {self.everything}")
            return
        self._run("CREATE OR REPLACE TEMP TABLE __current AS FROM v")
        for name, sql in self.steps.items():
            self._run(f"CREATE OR REPLACE TEMP TABLE {name} AS {sql}")
        some = f"SELECT count(*) > 0 FROM {UNITS}" if self.one_unit else "false"
        self._run(
            f"DELETE FROM v WHERE {UNIT} IN (SELECT unit FROM {UNITS}) OR ({some})",
            f"INSERT INTO v {self.rows}",
        )

    def wrong(self) -> list[tuple[object, ...]]:
        """Return the rows that are missing or too many."""
        held, right = "SELECT COLUMNS('^[^_]') FROM v", f"FROM ({self.query})"
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
        """A step as DuckDB runs it, with few names for all units."""

        def named(node: exp.Expression) -> exp.Expression:
            if isinstance(node, exp.Anonymous) and node.name.lower() == "xxhash64":
                hashed = exp.Anonymous(this="hash", expressions=node.expressions)
                count = exp.Literal.number(self.names)
                return exp.cast(exp.Mod(this=hashed, expression=count), "BIGINT")
            if isinstance(node, exp.Anonymous) and node.name.lower() == "gathered":
                return _in_duckdb(node)
            if isinstance(node, (exp.ArgMin, exp.ArgMax)):  # Spark's take rows that have no value
                name = f"arg_{'min' if isinstance(node, exp.ArgMin) else 'max'}_null"
                return exp.Anonymous(this=name, expressions=[node.this, node.expression])
            return portable(node, "duckdb") if isinstance(node, exp.CountIf) else node

        return parse_one(sql, dialect="spark").transform(named).sql(dialect="duckdb")


class Folded(Algebra):
    """One aggregate kept by ticks, its state in the table.

    Args:
        query: a SELECT over the inputs that rule 2 keeps.
    """

    def prepare(self, view: View, catalog: Catalog) -> None:
        """Plan the view."""
        self.program = aggregate_program(view, shape_of(view, catalog), catalog, None)

    def bring_up(self) -> None:
        """Bring the view up to the inputs, as rule 2 does."""
        program = self.program
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


def wrong(case: Case, way: type[Algebra] = Algebra) -> str:
    """Return what is wrong with a case after some tick, empty if nothing is.

    Args:
        case: the query and its ticks.
        way: how it is kept.

    Raises:
        HeadwaterError: the query is refused.
    """
    algebra = way(case.query, case.schema)
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
        rnd = Draw(f"{seed}-{number}", None if number % 2 else STANDARD)
        case = Case(query(rnd).text, random_ticks(rnd), rnd.schema)
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
