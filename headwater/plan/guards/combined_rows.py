"""Combined rows on which expressions fail: of joins, of arrays, of windows, and whole groups.

In: a SELECT of a view, and what fails in it though no row of an input is to blame. Out: the guard
of these rows in its WHERE, and Spark SQL that finds them in the whole inputs, for the quarantine.

A group, or a row of a window, is not left out: it has NULL in the column that cannot be computed
(:mod:`headwater.plan.tolerant`). So has a row of a subquery that reads the query around it, and an
outer join under an aggregate, whose groups must not depend on rows that left.
"""

from __future__ import annotations

from datetime import timedelta
from typing import cast

from sqlglot import exp

from headwater.algebra.scalars import conjuncts
from headwater.analyze.correlated.subqueries import outer_columns
from headwater.analyze.definitions import Catalog
from headwater.analyze.failing.conditions import negated
from headwater.analyze.failing.failing_rows import fails, safe
from headwater.analyze.fallibility.fallible import failing, sum_leaves_type
from headwater.analyze.portable.rewrites import portable
from headwater.analyze.query_parts import (
    aggregates,
    bare_call,
    is_aggregate,
    joins,
    relations,
    windows_of,
)
from headwater.analyze.time.versions import UNTIL
from headwater.dialect.syntax import PatternRows, RecursiveRows
from headwater.plan.full_program import RecursiveStep
from headwater.plan.guards.computed import heads
from headwater.plan.guards.reasons import reason, refuse_ordinary, shown
from headwater.plan.sql.recursion import take_out_recursion
from headwater.plan.sql.render import batch_read, print_sql, render
from headwater.plan.sql.spark_text import text
from headwater.plan.tolerant import tolerant

NOW = "__now"
"""Ends the name of the temporary view that is an input at its pinned snapshot."""
_CLAUSES = ("qualify", "distinct", "order", "limit", "offset")
_ROWS, _BAD = "__rows", "__bad"


class CombinedRows:
    """Finds what fails in the SELECTs of a query on rows that are not those of one input.

    Attributes:
        shown: the expressions that can fail, as messages show them.
    """

    def __init__(
        self, query: exp.Query, catalog: Catalog, allowed: timedelta | None, depth: int
    ) -> None:
        self._catalog = catalog
        self._depth = depth
        self._allowed = allowed
        self._query = query
        self._found: dict[int, tuple[exp.Select, list[tuple[exp.Expr, str]]]] = {}
        self.shown: list[str] = []

    def look_at(self, select: exp.Select, item: exp.Expr) -> bool:
        """Note what fails in an expression over the rows of a SELECT.

        Returns:
            Whether there is something, and its rows are left out.

        Raises:
            SqlError: ``FALLIBLE_EXPRESSION`` if it fails on ordinary data, and cannot be guarded.
        """
        if not any(failing(item)):
            return False
        self.shown += [shown(node) for node in failing(item)]
        if item.find(exp.Window):
            refuse_ordinary(item, "over rows of a window, so no single row can be blamed", select)
            return False
        if _cannot_leave(select):
            refuse_ordinary(item, "in rows that depend on other rows", select)
            return False
        if (condition := fails(item)) is None:
            return False
        _, causes = self._found.setdefault(id(select), (select, []))
        causes.append((condition, reason(item)))
        return True

    def guard(self) -> tuple[str, ...]:
        """Put the guard into the query, and return the queries of the rows that it keeps out."""
        queries: list[str] = []
        for select, causes in self._found.values():  # the innermost first
            queries.append(self._rows(select.copy(), causes))
            where = select.args.get("where")
            terms = conjuncts(where.this if where else None)
            terms += [negated(condition.copy()) for condition, _ in causes]
            select.set("where", exp.Where(this=exp.and_(*terms)))
        for select in self._query.find_all(exp.Select):
            for causes in (_failing_groups(select), _failing_windows(select)):
                self.shown += [why.partition(": ")[2] for _, why in causes]
                if causes and not outer_columns(select):
                    found = self._groups if is_aggregate(select) else self._rows
                    queries.append(found(select.copy(), causes))
        return tuple(queries)

    def recursions(self) -> tuple[RecursiveStep, ...]:
        """Return the tables of recursive rows that the queries of :meth:`guard` read."""
        if self._query.find(RecursiveRows) is None:
            return ()
        return self._rendered(self._query)[1]

    def _rows(self, select: exp.Select, causes: list[tuple[exp.Expr, str]]) -> str:
        """The combined rows of a SELECT on which something fails."""
        columns = _own_columns(select)
        for clause in ("group", "having", *_CLAUSES):
            select.set(clause, None)
        return self._found_rows(select, columns, causes)

    def _groups(self, select: exp.Select, causes: list[tuple[exp.Expr, str]]) -> str:
        """The groups of a SELECT on which something fails, their keys as the row."""
        group = select.args.get("group")
        keys = list(group.expressions) if group else []
        for clause in _CLAUSES:
            select.set(clause, None)
        names = {
            key.sql(): each.alias_or_name for each in select.selects for key in [each.unalias()]
        }
        items = {names.get(key.sql(), key.name or f"key{at}"): key for at, key in enumerate(keys)}
        return self._found_rows(select, items, causes)

    def _found_rows(
        self,
        select: exp.Select,
        columns: dict[str, exp.Expr],
        causes: list[tuple[exp.Expr, str]],
    ) -> str:
        branches = [
            exp.If(this=condition.copy(), true=exp.Literal.string(why)) for condition, why in causes
        ]
        items = [exp.alias_(exp.Case(ifs=branches), _BAD, quoted=False)]
        items += [exp.alias_(value.copy(), name) for name, value in columns.items()]
        select.set("expressions", items)
        query, _ = self._rendered(select)
        names = ", ".join(f"`{name}`" for name in columns)
        options = "map('ignoreNullFields', 'false')"
        raw = f"to_json(struct({names}), {options})" if columns else text("{}")
        return (
            f"SELECT {_BAD} AS reason, CAST({raw} AS BINARY) AS raw"
            f" FROM (\n{print_sql(query, 'spark')}\n) AS {_ROWS} WHERE {_BAD} IS NOT NULL"
        )

    def _rendered(self, query: exp.Query) -> tuple[exp.Expr, tuple[RecursiveStep, ...]]:
        rendered = render(
            portable(tolerant(query), "spark"),
            self._catalog,
            lambda relation: batch_read(relation, relation.name + NOW, self._allowed),
        )
        return take_out_recursion(rendered, self._depth)


