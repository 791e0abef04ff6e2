"""A bound query → relational algebra.

In: the canonical query of a view, and the catalog of what it reads. Out: the tree that means the
same. FROM items become joins from left to right; a subquery of an expression becomes a join, too:
EXISTS and IN a semi, anti or mark join, a scalar one a left join with its only row, or where it
reads columns of the query around, with the row of its group.

Nothing of a query is passed over: a clause that is not read here is :class:`Unread`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from sqlglot import exp

from headwater.algebra.ages import Ages
from headwater.algebra.nodes import (
    Aggregate,
    AsOf,
    Column,
    Computed,
    Elements,
    Equal,
    Filter,
    Fixpoint,
    FlatMap,
    Join,
    JoinKind,
    Match,
    Node,
    Project,
    Query,
    Scan,
    Self,
    Session,
    SetOperation,
    TimeWindows,
    Top,
    Union,
    Values,
    Window,
)
from headwater.algebra.scalars import (
    NULLABLE,
    column,
    conjunction,
    conjuncts,
    fresh,
    mapped,
    passed_on,
)
from headwater.analyze.correlated.subqueries import is_predicate, query_of
from headwater.analyze.definitions import Catalog
from headwater.analyze.fallibility.bounds import bound_of
from headwater.analyze.inference.nullable import nullable
from headwater.analyze.inference.outputs import NAMELESS
from headwater.analyze.query_parts import is_aggregate, is_over
from headwater.analyze.time.dated import ages_of
from headwater.analyze.time.event_time import WINDOW_END, WINDOW_START
from headwater.analyze.time.sessions import SESSION, TIME
from headwater.analyze.time.versions import AS_OF, UNTIL
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.dialect.syntax import (
    PatternRows,
    RecursiveRows,
    WindowTable,
    WorkingTable,
)
from headwater.dialect.vocabulary import is_unnamed

_CALLS = (exp.AggFunc, exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)
_ZERO = (exp.Count, exp.CountIf, exp.ApproxDistinct)
"""Aggregates that are 0, not NULL, of no rows."""
_READ = {
    "expressions", "from_", "joins", "where", "group", "having", "qualify", "distinct", "order",
    "limit", "offset",
}  # fmt: skip
"""The arguments of a SELECT that are read."""
_AGED = re.compile(r"^__(.+)_within_.+$")
_OF_OVER = ("partition_by", "order", "spec")
_JOINS = {
    "": JoinKind.INNER,
    "LEFT": JoinKind.LEFT,
    "RIGHT": JoinKind.LEFT,
    "FULL": JoinKind.FULL,
}

Kind = TypeVar("Kind", bound=exp.Expr)
Place = tuple[str, str]
"""A column as the bound query names it: the alias of a FROM item, and a name."""


class Unread(ValueError):
    """A part of a bound query that has no place in the algebra."""


def algebra_of(query: exp.Query, catalog: Catalog) -> Query:
    """Return the tree of a bound query.

    Args:
        query: canonical, as ``View.query`` has it; it is not changed.
        catalog: what it reads.

    Raises:
        Unread: a clause or node that the algebra has no place for.
    """
    return _Builder(catalog).query(query)


@dataclass(slots=True)
class _Item:
    """A FROM item: its node, and which column of it each place is."""

    node: Node
    places: dict[Place, str]


class _Builder:
    """Builds the tree of one query.

    Attributes:
        catalog: what it reads.
        working: by name, the columns of the working tables of the recursions around.
    """

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.working: dict[str, tuple[Column, ...]] = {}

    def query(self, query: exp.Expr) -> Query:
        """Return the tree of a query that reads nothing of a query around."""
        while isinstance(query, (exp.Subquery, exp.Paren)):
            _only(query, {"this", "alias"})
            query = query.this
        if isinstance(query, exp.SetOperation):
            return self._set_operation(query)
        if not isinstance(query, exp.Select):
            raise Unread(f"{type(query).__name__} as a query")
        select = _Select(self, query, {})
        found = select.whole()
        if select.correlated:
            raise Unread(f"a column of no FROM item: {select.correlated[0].sql()}")
        return found

    def _set_operation(self, query: exp.SetOperation) -> Query:
        _only(query, {"this", "expression", "distinct"})
        sides = [self.query(each) for each in (query.this, query.expression)]
        inputs = [_exactly(each) for each in sides]
        given: list[Column] = []
        for place, (label, _) in enumerate(sides[0].labels):
            columns = [each.columns[place] for each in inputs]
            below = frozenset[str]().union(*(each.named for each in inputs))
            same = {each.name for each in columns}
            name = same.pop() if len(same) == 1 else fresh(_readable(label), below)
            kinds = [each.type for each in columns]
            kind = next((each for each in kinds if each.this is not t.Type.NULL), kinds[0])
            bounds = [each.bound for each in columns]
            bound = max(filter(None, bounds)) if all(bounds) else None
            name = fresh(name, {each.name for each in given})
            given.append(Column(name, kind, any(each.nullable for each in columns), bound))
        labels = [label for label, _ in sides[0].labels]
        node = self._combined(query, inputs, tuple(given))
        return Query(node, tuple((label, c.name) for label, c in zip(labels, given, strict=True)))

    def _combined(
        self, query: exp.SetOperation, inputs: Sequence[Node], given: tuple[Column, ...]
    ) -> Node:
        left, right = inputs
        distinct = bool(query.args.get("distinct"))
        if isinstance(query, exp.Union):
            parts = left.parts if isinstance(left, Union) and left.given == given else (left,)
            union = Union((*parts, right), given)
            return Aggregate(union, tuple(each.name for each in given), ()) if distinct else union
        kind = "intersect" if isinstance(query, exp.Intersect) else "except"
        return SetOperation(left, right, kind, not distinct, given)

    def scan(self, relation: str, columns: Mapping[str, Column], ages: Ages) -> Scan:
        """Return the scan of a relation.

        Args:
            relation: its name.
            columns: those that are read, by the name that the relation has for them.
            ages: which rows by the watermark, and which columns compare them with it.
        """
        known = self.catalog.sources.get(relation) or self.catalog.views.get(relation)
        fields = {each.name: each for each in known.fields} if known else {}
        flags: dict[str, str] = {}
        for each in ages.dated:
            flags[each.flag] = fresh(_readable(each.flag), {*columns, *flags.values()})
        reads = []
        for name, found in columns.items():
            own = fields.get(name)
            kept = Column(name, own.type, own.nullable, own.bound) if own else found
            reads.append((replace(kept, name=flags.get(name, name)), name))
        return Scan(relation, tuple(reads), ages=ages)


class _Select:
    """One SELECT on its way into the algebra.

    Attributes:
        node: the tree so far.
        places: which column of it each column of FROM is.
        outer: the places of the query around.
        correlated: the terms of WHERE that read columns of the query around.
        windowed: by call with OVER, the column that it is.
    """

    def __init__(
        self, builder: _Builder, select: exp.Select, outer: Mapping[Place, Column]
    ) -> None:
        unread = [key for key, value in select.args.items() if value and key not in _READ]
        if unread:
            raise Unread(f"{', '.join(unread)} of a SELECT")
        self.builder, self.select, self.outer = builder, select, outer
        self.node: Node = Values()
        self.places: dict[Place, str] = {}
        self.correlated: list[exp.Expr] = []
        self._groups: dict[exp.Expr, str] | None = None
        self._measures: dict[exp.Expr, str] = {}
        self.windowed: dict[exp.Expr, str] = {}
        self._joined: dict[tuple[object, ...], str] = {}
        self._used = _used(select)

    # ------------------------------------------------------------------------- clauses in order

    def whole(self) -> Query:
        """Return the tree of the SELECT."""
        self.rows()
        return self.shown()

    def rows(self) -> None:
        """Read FROM and WHERE."""
        self.from_()
        if where := self.select.args.get("where"):
            terms = conjuncts(where.this)
            outer = [each for each in terms if self.reads_outer(each)]
            self.correlated += outer
            self._filter([each for each in terms if not any(each is one for one in outer)])

    def from_(self) -> None:
        """Read FROM."""
        if (source := self.select.args.get("from_")) is not None:
            item = self._item(source.this)
            self.node, self.places = item.node, item.places
        for join in self.select.args.get("joins") or []:
            self._join(join)

    def shown(self) -> Query:
        """Read the clauses above WHERE."""
        self._group()
        if having := self.select.args.get("having"):
            self._filter(conjuncts(having.this))
        items = [(each.alias_or_name, self.scalar(each.unalias())) for each in self.select.selects]
        qualify = self.select.args.get("qualify")
        kept = self.scalar(qualify.this) if qualify else None
        order = self._order()
        if kept is not None:
            self.node = Filter(self.node, kept)
        return self._projected(items, order)

    def _group(self) -> None:
        if not is_aggregate(self.select):
            return
        group = self.select.args.get("group")
        if group is not None:
            _only(group, {"expressions"})
        keys = [each for each in group.expressions if not _is_nothing(each)] if group else []
        named = self._keys([(self.scalar(key), self._label(key)) for key in keys])
        names = dict(zip(keys, named, strict=True))
        calls = {call: None for root in self._roots() for call in _aggregates(root, names)}
        measures = self._measured(calls, grouped=bool(keys))
        self._measures = dict(zip(calls, (each.name for each in measures), strict=True))
        self.node = Aggregate(self.node, tuple(dict.fromkeys(named)), measures)
        self._groups = names
        self._joined.clear()  # what was joined below is no column of a group

    def _keys(self, values: Sequence[tuple[exp.Expr, str]]) -> list[str]:
        """The columns that values are; one that is none yet is computed, under its label."""
        names: list[str] = []
        made: list[Computed] = []
        for value, label in values:
            if isinstance(value, exp.Column):
                names.append(value.name)
                continue
            taken = self.node.named.union(each.name for each in made)
            made.append(self._computed(fresh(label or "key", taken), value))
            names.append(made[-1].name)
        if made:
            self.node = _extended(self.node, made)
        return names

    def _measured(self, calls: Iterable[exp.Expr], *, grouped: bool) -> tuple[Computed, ...]:
        """The calls of aggregates with a name each."""
        found: list[Computed] = []
        for call in calls:
            taken = self.node.named.union(each.name for each in found)
            value = self.scalar(call)
            name = fresh(self._label(call) or _words(value), taken)
            found.append(self._computed(name, value, grouped=grouped))
        return tuple(found)

    def _roots(self) -> Iterator[exp.Expr]:
        yield from self.select.selects
        for key in ("having", "qualify", "order"):
            if (node := self.select.args.get(key)) is not None:
                yield node

    def _order(self) -> list[tuple[exp.Ordered, bool]]:
        """The order by which rows are counted, and whether an item is the name of an output.

        Others are over the columns before the last projection.
        """
        order = self.select.args.get("order")
        if order is None:
            return []
        found = []
        for item in order.expressions:
            made, by = item.copy(), item.this
            output = isinstance(by, exp.Column) and not by.table
            if output and by.name not in self.select.named_selects:
                # an output that was renamed: its old name is a column of the only FROM item
                place = next((each for each in self.places if each[1] == by.name), ("", ""))
                by, output = exp.column(by.name, place[0]), False
            if not output:
                made.set("this", self.scalar(by))
            found.append((made, output))
        return found

    def _projected(
        self,
        items: Sequence[tuple[str, exp.Expr]],
        order: Sequence[tuple[exp.Ordered, bool]],
    ) -> Query:
        outputs: dict[str, Computed] = {}
        labels: list[tuple[str, str]] = []
        for label, value in items:
            made = self._output_column(label, value, outputs)
            outputs[made.name] = made
            labels.append((label, made.name))
        by_label = dict(labels)
        ordered = []
        for item, output in order:
            if output:
                name = by_label[item.this.name]
            else:
                made = self._output_column("by", item.this, outputs)
                outputs.setdefault(made.name, made)
                name = made.name
            item.set("this", column(name, outputs[name].column))
            ordered.append(item)
        if [*outputs] != [each.name for each in self.node.columns] or any(
            not each.passed for each in outputs.values()
        ):
            self.node = Project(self.node, tuple(outputs.values()))
        if distinct := self.select.args.get("distinct"):
            _only(distinct, set())
            self.node = Aggregate(self.node, tuple(outputs), ())
        self._top(ordered)
        return Query(self.node, tuple(labels))

    def _output_column(
        self, label: str, value: exp.Expr, outputs: Mapping[str, Computed]
    ) -> Computed:
        if isinstance(value, exp.Column):
            found = self.node.by_name[value.name]
            return Computed(found, value)
        for each in outputs.values():  # an equal value is one column
            if each.value == value and type_of(each.value) == type_of(value):
                return each
        name = fresh(_readable(label), self.node.named.union(outputs))
        return self._computed(name, value, grouped=bool(self._groups))

    def _top(self, order: Sequence[exp.Ordered]) -> None:
        limit, offset = self.select.args.get("limit"), self.select.args.get("offset")
        if limit is None and offset is None:
            return
        if limit is not None and not isinstance(limit, exp.Limit):
            raise Unread(f"{type(limit).__name__} of a SELECT")
        for each in (limit, offset):
            if each is not None:
                _only(each, {"expression"})
        count, skip = (each.expression.copy() if each else None for each in (limit, offset))
        self.node = Top(self.node, tuple(order), count, skip)

    # ------------------------------------------------------------------------------------- FROM

    def _item(self, item: exp.Expr) -> _Item:
        alias = item.alias_or_name
        match item:
            case exp.Table() if isinstance(item.this, WindowTable):
                return self._time_windows(item.this, alias)
            case exp.Table():
                return self._scan(item, alias)
            case exp.Subquery() if SESSION in item.meta:
                return self._session(item, alias)
            case exp.Subquery():
                _only(item, {"this", "alias"})
                return _named(self.builder.query(item.this), alias)
            case PatternRows():
                return self._match(item, alias)
            case RecursiveRows():
                return self._fixpoint(item, alias)
            case WorkingTable():
                given = self.builder.working[item.this]
                places = {(alias, each.name): each.name for each in given}
                return _Item(Self(item.this, given), places)
        raise Unread(f"{type(item).__name__} in FROM")

    def _scan(self, table: exp.Table, alias: str, more: Sequence[str] = ()) -> _Item:
        _only(table, {"this", "alias"})
        read = dict(self._used.get(alias, {}))
        for name in more:
            read.setdefault(name, Column(name, t.TIMESTAMPTZ))
        scan = self.builder.scan(table.name, read, ages_of(table))
        names = ((own, column.name) for column, own in scan.reads)
        return _Item(scan, {(alias, own): name for own, name in names})

    def _time_windows(self, window: WindowTable, alias: str) -> _Item:
        inner, time, edges = window.this, window.args["time"].name, (WINDOW_START, WINDOW_END)
        for name in edges:
            self._used.get(alias, {}).pop(name, None)
        if isinstance(inner, exp.Table):
            item = self._scan(inner, alias, [time])
        else:
            item = self._item(inner)
            item = _Item(item.node, {(alias, name): own for (_, name), own in item.places.items()})
        at = item.node.by_name[item.places[alias, time]]
        call = window.copy()
        call.set("this", exp.null())
        call.set("time", column(at.name, at))
        for key in window.args.get("partition_by") or []:
            raise Unread(f"PARTITION BY {key.sql()} of a window")
        given = tuple(
            Column(fresh(name, item.node.named), at.type, nullable=False) for name in edges
        )
        node = FlatMap(item.node, TimeWindows(call), given)
        places = {(alias, name): each.name for name, each in zip(edges, given, strict=True)}
        return _Item(node, {**item.places, **places})

    def _match(self, rows: PatternRows, alias: str) -> _Item:
        below = self.builder.query(rows.this)
        node = _exactly(below)
        places = dict(zip((label for label, _ in below.labels), node.columns, strict=True))
        order = []
        for item in rows.args["order"].expressions:
            made = item.copy()
            found = places[item.this.name]
            made.set("this", column(found.name, found))
            order.append(made)
        given = tuple(Column(fresh(name, node.named), kind) for name, kind in rows.args["fields"])
        reads = tuple(label for label, _ in below.labels)
        names = tuple(name for name, _ in rows.args["fields"])
        match = Match(node, tuple(order), rows.args["clause"], reads, names, given)
        return _Item(match, {(alias, n): c.name for n, c in zip(names, given, strict=True)})

    def _fixpoint(self, rows: RecursiveRows, alias: str) -> _Item:
        union, name = rows.this, rows.args["name"]
        _only(union, {"this", "expression", "distinct"})
        given = tuple(Column(each, kind) for each, kind in rows.args["fields"])
        self.builder.working[name] = given
        anchor, step = (self.builder.query(each) for each in (union.this, union.expression))
        node = Fixpoint(
            name, _exactly(anchor), _exactly(step), bool(union.args.get("distinct")), given
        )
        return _Item(node, {(alias, each.name): each.name for each in given})

    def _session(self, session: exp.Subquery, alias: str) -> _Item:
        """A session, which the binder has made of three SELECTs; the innermost reads its rows."""
        numbered = session.this.args["from_"].this
        gaps = numbered.this.args["from_"].this.this
        *columns, before = gaps.selects
        inner, places = self._read(gaps, columns, alias)
        by = before.unalias().args.get("partition_by") or ()
        keys = tuple(inner.scalar(each).name for each in by)
        time = places[alias, session.meta[TIME]]
        kind, bounds = inner.node.by_name[time].type, (WINDOW_START, WINDOW_END)
        given = tuple(Column(fresh(name, inner.node.named), kind) for name in bounds)
        node = Session(inner.node, keys, time, session.meta[SESSION].copy(), given)
        made = {(alias, n): each.name for n, each in zip(bounds, given, strict=True)}
        return _Item(node, places | made)

    def _as_of(self, join: exp.Join) -> None:
        """An as-of join, of whose right side the binder has made a SELECT of its versions."""
        select, alias = join.this.this, join.this.alias_or_name
        *columns, until = select.selects
        inner, places = self._read(select, columns, alias)
        item = _apart(_Item(inner.node, {**inner.places, **places}), self.node.named)
        case, over = until.unalias(), until.find(exp.Window)
        held = _over(case.args["ifs"][0].this, item) if isinstance(case, exp.Case) else None
        order = tuple(
            _same(each, lambda by: _over(by, item)) for each in over.args["order"].expressions
        )
        version = exp.column(join.this.meta[AS_OF], alias)
        begun, keys, more = None, [], []
        for term in conjuncts(join.args["on"]):
            named = {each.name for each in term.find_all(exp.Column)}
            if UNTIL in named:
                continue
            if isinstance(term, (exp.GT, exp.GTE)) and term.expression == version:
                begun = term
            elif isinstance(term, exp.EQ) and _is_over(term.expression, alias):
                keys.append(term)
            else:
                more.append(term)
        if begun is None or (more and join.side):
            raise Unread("an as-of join that compares more than keys and times")
        equal = tuple(Equal(self.scalar(each.this), _over(each.expression, item)) for each in keys)
        at, strict, outer = self.scalar(begun.this), isinstance(begun, exp.GT), bool(join.side)
        self.node = AsOf(self.node, item.node, equal, at, order, strict, held, outer)
        self.places |= {place: item.places[place] for place in places}
        self._filter(more)

    def _read(
        self, select: exp.Select, columns: Sequence[exp.Expr], alias: str
    ) -> tuple[_Select, dict[Place, str]]:
        """A SELECT up to its FROM, and which column of it some outputs are."""
        inner = _Select(self.builder, select, {})
        inner.from_()
        named = {each.alias_or_name: inner.scalar(each.unalias()).name for each in columns}
        return inner, {(alias, label): name for label, name in named.items()}

    def _join(self, join: exp.Join) -> None:
        _only(join, {"this", "on", "side", "kind"})
        if AS_OF in join.this.meta:
            self._as_of(join)
            return
        if isinstance(join.this, exp.Unnest):
            self._unnest(join)
            return
        if join.kind not in ("", "INNER", "OUTER", "CROSS") or join.side not in _JOINS:
            raise Unread(f"{join.method} {join.side} {join.kind} JOIN")
        item = _apart(self._item(join.this), self.node.named)
        left, right = self.node, item.node
        if join.side == "RIGHT":
            left, right = right, left
        self.places |= item.places
        terms = conjuncts(join.args.get("on"))
        if any(self.reads_outer(each) for each in terms):
            raise Unread("a column of the query around in ON")
        equal, residual = _split([self.scalar(each) for each in terms], left, right)
        self.node = Join(left, right, _JOINS[join.side], equal, residual)

    def _unnest(self, join: exp.Join) -> None:
        unnest = join.this
        _only(unnest, {"expressions", "alias"})
        if join.side not in ("", "LEFT"):
            raise Unread(f"{join.side} JOIN UNNEST")
        on = [each for each in conjuncts(join.args.get("on")) if not _is_true(each)]
        if on and join.side:
            raise Unread("LEFT JOIN UNNEST with a condition")
        alias = unnest.args["alias"]
        names = [each.name for each in alias.columns]
        used = self._used.get(alias.name, {})
        given: list[Column] = []
        for name in names:
            found = used.get(name) or Column(name, t.UNKNOWN)
            own = fresh(name, self.node.named.union(each.name for each in given))
            given.append(replace(found, name=own, nullable=found.nullable or bool(join.side)))
        arrays = tuple(self.scalar(each) for each in unnest.expressions)
        self.node = FlatMap(self.node, Elements(arrays), tuple(given), bool(join.side))
        for name, each in zip(names, given, strict=True):
            self.places[alias.name, name] = each.name
        self._filter(on)

    # ------------------------------------------------------------------------------ expressions

    def scalar(self, node: exp.Expr) -> exp.Expr:
        """Return an expression over the columns of the tree, which may get joins for it."""
        if self._groups is not None:
            if node in self._groups:
                return self._column(self._groups[node])
            if node in self._measures:
                return self._column(self._measures[node])
        if isinstance(node, exp.Column):
            return self._placed(node)
        if isinstance(node, exp.Window):
            return self._over(node)
        if is_predicate(node):
            return self._mark(node)
        if isinstance(node, exp.Query):
            return self._only_value(node)
        return mapped(node, self.scalar)

    def _placed(self, node: exp.Column) -> exp.Expr:
        place = (node.table, node.name)
        if place in self.places:
            if self._groups is not None:
                raise Unread(f"{node.sql()} outside of groups")
            return _as_known(node, self.places[place])
        raise Unread(f"column {node.sql()} of no FROM item")

    def _column(self, name: str) -> exp.Column:
        return column(name, self.node.by_name[name])

    def _over(self, node: exp.Window) -> exp.Expr:
        if node not in self.windowed:
            self._window(node)
        return self._column(self.windowed[node])

    def _window(self, node: exp.Window) -> None:
        """Compute a call, and all others of the SELECT with the same OVER."""
        _only(node, {"this", "partition_by", "order", "spec", "over"})
        order, frame = node.args.get("order"), node.args.get("spec")
        partition = tuple(self.scalar(each) for each in node.args.get("partition_by") or ())
        ordered = tuple(_same(each, self.scalar) for each in (order.expressions if order else ()))
        spec = _same(frame, self.scalar) if frame else None
        calls = {
            each: mapped(each.this, self.scalar)
            for root in self._roots()
            for each in _windows(root)
            if all(each.args.get(key) == node.args.get(key) for key in _OF_OVER)
        }
        made: dict[exp.Expr, Computed] = {}
        for each, call in calls.items():
            taken = self.node.named.union(one.name for one in made.values())
            name = fresh(self._label(each) or _words(call), taken)
            made.setdefault(call, replace(self._computed(name, each, grouped=False), value=call))
            self.windowed[each] = made[call].name
        self.node = Window(self.node, partition, ordered, spec, tuple(made.values()))

    def _computed(self, name: str, value: exp.Expr, *, grouped: bool = False) -> Computed:
        made = Column(name, type_of(value), nullable(value, grouped), bound_of(value))
        return Computed(made, value)

    def _label(self, value: exp.Expr) -> str:
        """The name of the output that is only this value."""
        found = (each.alias for each in self.select.selects if each.unalias() == value)
        named = (each for each in found if not is_unnamed(each) and each != NAMELESS)
        return _readable(next(named, ""))

    def _filter(self, terms: Sequence[exp.Expr]) -> None:
        """Keep the rows for which all terms are true."""
        plain = [each for each in terms if _matched(each) is None]
        values = [value for each in plain if not _is_true(value := self.scalar(each))]
        predicate = _all_of(values)
        if predicate is not None:
            self.node = Filter(self.node, predicate)
        for each in terms:
            if (found := _matched(each)) is not None:
                self._match_rows(*found)

    # ------------------------------------------------------------------------------- subqueries

    def _match_rows(self, predicate: exp.Expr, wanted: bool) -> None:
        kind = JoinKind.SEMI
        if not wanted:
            is_in = isinstance(predicate, exp.In)
            kind = JoinKind.NULL_AWARE_ANTI if is_in else JoinKind.ANTI
        self.node = self._matching(predicate, kind)

    def _mark(self, predicate: exp.Expr) -> exp.Expr:
        if isinstance(predicate, exp.In):
            mark, kind = Column("is_in", t.BOOLEAN), JoinKind.NULL_AWARE_MARK
        else:
            mark, kind = Column("exists", t.BOOLEAN, nullable=False), JoinKind.MARK
        self.node = found = self._matching(predicate, kind, mark)
        assert found.mark is not None
        return column(found.mark.name, found.mark)

    def _matching(self, predicate: exp.Expr, kind: JoinKind, mark: Column | None = None) -> Join:
        """Join the rows so far with those of a subquery that belong to them."""
        _only(predicate, {"this", "query"})
        value = self.scalar(predicate.this) if isinstance(predicate, exp.In) else None
        right, first, terms = self._below(query_of(predicate), isinstance(predicate, exp.In))
        equal, residual = _split(terms, self.node, right)
        if value is not None and first is not None:
            equal = (Equal(value, first), *equal)
        if mark is not None:
            mark = replace(mark, name=fresh(mark.name, self.node.named | right.named))
        return Join(self.node, right, kind, equal, residual, mark)

    def _below(
        self, query: exp.Query, valued: bool
    ) -> tuple[Node, exp.Expr | None, list[exp.Expr]]:
        """The rows of a subquery, its value if it has one, and what binds it to the rows here."""
        inner = self._inner(query)
        if inner is None or not inner.correlated:
            found = self.builder.query(query) if inner is None else inner.shown()
            item = _apart(_named(found, ""), self.node.named)
            name = next(iter(item.places.values()))
            return item.node, column(name, item.node.by_name[name]), []
        select = inner.select
        unread = ("group", "having", "qualify", "limit", "offset")
        if is_aggregate(select) or any(select.args.get(each) for each in unread):
            raise Unread("a subquery with groups that reads columns of the query around")
        value = inner.scalar(select.selects[0].unalias()) if valued else None
        if inner.windowed:
            raise Unread("a subquery with OVER that reads columns of the query around")
        item = _apart(_Item(inner.node, inner.places), self.node.named)
        new = {old: item.places[place] for place, old in inner.places.items()}
        terms = [_over(each, item, self) for each in inner.correlated]
        return item.node, _renamed(value, new) if value is not None else None, terms

    def _inner(self, query: exp.Query) -> _Select | None:
        """A subquery up to its WHERE; None of a set operation, which reads nothing from here."""
        if not isinstance(query, exp.Select):
            return None
        inner = _Select(self.builder, query, self._known())
        inner.rows()
        return inner

    def _only_value(self, query: exp.Query) -> exp.Expr:
        """The value of the only row of a subquery, NULL where it has none."""
        query = query_of(query)
        inner = self._inner(query)
        if inner is None or not inner.correlated:
            found = self.builder.query(query) if inner is None else inner.shown()
            key: tuple[object, ...] = (found.root, found.labels)
            if key not in self._joined:
                item = _apart(_named(found, ""), self.node.named)
                self.node = Join(self.node, item.node, JoinKind.LEFT)
                self._joined[key] = next(iter(item.places.values()))
            return self._column(self._joined[key])
        return self._value_of_group(inner)

    def _value_of_group(self, inner: _Select) -> exp.Expr:
        select = inner.select
        if not is_aggregate(select) or any(
            select.args.get(each) for each in ("group", "having", "qualify", "limit", "distinct")
        ):
            raise Unread("a scalar subquery other than an aggregate that reads the query around")
        sides = []
        for term in inner.correlated:
            own, other = _sides(term, inner)
            sides.append((self.scalar(other), inner.scalar(own), isinstance(term, exp.NullSafeEQ)))
        keys = inner._keys([(own, "") for _, own, _ in sides])
        calls = dict.fromkeys(_aggregates(select.selects[0], {}))
        measures = inner._measured(calls, grouped=True)
        node = Aggregate(inner.node, tuple(dict.fromkeys(keys)), measures)
        places = {("", each.name): each.name for each in node.columns}
        item = _apart(_Item(node, places), self.node.named)
        new = {name: item.places["", name] for _, name in places}
        equal = tuple(
            Equal(other, column(new[key], item.node.by_name[new[key]]), safe)
            for (other, _, safe), key in zip(sides, keys, strict=True)
        )
        self.node = Join(self.node, item.node, JoinKind.LEFT, equal)
        by_call = {}
        for call, measure in zip(calls, measures, strict=True):
            value: exp.Expr = self._column(new[measure.name])
            if isinstance(_bare(call), _ZERO):
                value = exp.Coalesce(this=value, expressions=[_zero(type_of(call))])
                value.type = type_of(call)
            by_call[call] = value

        def over(node: exp.Expr) -> exp.Expr:
            return by_call[node].copy() if node in by_call else mapped(node, over)

        return over(select.selects[0].unalias())

    def _known(self) -> dict[Place, Column]:
        found = {}
        for place, name in self.places.items():
            if name in self.node.by_name:
                found[place] = self.node.by_name[name]
        return {**self.outer, **found}

    def reads_outer(self, term: exp.Expr) -> bool:
        """Whether a term reads a column of the query around."""
        return any(
            place not in self.places and place in self.outer
            for each in term.find_all(exp.Column)
            if (place := (each.table, each.name))
        )


def _used(select: exp.Select) -> dict[str, dict[str, Column]]:
    """By alias, the columns that a SELECT and its subqueries name."""
    found: dict[str, dict[str, Column]] = {}
    for each in select.find_all(exp.Column):
        known = found.setdefault(each.table, {})
        known.setdefault(
            each.name, Column(each.name, type_of(each), bool(each.meta.get(NULLABLE, True)))
        )
    return found


def _only(node: exp.Expr, read: Collection[str]) -> None:
    """Refuse a node that says more than what is read of it."""
    more = [key for key, value in node.args.items() if value and key not in read]
    if more:
        raise Unread(f"{', '.join(more)} of {type(node).__name__}")


def _named(query: Query, alias: str) -> _Item:
    return _Item(query.root, {(alias, label): name for label, name in query.labels})


def _exactly(query: Query) -> Node:
    """A node with a column for each label, in their order."""
    root, names = query.root, [name for _, name in query.labels]
    if names == [each.name for each in root.columns]:
        return root
    outputs: list[Computed] = []
    for label, name in query.labels:
        known, own = root.by_name[name], name
        if own in {each.name for each in outputs}:
            own = fresh(label, root.named.union(each.name for each in outputs))
        outputs.append(passed_on(known, own))
    return Project(root, tuple(outputs))


def _extended(node: Node, made: Sequence[Computed]) -> Project:
    return Project(node, (*map(passed_on, node.columns), *made))


def _apart(item: _Item, taken: Collection[str]) -> _Item:
    """The same rows, whose columns have names that are not taken."""
    node = item.node
    new: dict[str, str] = {}
    for each in node.columns:
        name = each.name
        if name in taken:
            name = fresh(name, {*taken, *node.named, *new.values()})
        new[each.name] = name
    if all(old == own for old, own in new.items()):
        return item
    if isinstance(node, Scan):
        reads = tuple((replace(each, name=new[each.name]), own) for each, own in node.reads)
        found: Node = replace(node, reads=reads)
    else:
        found = Project(node, tuple(passed_on(each, new[each.name]) for each in node.columns))
    return _Item(found, {place: new[name] for place, name in item.places.items()})


def _as_known(node: exp.Column, name: str) -> exp.Column:
    """A column of the tree with what the binder knows of it, also where a join may miss it."""
    found = node.copy()
    found.set("this", exp.to_identifier(name))
    found.set("table", None)
    return found


def _is_over(node: exp.Expr, alias: str) -> bool:
    """Whether an expression reads columns of one FROM item, and of no other."""
    return {each.table for each in node.find_all(exp.Column)} == {alias}


def _over(node: exp.Expr, item: _Item, around: _Select | None = None) -> exp.Expr:
    """An expression over the columns of a FROM item, and of the query around it if there is one."""
    if isinstance(node, exp.Column):
        place = (node.table, node.name)
        if around is not None and place not in item.places:
            return around.scalar(node)
        return _as_known(node, item.places[place])
    if isinstance(node, exp.Query):
        raise Unread("a subquery in a term that reads the query around")
    return mapped(node, lambda each: _over(each, item, around))


def _renamed(node: exp.Expr, new: Mapping[str, str]) -> exp.Expr:
    if isinstance(node, exp.Column):
        return _as_known(node, new[node.name])
    return mapped(node, lambda each: _renamed(each, new))


def _aggregates(root: exp.Expr, keys: Collection[exp.Expr]) -> Iterator[exp.Expr]:
    """Yield the calls of aggregates that are not within others, with what stands around them."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node in keys:
            continue
        call = isinstance(node, _CALLS) and isinstance(_bare(node), exp.AggFunc)
        if call and not _stands_over(node):
            yield node
            continue
        if not isinstance(node, exp.Query):
            stack += reversed([*node.iter_expressions()])


