"""Columns of a query around → a join with their distinct values.

In: a subquery as parsed, of which some columns belong to the query around. Out: a query that
computes the rows of all values of these columns at once, and shows the values as keys::

    (SELECT max(b.v) FROM b WHERE b.v < a.x)                                   -- for each row of a
    SELECT _d2._v1, _d2._k1 FROM (SELECT DISTINCT a.x AS _k1 FROM a) AS _d2 LEFT JOIN
      (SELECT max(b.v) AS _v1, _d1._k1 FROM (SELECT DISTINCT a.x AS _k1 FROM a) AS _d1
       CROSS JOIN b WHERE b.v < _d1._k1 GROUP BY _d1._k1) AS _g ON _g._k1 = _d2._k1

Rows of one key stay apart: groups, windows and first rows are of one key. A subquery of FROM that
reads the columns becomes a LATERAL over the values. (The method is that of Neumann and Kemper,
Unnesting Arbitrary Queries, BTW 2015.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from headwater.analyze.names.scope import MARK, Relation
from headwater.analyze.query_parts import (
    aggregates,
    is_aggregate,
    is_limited,
    relations,
    stand_for,
    union_branches,
    window_calls,
)
from headwater.analyze.shapes.first_rows import around, count, windowed_order
from headwater.dialect.syntax import MatchRecognize, RecursiveRows, WindowTable

_COUNTS = (exp.Count, exp.CountIf, exp.ApproxDistinct)
"""What is 0 of no rows; other aggregates are NULL."""


class NoDomain(Exception):
    """A shape that is not rewritten."""


@dataclass(frozen=True, slots=True)
class Key:
    """One column of the query around.

    Attributes:
        name: what it is called as a key.
        outer: the column, with the name of its relation.
        type: its type.
        nullable: whether it can be NULL.
    """

    name: str
    outer: exp.Expr
    type: exp.DataType
    nullable: bool

    def same(self, one: exp.Expr, other: exp.Expr) -> exp.Expr:
        """Return the condition that two values of it are the same, NULL or not."""
        kind = exp.NullSafeEQ if self.nullable else exp.EQ
        return kind(this=one.copy(), expression=other.copy())


class Domain:
    """The distinct values of columns of the query around, and the queries that join them."""

    def __init__(
        self, marked: Mapping[int, Key], read: exp.Select, number: Callable[[], int]
    ) -> None:
        """Remember what the columns are.

        Args:
            marked: the columns by their marks.
            read: a SELECT without outputs, whose FROM has the columns; not changed.
            number: gives a number that no other alias has.
        """
        self.marked, self.read, self.number = marked, read, number
        self.keys = list({key.name: key for key in marked.values()}.values())

    def spread(self, query: exp.Query) -> None:
        """Let a query show the keys behind its columns, in place.

        Args:
            query: it has a parent; what stands for it afterwards can be another node.

        Raises:
            NoDomain: it has a shape for which that is not done.
        """
        inner = query.unnest()
        if isinstance(inner, exp.SetOperation):
            self.spread(inner.this)
            self.spread(inner.expression)
        elif isinstance(inner, exp.Select):
            self._select(inner)
        else:
            raise NoDomain

    def _alias(self, letter: str) -> str:
        return f"_{letter}{self.number()}"

    def _columns(self, alias: str) -> list[exp.Expr]:
        return [exp.column(key.name, table=alias) for key in self.keys]

    def _values(self, alias: str) -> exp.Subquery:
        """The distinct values as a relation."""
        select = self.read.copy()
        select.set("expressions", [exp.alias_(key.outer.copy(), key.name) for key in self.keys])
        select.set("distinct", exp.Distinct())
        return exp.Subquery(this=select, alias=exp.TableAlias(this=exp.to_identifier(alias)))

    def _check_aggregates(self, select: exp.Select) -> None:
        """An aggregate of nothing but columns of the query around is one of that query."""
        for call in (
            each
            for root in [*select.expressions, select.args.get("having")]
            for each in aggregates(root)
        ):
            columns = list(whole_aggregate(call).find_all(exp.Column))
            if columns and all(map(self._is_marked, columns)):
                raise NoDomain

    def _select(self, select: exp.Select) -> None:
        self._check_aggregates(select)
        if is_limited(select) and select.args.get("distinct"):
            select = around(select)
        if is_aggregate(select) and not select.args.get("group"):
            self._one_row(select)
            return
        keys = self._from(select)
        self._rank(select)
        self._name_columns(select)
        self._replace(select, keys)
        self._keep_apart(select, keys)
        self._show(select, keys)

    def _show(self, select: exp.Select, keys: Sequence[exp.Expr]) -> None:
        for column, key in zip(keys, self.keys, strict=True):
            select.append("expressions", exp.alias_(column.copy(), key.name))

    def _name_columns(self, select: exp.Select) -> None:
        """Outputs that are columns of the query around remain under their names."""
        items = [
            exp.alias_(item.copy(), item.name) if self._is_marked(item) else item
            for item in select.expressions
        ]
        select.set("expressions", items)

    def _is_marked(self, node: exp.Expr) -> bool:
        return isinstance(node, exp.Column) and node.meta.get(MARK) in self.marked

    def _reads(self, root: exp.Expr) -> Iterator[exp.Column]:
        return (column for column in root.find_all(exp.Column) if self._is_marked(column))

    def _replace(self, root: exp.Expr, keys: Sequence[exp.Expr]) -> None:
        """Let the keys stand for the columns of the query around, within a node."""
        by_name = {key.name: column for key, column in zip(self.keys, keys, strict=True)}
        for column in list(self._reads(root)):
            column.replace(by_name[self.marked[column.meta[MARK]].name].copy())

    def _from(self, select: exp.Select) -> list[exp.Expr]:
        """Put the values before what a SELECT reads; return the keys of its rows."""
        self._check_from(select)
        alias = self._alias("d")
        keys = self._columns(alias)
        source, joins = select.args.get("from_"), list(select.args.get("joins") or [])
        select.set("from_", exp.From(this=self._values(alias)))
        if source is not None:
            joins.insert(0, exp.Join(this=source.this))
        select.set("joins", joins)
        for join in joins:
            if not any(map(join.args.get, ("side", "kind", "method", "on", "using"))):
                join.set("kind", "CROSS")  # a comma
            if join.side in ("RIGHT", "FULL"):
                keys = self._outer_join(join, keys)
                continue
            if isinstance(join.this, exp.Subquery) and any(self._reads(join.this)):
                lateral = exp.Subquery(this=join.this.unnest())
                for read in relations(union_branches(lateral)[0])[:1]:
                    stand_for(read, join.this)
                join.set("this", exp.Lateral(this=lateral, alias=join.this.args.get("alias")))
            self._replace(join, keys)
        return keys

    def _check_from(self, select: exp.Select) -> None:
        joins = select.args.get("joins") or []
        commas = any(not (j.side or j.kind or j.method or j.args.get("on")) for j in joins)
        outer = [join for join in joins if join.side in ("RIGHT", "FULL")]
        shared = [join for join in joins if join.args.get("using") or join.method == "NATURAL"]
        timed = any(join.method == "ASOF" or join.this.args.get("version") for join in joins)
        if (commas and (outer or shared)) or any(join in shared for join in outer) or timed:
            raise NoDomain
        for item in relations(select):
            special = item.find(WindowTable, RecursiveRows, MatchRecognize)
            if special is not None and any(self._reads(special)):
                raise NoDomain
        if select.args.get("match"):
            raise NoDomain

    def _outer_join(self, join: exp.Join, keys: Sequence[exp.Expr]) -> list[exp.Expr]:
        """Let the right side of a RIGHT or FULL JOIN have the keys as well."""
        alias = join.this.alias_or_name
        if not alias or isinstance(join.this, exp.Unnest):
            raise NoDomain
        inner = exp.Select(expressions=[exp.Star()], from_=exp.From(this=join.this))
        item = exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier(alias)))
        join.set("this", item)
        self._select(inner)
        own = self._columns(alias)
        self._replace(join, own)
        pairs = zip(self.keys, keys, own, strict=True)
        terms = [key.same(left, right) for key, left, right in pairs]
        on = join.args.get("on")
        own_terms = [exp.paren(on)] if on is not None else []
        join.set("on", exp.and_(*own_terms, *terms, copy=False))
        if join.side == "RIGHT":
            return own
        return [exp.func("coalesce", a.copy(), b) for a, b in zip(keys, own, strict=True)]

    def _keep_apart(self, select: exp.Select, keys: Sequence[exp.Expr]) -> None:
        """Groups and windows are of the rows of one key."""
        if group := select.args.get("group"):
            if not group.expressions or any(v for k, v in group.args.items() if k != "expressions"):
                raise NoDomain
            for key in keys:
                group.append("expressions", key.copy())
        for window in window_calls(select):
            by = window.args.get("partition_by") or []
            window.set("partition_by", [*by, *(key.copy() for key in keys)])

    def _rank(self, select: exp.Select) -> None:
        """ORDER BY with LIMIT as a window, which is of one key then."""
        if is_limited(select) and not windowed_order(select):
            raise NoDomain

    def _one_row(self, select: exp.Select) -> None:
        """Aggregates without GROUP BY have a row for each key, also of no rows."""
        limit = select.args.get("limit")
        refused = any(map(select.args.get, ("qualify", "offset"))) or window_calls(select)
        if refused or select.is_star or (limit is not None and not count(limit)):
            raise NoDomain
        values, groups, alias = dict[exp.Expr, str](), self._alias("g"), self._alias("d")
        self._name_columns(select)
        having = select.args.get("having")
        shown = exp.Select(expressions=[item.copy() for item in select.expressions])
        if having is not None:
            shown.set("where", exp.Where(this=having.this.copy()))
        for root in [*shown.expressions, shown.args.get("where")]:
            for call in aggregates(root):
                take_aggregate(call, values, groups)
        self._replace(shown, self._columns(alias))
        inner = exp.Select(
            **{key: select.args.get(key) for key in ("from_", "joins", "where")},
            expressions=[exp.alias_(call, name) for call, name in values.items()],
        )
        keys = self._from(inner)
        self._replace(inner, keys)
        inner.set("group", exp.Group(expressions=[key.copy() for key in keys]))
        self._show(inner, keys)
        mine, theirs = self._columns(alias), self._columns(groups)
        terms = [k.same(a, b) for k, a, b in zip(self.keys, mine, theirs, strict=True)]
        to = exp.TableAlias(this=exp.to_identifier(groups))
        on = exp.and_(*terms, copy=False)
        join = exp.Join(this=exp.Subquery(this=inner, alias=to), side="LEFT", on=on)
        shown.set("from_", exp.From(this=self._values(alias)))
        shown.set("joins", [join])
        self._show(shown, mine)
        select.replace(shown)


def whole_aggregate(call: exp.Expr) -> exp.Expr:
    """Return an aggregate with FILTER and WITHIN GROUP."""
    while isinstance(call.parent, (exp.Filter, exp.WithinGroup)):
        call = call.parent
    return call


def take_aggregate(call: exp.Expr, values: dict[exp.Expr, str], alias: str) -> None:
    """Leave an aggregate to a query that is joined, and read its value of that instead.

    Args:
        call: the aggregate, without FILTER and WITHIN GROUP.
        values: the aggregates of that query by their names there; gets this one.
        alias: the name of that query.
    """
    counts, call = isinstance(call, _COUNTS), whole_aggregate(call)
    name = values.setdefault(call.copy(), f"_v{len(values) + 1}")
    value: exp.Expr = exp.column(name, table=alias)
    call.replace(exp.func("coalesce", value, exp.Literal.number(0)) if counts else value)


def read_of(written: Sequence[exp.Expr], used: Sequence[Relation]) -> exp.Select:
    """Return a SELECT without outputs that has at least all values of some relations.

    Args:
        written: FROM and the joins behind it, as parsed.
        used: the relations whose columns are needed.
    """
    optional = any(part.args.get("side") in ("RIGHT", "FULL") for part in written)
    for part in written if len(used) == 1 and not optional else ():
        item = part.this
        plain = isinstance(item, (exp.Table, exp.Subquery)) and not item.args.get("version")
        inner = not any(map(part.args.get, ("side", "method")))
        if plain and inner and item.alias_or_name == used[0].alias:
            return exp.Select(from_=exp.From(this=item.copy()))
    first, *joins = written
    return exp.Select(from_=first.copy(), joins=[join.copy() for join in joins])
