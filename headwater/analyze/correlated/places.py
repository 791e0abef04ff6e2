"""Subqueries in ON, in GROUP BY and within aggregates → subqueries of rows.

In: a SELECT as parsed. Out: the same rows from one whose subqueries stand in WHERE, HAVING and the
SELECT list only. What ON of an inner join asks is a condition of WHERE; what ON of an outer join
asks of one of its sides is a column of that side; what groups and aggregates ask is one of the rows
that they are made of::

    FROM a JOIN b ON b.k = a.k AND a.x IN (SELECT x FROM c)
    FROM a JOIN b ON b.k = a.k WHERE a.x IN (SELECT x FROM c)

    FROM a LEFT JOIN b ON b.k = a.k AND EXISTS (SELECT 1 FROM c WHERE c.x = b.x)
    FROM a LEFT JOIN (SELECT b.k AS k, EXISTS (…) AS _asked1 FROM b) AS b ON b.k = a.k AND b._asked1

    FROM a LEFT JOIN b ON b.k = a.k AND EXISTS (SELECT 1 FROM c WHERE c.x = b.x AND c.y > a.y)
    FROM a LEFT JOIN LATERAL (SELECT b.x FROM b WHERE b.k = a.k AND EXISTS (…)) AS b ON TRUE

    SELECT k, sum((SELECT max(y) FROM c WHERE c.x = a.x)) AS s FROM a WHERE p GROUP BY k
    SELECT k, sum(a._asked1) AS s FROM (SELECT a.k AS k, (SELECT …) AS _asked1 FROM a WHERE p) AS a
    GROUP BY k
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

from headwater.algebra.scalars import conjuncts
from headwater.analyze.correlated.attempts import BindingAttempt, SubqueryBinder
from headwater.analyze.correlated.outer import mark_columns
from headwater.analyze.correlated.subqueries import in_aggregate, predicates, query_of
from headwater.analyze.inference.outputs import expand_stars, name_in_qualify, name_outputs
from headwater.analyze.names.grouping import bind_grouping
from headwater.analyze.names.scope import Relation, knows, named_subquery, resolve
from headwater.analyze.query_parts import relations, stand_for_equal, unused_alias

_HINT = "compute it in a subquery in FROM, or make it a view of its own"
_ROWS = "_rows"

Reads = Callable[[exp.Select], Sequence[Relation]]
"""Returns what a SELECT reads; the SELECT is changed."""


def place_subqueries(select: exp.Select, named: bool, binder: SubqueryBinder, reads: Reads) -> None:
    """Move the subqueries of a SELECT to where they are asked of rows, in place.

    Args:
        select: as parsed.
        named: whether its columns need names.
        binder: binds subqueries.
        reads: returns what a copy of the SELECT reads.
    """
    joins = select.args.get("joins") or []
    asked = any(any(predicates(join.args.get("on"))) for join in joins)
    grouped = bool(select.args.get("group")) or any(_aggregated(select))
    if select.args.get("match") or not (asked or (grouped and _has_any(select))):
        return
    errors = len(binder.report.errors)
    around = reads(select.copy())
    if len(binder.report.errors) > errors or any(each.broken for each in around):
        return
    places = _Places(select, around, binder)
    if asked:
        places.take_out_of_joins()
    if grouped:
        if asked:
            around = reads(select.copy())
        _Rows(select, named, around, binder).take_out()


def _has_any(select: exp.Select) -> bool:
    return any(any(predicates(each)) for each in _heads(select)) or any(
        any(predicates(key)) for key in (select.args.get("group") or exp.Group()).expressions
    )


def _heads(select: exp.Select) -> list[exp.Expr]:
    clauses = (select.args.get(key) for key in ("having", "qualify", "order"))
    return [*select.expressions, *(clause for clause in clauses if clause is not None)]


def _aggregated(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield the subqueries within aggregates."""
    for head in _heads(select):
        yield from (found for found in predicates(head) if in_aggregate(found))


