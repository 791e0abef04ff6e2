"""Rows on which a view's expressions fail: who they are, and the query without them.

In: a bound view. Out: its :class:`Guard`: the query with ``NOT fails`` in the WHERE of each input,
and per input the conditions and reasons of the rows that this keeps out. The SELECT at rest always
has the guard; an engine runs without it until an epoch fails (``headwater.engine.bad_rows``).

A row is bad if WHERE fails on it, or if it passes, comes in time, and a column, group key or
argument of an aggregate fails: it is late or bad, whichever attempt of an epoch meets it. Of
several inputs, and of elements of an array, the combined row is bad
(:mod:`headwater.plan.guards.combined_rows`). A division or a cast of text over groups or windows is
refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import cast

from sqlglot import exp

from headwater.algebra.scalars import conjuncts
from headwater.analyze.definitions import Catalog, OnError, View
from headwater.analyze.failing.conditions import any_of, negated
from headwater.analyze.failing.failing_rows import fails, is_certain, safe
from headwater.analyze.fallibility.fallible import failing, fails_on_ordinary_data
from headwater.analyze.fallibility.nonzero_divisors import Facts, facts_of, mark_proven
from headwater.analyze.portable.rewrites import portable
from headwater.analyze.query_parts import (
    is_aggregate,
    is_stateful,
    is_union_all,
    joins,
    optional,
    optional_before,
    relations,
    selects,
    union_branches,
    window_calls,
)
from headwater.dialect.syntax import PatternRows, RecursiveRows, WorkingTable
from headwater.errors import SqlError
from headwater.plan.full_program import RecursiveStep
from headwater.plan.guards.combined_rows import CombinedRows
from headwater.plan.guards.computed import (
    facts_of_groups,
    other_expressions,
    renamed,
    row_expressions,
    sides,
)
from headwater.plan.guards.reasons import bare, reason, refuse_nested, refuse_over_groups, shown
from headwater.plan.guards.shared_values import SharedValues
from headwater.plan.guards.unread import without_unread
from headwater.plan.query_shape import RelationShape, relations_of
from headwater.plan.sql.late import COMPUTED
from headwater.plan.sql.recursion import depth_of
from headwater.plan.sql.render import in_time_at_last

_WINDOW = {"window_start", "window_end"}


@dataclass(frozen=True, slots=True)
class BadRows:
    """The rows of one input on which a view fails.

    Attributes:
        input: name of the input.
        causes: conditions and reasons as Spark SQL over the input; the first true one is it.
        ordinary: the reason that ordinary data can have, empty if there is none.
    """

    input: str
    causes: tuple[tuple[str, str], ...]
    ordinary: str = ""


@dataclass(frozen=True, slots=True)
class Guard:
    """How a view goes on without the rows on which it fails.

    Attributes:
        query: the bound query with the guard.
        bad: the rows that it keeps out.
        combined: queries of the combined rows, rows of windows and groups on which something fails,
            as Spark SQL over ``<input>__now``; columns ``reason`` and ``raw``.
        expressions: what is guarded, as SQL.
        always: whether an engine has to run with the guard from the start, because Spark does not
            raise on every one of these rows.
        recursions: the tables of recursive rows that ``combined`` reads, likewise.
    """

    query: exp.Query
    bad: tuple[BadRows, ...]
    combined: tuple[str, ...]
    expressions: tuple[str, ...]
    always: bool
    recursions: tuple[RecursiveStep, ...] = ()


@dataclass(slots=True)
class _Input:
    """One mention of an input, and what was found about its rows.

    Attributes:
        relation: the mention.
        filters: when its own WHERE fails.
        others: when something else fails.
        passes: what a row must pass before the others are computed.
        causes: condition and reason, for the quarantine.
        ordinary: the first reason that ordinary data can have.
    """

    relation: RelationShape
    filters: list[exp.Expr] = field(default_factory=list)
    others: list[exp.Expr] = field(default_factory=list)
    passes: list[exp.Expr] = field(default_factory=list)
    causes: list[tuple[str, str]] = field(default_factory=list)
    ordinary: str = ""

    @property
    def facts(self) -> Facts:
        """What is not 0 in the rows that pass."""
        return frozenset[str]().union(*map(facts_of, self.passes))


@dataclass(frozen=True, slots=True)
class _Leaf:
    """Where the rows of a FROM item come from.

    Attributes:
        input: the input.
        columns: the item's columns as expressions over the input; None if it is the input.
    """

    input: _Input
    columns: Mapping[str, exp.Expr] | None = None

    def holds(self, expression: exp.Expr) -> bool:
        """Whether all columns of an expression over the item are those of one row of the input."""
        known = self.columns
        return known is None or all(each.name in known for each in expression.find_all(exp.Column))

    def over(self, expression: exp.Expr) -> exp.Expr:
        """Return an expression over the item as one over the input."""
        if self.columns is None:
            return expression.copy()
        root = exp.Paren(this=expression.copy())
        for column in list(root.find_all(exp.Column)):
            column.replace(self.columns[column.name].copy())
        return cast(exp.Expr, root.this.pop())


def guard_of(
    view: View,
    catalog: Catalog,
    allowed: timedelta | None,
) -> Guard | None:
    """Return the guard of a view, None if it has nothing to guard or is to fail.

    Args:
        allowed: allowed lateness, or None if every row counts.

    Raises:
        SqlError: ``FALLIBLE_EXPRESSION`` for what can fail if no row is to blame.
    """
    if view.on_error == OnError.FAIL:
        return None
    query = without_unread(view.query)
    finder = _Finder(query, catalog, allowed, depth_of(view))
    # the innermost first: their columns are computed before those that read them
    for select in reversed(list(selects(query))):
        finder.look_at(select)
    guard = finder.guard()
    if guard is None or view.on_error == OnError.DROP:
        return guard
    # rows of a SOURCE are gone once they are read: there is nothing to quarantine
    read_once = [name for name in view.inputs if _is_read_once(name, catalog)]
    for bad in guard.bad:
        if bad.input in read_once and bad.ordinary:
            raise _not_kept(view, bad, bad.ordinary)
    return None if read_once else guard


def _is_read_once(name: str, catalog: Catalog) -> bool:
    source = catalog.sources.get(name)
    return source is not None and not source.kept


def _not_kept(view: View, bad: BadRows, reason_: str) -> SqlError:
    return SqlError(
        "FALLIBLE_EXPRESSION",
        f"{reason_}, in rows of {bad.input}, which are read once (CREATE TABLE quarantines them)",
        hint="write TRY_CAST(x AS type) or x / NULLIF(y, 0), or ON ERROR DROP before AS",
        span=view.span,
    )


class _Finder:
    """Looks at the SELECTs of a query, and puts the guard into it."""

    def __init__(
        self, query: exp.Query, catalog: Catalog, allowed: timedelta | None, depth: int
    ) -> None:
        self._query = query
        self._combined = CombinedRows(query, catalog, allowed, depth)
        self._allowed = allowed
        self._inputs = {id(item.table): _Input(item) for item in relations_of(query, catalog)}
        self._top = {id(select) for select in union_branches(query)}
        self._shared = SharedValues()
        self._leaves_of: dict[int, list[_Leaf]] = {}
        self._several: dict[int, bool] = {}
        self._always = False
        self._shown: list[str] = []

    def look_at(self, select: exp.Select) -> None:
        """Find what can fail in one SELECT."""
        where = select.args.get("where")
        facts = facts_of(where.this if where else None)
        if where:
            mark_proven(where.this)
        facts |= facts_of_groups(select)
        for item in [*select.selects, *other_expressions(select)]:
            mark_proven(item, facts)
        refuse_over_groups(select)
        self._look_at_filters(select)
        # what is computed after a join or of group keys may be when the row is in Spark's state
        late = bool(joins(select)) or id(select) not in self._top
        # and what QUALIFY or a LIMIT takes out need not be computed, but would count before
        late = late or bool(window_calls(select) or select.args.get("limit"))
        grouped = is_aggregate(select)
        for item in row_expressions(select):
            of_keys = grouped and not isinstance(item.parent, exp.Group)
            of_keys = of_keys and not isinstance(item, (exp.AggFunc, exp.Filter))
            self._look_at(select, item, uncertain=late or of_keys)

    def guard(self) -> Guard | None:
        """Put what was found into the query."""
        bad = []
        for item in self._inputs.values():
            if not item.causes:
                continue
            select = item.relation.select
            where = select.args.get("where")
            before = [negated(condition) for condition in item.filters]
            after = [negated(condition) for condition in self._joined(item.others)]
            for term in after:
                term.meta[COMPUTED] = True
            terms = [*before, *conjuncts(where.this if where else None), *after]
            select.set("where", exp.Where(this=exp.and_(*terms)))
            causes = tuple(dict.fromkeys(item.causes))
            bad.append(BadRows(item.relation.name, causes, item.ordinary))
        combined = self._combined.guard()
        self._shown += self._combined.shown
        if not bad and not self._shown:
            return None
        shown_ = tuple(dict.fromkeys(self._shown))
        recursions = self._combined.recursions() if combined else ()
        return Guard(self._query, tuple(bad), combined, shown_, self._always, recursions)

    def _joined(self, conditions: list[exp.Expr]) -> list[exp.Expr]:
        """Return the conditions, those that use shared values as one: it computes these once."""
        own = [each for each in conditions if not self._shared.used(each)]
        sharing = any_of(*(each for each in conditions if self._shared.used(each)))
        return own if sharing is None else [*own, self._shared.around(sharing)]

    def _look_at_filters(self, select: exp.Select) -> None:
        """WHERE, and ON of inner joins: a row that does not pass is not computed further."""
        where = select.args.get("where")
        terms = conjuncts(where.this if where else None)
        for join in joins(select):
            on = conjuncts(join.args.get("on"))
            if join.side or optional_before(select):
                for term in on:
                    self._look_at(select, term, uncertain=True)
            else:
                terms = [*on, *terms]
        own: dict[str, list[exp.Expr]] = {}
        for term in terms:
            names = {column.table for column in term.find_all(exp.Column)}
            if len(names) == 1:
                own.setdefault(names.pop(), []).append(term)
            else:
                for side in sides(term):
                    self._look_at(select, side, uncertain=True)
        for found in own.values():
            condition = exp.and_(*found)
            self._look_at(select, condition, uncertain=not is_certain(condition), filters=True)

    def _look_at(
        self, select: exp.Select, item: exp.Expr, *, uncertain: bool, filters: bool = False
    ) -> None:
        refuse_nested(item, select)
        leaves = self._blamed(select, item)
        if leaves is None:
            if self._combined.look_at(select, item):
                self._always |= not is_certain(item) or bool(
                    window_calls(select) or select.args.get("limit")
                )
            return
        for leaf in leaves:
            expression, origin = leaf.over(item), leaf.input
            mark_proven(expression, origin.facts)
            condition = fails(expression)
            if condition is not None and condition.find(exp.Window):
                # a value over rows decides whether it is computed: it is NULL, and no row leaves
                self._shown += [shown(node) for node in failing(expression)]
            elif condition is not None:
                self._always |= uncertain or not is_certain(expression) or _is_outer(select)
                own = filters and leaf.columns is None
                (origin.filters if own else origin.others).append(condition)
                passing = [
                    exp.Coalesce(this=_bracketed(each), expressions=[exp.false()])
                    for each in origin.passes
                ]
                why = reason(expression)
                cause = _plain(self._shared.around(exp.and_(*passing, condition)))
                if not own and (timely := in_time_at_last(origin.relation, self._allowed)):
                    cause = f"{timely} AND ({cause})"
                origin.causes.append((cause, why))
                if not origin.ordinary and any(map(fails_on_ordinary_data, failing(expression))):
                    origin.ordinary = why
                self._shown += [shown(node) for node in failing(expression)]
            if filters:
                origin.passes += [safe(term) for term in conjuncts(expression)]

    def _blamed(self, select: exp.Select, item: exp.Expr) -> list[_Leaf] | None:
        """The inputs whose rows an expression is computed of; None if it is not one row of one."""
        if any(node.find(exp.Window) for node in failing(item)):
            return None
        items = [each for each in relations(select) if not isinstance(each, exp.Unnest)]
        names = {column.table for column in item.find_all(exp.Column)}
        found = [each for each in items if each.alias_or_name in names] if names else items[:1]
        if len(found) != 1 or len(names) > 1:
            return None
        place = relations(select).index(found[0])
        if optional(select)[place] or self._is_made_of_several(found[0]):
            return None
        leaves = self._leaves(found[0])
        if not all(leaf.holds(item) for leaf in leaves):
            return None
        for leaf in leaves:
            if leaf.input.relation.window and self._shared.columns(leaf.over(item)) & _WINDOW:
                return None
        return leaves

    def _is_made_of_several(self, item: exp.Expr) -> bool:
        # each column of each subquery asks again
        if id(item) not in self._several:
            self._several[id(item)] = _is_made_of_several(item)
        return self._several[id(item)]

    def _leaves(self, item: exp.Expr) -> list[_Leaf]:
        """Return where the rows of a FROM item come from."""
        # each column of each subquery asks again
        if id(item) not in self._leaves_of:
            self._leaves_of[id(item)] = list(self._found_leaves(item))
        return self._leaves_of[id(item)]

    def _found_leaves(self, item: exp.Expr) -> Iterator[_Leaf]:
        if isinstance(item, exp.Table):
            yield _Leaf(self._inputs[id(item)])
            return
        branches = union_branches(item.this)
        names = [each.alias_or_name for each in branches[0].selects]
        names = renamed(item) or names
        for branch in branches:
            own = [self._blamed(branch, each.unalias()) is not None for each in branch.selects]
            for leaf in self._leaves(relations(branch)[0]):
                columns = {
                    name: self._shared.share(_bracketed(safe(leaf.over(each.unalias()))), name)
                    for name, each, is_own in zip(names, branch.selects, own, strict=True)
                    if is_own
                }
                yield _Leaf(leaf.input, columns)


def _is_outer(select: exp.Select) -> bool:
    """Whether a row that leaves shows in rows of the other side: Spark's silence is no proof."""
    return any(join.side for join in joins(select))


def _is_made_of_several(item: exp.Expr) -> bool:
    """Return whether the rows of a FROM item are no single rows of an input."""
    if item.find(RecursiveRows, WorkingTable):
        return True
    if not isinstance(item, exp.Subquery):
        return isinstance(item, PatternRows)
    inside = item.find_all(exp.Select)
    several = any(is_stateful(each) or not relations(each) for each in inside)
    return several or not is_union_all(item.this)


def _plain(condition: exp.Expr) -> str:
    """A condition over one input, printed for Spark without qualifiers."""
    return str(bare(portable(condition, "spark")).sql(dialect="spark"))


def _bracketed(node: exp.Expr) -> exp.Expr:
    if isinstance(node, (exp.Column, exp.Literal, exp.Paren)):
        return node.copy()
    inner = exp.Paren(this=node.copy())
    inner.type = node.type
    return inner