def _windows(root: exp.Expr) -> Iterator[exp.Window]:
    """Yield the calls with OVER that are not in a subquery."""
    for node in root.walk(prune=lambda each: isinstance(each, exp.Query)):
        if isinstance(node, exp.Window):
            yield node


def _same(node: Kind, of: Callable[[exp.Expr], exp.Expr]) -> Kind:
    """What :func:`mapped` gives is of the kind of the node."""
    found = mapped(node, of)
    assert isinstance(found, type(node))
    return found


def _stands_over(node: exp.Expr) -> bool:
    """Whether a call is the one before OVER, as it is or within FILTER and the like."""
    return is_over(node) or (isinstance(node.parent, exp.Window) and node.arg_key == "this")


def _bare(call: exp.Expr) -> exp.Expr:
    while isinstance(call, (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)):
        call = call.this
    return call


def _matched(term: exp.Expr) -> tuple[exp.Expr, bool] | None:
    """The predicate with a subquery that a term is, and whether it has to hold."""
    wanted, node = True, term
    while isinstance(node, (exp.Not, exp.Paren)):
        wanted ^= isinstance(node, exp.Not)
        node = node.this
    return (node, wanted) if is_predicate(node) else None


def _split(
    terms: Sequence[exp.Expr], left: Node, right: Node
) -> tuple[tuple[Equal, ...], exp.Expr | None]:
    """What terms equate of both sides of a join, and the others together."""
    pairs = [(term, _equal(term, left, right)) for term in terms if not _is_true(term)]
    rest = [term for term, pair in pairs if pair is None]
    return tuple(pair for _, pair in pairs if pair is not None), _all_of(rest)


