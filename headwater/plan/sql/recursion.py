"""``WITH RECURSIVE`` in a query for an engine.

In: a rendered query. Out: for DuckDB and Trino, the same query, in which FROM has their own ``WITH
RECURSIVE``; for Spark, one that reads tables, and the queries of rounds that fill them. Spark 4.1.3
has ``WITH RECURSIVE`` with UNION ALL only.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.connectors.registry import VIEW_OPTIONS
from headwater.analyze.definitions import View
from headwater.dialect.syntax import RecursiveRows, WorkingTable
from headwater.plan.full_program import RecursiveStep
from headwater.plan.sql.render import print_sql

_TABLE, _ROUND = "__recursive_", "__round_"


def native_recursion(query: exp.Expr) -> exp.Expr:
    """Return a query with ``WITH RECURSIVE`` in the FROM clauses that read such rows.

    Args:
        query: a rendered query; it is changed.
    """
    root = exp.Paren(this=query)
    found = list(root.find_all(RecursiveRows))
    for outermost in [each for each in found if not each.find_ancestor(RecursiveRows)]:
        # Trino refuses a WITH RECURSIVE within another: those inside stand beside it, before it
        names: set[str] = set()
        clause = exp.With(recursive=True, expressions=[])
        for rows in _innermost_first(outermost):
            name = exp.to_identifier(_free_name(rows, outermost, names))
            names.add(name.name)
            _name_working_table(rows, name.name)
            columns = [exp.to_identifier(column) for column, _ in rows.args["fields"]]
            alias = exp.TableAlias(this=name, columns=columns)
            clause.append("expressions", exp.CTE(this=rows.this, alias=alias))
            if rows is not outermost:
                rows.replace(exp.Table(this=name.copy(), alias=rows.args["alias"]))
        select = exp.select(*(exp.column(each.name) for each in columns))
        select = select.from_(exp.Table(this=name.copy()))
        select.set("with_", clause)
        outermost.replace(exp.Subquery(this=select, alias=outermost.args["alias"]))
    bare: exp.Expr = root.this.pop()
    return bare


def depth_of(view: View) -> int:
    """Return how many rounds may follow that of the anchor."""
    return int(view.options.get("max_recursion_depth", VIEW_OPTIONS["max_recursion_depth"].default))


def take_out_recursion(query: exp.Expr, depth: int) -> tuple[exp.Expr, tuple[RecursiveStep, ...]]:
    """Return a query of Spark that reads tables, and what fills them, innermost first.

    Args:
        query: a rendered query; it is changed.
        depth: see :func:`depth_of`.
    """
    root = exp.Paren(this=query)
    found: dict[str, RecursiveStep] = {}
    for rows in _innermost_first(root):
        name = rows.args["name"]
        _name_working_table(rows, _ROUND + name)
        union = rows.this
        anchor, step = (print_sql(each, "spark") for each in (union.this, union.expression))
        distinct = bool(union.args.get("distinct"))
        table_name = _TABLE + name
        # each reference to the rows has a copy of their queries
        found.setdefault(
            table_name,
            RecursiveStep(name, table_name, _ROUND + name, anchor, step, distinct, depth),
        )
        table = exp.to_table(table_name)
        table.set("alias", rows.args["alias"])
        rows.replace(table)
    for working in list(root.find_all(WorkingTable)):  # a step alone: any round's rows
        table = exp.to_table(_TABLE + working.this)
        table.set("alias", working.args["alias"])
        working.replace(table)
    return root.this.pop(), tuple(found.values())


def _innermost_first(root: exp.Expr) -> list[RecursiveRows]:
    return list(reversed(list(root.find_all(RecursiveRows, bfs=True))))


def _free_name(rows: RecursiveRows, outermost: RecursiveRows, names: set[str]) -> str:
    """The name of the rows, or a longer one if a table inside has it: it would be hidden."""
    taken = {table.name for table in outermost.find_all(exp.Table)} | names
    name = str(rows.args["name"])
    while name in taken:
        name += "_"
    return name


def _name_working_table(rows: RecursiveRows, name: str) -> None:
    for working in list(rows.find_all(WorkingTable)):
        table = exp.to_table(name)
        table.set("alias", working.args["alias"])
        working.replace(table)