def _cannot_leave(select: exp.Select) -> bool:
    """Return whether leaving a combined row out would change what other rows mean."""
    outer = any(join.side for join in joins(select)) and is_aggregate(select)
    matches = any(isinstance(item, PatternRows) for item in relations(select))
    return outer or matches or bool(outer_columns(select))


def _own_columns(select: exp.Select) -> dict[str, exp.Expr]:
    """The columns of FROM that a SELECT reads, by a name of their own."""
    aliases = {item.alias_or_name for item in relations(select)}
    found = {
        (column.table, column.name): column
        for column in select.find_all(exp.Column)
        if column.table in aliases and column.find_ancestor(exp.Select) is select
        if column.name != UNTIL  # which is no column of the user's
    }
    counted: dict[str, int] = {}
    for _, name in found:
        counted[name] = counted.get(name, 0) + 1
    return {
        (name if counted[name] == 1 else f"{table}_{name}"): column
        for (table, name), column in found.items()
    }


def _failing_groups(select: exp.Select) -> list[tuple[exp.Expr, str]]:
    """The conditions under which a group has a sum, or a column, that cannot be computed."""
    if not is_aggregate(select):
        return []
    found: list[tuple[exp.Expr, str]] = []
    for item in heads(select):
        for call in aggregates(item):
            around = call.parent if isinstance(call.parent, exp.Filter) else call
            if sum_leaves_type(call):
                found.append((_is_beyond(around), f"out of range: {shown(around)}"))
        if aggregates(item) and not item.find(exp.Window):
            over = _with_safe_arguments(item)
            if (condition := fails(over)) is not None:
                found.append((condition, reason(over)))
    return found


def _failing_windows(select: exp.Select) -> list[tuple[exp.Expr, str]]:
    """The conditions under which a row has a value over a window that cannot be computed.

    What stands in the SELECT list counts for rows that QUALIFY lets pass.
    """
    qualify = select.args.get("qualify")
    heads_ = [(item.unalias(), qualify) for item in select.selects]
    found: list[tuple[exp.Expr, str]] = []
    for item, passes in [*heads_, *([(qualify.this, None)] if qualify is not None else [])]:
        causes = [
            (_is_beyond(window), f"out of range: {shown(window)}")
            for window in windows_of(item)
            if sum_leaves_type(bare_call(window))
        ]
        over = _with_safe_windows(item)
        if windows_of(item) and (condition := fails(over)) is not None:
            causes.append((condition, reason(over)))
        found += [
            (exp.and_(passes.this.copy(), each) if passes is not None else each, why)
            for each, why in causes
        ]
    return found


def _with_safe_windows(item: exp.Expr) -> exp.Expr:
    """An expression over windows in which nothing fails that is computed of rows or groups."""
    root = exp.Paren(this=item.copy())
    for window in windows_of(root):
        window.replace(safe(window))
    return cast(exp.Expr, root.this.pop())


def _with_safe_arguments(item: exp.Expr) -> exp.Expr:
    """An expression over groups in which nothing fails that is computed of rows."""
    root = exp.Paren(this=item.copy())
    for call in aggregates(root):
        around = call.parent if isinstance(call.parent, exp.Filter) else call
        around.replace(safe(around))
    return cast(exp.Expr, root.this.pop())


def _is_beyond(total: exp.Expr) -> exp.Expr:
    """The condition that a sum, which is NULL if it leaves its type, had something to add up.

    Args:
        total: the call, with its FILTER and OVER.
    """
    counted = exp.Paren(this=total.copy())
    call = bare_call(counted.this)
    call.replace(exp.Count(this=call.this.copy(), big_int=True))
    some = exp.GT(this=counted.this.pop(), expression=exp.Literal.number(0))
    return exp.and_(exp.Is(this=total.copy(), expression=exp.Null()), some)
