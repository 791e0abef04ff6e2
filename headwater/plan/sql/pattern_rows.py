"""``MATCH_RECOGNIZE`` in a query for an engine: the name of a table that is filled beforehand.

In: a rendered query. Out: the same query, in which a name stands for each clause, and what fills
the tables: the engine's SQL for the sorted rows, and the clause that a matcher runs over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp, parse_one

from headwater.analyze.typing.types import spark_type
from headwater.dialect.syntax import PatternRows
from headwater.plan.program import PatternStep, RecentStep
from headwater.plan.sql.render import print_sql

_NAME = "__matched"
UNSURE_KEYS = "__unsure"
"""Ends the name of the table with the keys whose matches depend on older rows."""


def take_out(
    query: exp.Expr, dialect: str, among: str = ""
) -> tuple[exp.Expr, tuple[PatternStep, ...]]:
    """Return a query that reads tables of matches, and what fills them, innermost first.

    Args:
        query: a rendered query; it is changed.
        dialect: ``duckdb`` or ``spark``.
        among: tells the names of its tables from those of another query.
    """
    root = exp.Paren(this=query)
    found: list[PatternStep] = []
    for rows in reversed(list(root.find_all(PatternRows, bfs=True))):
        name = f"{_NAME}{len(found) + 1}{among}"
        columns = tuple((field, spark_type(kind)) for field, kind in rows.args["fields"])
        clause = rows.args["clause"]
        found.append(PatternStep(name, print_sql(_sorted(rows, dialect), dialect), clause, columns))
        table = exp.to_table(name)
        table.set("alias", rows.args["alias"].copy())
        rows.replace(table)
    return root.this.pop(), tuple(found)


def with_recent(
    steps: Sequence[PatternStep], cut: exp.Expr, distances: Sequence[tuple[int, int] | None]
) -> tuple[PatternStep, ...]:
    """Return steps that read recent rows first.

    Args:
        steps: what :func:`take_out` gave for Spark.
        cut: the same query, in which the rows of clauses are cut to recent ones; it is changed.
        distances: of each clause, in order, ``since`` and ``until`` of its
            :class:`~headwater.plan.program.RecentStep`; None for one that needs all rows.
    """
    found = []
    nodes = reversed(list(exp.Paren(this=cut).find_all(PatternRows, bfs=True)))
    for step, rows, distance in zip(steps, nodes, distances, strict=True):
        if distance is None:
            found.append(step)
            continue
        rest = parse_one(step.sql, dialect="spark")
        assert isinstance(rest, exp.Select)
        keys = [_same(name) for name in step.clause.partition] or [exp.true()]
        named = exp.to_table(step.name + UNSURE_KEYS)
        named.set("alias", _alias("__unsure"))
        rest.append("joins", exp.Join(this=named, side="LEFT", kind="SEMI", on=exp.and_(*keys)))
        sql, rest_sql = (print_sql(each, "spark") for each in (_sorted(rows, "spark"), rest))
        found.append(replace(step, recent=RecentStep(sql, rest_sql, *distance)))
    return tuple(found)


def _same(name: str) -> exp.Expr:
    sides = (exp.column(name, "__unsure"), exp.column(name, "__sorted"))
    return exp.NullSafeEQ(this=sides[0], expression=sides[1])


def _sorted(rows: PatternRows, dialect: str) -> exp.Select:
    """The rows in the order in which a matcher reads them; in Spark a partition is in one task."""
    inner, order = rows.this.this, rows.args["order"]
    select = exp.select("*").from_(exp.Subquery(this=inner.copy(), alias=_alias("__sorted")))
    if dialect != "spark":
        select.set("order", order.copy())
        return select
    keys = [exp.column(name) for name in rows.args["clause"].partition]
    together = exp.Distribute(expressions=keys or [exp.Literal.number(0)])
    select.set("distribute", together)
    select.set("sort", exp.Sort(expressions=[each.copy() for each in order.expressions]))
    return select


def _alias(name: str) -> exp.TableAlias:
    return exp.TableAlias(this=exp.to_identifier(name))
