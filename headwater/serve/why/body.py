"""FROM, joins and WHERE of a SELECT, traced.

In: a SELECT. Out: its FROM, joins and WHERE over traced items, and the lists of numbers of a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from headwater.algebra.scalars import conjuncts
from headwater.analyze.time.versions import AS_OF
from headwater.dialect.syntax import PatternRows
from headwater.plan.sql.render import READ
from headwater.serve.why.matched import Tracer, traced_matches
from headwater.serve.why.traced import (
    THERE,
    WHY,
    Traced,
    concat,
    everything,
    gathered,
    is_grouped,
    one,
    subqueries,
    where_of,
)


class Frozen(Exception):
    """The rows of a FROM are decided by all rows that it reads, as far as one can say."""


@dataclass
class RowSource:
    """FROM, joins and WHERE of a SELECT.

    Attributes:
        terms: lists of numbers of one row.
        there: the conditions that make a row one of the query, a ghost otherwise.
        rest: numbers that every row names in addition.
        stable: the columns that no removal changes in a row: item and name, ``*`` for all.
        items: the items of FROM.
        shrinks: whether fewer input rows never give it a row that it did not have.
    """

    from_: exp.From | None = None
    joins: list[exp.Join] = field(default_factory=list)
    where: list[exp.Expr] = field(default_factory=list)
    terms: list[exp.Expr] = field(default_factory=list)
    there: list[exp.Expr] = field(default_factory=list)
    rest: tuple[exp.Expr, ...] = ()
    stable: set[tuple[str, str]] = field(default_factory=set)
    items: set[str] = field(default_factory=set)
    shrinks: bool = True

    def is_stable(self, node: exp.Expr) -> bool:
        """Return whether no removal changes an expression of a row; outer columns are constant."""
        if node.find(exp.Query):
            return False
        return all(
            column.table
            and (
                column.table not in self.items
                or (column.table, "*") in self.stable
                or (column.table, column.name) in self.stable
            )
            for column in node.find_all(exp.Column)
        )

    def ask(self, queries: Sequence[exp.Query], trace: Tracer) -> None:
        """Let rows name the rows that decide what subqueries of expressions return."""
        for query in queries:
            self.shrinks = False
            numbers = numbers_of(query, trace)
            if any(column.table in self.items for column in query.find_all(exp.Column)):
                self.terms.append(numbers)
            else:
                self.rest += (numbers,)

    def put_into(self, select: exp.Select) -> None:
        """Give a SELECT this FROM and WHERE."""
        select.set("from_", self.from_)
        select.set("joins", self.joins or None)
        terms = [exp.Paren(this=each) for each in self.where]
        select.set("where", exp.Where(this=exp.and_(*terms, copy=False)) if terms else None)


def body_of(select: exp.Select, absent: bool, trace: Tracer) -> RowSource:
    """Return the traced FROM, joins and WHERE of a SELECT."""
    try:
        return _Tracing(absent, trace).run(select)
    except Frozen:
        parts = [select.args.get("from_"), *(select.args.get("joins") or [])]
        parts.append(select.args.get("where"))
        body = RowSource(select.args.get("from_"), list(select.args.get("joins") or []))
        body.where = where_of(select)
        body.items = {item.alias_or_name for item in _items(select)}
        body.stable = {(name, "*") for name in body.items}
        body.rest = everything(*(part for part in parts if part is not None))
        body.shrinks = False
        return body


def _items(select: exp.Select) -> list[exp.Expr]:
    source = select.args.get("from_")
    first = [source.this] if source is not None else []
    return first + [join.this for join in select.args.get("joins") or []]


class _Tracing:
    def __init__(self, absent: bool, trace: Tracer) -> None:
        self._absent, self._trace = absent, trace
        self._body = RowSource()
        self._outer = False

    def run(self, select: exp.Select) -> RowSource:
        body = self._body
        joins = select.args.get("joins") or []
        self._outer = any(join.side in ("RIGHT", "FULL") for join in joins)
        source = select.args.get("from_")
        if source is not None:
            body.from_ = exp.From(this=self._item(source.this))
        for join in joins:
            body.joins.append(self._join(join))
        for term in where_of(select):
            self._condition(term)
        return body

    def _item(self, item: exp.Expr, *, side: str = "") -> exp.Expr:
        """Return what stands for an item of FROM; an outer join can leave it NULL."""
        body, alias = self._body, item.alias_or_name
        body.items.add(alias)
        if READ in item.meta:
            body.terms.append(one(exp.column(WHY, alias)))
            body.stable.add((alias, "*"))
            return item.copy()
        if isinstance(item, exp.Unnest) or _computes(item):
            if body.is_stable(item):
                body.stable.add((alias, "*"))
            else:
                body.shrinks = False
            return item.copy()
        if isinstance(item, exp.Lateral) and self._absent:
            raise Frozen
        if isinstance(item, PatternRows):
            return self._matches(item)
        inner = item.this.this if isinstance(item, exp.Lateral) else item.this
        traced = self._trace(inner, self._absent and not side)
        if AS_OF in item.meta and not self._absent:
            traced = _own_versions(inner, traced, self._trace)
        body.rest += traced.rest
        if self._absent or self._outer:
            body.shrinks &= self._trace(inner, True).shrinks
        body.terms.append(exp.column(WHY, alias))
        if traced.ghosts:
            body.there.append(exp.column(THERE, alias))
        if isinstance(item, exp.Subquery):
            body.stable |= {(alias, name) for name in _renamed(item, traced, traced.stable)}
        return _around(item, traced)

    def _matches(self, item: PatternRows) -> exp.Expr:
        """Any row of a partition can make another match: only those that are there are traced."""
        if self._absent or self._outer:
            raise Frozen
        body, alias = self._body, item.alias_or_name
        traced = traced_matches(item, self._trace)
        body.shrinks = False
        body.rest += traced.rest
        body.terms.append(exp.column(WHY, alias))
        body.stable |= {(alias, name) for name in traced.stable}
        return traced.query.subquery(alias)

    def _join(self, join: exp.Join) -> exp.Join:
        side = str(join.side or "").upper()
        terms = conjuncts(join.args.get("on"))
        if join.args.get("using") or any(map(subqueries, terms)):
            raise Frozen
        if side and isinstance(join.this, PatternRows):
            raise Frozen
        if side in ("RIGHT", "FULL"):
            return self._right(join, side)
        if side == "LEFT":
            return self._left(join, terms)
        if str(join.kind or "").upper() not in ("", "INNER", "CROSS"):
            raise Frozen
        item = self._item(join.this)
        kept = terms
        if self._absent:
            kept = [term for term in terms if self._body.is_stable(term)]
            if terms and not kept:
                raise Frozen
            self._body.there += [term for term in terms if term not in kept]
        return _joined(join, item, kept)

    def _left(self, join: exp.Join, terms: Sequence[exp.Expr]) -> exp.Join:
        """LEFT JOIN: a row without a match also stands for the matches that could come."""
        body, alias = self._body, join.this.alias_or_name
        before = len(body.terms)
        item = self._item(join.this, side="LEFT")
        body.stable = {each for each in body.stable if each[0] != alias}
        body.shrinks = False
        if READ in join.this.meta or len(body.terms) == before:
            return _joined(join, item, terms)
        if isinstance(join.this, exp.Lateral):
            body.terms += everything(join.this)
            return _joined(join, item, terms)
        whole = self._trace(join.this.this, True)
        if not whole.shrinks:
            mine = {(alias, name) for name in _renamed(join.this, whole, whole.stable)}
            known = RowSource(items={alias}, stable=mine)
            on = [term.copy() for term in terms if known.is_stable(term)]
            numbers = exp.select(gathered([exp.column(WHY, alias)])).from_(
                _around(join.this, whole)
            )
            if on:
                numbers = numbers.where(exp.and_(*on))
            absent = concat([exp.Subquery(this=numbers), *whole.rest])
            if not self._absent:  # a row that has its match keeps it
                unmatched = exp.Is(this=exp.column(WHY, alias), expression=exp.null())
                absent = exp.Case(ifs=[exp.If(this=unmatched, true=absent)])
            body.terms.append(absent)
        return _joined(join, item, terms)

    def _right(self, join: exp.Join, side: str) -> exp.Join:
        """RIGHT and FULL JOIN: what stands before can be NULL if it has no row that matches."""
        body = self._body
        if self._absent or not body.shrinks:
            raise Frozen
        before = len(body.terms)
        item = self._item(join.this)
        if side == "FULL" and not body.shrinks:
            raise Frozen
        if len(body.terms) == before:
            raise Frozen
        body.shrinks = False
        return _joined(join, item, conjuncts(join.args.get("on")))

    def _condition(self, term: exp.Expr) -> None:
        body, asked = self._body, subqueries(term)
        if asked and not self._absent and (found := self._of_predicate(term)) is not None:
            body.terms += found
            body.where.append(term.copy())
            body.shrinks = False
            return
        body.ask(asked, self._trace)
        if self._absent and not body.is_stable(term):
            body.there.append(term.copy())
        else:
            body.where.append(term.copy())

    def _of_predicate(self, term: exp.Expr) -> list[exp.Expr] | None:
        """The numbers that a condition with one subquery needs where it is true."""
        negated = isinstance(term, exp.Not)
        inner = (term.this if negated else term).unnest()
        if not isinstance(inner, (exp.Exists, exp.In)):
            return None
        query = inner.this if isinstance(inner, exp.Exists) else inner.args.get("query")
        query = query.unnest() if isinstance(query, exp.Subquery) else query
        others = isinstance(inner, exp.In) and subqueries(inner.this)
        if not isinstance(query, exp.Query) or others:
            return None
        if negated:
            return [] if self._trace(query, True).shrinks else None
        traced = self._trace(query, False)
        numbers = exp.select(gathered([exp.column(WHY, "__found")]))
        numbers = numbers.from_(traced.query.subquery("__found"))
        if isinstance(inner, exp.In):
            equal = exp.EQ(this=exp.column(traced.names[0], "__found"), expression=inner.this)
            numbers = numbers.where(equal)
        return [exp.Subquery(this=numbers), *traced.rest]


def numbers_of(query: exp.Query, trace: Tracer) -> exp.Expr:
    """Return the numbers of all rows that decide what a subquery of an expression returns."""
    traced = trace(query, True)
    return concat([exp.Subquery(this=_numbers(traced.query)), *traced.rest])


def _numbers(query: exp.Query) -> exp.Query:
    """The query for the numbers of all rows of a traced query, as flat as it can be."""
    if not isinstance(query, exp.Select) or any(
        map(query.args.get, ("group", "distinct", "limit"))
    ):
        return exp.select(gathered([exp.column(WHY, "__found")])).from_(query.subquery("__found"))
    number = next(item for item in query.selects if item.alias == WHY)
    if any(item.find(exp.Window) for item in query.selects) or query.args.get("qualify"):
        return exp.select(gathered([exp.column(WHY, "__found")])).from_(query.subquery("__found"))
    flat = query.copy()
    flat.set("having", None)
    flat.set("expressions", [number.copy() if is_grouped(query) else gathered([number.unalias()])])
    return flat


def _computes(item: exp.Expr) -> bool:
    """Return whether a LATERAL only computes, and reads no rows."""
    if not isinstance(item, exp.Lateral) or not isinstance(item.this, exp.Subquery):
        return isinstance(item, (exp.Lateral, exp.Values))
    return not any(select.args.get("from_") for select in item.this.find_all(exp.Select))


def _own_versions(query: exp.Expr, traced: Traced, trace: Tracer) -> Traced:
    """Versions of an as-of join: that another one follows does not make one match."""
    assert isinstance(query, exp.Select)
    own = body_of(query, False, trace)
    select = query.copy()
    own.put_into(select)
    select.append("expressions", exp.alias_(concat(own.terms), WHY))
    return Traced(select, traced.names, traced.stable, rest=traced.rest)


def _renamed(item: exp.Expr, traced: Traced, names: frozenset[str]) -> set[str]:
    """The names that columns of a subquery have outside of it."""
    alias = item.args.get("alias")
    shown = [each.name for each in alias.columns] if alias is not None else []
    pairs = zip(traced.names, shown or traced.names, strict=False)
    return {outside for inside, outside in pairs if inside in names}


def _around(item: exp.Expr, traced: Traced) -> exp.Expr:
    """Return an item of FROM with a traced query in the place of its own."""
    found = item.copy()
    found.meta.clear()
    holder = found.this if isinstance(found, exp.Lateral) else found
    holder.set("this", traced.query.copy())
    alias = found.args.get("alias")
    if alias is not None and alias.columns:
        more = [WHY, *([THERE] if traced.ghosts else [])]
        alias.set("columns", [*alias.columns, *map(exp.to_identifier, more)])
    return found


def _joined(join: exp.Join, item: exp.Expr, terms: Sequence[exp.Expr]) -> exp.Join:
    found = join.copy()
    found.set("this", item)
    found.set("on", exp.and_(*(exp.Paren(this=each.copy()) for each in terms)) if terms else None)
    if not terms and not found.side:
        found.set("kind", "CROSS")
    return found
