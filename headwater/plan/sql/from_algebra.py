"""Relational algebra → a SELECT in the form that the binder writes.

In: a tree. Out: a query whose columns are qualified and typed, so that every rewrite for an engine
takes it. A node goes into the SELECT of its input as long as it means the same there; otherwise
that SELECT becomes a subquery. A value that is used twice is computed in a subquery, once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from sqlglot import exp

from headwater.algebra.lowering import joined, windowed
from headwater.algebra.nodes import (
    MARKS,
    Aggregate,
    AsOf,
    Column,
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
    RowsRead,
    Scalar,
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
from headwater.algebra.scalars import BOUND, NULLABLE, column, conjunction, fresh, operand, replaced
from headwater.analyze.failing.conditions import typed
from headwater.analyze.query_parts import rename_outputs, union_branches
from headwater.analyze.time.dated import mark_ages
from headwater.analyze.time.event_time import WINDOW_END, WINDOW_START
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import named, type_of
from headwater.dialect.normalize import identifier
from headwater.dialect.syntax import PatternRows, RecursiveRows, WindowTable, WorkingTable

_PLAIN = (exp.Column, exp.Literal, exp.Null, exp.Boolean)


def select_of(query: Query) -> exp.Query:
    """Return the SELECT that means what a tree means, with the names that people see."""
    return _Printer().query(query)


class _Stage(IntEnum):
    """How far a SELECT has come: the last of its clauses, in the order in which they work."""

    FROM = 0
    WHERE = 1
    GROUP = 2
    OVER = 3
    QUALIFY = 4
    DISTINCT = 5
    LIMIT = 6


_Clause = tuple[str, type[exp.Expr], _Stage]
_WHERE: _Clause = ("where", exp.Where, _Stage.WHERE)
_QUALIFY: _Clause = ("qualify", exp.Qualify, _Stage.QUALIFY)
_CLAUSES: Mapping[_Stage, _Clause] = {
    _Stage.FROM: _WHERE,
    _Stage.WHERE: _WHERE,
    _Stage.GROUP: ("having", exp.Having, _Stage.GROUP),
    _Stage.OVER: _QUALIFY,
    _Stage.QUALIFY: _QUALIFY,
}
"""By how far a SELECT has come, the clause in which it filters, and how far it is then."""


@dataclass(slots=True)
class _Block:
    """A SELECT that is being written.

    Attributes:
        columns: what it has, in order.
        values: by column, its value over the FROM items.
        first: the first FROM item; None if there is none.
        joins: the others.
        clauses: the other arguments of the SELECT.
        stage: the last of its clauses.
        whole: the query that it is, of a set operation.
        unnests: whether an UNNEST is among its joins.
    """

    columns: tuple[Column, ...]
    values: dict[str, exp.Expr]
    first: exp.Expr | None = None
    joins: list[exp.Join] = field(default_factory=list)
    clauses: dict[str, exp.Expr] = field(default_factory=dict)
    stage: _Stage = _Stage.FROM
    whole: exp.SetOperation | None = None
    unnests: bool = False

    def over(self, scalar: Scalar) -> exp.Expr:
        """Return an expression over the FROM items."""
        return replaced(scalar, self.values)

    def add(self, clause: str, term: exp.Expr, kind: type[exp.Expr]) -> None:
        """Add a term to WHERE, HAVING or QUALIFY."""
        if clause in self.clauses:
            term = conjunction([self.clauses[clause].this, term])
        elif isinstance(term, exp.Paren):
            term = term.this
        self.clauses[clause] = kind(this=term)

    def repeats(self, scalars: Sequence[Scalar | None]) -> bool:
        """Return whether scalars name a value twice that is more than a column or its aggregate."""
        named_ = (c.name for each in scalars if each for c in each.find_all(exp.Column))
        uses = Counter(name for name in named_ if name in self.values)  # others: of a join
        return any(n > 1 and not _is_brief(self.values[name]) for name, n in uses.items())


class _Printer:
    def __init__(self) -> None:
        self._aliases: set[str] = set()

    def query(self, query: Query) -> exp.Query:
        """Return a query with the outputs that a tree shows."""
        block = self.block(query.root)
        return self._query(block, query.labels) if query.labels else self._plain(block)

    def _select(self, block: _Block, outputs: Sequence[exp.Expr]) -> exp.Select:
        made = exp.Select(expressions=list(outputs))
        if block.first is not None:
            made.set("from_", exp.From(this=block.first))
        if block.joins:
            made.set("joins", block.joins)
        for key, value in block.clauses.items():
            made.set(key, value)
        return made

    def _plain(self, block: _Block) -> exp.Query:
        """A query with the columns of a block under their own names."""
        if not block.columns:
            return self._select(block, [named(typed(exp.true(), t.BOOLEAN), "c1")])
        return self._query(block, [(each.name, each.name) for each in block.columns])

    def _alias(self, name: str) -> str:
        found = fresh(name, self._aliases)
        self._aliases.add(found)
        return found

    def _wrapped(self, block: _Block) -> _Block:
        """A block that reads another one as a subquery."""
        alias = self._alias("q")
        item = exp.Subquery(this=self._plain(block), alias=_named_item(alias))
        return _Block(block.columns, _columns_of(alias, block.columns), item)

    def _up_to(self, block: _Block, stage: _Stage, *scalars: Scalar | None) -> _Block:
        """The block if it is not past a stage, and repeats no value; else one that reads it."""
        return self._wrapped(block) if block.stage > stage or block.repeats(scalars) else block

    # ---------------------------------------------------------------------------------- nodes

    def block(self, node: Node) -> _Block:
        """Return the SELECT that a node is."""
        match node:
            case Scan():
                return self._scan(node)
            case Values():
                return self._values(node)
            case Project():
                return self._project(node)
            case Filter():
                return self._filter(node)
            case FlatMap():
                return self._flat_map(node)
            case Union():
                return self._union(node)
            case Join():
                return self._join(node)
            case AsOf():
                return self.block(joined(node))
            case Session():
                return self.block(windowed(node))
            case Aggregate():
                return self._aggregate(node)
            case SetOperation():
                return self._set_operation(node)
            case Window():
                return self._window(node)
            case Top():
                return self._top(node)
            case Match():
                return self._match(node)
            case Self():
                return self._self(node)
            case Fixpoint():
                return self._fixpoint(node)
        raise NotImplementedError(type(node).__name__)

    def _scan(self, node: Scan) -> _Block:
        alias = self._alias(node.relation)
        table = exp.Table(this=exp.to_identifier(node.relation))
        if node.state is not RowsRead.AFTER:
            table.set("db", exp.to_identifier(node.state.value))
        table.set("alias", _named_item(alias))
        mark_ages(table, node.ages)
        values = {each.name: _column(alias, own, each) for each, own in node.reads}
        return _Block(node.columns, dict(values), table)

    def _values(self, node: Values) -> _Block:
        if node.given or len(node.rows) != 1:
            raise NotImplementedError("rows of values")
        return _Block((), {})

    def _project(self, node: Project) -> _Block:
        values = [each.value for each in node.outputs]
        block = self._up_to(_as_groups(self.block(node.input)), _Stage.QUALIFY, *values)
        made = {each.name: block.over(each.value) for each in node.outputs}
        block.columns, block.values, block.whole = node.columns, made, None
        return block

    def _filter(self, node: Filter) -> _Block:
        block = self.block(node.input)
        named_ = {each.name for each in node.predicate.find_all(exp.Column)}
        plain = all(_is_plain(block.values[name]) for name in named_)
        once = not block.repeats([node.predicate])
        clause = _CLAUSES.get(block.stage)
        if clause is None or not (plain if clause is _WHERE else once):
            block, clause = self._wrapped(block), _WHERE
        name, kind, stage = clause
        block.add(name, block.over(node.predicate), kind)
        block.stage, block.whole = stage, None
        return block

    def _flat_map(self, node: FlatMap) -> _Block:
        block = self.block(node.input)
        match node.generator:
            case TimeWindows(call):
                return self._time_windows(node, call, block)
            case Elements(arrays):
                block = self._up_to(block, _Stage.WHERE, *arrays)
                of_fields = len(node.given) > len(arrays)  # each reads its array for itself
                if of_fields and not all(_is_plain(block.over(each)) for each in arrays):
                    block, arrays = self._computed(block, arrays)
                if block.first is None:
                    block = self._wrapped(block)
                alias = self._alias("u")
                names = [exp.to_identifier(each.name) for each in node.given]
                unnest = exp.Unnest(
                    expressions=[block.over(each) for each in arrays],
                    alias=exp.TableAlias(this=exp.to_identifier(alias), columns=names),
                )
                join = exp.Join(this=unnest, kind="CROSS")
                if node.outer:
                    join = exp.Join(this=unnest, side="LEFT", on=typed(exp.true(), t.BOOLEAN))
                block.joins.append(join)
                block.values |= _columns_of(alias, node.given)
        block.columns, block.whole, block.unnests = node.columns, None, True
        return block

    def _computed(
        self, block: _Block, scalars: Sequence[Scalar]
    ) -> tuple[_Block, tuple[Scalar, ...]]:
        """A block that reads one with the values of scalars, and the columns that they are."""
        made: list[Column] = []
        for each in scalars:
            name = fresh("value", {*block.values, *(one.name for one in made)})
            made.append(Column(name, type_of(each)))
            block.values[name] = block.over(each)
        block.columns, block.whole = (*block.columns, *made), None
        return self._wrapped(block), tuple(column(each.name, each) for each in made)

    def _time_windows(self, node: FlatMap, call: exp.Expr, block: _Block) -> _Block:
        time = call.args["time"].name
        if block.joins or block.stage > _Stage.FROM or not isinstance(block.first, exp.Table):
            block = self._wrapped(block)
        assert block.first is not None
        alias = block.first.alias_or_name
        window = call.copy()
        inner = block.first
        if isinstance(inner, exp.Table) and not isinstance(inner.this, WindowTable):
            inner = inner.copy()
            inner.set("alias", None)
        window.set("this", inner)
        window.set("time", block.values[time].copy())
        table = exp.Table(this=window, alias=_named_item(alias))
        values = dict(block.values)
        for each, own in zip(node.given, (WINDOW_START, WINDOW_END), strict=True):
            values[each.name] = _column(alias, own, each)
        return _Block(node.columns, values, table)

    def _union(self, node: Union) -> _Block:
        whole: exp.Query = self._branch(node.parts[0], node.given)
        for part in node.parts[1:]:
            branch = self._branch(part, node.given)
            whole = exp.Union(this=whole, expression=branch, distinct=False)
        return self._of_sets(whole, node.given)

    def _set_operation(self, node: SetOperation) -> _Block:
        kind = exp.Intersect if node.kind == "intersect" else exp.Except
        sides = [self._branch(each, node.given) for each in node.inputs]
        whole = kind(this=sides[0], expression=sides[1], distinct=not node.all)
        return self._of_sets(whole, node.given)

    def _branch(self, node: Node, given: Sequence[Column]) -> exp.Query:
        block = self.block(node)
        labels = [each.name for each in given]
        names = [each.name for each in node.columns]
        made = self._query(block, [*zip(labels, names, strict=True)])
        if isinstance(made, exp.SetOperation) or made.args.get("limit"):
            return exp.Subquery(this=made)
        return made

    def _query(self, block: _Block, labels: Sequence[tuple[str, str]]) -> exp.Query:
        """A query of some columns of a block, each with a name to show."""
        names = [name for _, name in labels]
        if block.whole is not None and block.stage is _Stage.FROM and names == [*block.values]:
            for select in union_branches(block.whole):
                rename_outputs(select, [label for label, _ in labels])
            return block.whole
        if sorted(names) != sorted(block.values):
            block = _as_groups(block)
            block = self._wrapped(block) if block.stage is _Stage.DISTINCT else block
        if order := block.clauses.get("order"):
            _name_outputs(order, labels, block)
        return self._select(block, [_shown(block.values[n], label) for label, n in labels])

    def _of_sets(self, whole: exp.Query, given: tuple[Column, ...]) -> _Block:
        alias = self._alias("q")
        item = exp.Subquery(this=whole, alias=_named_item(alias))
        found = _Block(given, _columns_of(alias, given), item)
        found.whole = whole if isinstance(whole, exp.SetOperation) else None
        return found

    # ---------------------------------------------------------------------------------- joins

    def _join(self, node: Join) -> _Block:
        if node.kind in (JoinKind.INNER, JoinKind.LEFT, JoinKind.FULL):
            return self._pairs(node)
        left = self.block(node.left)
        stage = _Stage.GROUP if node.kind in MARKS else _Stage.WHERE
        left = self._up_to(left, stage, *(each.left for each in node.equal), node.residual)
        found = self._predicate(node, left)
        if node.mark is not None:
            left.values[node.mark.name] = found
            left.columns, left.whole = node.columns, None
            return left
        left.add("where", found, exp.Where)
        left.stage, left.whole = max(left.stage, _Stage.WHERE), None
        return left

    def _predicate(self, node: Join, left: _Block) -> exp.Expr:
        """EXISTS or IN, with NOT before it where it has to be so."""
        right = self._up_to(self.block(node.right), _Stage.WHERE)
        right.whole = None
        aware = node.kind in (JoinKind.NULL_AWARE_ANTI, JoinKind.NULL_AWARE_MARK)
        equal = node.equal[1:] if aware else node.equal
        for each in equal:
            right.add("where", self._equality(each, left, right), exp.Where)
        if node.residual is not None:
            both = {**left.values, **right.values}
            right.add("where", replaced(node.residual, both), exp.Where)
        value = typed(exp.true(), t.BOOLEAN)
        if aware:
            value = right.over(node.equal[0].right)
        select = self._select(right, [named(value, "c1")])
        found: exp.Expr = exp.Exists(this=select)
        if aware:
            left_value = left.over(node.equal[0].left)
            found = exp.In(this=operand(left_value), query=exp.Subquery(this=select))
        found = typed(found, t.BOOLEAN)
        if node.kind in (JoinKind.ANTI, JoinKind.NULL_AWARE_ANTI):
            return typed(exp.Not(this=found), t.BOOLEAN)
        return found

    def _equality(self, each: Equal, left: _Block, right: _Block) -> exp.Expr:
        kind = exp.NullSafeEQ if each.null_safe else exp.EQ
        sides = (operand(left.over(each.left)), operand(right.over(each.right)))
        return typed(kind(this=sides[0], expression=sides[1]), t.BOOLEAN)

    def _pairs(self, node: Join) -> _Block:
        left, right = self.block(node.left), self.block(node.right)
        most = _Stage.WHERE if node.kind is JoinKind.INNER else _Stage.FROM
        left = self._up_to(left, most, *(each.left for each in node.equal), node.residual)
        computed = not _only_columns(left)
        if left.unnests or left.first is None or (node.kind is JoinKind.FULL and computed):
            left = self._wrapped(left)
        bare = right.stage is _Stage.FROM and not right.joins and right.first is not None
        if not bare or right.unnests or not _only_columns(right):
            right = self._wrapped(right)
        terms = [self._equality(each, left, right) for each in node.equal]
        if node.residual is not None:
            terms.append(replaced(node.residual, {**left.values, **right.values}))
        join = exp.Join(this=right.first)
        if terms:
            join.set("on", conjunction(terms))
        elif node.kind is not JoinKind.INNER:
            join.set("on", typed(exp.true(), t.BOOLEAN))
        else:
            join.set("kind", "CROSS")
        if node.kind is not JoinKind.INNER:
            join.set("side", node.kind.value.upper())
        left.joins.append(join)
        left.values |= right.values
        for each in node.columns:
            value = left.values[each.name]
            if isinstance(value, exp.Column):
                left.values[each.name] = value = value.copy()
                value.meta[NULLABLE] = each.nullable
        left.columns, left.whole = node.columns, None
        return left

    # ----------------------------------------------------------------------- groups and order

    def _aggregate(self, node: Aggregate) -> _Block:
        calls = [each.value for each in node.measures]
        block = self.block(node.input)
        if not node.measures and node.keys:
            block = self._up_to(block, _Stage.OVER)
            block.columns = node.columns
            block.values = {name: block.values[name] for name in node.keys}
            block.clauses["distinct"] = exp.Distinct()
            block.stage, block.whole = _Stage.DISTINCT, None
            return block
        block = self._up_to(block, _Stage.WHERE, *calls)
        if any(block.values[name].find(exp.Query) for name in node.keys):
            block = self._wrapped(block)
        keys = [block.values[name].copy() for name in node.keys]
        group = exp.Group(expressions=keys) if keys else None
        if group is not None:
            block.clauses["group"] = group
        values = {name: block.values[name] for name in node.keys}
        values |= {each.name: block.over(each.value) for each in node.measures}
        block.columns, block.values = node.columns, values
        block.stage, block.whole = _Stage.GROUP, None
        return block

    def _window(self, node: Window) -> _Block:
        calls = [each.value for each in node.calls]
        scalars = [*node.partition, *(each.this for each in node.order), *calls]
        block = self.block(node.input)
        most = _Stage.GROUP if block.stage is not _Stage.OVER else _Stage.OVER
        block = self._up_to(block, most)
        if any(
            block.values[each.name].find(exp.Window, exp.Query)
            for scalar in scalars
            for each in scalar.find_all(exp.Column)
        ):
            block = self._wrapped(block)
        for each in node.calls:
            over = exp.Window(
                this=block.over(each.value),
                partition_by=[block.over(part) for part in node.partition] or None,
                order=exp.Order(expressions=[block.over(item) for item in node.order])
                if node.order
                else None,
                spec=block.over(node.frame) if node.frame is not None else None,
                over="OVER",
            )
            over.type = each.column.type
            block.values[each.name] = over
        block.columns, block.whole = node.columns, None
        block.stage = _Stage.OVER
        return block

    def _top(self, node: Top) -> _Block:
        block = self._up_to(self.block(node.input), _Stage.OVER)
        if node.order:
            order = [block.over(item) for item in node.order]
            block.clauses["order"] = exp.Order(expressions=order)
        if node.limit is not None:
            block.clauses["limit"] = exp.Limit(expression=node.limit.copy())
        if node.offset is not None:
            block.clauses["offset"] = exp.Offset(expression=node.offset.copy())
        block.stage, block.whole = _Stage.LIMIT, None
        return block

    # --------------------------------------------------------------------- patterns and rounds

    def _match(self, node: Match) -> _Block:
        names = [each.name for each in node.input.columns]
        below = self._query(self.block(node.input), [*zip(node.reads, names, strict=True)])
        new = {own: exp.column(label) for own, label in zip(names, node.reads, strict=True)}
        order = exp.Order(expressions=[replaced(item, new) for item in node.order])
        alias = self._alias("m")
        rows = PatternRows(
            this=exp.Subquery(this=below),
            order=order,
            clause=node.clause,
            fields=tuple((n, c.type) for n, c in zip(node.gives, node.given, strict=True)),
            alias=_named_item(alias),
        )
        values = {
            each.name: _column(alias, label, each)
            for each, label in zip(node.given, node.gives, strict=True)
        }
        return _Block(node.columns, dict(values), rows)

    def _self(self, node: Self) -> _Block:
        alias = self._alias("w")
        rows = WorkingTable(this=node.name, alias=_named_item(alias))
        return _Block(node.columns, _columns_of(alias, node.columns), rows)

    def _fixpoint(self, node: Fixpoint) -> _Block:
        sides = [self._branch(each, node.given) for each in (node.anchor, node.step)]
        union = exp.Union(this=sides[0], expression=sides[1], distinct=node.distinct)
        alias = self._alias("r")
        rows = RecursiveRows(
            this=union,
            name=node.name,
            fields=tuple((each.name, each.type) for each in node.given),
            alias=_named_item(alias),
        )
        return _Block(node.columns, _columns_of(alias, node.columns), rows)


def _column(alias: str, name: str, like: Column) -> exp.Expr:
    found = column(name, like)
    found.set("table", exp.to_identifier(alias))
    found.meta[BOUND] = like.bound
    return found


def _named_item(alias: str) -> exp.TableAlias:
    return exp.TableAlias(this=exp.to_identifier(alias))


def _columns_of(alias: str, columns: Sequence[Column]) -> dict[str, exp.Expr]:
    return {each.name: _column(alias, each.name, each) for each in columns}


def _as_groups(block: _Block) -> _Block:
    """The same block; rows that are different are groups, so that not all columns need be shown."""
    keys = list(block.values.values())
    computed = (exp.Window, exp.Query)  # what no group can be of; a number would be a place
    if block.stage is _Stage.DISTINCT and all(
        each.find(exp.Column) and not each.find(*computed) for each in keys
    ):
        del block.clauses["distinct"]
        block.clauses["group"] = exp.Group(expressions=[each.copy() for each in keys])
        block.stage = _Stage.GROUP
    return block


def _is_plain(value: exp.Expr) -> bool:
    return isinstance(value, _PLAIN)


def _only_columns(block: _Block) -> bool:
    """Whether a block computes nothing: a constant, too, is NULL where an outer join misses it."""
    return all(isinstance(each, exp.Column) for each in block.values.values())


def _is_brief(value: exp.Expr) -> bool:
    """Whether a value is a column, or an aggregate, which every engine computes once."""
    return isinstance(value, (exp.AggFunc, exp.Filter)) or _is_plain(value)


def _shown(value: exp.Expr, label: str) -> exp.Alias:
    item = named(value, label)
    item.set("alias", identifier(label))
    return item


def _name_outputs(order: exp.Expr, labels: Sequence[tuple[str, str]], block: _Block) -> None:
    """Order by the names of outputs, which SQL looks for first."""
    names = {block.values[name]: label for label, name in reversed(labels)}
    for item in order.expressions:
        if (label := names.get(item.this)) is not None:
            item.set("this", typed(exp.column(identifier(label)), type_of(item.this)))
