"""A parsed query → a bound query in canonical form.

In: a query and the catalog of what it may read. Out: the same tree, changed in place: FROM items
with an alias each, stars expanded, columns qualified and typed, every output an alias,
``date_trunc`` keys on an event time as ``TUMBLE`` windows, GROUP BY holding expressions (both
bounds of a window if it holds one).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import cast

from sqlglot import exp

from headwater.analyze.bind.grouping import bind_grouping
from headwater.analyze.bind.join_conditions import move_to_joins
from headwater.analyze.bind.merge_subqueries import merge_subqueries
from headwater.analyze.bind.ordering import bind_order, break_ties
from headwater.analyze.bind.over_groups import lift_groups
from headwater.analyze.bind.relations import RelationBinder
from headwater.analyze.bind.scope import Relation, knows, resolve
from headwater.analyze.bind.subqueries import bind_predicates
from headwater.analyze.bind.unnesting import unnest_first
from headwater.analyze.bind.windowing import complete_window_keys, recognise_date_trunc
from headwater.analyze.definitions import Catalog, Field
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.portable.collecting_aggregates import settle
from headwater.analyze.query_parts import (
    aggregates,
    is_aggregate,
    is_over,
    union_branches,
    window_calls,
    windows_of,
)
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import cast_to, expect_boolean, type_of
from headwater.analyze.typing.infer import infer
from headwater.analyze.typing.nullable import nullable
from headwater.analyze.typing.window_functions import anchor_windows


class QueryBinder:
    """Binds one statement's query.

    Attributes:
        catalog: sources and views bound so far.
        broken: names that are defined but have errors of their own; what reads them is not blamed.
        report: where errors go.
        inputs: what the query reads, in order of first use (the values are unused).
        tainted: whether it reads something broken, so that its result means nothing.
    """

    def __init__(self, catalog: Catalog, broken: frozenset[str], report: Diagnostics) -> None:
        self.catalog = catalog
        self.broken = broken
        self.report = report
        self.inputs: dict[str, None] = {}
        self.tainted = False
        self._outer: Sequence[Relation] = ()
        self._bases: dict[int, tuple[exp.Select, Relation]] = {}

    def bind(self, query: exp.Expr, *, named: bool = True) -> tuple[Field, ...]:
        """Bind a query in place and return the columns of its result.

        Args:
            query: SELECT, a set operation or either in brackets, WITH already inlined.
            named: whether its columns need names.
        """
        if isinstance(query, exp.Subquery):
            return self.bind(query.this, named=named)
        if isinstance(query, exp.SetOperation):
            return self._union(query, named=named)
        if isinstance(query, exp.Select):
            return self._select(query, named=named)
        self.report.add("UNSUPPORTED_SYNTAX", f"{query.key.upper()} is not a query", query)
        return ()

    def _union(self, union: exp.SetOperation, *, named: bool) -> tuple[Field, ...]:
        branches = union_branches(union)
        first_named = [named and branch is branches[0] for branch in branches]
        pairs = zip(branches, first_named, strict=True)
        bound = [self._select(branch, named=needed) for branch, needed in pairs]
        first = bound[0]
        for branch, fields in zip(branches[1:], bound[1:], strict=True):
            if self.tainted:
                return first
            if len(fields) != len(first):
                message = f"{_words(union)} joins {len(first)} and {len(fields)} columns"
                hint = "select the same columns in the same order"
                self.report.add("TYPE_CLASH", message, branch, hint)
                return first
        columns = [self._union_column(at, branches, bound) for at in range(len(first))]
        return tuple(columns)

    def _union_column(
        self, at: int, branches: Sequence[exp.Select], bound: Sequence[tuple[Field, ...]]
    ) -> Field:
        fields = [branch[at] for branch in bound]
        name = fields[0].name
        kind = fields[0].type
        for branch, field in zip(branches[1:], fields[1:], strict=True):
            common = t.common_type([kind, field.type])
            if common is None:
                names = f"{t.sql_type(kind)} and {t.sql_type(field.type)}"
                message = f'column "{name}" of a set operation would be {names}'
                self.report.add("TYPE_CLASH", message, branch.selects[at], "cast one side")
                return Field(name, t.UNKNOWN)
            kind = common
        for branch, field in zip(branches, fields, strict=True):
            item = cast(exp.Alias, branch.selects[at])
            item.set("alias", exp.to_identifier(name))
            if field.type != kind:
                cast_to(item.this, kind)
        said = {field.comment for field in fields if field.type.this is not t.Type.NULL}
        comment = said.pop() if len(said) == 1 else ""
        return Field(name, kind, any(field.nullable for field in fields), comment)

    def _select(self, select: exp.Select, *, named: bool) -> tuple[Field, ...]:
        outer, self._outer = self._outer, ()
        relations = RelationBinder(self).bind(select)
        self._outer = outer
        self._expand_stars(select, relations)
        self._name_outputs(select, named)
        for root in _roots(select):
            _rewrite_date_add(root)
        columns = {name for item in relations for name in item.fields}
        grouped = bind_grouping(select, columns, self.report)
        _name_in_qualify(select, columns)
        bind_order(select, relations, self.report)
        for root in _roots(select):
            for column in list(root.find_all(exp.Column)):
                if not isinstance(column.this, exp.Star) and not _inside_query(column, root):
                    around = self._outer and not knows(column, relations)
                    seen = around and knows(column, self._outer)
                    resolve(column, self._outer if seen else relations, self.report)
        comments = {item.alias: _comment(item.this, relations) for item in select.selects}
        bind_predicates(select, relations, partial(self._inner, relations), self.report)
        relations = [relation for relation in relations if not relation.computed]
        relations = merge_subqueries(select, relations, self._bases)
        recognise_date_trunc(select, relations, self.catalog)
        complete_window_keys(select)
        for root in [*_roots(select), *_ordered(select)]:
            infer(root, self.report)
            if isinstance(root, (exp.Where, exp.Having, exp.Qualify)):
                expect_boolean(root.this, root.key.upper(), self.report)
        anchor_windows(select, relations, self.report)
        settle(select)
        break_ties(select, self.report)
        self._check_windows(select)
        if grouped:
            self._check_aggregates(select)
        move_to_joins(select)
        unnest_first(select)
        lift_groups(select)
        if len(relations) == 1:
            self._bases[id(select)] = (select, relations[0])
        return self._outputs(select, comments)

    def _inner(self, around: Sequence[Relation], query: exp.Query) -> tuple[Field, ...]:
        """Bind a subquery of an expression."""
        outer, self._outer = self._outer, around
        fields = self.bind(query, named=False)
        self._outer = outer
        return fields

    def _expand_stars(self, select: exp.Select, relations: Sequence[Relation]) -> None:
        items: list[exp.Expr] = []
        for item in select.expressions:
            if isinstance(item, exp.Star):
                self._check_star(item)
                items += _columns_of(relations)
            elif isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
                self._check_star(item.this)
                items += self._star_of(item, relations)
            else:
                items.append(item)
        select.set("expressions", items)

    def _check_star(self, star: exp.Star) -> None:
        if any(star.args.get(key) for key in star.arg_types):
            self.report.add("UNSUPPORTED_SYNTAX", "* takes no list here", star, "name the columns")

    def _star_of(self, item: exp.Column, relations: Sequence[Relation]) -> list[exp.Expr]:
        found = [relation for relation in relations if relation.alias == item.table]
        if not found:
            names = ", ".join(relation.alias for relation in relations)
            hint = f"relations are: {names}"
            self.report.add("UNKNOWN_TABLE", f'"{item.table}" is not in FROM', item, hint)
        return _columns_of(found)

    def _check_windows(self, select: exp.Select) -> None:
        group = select.args.get("group")
        places = [select.args.get("where"), select.args.get("having"), group]
        for place in filter(None, places):
            for found in windows_of(place):
                message = f"OVER cannot stand in {place.key.upper()}"
                hint = "filter with QUALIFY, or in the query around"
                self.report.add("MISPLACED_WINDOW", message, found, hint)
        if select.args.get("qualify") and not window_calls(select):
            message = "QUALIFY filters what OVER computes, and there is none"
            self.report.add("MISPLACED_WINDOW", message, select.args["qualify"], "use WHERE")

    def _check_aggregates(self, select: exp.Select) -> None:
        for found in aggregates(select.args.get("where")):
            message = "aggregates cannot stand in WHERE"
            self.report.add("MISPLACED_AGGREGATE", message, found, "filter groups with HAVING")
        group = select.args.get("group")
        having = select.args.get("having")
        qualify = select.args.get("qualify")
        heads = [*select.selects, *(node.this for node in (having, qualify) if node)]
        if not is_aggregate(select):
            if having:
                self.report.add("MISPLACED_AGGREGATE", "HAVING needs GROUP BY", having, "use WHERE")
            return
        keys = list(group.expressions) if group else []
        for head in heads:
            for column in _ungrouped(head, keys):
                self.report.add(
                    "NOT_GROUPED",
                    f'column "{column.name}" is neither a group key nor in an aggregate',
                    column,
                    f"add {column.name} to GROUP BY, or aggregate it: max({column.name})",
                )

    def _name_outputs(self, select: exp.Select, named: bool) -> None:
        """Make every output an alias; a UNION ALL takes the names of its first SELECT."""
        seen: set[str] = set()
        items: list[exp.Expr] = []
        for item in select.expressions:
            name = item.alias_or_name if isinstance(item, (exp.Alias, exp.Column)) else ""
            if named and not name:
                hint = "give it a name with AS"
                self.report.add("UNNAMED_COLUMN", "this expression has no name", item, hint)
            elif named and name in seen:
                message = f'column "{name}" is selected twice'
                self.report.add("DUPLICATE_COLUMN", message, item, "rename one of them with AS")
            seen.add(name)
            if not isinstance(item, exp.Alias):
                item = exp.Alias(this=item, alias=exp.to_identifier(name or "_unnamed"))
            items.append(item)
        select.set("expressions", items)

    def _outputs(self, select: exp.Select, comments: Mapping[str, str]) -> tuple[Field, ...]:
        grouped = bool(select.args.get("group"))
        return tuple(
            Field(
                item.alias,
                type_of(item.this),
                nullable(item.this, grouped),
                comments[item.alias],
            )
            for item in select.expressions
        )


def _comment(output: exp.Expr, relations: Sequence[Relation]) -> str:
    """Return the comment of the column that an output is, if it is one."""
    column = output.unnest()
    if not isinstance(column, exp.Column):
        return ""
    found = (each.fields.get(column.name) for each in relations if each.alias == column.table)
    return next((field.comment for field in found if field), "")


def _words(node: exp.SetOperation) -> str:
    return node.key.upper() + ("" if node.args.get("distinct") else " ALL")


def _roots(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield the expressions of a SELECT outside its FROM clause."""
    yield from select.expressions
    for key in ("where", "having", "qualify"):
        if node := select.args.get(key):
            yield node
    if group := select.args.get("group"):
        yield from group.expressions