def _equal(term: exp.Expr, left: Node, right: Node) -> Equal | None:
    """What a term equates of both sides; None if it does something else."""
    if not isinstance(term, (exp.EQ, exp.NullSafeEQ)):
        return None
    sides = (term.this, term.expression)
    for one, other in (sides, sides[::-1]):
        if _is_of(one, left) and _is_of(other, right):
            return Equal(one, other, isinstance(term, exp.NullSafeEQ))
    return None


def _is_of(value: exp.Expr, node: Node) -> bool:
    names = [each.name for each in value.find_all(exp.Column)]
    return bool(names) and all(name in node.by_name for name in names)


def _sides(term: exp.Expr, inner: _Select) -> tuple[exp.Expr, exp.Expr]:
    """The sides of an equality: of the subquery, and of the query around."""
    if isinstance(term, (exp.EQ, exp.NullSafeEQ)):
        sides = (term.this, term.expression)
        for own, other in (sides, sides[::-1]):
            if not inner.reads_outer(own) and not any(
                (each.table, each.name) in inner.places for each in other.find_all(exp.Column)
            ):
                return own, other
    raise Unread("a scalar subquery that compares with the query around by more than =")


def _all_of(terms: Sequence[exp.Expr]) -> exp.Expr | None:
    return conjunction(terms) if terms else None


def _is_true(node: exp.Expr) -> bool:
    return isinstance(node, exp.Boolean) and bool(node.this)


def _is_nothing(key: exp.Expr) -> bool:
    """Whether a key of GROUP BY is ``()``."""
    return isinstance(key, exp.Tuple) and not key.expressions


def _readable(label: str) -> str:
    """A name for a column of ours that tells an age; other names as they are."""
    return _AGED.sub(r"\1_is_recent", label)


def _words(call: exp.Expr) -> str:
    """A name for a call: what it does to what."""
    bare = _bare(call)
    what = bare.sql_name() if isinstance(bare, exp.Func) else bare.key
    if isinstance(bare, exp.Anonymous):
        what = bare.name
    of = bare.this if isinstance(bare.this, exp.Expr) else None
    while isinstance(of, (exp.Cast, exp.Paren)):
        of = of.this
    if isinstance(of, exp.Distinct):
        of, what = of.expressions[0], f"{what}_distinct"
    name = f"_{of.name}" if isinstance(of, exp.Column) else ""
    return f"{what}{name}".lower()


def _zero(kind: exp.DataType) -> exp.Expr:
    found = exp.cast(exp.Literal.number(0), kind.copy())
    found.this.type = t.INTEGER
    found.type = kind
    return found