class _Places:
    """The FROM items of a SELECT, and columns that are added to them."""

    def __init__(
        self, select: exp.Select, around: Sequence[Relation], binder: SubqueryBinder
    ) -> None:
        self.select, self.around, self.binder = select, around, binder
        self.values: dict[int, list[exp.Expr]] = {}

    def take_out_of_joins(self) -> None:
        """Leave no subquery in ON that can stand elsewhere."""
        joins = self.select.args["joins"]
        for at, join in enumerate(joins, start=1):
            later = any(each.side in ("RIGHT", "FULL") for each in joins[at:])
            if not join.side and not join.method and not later:
                self._to_where(join)
            # USING and LATERAL can make other relations of the items than these are
            if len(self.around) == len(joins) + 1:
                self._to_items(join, at)
        for at in self.values:
            item = relations(self.select)[at]
            names = _names_of(self.select, self.around[at])
            inner = exp.Select(from_=exp.From(this=item.copy()), expressions=names)
            _add_values(inner, self.values[at])
            item.replace(named_subquery(inner, self.around[at].alias))

    def _to_where(self, join: exp.Join) -> None:
        terms = conjuncts(join.args.get("on"))
        asking = [term for term in terms if any(predicates(term))]
        if not asking:
            return
        rest = [exp.paren(term.copy()) for term in terms if not any(predicates(term))]
        join.set("on", exp.and_(*rest, copy=False) if rest else None)
        if not rest:
            join.set("kind", "CROSS")
        for term in asking:
            self.select.where(exp.paren(term.copy()), copy=False)

    def _to_items(self, join: exp.Join, at: int) -> None:
        """Let each subquery in the ON of a join be a column of the only item that it reads."""
        asking = list(predicates(join.args.get("on")))
        places = [self._place(each, at) for each in asking]
        refused = any(isinstance(each, str) for each in places)
        if refused and join.side == "LEFT" and _is_plain(join.this):
            self._to_lateral(join, at)
            return
        for found, place in zip(asking, places, strict=True):
            if isinstance(place, str):
                self.binder.report.not_yet(place, found, _HINT)
            elif place is not None:
                values = self.values.setdefault(place, [])
                found.replace(_asked(values, found, self.around[place].alias))

    def _place(self, found: exp.Expr, at: int) -> int | str | None:
        """The item that a subquery can be a column of; what is refused of it; None as it stands."""
        read = self._read(found, at)
        place = read[0] if len(read) == 1 else at
        if not _is_plain(relations(self.select)[place]):
            return None
        if len(read) > 1:
            return "a subquery in ON of an outer join that reads more than one side of it"
        if self._may_be_missing(place, at):
            return "a subquery in ON that reads what an outer join can leave NULL"
        return place

    def _to_lateral(self, join: exp.Join, at: int) -> None:
        """Let the rows of a LEFT JOIN be those of a LATERAL, whose WHERE is what ON was."""
        inner = exp.Select(
            from_=exp.From(this=join.this.copy()),
            expressions=_names_of(self.select, self.around[at]),
            where=exp.Where(this=join.args["on"].copy()),
        )
        alias = exp.TableAlias(this=exp.to_identifier(self.around[at].alias))
        join.set("this", exp.Lateral(this=exp.Subquery(this=inner), alias=alias))
        join.set("on", exp.true())

    def _may_be_missing(self, place: int, at: int) -> bool:
        """Return whether an outer join before a join can leave an item NULL."""
        joins = self.select.args["joins"][: at - 1]
        own = place > 0 and place < at and joins[place - 1].side in ("LEFT", "FULL")
        return own or any(join.side in ("RIGHT", "FULL") for join in joins[place:])

    def _read(self, found: exp.Expr, at: int) -> list[int]:
        """Return which of the items up to a join a subquery reads, and the left side of its IN."""
        seen = self.around[: at + 1]
        query = query_of(found)
        mark_columns(query, self.binder.number)
        attempt = BindingAttempt(self.binder, seen)
        attempt.holds(lambda: self.binder.bind_within(seen, query.copy()))
        left = list(found.this.find_all(exp.Column)) if isinstance(found, exp.In) else []
        return [
            number
            for number, each in enumerate(seen)
            if each.reads or any(knows(column, [each]) for column in left)
        ]