def _ordered(select: exp.Select) -> list[exp.Expr]:
    """Return what ORDER BY names beside outputs."""
    order = select.args.get("order")
    items = order.expressions if order is not None else []
    return [item.this for item in items if not isinstance(item.this, exp.Column) or item.this.table]


def _name_in_qualify(select: exp.Select, columns: Collection[str]) -> None:
    """Replace output names in QUALIFY by what they stand for, unless FROM has such a column."""
    outputs = {item.alias: item.this for item in select.selects}
    for column in list((select.args.get("qualify") or exp.Null()).find_all(exp.Column)):
        if not column.table and column.name in outputs and column.name not in columns:
            column.replace(exp.paren(outputs[column.name].copy(), copy=False))


def _inside_query(node: exp.Expr, root: exp.Expr) -> bool:
    inner = node.parent
    while inner is not None and inner is not root.parent:
        if isinstance(inner, exp.Query):
            return True
        inner = inner.parent
    return False


def _columns_of(relations: Sequence[Relation]) -> list[exp.Expr]:
    return [
        exp.column(name, table=relation.alias)
        for relation in relations
        for name in relation.fields
        if not name.startswith("_") and name not in relation.hidden
    ]


def _ungrouped(head: exp.Expr, keys: Sequence[exp.Expr]) -> list[exp.Column]:
    """Return the columns of an output that are neither below an aggregate nor in a group key."""
    found: list[exp.Column] = []
    stack: list[exp.Expr] = [head]
    while stack:
        node = stack.pop()
        aggregate = isinstance(node, (exp.AggFunc, exp.Filter)) and not is_over(node)
        # a call that was refused, as Anonymous ones are, may have been of an aggregate
        covers = (exp.Query, exp.WithinGroup, exp.Anonymous)
        if aggregate or isinstance(node, covers) or node in keys:
            continue
        if isinstance(node, exp.Column):
            found.append(node)
        else:
            stack.extend(node.iter_expressions())
    return found


def _rewrite_date_add(root: exp.Expr) -> None:
    """``date_add('hour', 2, ts)`` → ``ts + INTERVAL '2' HOUR``, which all engines read alike."""
    for node in list(root.find_all(exp.DateAdd)):
        amount, unit = node.expression, node.text("unit").upper()
        negative = isinstance(amount, exp.Neg)
        literal = amount.this if negative else amount
        if not (isinstance(literal, exp.Literal) and literal.is_int and unit):
            continue
        span = exp.Interval(this=exp.Literal.string(literal.name), unit=exp.Var(this=unit))
        shifted = (exp.Sub if negative else exp.Add)(this=node.this.copy(), expression=span)
        node.replace(shifted)
