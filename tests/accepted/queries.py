"""An accepted view → the queries that engines are asked to analyse, over tables without rows.

In: the catalog and the plan of a view. Out: per engine, SQL texts that read nothing: each relation
stands in a WITH clause of its own, with the right columns. An engine that takes the text can run
the view; the types of its columns are those that `check` inferred.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from headwater.algebra.change import SIGN
from headwater.analyze.definitions import ARRIVAL_COLUMN, WATERMARK_COLUMN, Catalog
from headwater.analyze.typing.types import duckdb_type, spark_type, trino_type
from headwater.dialect.syntax import PatternRows, RecursiveRows
from headwater.plan.at_rest import at_rest as select_at_rest
from headwater.plan.program import (
    CURRENT,
    UNITS,
    AffectedGroupsProgram,
    AffectedKeysProgram,
    Program,
    StreamingProgram,
)
from headwater.plan.view_plan import ViewPlan

WATERMARK = 1_357_034_700_000_000
_ZONED = {
    "spark": "TIMESTAMP",
    "duckdb": "TIMESTAMPTZ",
    "trino": "TIMESTAMP(6) WITH TIME ZONE",
}
_NAMES = {"spark": spark_type, "duckdb": duckdb_type, "trino": trino_type}
_QUOTES = {"spark": "`", "duckdb": '"', "trino": '"'}

Columns = Sequence[tuple[str, str]]
"""Name and type of each column, as an engine writes them."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query that an engine must be able to analyse.

    Attributes:
        what: what it is for.
        sql: the query.
        types: the types of its columns as the engine writes them; None if they do not matter.
    """

    what: str
    sql: str
    types: tuple[str, ...] | None = None


def at_rest(plan: ViewPlan, catalog: Catalog, dialect: str) -> Question:
    """Return the SELECT at rest as a question to an engine.

    Args:
        plan: of the view.
        catalog: what it reads.
        dialect: ``spark``, ``duckdb`` or ``trino``.
    """
    tables = {name: columns(name, catalog, dialect) for name in plan.view.inputs}
    tables |= _matches(plan, dialect)
    bounds = dialect == "duckdb"
    select = select_at_rest(plan, catalog, dialect, watermark=WATERMARK, bounds=bounds)
    types = tuple(_NAMES[dialect](field.type) for field in plan.view.fields)
    return Question("at rest", over_nothing(select.sql, tables, dialect), types)


def _matches(plan: ViewPlan, dialect: str) -> dict[str, Columns]:
    """The tables of matches, which are filled before the query runs."""
    found = reversed(list(plan.view.query.find_all(PatternRows, bfs=True)))
    return {
        f"__matched{number}": [(name, _NAMES[dialect](kind)) for name, kind in rows.args["fields"]]
        for number, rows in enumerate(found, 1)
    }


def in_motion(plan: ViewPlan, catalog: Catalog) -> Iterator[Question]:
    """Yield the queries of a program that no stream runs, as questions to Spark.

    Args:
        plan: of the view.
        catalog: what it reads.
    """
    types = tuple(spark_type(field.type) for field in plan.view.fields)
    for which in ("", "guarded "):
        program = plan.guarded_program if which else plan.program
        if isinstance(program, StreamingProgram) or (which and plan.guard is None):
            continue
        program = program.between(None, WATERMARK) or program
        tables = _relations(plan, catalog)
        tables |= {step.name: step.columns for step in program.patterns}
        tables |= _recursions(plan)
        searched = {f"rows of {step.name}" for step in program.patterns}
        if isinstance(program, AffectedGroupsProgram):
            tables[CURRENT] = [(each.name, each.spark_type) for each in plan.columns]
            tables[UNITS] = [("unit", "BIGINT")]
        for what, sql in _texts(program):
            whole = what.startswith(("rows", "all", "query")) and what not in searched
            shown = types if whole else None
            yield Question(f"{which}{what}", over_nothing(sql, tables, "spark"), shown)


def _texts(program: Program) -> Iterator[tuple[str, str]]:
    """The queries of a program in their order, each step a subquery of those that read it."""
    steps: dict[str, str] = {}
    for what, sql in program.texts().items():
        if what == "merge":
            continue
        text = _with(steps, sql)
        if what.startswith("step "):
            steps[what.removeprefix("step ")] = sql
        elif isinstance(program, AffectedKeysProgram) and not steps:
            steps["__keys"] = sql
        yield what, text
    if isinstance(program, (AffectedGroupsProgram, AffectedKeysProgram)):
        yield "all rows", program.all_sql


def _with(steps: Mapping[str, str], sql: str) -> str:
    """A query that reads steps; a comment tells where the tables of nothing go."""
    if not steps:
        return sql
    named = ", ".join(f"`{name}` AS ({text})" for name, text in steps.items())
    return f"WITH {named} SELECT * FROM ({sql})"


def _recursions(plan: ViewPlan) -> dict[str, Columns]:
    """The tables of recursive rows, and of the rows of a round, which Spark fills in a loop."""
    return {
        before + rows.args["name"]: [(name, spark_type(kind)) for name, kind in rows.args["fields"]]
        for rows in plan.view.query.find_all(RecursiveRows)
        for before in ("__recursive_", "__round_")
    }


def _relations(plan: ViewPlan, catalog: Catalog) -> dict[str, Columns]:
    found: dict[str, Columns] = {}
    for each in plan.inputs:
        name, appends = each.name, each.appends
        held = columns(name, catalog, "spark")
        held += [(age.flag, "BOOLEAN") for age in each.ages.dated]
        found |= {name: held, f"{name}__before": held, f"{name}__any": held}
        found[f"{name}__change"] = held if appends else [*held, (SIGN, "INT")]
    return found


def columns(name: str, catalog: Catalog, dialect: str) -> Columns:
    """Return the columns of a table or view as an engine holds them.

    Args:
        name: its name.
        catalog: where it is defined.
        dialect: ``spark``, ``duckdb`` or ``trino``.
    """
    known = catalog.sources.get(name) or catalog.views[name]
    held = [(field.name, _NAMES[dialect](field.type)) for field in known.fields]
    source = catalog.sources.get(name)
    if source is not None and source.watermark:
        held.append((WATERMARK_COLUMN, _ZONED[dialect]))
    if source is not None and source.landed:
        held.append((ARRIVAL_COLUMN, _ZONED[dialect]))
    return held


def over_nothing(sql: str, tables: Mapping[str, Columns], dialect: str) -> str:
    """Return a query over tables without rows.

    Args:
        sql: the query.
        tables: the columns of each table that it may read.
        dialect: ``spark``, ``duckdb`` or ``trino``.
    """
    quote = _QUOTES[dialect]
    parts = []
    for name, held in tables.items():
        items = ", ".join(f"CAST(NULL AS {kind}) AS {quote}{c}{quote}" for c, kind in held)
        source = " FROM range(0)" if dialect == "spark" else ""
        where = "" if dialect == "spark" else " WHERE false"
        parts.append(f"{quote}{name}{quote} AS (SELECT {items}{source}{where})")
    return f"WITH {', '.join(parts)} SELECT * FROM ({sql}) AS asked" if parts else sql