class _Rows:
    """The rows that a SELECT groups, as a subquery that also computes what is asked of them."""

    def __init__(
        self,
        select: exp.Select,
        named: bool,
        around: Sequence[Relation],
        binder: SubqueryBinder,
    ) -> None:
        self.select, self.named, self.around = select, named, around
        self.report = binder.report
        self.values: list[exp.Expr] = []
        self.columns: dict[exp.Expr, str] = {}
        self.alias = around[0].alias if len(around) == 1 else unused_alias(select, _ROWS)

    def take_out(self) -> None:
        """Let keys and aggregates that hold subqueries read columns of the rows."""
        select = self.select
        errors = len(self.report.errors)
        expand_stars(select, self.around, self.report)
        name_outputs(select, self.named)
        names = {name for each in self.around for name in each.fields}
        bind_grouping(select, names, self.report)
        name_in_qualify(select, names, self.report)
        if len(self.report.errors) > errors:
            return
        keys = (select.args.get("group") or exp.Group()).expressions
        for key in [each.copy() for each in keys if any(predicates(each))]:
            for node in self._nodes_equal_to(key):
                node.replace(_asked(self.values, node, self.alias))
        for found in list(_aggregated(select)):
            found.replace(_asked(self.values, found, self.alias))
        if self.values:
            self._read_below()

    def _nodes_equal_to(self, key: exp.Expr) -> list[exp.Expr]:
        found, stack = [], [*_heads(self.select), self.select.args["group"]]
        while stack:
            node = stack.pop()
            if node == key:
                found.append(node)
            elif not isinstance(node, exp.Query):
                stack.extend(node.iter_expressions())
        return found

    def _read_below(self) -> None:
        select = self.select
        parts = {key: select.args.get(key) for key in ("from_", "joins", "where")}
        inner = exp.Select(
            **{
                key: part.copy()
                if isinstance(part, exp.Expr)
                else [join.copy() for join in part or []]
                for key, part in parts.items()
                if part
            }
        )
        if len(self.around) == 1:
            inner.set("expressions", _names_of(select, self.around[0]))
        else:
            for head in [*_heads(select), select.args.get("group")]:
                self._rename(head)
            items = [exp.alias_(column, name) for column, name in self.columns.items()]
            inner.set("expressions", items)
        _add_values(inner, self.values)
        for key in parts:
            select.set(key, None)
        select.set("from_", exp.From(this=named_subquery(inner, self.alias)))

    def _rename(self, head: exp.Expr | None) -> None:
        """Let a clause read the columns of the rows instead of those of several items."""
        outputs = {item.alias for item in self.select.selects}
        for column in list(head.find_all(exp.Column)) if head is not None else ():
            inside = column.find_ancestor(exp.Query) is not self.select
            by_name = isinstance(head, exp.Order) and not column.table and column.name in outputs
            if column.table == self.alias or by_name or (inside and not self._is_ours(column)):
                continue
            holder = exp.Paren(this=column.copy())
            resolve(holder.this, self.around, self.report)
            for bound in list(holder.find_all(exp.Column)):
                plain = exp.column(bound.name, table=bound.table)
                name = self.columns.setdefault(plain, f"c{len(self.columns) + 1}")
                bound.replace(exp.column(name, table=self.alias))
            column.replace(holder.this.copy())

    def _is_ours(self, column: exp.Column) -> bool:
        """Return whether a column within a subquery names an item of this SELECT."""
        if column.parts[0].name not in {each.alias for each in self.around} or not column.table:
            return False
        inner = column.parent_select
        while inner is not None and inner is not self.select:
            if any(item.alias_or_name == column.parts[0].name for item in relations(inner)):
                return False
            inner = inner.parent_select
        return True


def _asked(values: list[exp.Expr], found: exp.Expr, alias: str) -> exp.Column:
    """Return the column that a value is; equal values are one."""
    if found in values:
        stand_for_equal(values[values.index(found)], found)
    else:
        values.append(found.copy())
    return exp.column(f"_asked{values.index(found) + 1}", table=alias)


def _add_values(inner: exp.Select, values: Sequence[exp.Expr]) -> None:
    for at, value in enumerate(values, start=1):
        inner.append("expressions", exp.alias_(exp.paren(value.copy()), f"_asked{at}"))


def _is_plain(item: exp.Expr) -> bool:
    return isinstance(item, (exp.Table, exp.Subquery)) and not item.args.get("version")


def _names_of(select: exp.Select, relation: Relation) -> list[exp.Expr]:
    """Return the columns of an item that a SELECT names anywhere."""
    named = {part.name for column in select.find_all(exp.Column) for part in column.parts}
    named |= {
        each.name
        for join in select.args.get("joins") or []
        for each in join.args.get("using") or ()
    }
    natural = any(join.method == "NATURAL" for join in select.args.get("joins") or [])
    every = natural or any(
        isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count)
        for node in select.find_all(exp.Star)
    )
    return [
        exp.alias_(exp.column(name, table=relation.alias), name)
        for name in relation.fields
        if name in named or (every and name in relation.shown)
    ]
