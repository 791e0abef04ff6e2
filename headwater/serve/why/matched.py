"""The rows behind a row of ``MATCH_RECOGNIZE``: those of its match.

In: the clause in FROM. Out: the same with the numbers of the rows of each match: they stand between
its first and its last row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from headwater.analyze.patterns.rows import PLACE
from headwater.analyze.query_parts import relations
from headwater.dialect.syntax import PatternRows
from headwater.patterns.navigation import Navigation
from headwater.plan.sql.render import READ
from headwater.serve.why.traced import WHY, Traced, gathered, named, one

Tracer = Callable[[exp.Expr, bool], Traced]
"""Traces a query, for what is absent too or not."""

_ROW, _FIRST, _LAST = "__n", "__first", "__last"
_BIGINT = exp.DataType.build("BIGINT")


def traced_matches(rows: PatternRows, trace: Tracer) -> Traced:
    """Return the rows of a clause with their numbers.

    Args:
        rows: the clause in FROM.
        trace: traces a query.
    """
    clause = rows.args["clause"]
    inner, rest = _with_numbers(rows.this.this, trace)
    own = [name for name, _ in rows.args["fields"]]
    ends: list[exp.Expr] = [exp.column(name, "__m") for name in (_FIRST, _LAST)]
    if clause.all_rows:  # a row in no match has only itself
        ends = [exp.Coalesce(this=end, expressions=[exp.column(_ROW, "__m")]) for end in ends]
    within = exp.Between(this=exp.column(_ROW, "__r"), low=ends[0], high=ends[1])
    behind = exp.select("*", _number(rows)).from_(inner.subquery("__all")).subquery("__r")
    numbers = exp.select(gathered([exp.column(WHY, "__r")])).from_(behind)
    numbers = numbers.where(exp.and_(*map(_same, clause.partition), within))
    shown = [*(exp.column(name, "__m") for name in own), named(exp.Subquery(this=numbers), WHY)]
    query = exp.select(*shown).from_(_with_ends(rows))
    return Traced(query, tuple(own), frozenset(), rest=rest)


def _with_numbers(select: exp.Select, trace: Tracer) -> tuple[exp.Select, tuple[exp.Expr, ...]]:
    """The rows that a clause reads, each with its own numbers: not those of its neighbours."""
    found = select.copy()
    (item,) = relations(found)
    number: exp.Expr = exp.column(WHY, item.alias_or_name)
    rest: tuple[exp.Expr, ...] = ()
    if READ in item.meta:
        number = one(number)
    elif item.meta.get(PLACE):
        numbered, rest = _with_numbers(item.this, trace)
        item.set("this", numbered)
    else:
        traced = trace(item.this, False)
        item.set("this", traced.query)
        rest = traced.rest
    found.append("expressions", named(number, WHY))
    return found, rest


def _with_ends(rows: PatternRows) -> PatternRows:
    """A clause that also shows the places of its first and its last row."""
    matched, clause = rows.copy(), rows.args["clause"]
    inner = exp.Subquery(this=matched.this.this, alias=_alias("__rows"))
    matched.this.set("this", exp.select("*", _number(rows)).from_(inner))
    ends = {
        name: Navigation(_ROW, last=last, final=True)
        for name, last in ((_FIRST, False), (_LAST, True))
    }
    more = [*ends, *([_ROW] if clause.all_rows else [])]
    matched.set("clause", replace(clause, results={**clause.results, **ends}))
    matched.set("fields", (*rows.args["fields"], *((name, _BIGINT) for name in more)))
    matched.set("alias", _alias("__m"))
    return matched


def _number(rows: PatternRows) -> exp.Expr:
    """The place of a row in its partition."""
    over = exp.Window(
        this=exp.RowNumber(),
        partition_by=[exp.column(name) for name in rows.args["clause"].partition],
        order=rows.args["order"].copy(),
    )
    return named(over, _ROW)


def _same(name: str) -> exp.Expr:
    return exp.NullSafeEQ(this=exp.column(name, "__r"), expression=exp.column(name, "__m"))


def _alias(name: str) -> exp.TableAlias:
    return exp.TableAlias(this=exp.to_identifier(name))
