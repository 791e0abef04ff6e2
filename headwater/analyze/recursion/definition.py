"""A common table expression that reads itself → an anchor and a step.

In: the expression as parsed, without references to others. Out: a
:class:`~headwater.dialect.syntax.RecursiveRows`, in whose step the reference to itself is a
:class:`~headwater.dialect.syntax.WorkingTable`; or an error that says why the step is none.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain, count

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.query_parts import optional, relations, stand_for
from headwater.dialect.syntax import RecursiveRows, WorkingTable

_FORM = "write WITH RECURSIVE r (…) AS (SELECT … UNION ALL SELECT … FROM r JOIN …)"


def references(query: exp.Expr, name: str) -> list[exp.Table]:
    """Return where a query, as parsed, reads a common table expression of a name."""
    return [
        table
        for table in query.find_all(exp.Table)
        if isinstance(table.this, exp.Identifier) and table.name == name
        if not table.args.get("db")
    ]


def cast_columns(cte: exp.CTE) -> None:
    """Write the types that a list of columns gives as casts, in place: ``r (a bigint) AS (…)``.

    Materialize has such lists. Of a query that reads itself, the anchor is cast.

    Args:
        cte: as parsed.
    """
    columns = cte.args["alias"].columns
    if not any(isinstance(each, exp.ColumnDef) for each in columns):
        return
    kinds = [each.args.get("kind") for each in columns]
    query = _unwrapped(cte.this)
    if references(query, cte.alias) and isinstance(query, exp.Union):
        query = _unwrapped(query.this)
    select = query if isinstance(query, exp.Select) else None
    if select is None or len(select.selects) != len(kinds) or select.is_star:
        names = [exp.column(each.name) for each in columns]
        listed = [exp.to_identifier(each.name) for each in columns]
        alias = exp.TableAlias(this=exp.to_identifier("_rows"), columns=listed)
        select = exp.Select(expressions=names)
        query.replace(select)
        select.set("from_", exp.From(this=exp.Subquery(this=query, alias=alias)))
    for item, kind, each in zip(list(select.selects), kinds, columns, strict=True):
        if kind is not None:
            value = item.unalias().copy()
            cast = exp.Cast(this=value, to=kind.copy())
            item.replace(exp.alias_(cast, each.name, quoted=True))
    cte.args["alias"].set("columns", [exp.to_identifier(each.name) for each in columns])


def recursive_rows(
    cte: exp.CTE, taken: Collection[str], report: Diagnostics
) -> RecursiveRows | None:
    """Return the rows of an expression that reads itself; None after an error.

    Args:
        cte: changed in place.
        taken: names that its rows must not have.
        report: where errors go.
    """
    union = _union(cte, report)
    mention = _mention(cte, union, report) if union is not None else None
    if union is None or mention is None:
        return None
    numbered = (f"{cte.alias}_{number}" for number in count(2))
    name = next(each for each in chain([cte.alias], numbered) if each not in taken)
    alias = mention.args.get("alias") or exp.TableAlias(this=mention.this.copy())
    working = WorkingTable(this=name, alias=alias.copy())
    working.meta.update(mention.this.meta)
    stand_for(working, mention)
    mention.replace(working)
    columns = [column.copy() for column in cte.args["alias"].columns]
    found = RecursiveRows(this=union.copy(), name=name, columns=columns or None)
    found.meta.update(cte.args["alias"].this.meta)
    return found


def _union(cte: exp.CTE, report: Diagnostics) -> exp.Union | None:
    """The union of anchor and step, without brackets."""
    name, union = cte.alias, _unwrapped(cte.this)
    if not isinstance(union, exp.Union):
        message = f'"{name}" reads itself, but is no UNION of an anchor and a step'
        hint = f"{_FORM}; ORDER BY and LIMIT stand in the query that reads r"
        report.add("INVALID_RECURSION", message, cte.args["alias"].this, hint)
        return None
    anchor, step = _unwrapped(union.this), _unwrapped(union.expression)
    union.set("this", anchor)
    union.set("expression", step)
    if found := references(anchor, name):
        message = f'"{name}" reads itself before the last UNION, in its anchor'
        report.add("INVALID_RECURSION", message, found[0], f"{_FORM}, with one step, the last one")
    elif not isinstance(step, exp.Select):
        hint = f"write one SELECT: FROM {name} JOIN (SELECT … UNION ALL SELECT …) AS s ON …"
        report.not_yet("a set operation in the step of WITH RECURSIVE", step, hint)
    else:
        return union
    return None


def _mention(cte: exp.CTE, union: exp.Union, report: Diagnostics) -> exp.Table | None:
    """The one place in FROM where the step reads the rows of the round before."""
    name, step = cte.alias, union.expression
    assert isinstance(step, exp.Select)
    first, *more = references(step, name)
    if more:
        hint = f"join {name} with a table instead"
        report.not_yet(f'a step that reads "{name}" more than once', more[0], hint)
    elif not (isinstance(first.parent, (exp.From, exp.Join)) and first.parent.parent is step):
        message = f'"{name}" reads itself in a subquery of its step'
        hint = f"read it in FROM: SELECT … FROM {name} JOIN …"
        report.add("INVALID_RECURSION", message, first, hint)
    elif optional(step)[relations(step).index(first)]:
        message = f'an outer join would fill up missing rows of "{name}" in each round'
        hint = f"write FROM {name} JOIN …, or FROM {name} LEFT JOIN …"
        report.add("INVALID_RECURSION", message, first, hint)
    else:
        return first
    return None


def _unwrapped(query: exp.Expr) -> exp.Expr:
    while isinstance(query, exp.Subquery) and not query.alias:
        query = query.this
    return query
