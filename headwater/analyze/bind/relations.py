"""FROM and JOIN → relations with an alias and typed columns each.

In: the FROM clause of one SELECT. Out: its list of
:class:`~headwater.analyze.names.scope.Relation`; the nodes are changed in place: aliases
everywhere, USING as ON, window tables qualified.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from sqlglot import exp

from headwater.analyze.bind.from_subqueries import COMMA
from headwater.analyze.bind.lateral import flatten, refuse_computed
from headwater.analyze.bind.windowing import window_fields
from headwater.analyze.correlated.attempts import BindingAttempt, SubqueryBinder
from headwater.analyze.correlated.domain import NoDomain
from headwater.analyze.correlated.laterals import join_values, lateral_query
from headwater.analyze.correlated.outer import domain_of, from_items, mark_columns
from headwater.analyze.definitions import Field, View
from headwater.analyze.diagnostics import NAME
from headwater.analyze.inference.infer import infer
from headwater.analyze.names.scope import Relation, as_fields, is_beyond, knows, resolve
from headwater.analyze.patterns.from_item import pattern_rows
from headwater.analyze.query_parts import (
    columns_of_one,
    own_aggregate,
    rename_outputs,
    stand_for,
    union_branches,
)
from headwater.analyze.recursion.from_item import bind_recursive_rows, working_relation
from headwater.analyze.shapes.bracketed_joins import WITHIN, is_bracket, is_comma, with_names
from headwater.analyze.shapes.unnesting import make_plain, unnested_columns
from headwater.analyze.shapes.using import natural_columns, one_side, share_columns
from headwater.analyze.shapes.value_lists import unnested, values_of, values_query
from headwater.analyze.time.as_of import AsOfJoin
from headwater.analyze.time.keyed_versions import log_of
from headwater.analyze.time.pushdown import pushed_down
from headwater.analyze.time.sessions import session_of
from headwater.analyze.time.versions import is_as_of
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import expect_boolean, type_of
from headwater.dialect.syntax import MatchRecognize, RecursiveRows, WindowTable, WorkingTable
from headwater.dialect.vocabulary import told_apart
from headwater.errors.nearest import did_you_mean

FILE_HINT = "declare it: CREATE TABLE name (…) WITH (connector = 'files', path = '…')"


class Binder(SubqueryBinder, Protocol):
    """The binder of the statement: what FROM looks names up in, and what binds its subqueries."""

    broken: frozenset[str]
    inputs: dict[str, None]
    beyond: Sequence[Relation]
    working: dict[str, Sequence[Field]]
    below: Callable[[View], exp.Query | None]

    def bind(self, query: exp.Expr, *, named: bool = True) -> tuple[Field, ...]:
        """Bind a query in place and return the columns of its result."""

    def bind_bracket(self, rows: exp.Select, alias: str, before: int) -> list[Relation]:
        """Bind joins in brackets in place and return what stands for their FROM items."""


class RelationBinder:
    """Binds the FROM clause of one SELECT.

    Args:
        binder: the binder of the statement.
        before: the number of relations outside brackets that the FROM clause stands in.
    """

    def __init__(self, binder: Binder, before: int = 0) -> None:
        self.binder = binder
        self.report = binder.report
        self.relations: list[Relation] = []
        self.brackets: list[exp.Subquery] = []
        """The joins in brackets that became derived tables."""
        self._before = before
        self._group = 0
        """The first relation behind the last comma, which binds after the joins behind it."""

    def bind(self, select: exp.Select) -> list[Relation]:
        """Bind FROM and the joins of a SELECT and return its relations in order."""
        source = select.args.get("from_")
        if source is None:
            return []
        if match := select.args.get("match"):
            self._matches(select, match)
            return self.relations
        joins = list(select.args.get("joins") or [])
        laterals = any(isinstance(join.this, exp.Lateral) for join in joins)
        written = from_items(select) if laterals else []
        self._values(source.this, None, ())
        for relation in self._items(source.this):
            self._add(relation, source.this)
        for at, join in enumerate(joins, start=1):
            if is_comma(join):
                join.set("kind", "CROSS")
                join.meta[COMMA] = True
                self._group = len(self.relations)
            if isinstance(join.this, exp.Lateral):
                self._lateral(join, written[:at])
            else:
                self._join(join)
        return self.relations

    def _matches(self, select: exp.Select, match: exp.Expr) -> None:
        """Put the rows of ``MATCH_RECOGNIZE`` in the place of what it reads."""
        select.set("match", None)
        source, joins = select.args["from_"], select.args.get("joins") or []
        alias = match.alias or source.this.alias_or_name or "_q1"
        rows = exp.Select(expressions=[exp.Star()], from_=exp.From(this=source.this))
        if joins:
            hint = "put the join into a subquery: FROM (SELECT … JOIN …) MATCH_RECOGNIZE (…)"
            self.report.not_yet("MATCH_RECOGNIZE beside a join", joins[0].this, hint)
            select.set("joins", None)
        assert isinstance(match, MatchRecognize)
        if match.alias_column_names:
            hint = "name them in MEASURES"
            at = match.args["alias"]
            self.report.not_yet("new names for the columns of MATCH_RECOGNIZE", at, hint)
        fields, found = self.binder.bind(rows), None
        if not self.binder.tainted:
            within = exp.Subquery(this=rows)
            _set_alias(within, source.this.alias_or_name or "_rows")
            found = pattern_rows(match, within, fields, alias, self.report)
        found = found or self._broken(alias, match)
        source.set("this", found.node)
        self._add(found, match)

    def _lateral(self, join: exp.Join, written: Sequence[exp.Expr]) -> None:
        """Bind LATERAL as plain joins, or else as one with all values of what it reads."""
        alias = join.this.alias or self._name("q")
        mark_columns(join.this, self.binder.number)
        kept, attempt = join.copy(), BindingAttempt(self.binder, [*self.relations])
        if attempt.holds(lambda: self._flatten(join, alias)):
            if isinstance(join.this, exp.Lateral):  # its columns are computed
                join.pop()
            return
        with suppress(NoDomain):
            query = lateral_query(kept)
            attempt.holds(lambda: self.binder.bind_within(self.relations, query.copy()))
            values = domain_of(attempt.around, written, self.binder.number)
            found = join_values(kept, alias, values)
            del self.relations[len(attempt.around) :]
            join.replace(found)
            if attempt.holds(lambda: self._join(found, self.relations)):
                return
        attempt.give_up()
        del self.relations[len(attempt.around) :]
        self._add(self._broken(alias, join), join)

    def _flatten(self, join: exp.Join, alias: str) -> None:
        reads = RelationBinder(self.binder).bind
        errors = len(self.report.errors)
        flat = flatten(join, alias, self.relations, reads, self.report)
        if len(self.report.errors) > errors:
            return
        if flat.join is not None:
            self._join(flat.join, self.relations)
        if flat.computed:
            fields = [Field(name, self._computed(value)) for name, value in flat.computed.items()]
            self._add(Relation(alias, as_fields(fields), join, computed=flat.computed), join)

    def _computed(self, value: exp.Expr) -> exp.DataType:
        """The type of what stands for a column; the columns before a LATERAL are resolved."""
        for column in value.find_all(exp.Column):
            if column.type is None:
                resolve(column, [self.relations[-1]], self.report)
        infer(value, self.report)
        return type_of(value)

    def _add(self, relation: Relation, at: exp.Expr) -> None:
        if any(relation.alias == other.alias for other in self.relations):
            message = f'"{relation.alias}" stands twice in FROM'
            hint = "give each one a name of its own: FROM t AS a JOIN t AS b"
            self.report.add("DUPLICATE_ALIAS", message, at, hint)
        self.relations.append(relation)

    def _join(self, join: exp.Join, visible: Sequence[Relation] | None = None) -> None:
        """Bind a join whose condition sees some relations, by default those after the comma."""
        as_of = AsOfJoin(join, self.binder.catalog, self.report) if is_as_of(join) else None
        if as_of:
            as_of.take()
        known = frozenset(self.binder.inputs)
        before = [*(self.relations[self._group :] if visible is None else visible)]
        shared = [each.name for each in join.args.get("using") or ()]
        listed = self._values(join.this, join, before)
        items = self._items(join.this)
        relation = items[0]
        if listed:
            items = [replace(relation, hidden=frozenset(shared))]
        for each in items:
            self._add(each.optional() if join.side in ("LEFT", "FULL") else each, join.this)
        sides = slice(self._group, -len(items)), slice(-len(items), None)
        using = self._natural(join, *sides) if join.method == "NATURAL" else join.args.get("using")
        if using:
            items = self._using(join, using, *sides)
        if as_of and not relation.broken:
            as_of.compare(relation)
        condition = join.args.get("on")
        if condition is not None:
            self._condition(join, condition, [*before, *items])
        if as_of and not any(each.broken for each in [*before, relation]):
            self._versions(as_of, relation, known)
        if join.side in ("RIGHT", "FULL"):
            joined = slice(self._group, sides[0].stop)
            refuse_computed(join, self.relations[joined], self.report)
            self.relations[joined] = [each.optional() for each in self.relations[joined]]

    def _versions(self, as_of: AsOfJoin, right: Relation, known: frozenset[str]) -> None:
        """Let the versions that held at a time stand for the right side of a bound join.

        Args:
            known: what is read already, without it.
        """
        if found := as_of.versions(right):
            stand_for(found, right.node)
            right.node.replace(found)
            log = log_of(right, self.binder.catalog)
            if log and any(table.name == log.name for table in found.find_all(exp.Table)):
                self.binder.inputs[log.name] = None
                if right.node.name not in known:
                    del self.binder.inputs[right.node.name]
            self.relations[-1] = replace(self.relations[-1], node=found)

    def _condition(self, join: exp.Join, condition: exp.Expr, visible: Sequence[Relation]) -> None:
        wrapper = exp.Paren(this=condition.copy())
        around = visible
        for column in list(wrapper.find_all(exp.Column)):
            if column.find_ancestor(exp.Query) is not None:
                continue
            within = column.meta.get(WITHIN)
            visible = [each for each in around if within is None or each.alias in within]
            if not knows(column, visible) and knows(column, self.relations):
                message = f'ON cannot see "{column.sql("trino")}": the comma binds after JOIN'
                hint = "write CROSS JOIN instead of the comma"
                self.report.add("UNKNOWN_COLUMN", message, column, hint)
                column.type = t.UNKNOWN
            elif not is_beyond(column, visible, self.binder.beyond, self.report):
                resolve(column, visible, self.report)
        infer(wrapper, self.report)
        expect_boolean(wrapper.this, "ON", self.report)
        if found := own_aggregate(wrapper):
            hint = "aggregate in a subquery"
            self.report.add("MISPLACED_AGGREGATE", "aggregates cannot stand in ON", found, hint)
        join.set("on", wrapper.this)

    def _values(self, item: exp.Expr, join: exp.Join | None, before: Sequence[Relation]) -> bool:
        """Write VALUES as UNNEST; return whether the item was one."""
        values = values_of(item)
        if values is None:
            return False
        alias = values.alias or self._name("q")
        if join is not None and (join.side in ("RIGHT", "FULL") or join.method):
            item.replace(values_query(values, alias))
            return False
        found = unnested(values, alias, join, lambda column: knows(column, before), self.report)
        item.replace(found or values)
        return found is not None

    def _using(
        self, join: exp.Join, names: Sequence[exp.Expr], left: slice, right: slice
    ) -> list[Relation]:
        """Let two columns of one name be one, whose values are equal; return the right side."""
        before, items = self.relations[left], self.relations[right]
        shared = share_columns(join, names, before, one_side(items), self.report)
        hidden = shared.right.hidden
        self.relations[left] = shared.before
        self.relations[right] = [replace(each, hidden=each.hidden | hidden) for each in items]
        if shared.merged:
            self.relations.insert(self._group, shared.relation(self._name("using", 0)))
        join.set("using", None)
        if shared.conditions:
            join.set("on", exp.and_(*shared.conditions, copy=False))
        return [shared.right]

    def _natural(self, join: exp.Join, left: slice, right: slice) -> list[exp.Identifier]:
        """The columns of a NATURAL JOIN."""
        join.set("method", None)
        names = natural_columns(self.relations[left], one_side(self.relations[right]))
        if not names and not any(each.broken for each in self.relations):
            hint = "write CROSS JOIN, or ON with a condition"
            message = "the two sides of NATURAL JOIN have no column in common"
            self.report.add("UNKNOWN_COLUMN", message, join.this, hint)
        return names

    def _name(self, kind: str, more: int = 1) -> str:
        """A name for what has none."""
        return f"_{kind}{self._before + len(self.relations) + more}"

    def _items(self, node: exp.Expr) -> list[Relation]:
        """Bind a FROM item; of joins in brackets return a derived table and what is in it."""
        if not isinstance(node, exp.Subquery) or not is_bracket(node):
            return [self._relation(node)]
        alias = self._name("joined")
        found = self.binder.bind_bracket(node.this, alias, self._before + len(self.relations) + 1)
        if self.binder.tainted:
            return [self._broken(alias, node)]
        _set_alias(node, alias)
        self.brackets.append(node)
        return [replace(each, node=node) for each in found]

    def _relation(self, node: exp.Expr) -> Relation:
        if isinstance(node, exp.Subquery):
            return self._subquery(node)
        if isinstance(node, exp.Unnest):
            return self._unnest(node)
        if isinstance(node, RecursiveRows):
            return self._recursive(node)
        if isinstance(node, exp.Table) and node.alias_column_names:
            return self._subquery(with_names(node))
        if isinstance(node, WorkingTable):
            return working_relation(node, self.binder.working[node.this], self.report)
        if isinstance(node, exp.Table) and isinstance(node.this, WindowTable):
            return self._window(node)
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            return self._table(node)
        if isinstance(node, exp.Values):
            return self._broken(node.alias or "_broken", node)
        self.report.add(
            "UNSUPPORTED_SYNTAX",
            "this cannot stand in FROM",
            node,
            "read a table, a view or a subquery",
        )
        return self._broken(node.alias_or_name or "_broken", node)

    def _broken(self, alias: str, node: exp.Expr) -> Relation:
        self.binder.tainted = True
        return Relation(alias, {}, node, broken=True)

    def _table(self, node: exp.Table) -> Relation:
        name, alias = node.name, node.alias or node.name
        catalog = self.binder.catalog
        if node.args.get("db"):
            shown = ".".join(part.name for part in node.parts)
            message = f'"{shown}" is not a table of the project'
            self.report.add("INVALID_TABLE_NAME", message, node, FILE_HINT)
            return self._broken(alias, node)
        if not NAME.fullmatch(name):
            message = f'"{name}" cannot be the name of a table'
            self.report.add("INVALID_TABLE_NAME", message, node, FILE_HINT)
            return self._broken(alias, node)
        if name in self.binder.broken:
            return self._broken(alias, node)
        if name in catalog.sources:
            fields = catalog.sources[name].fields
        elif name in catalog.views:
            fields = catalog.views[name].fields
        else:
            known = [*catalog.sources, *catalog.views, *self.binder.broken]
            known += self.report.local_tables
            hint = did_you_mean(name, known, "tables and views") if known else FILE_HINT
            self.report.add("UNKNOWN_TABLE", f'table "{name}" does not exist', node, hint)
            return self._broken(alias, node)
        if below := self.binder.below(catalog.views[name]) if name in catalog.views else None:
            return self._passed_on(node, alias, below, fields)
        self.binder.inputs[name] = None
        _set_alias(node, alias)
        key = catalog.views[name].proven_key if name in catalog.views else None
        return Relation(alias, as_fields(fields), node, key=key)

    def _passed_on(
        self, node: exp.Table, alias: str, query: exp.Query, fields: Sequence[Field]
    ) -> Relation:
        """A bound query that stands for a view."""
        for table in query.find_all(exp.Table):
            self.binder.inputs[table.name] = None
        subquery = exp.Subquery(this=query)
        stand_for(subquery, node)
        _set_alias(subquery, alias)
        node.replace(subquery)
        return Relation(alias, as_fields(fields), subquery)

    def _subquery(self, node: exp.Subquery) -> Relation:
        fields = self.binder.bind(node.this)
        alias = node.alias or self._name("q")
        names = node.alias_column_names
        if names:
            fields = self._renamed(node, fields, names)
        _set_alias(node, alias)
        if self.binder.tainted:
            return self._broken(alias, node)
        return Relation(alias, as_fields(fields), node, key=self._key_of(node.this))

    def _key_of(self, query: exp.Expr) -> Sequence[str] | None:
        """The key of the table of which a bound query shows rows, by the names that it gives."""
        shown = columns_of_one(query)
        table = query.args["from_"].this if shown else None
        view = self.binder.catalog.views.get(table.name) if isinstance(table, exp.Table) else None
        key = view.proven_key if view is not None else None
        if key is None or not shown.keys() >= {*key}:
            return None
        return [shown[each] for each in key]

    def _recursive(self, node: RecursiveRows) -> Relation:
        alias, binder = node.alias, self.binder
        found = bind_recursive_rows(node, alias, binder.bind, binder.working, self.report)
        return found or self._broken(alias, node)

    def _renamed(
        self, node: exp.Subquery, fields: Sequence[Field], names: Sequence[str]
    ) -> tuple[Field, ...]:
        if len(names) != len(fields):
            if not self.binder.tainted:
                message = f"{len(names)} names for {len(fields)} columns"
                hint = "give as many names as the subquery has columns"
                self.report.add("WRONG_ARGUMENTS", message, node.args["alias"], hint)
            return tuple(fields)
        names = told_apart(names)
        for branch in union_branches(node.this):
            rename_outputs(branch, names)
        return tuple(replace(field, name=name) for field, name in zip(fields, names, strict=True))

    def _unnest(self, node: exp.Unnest) -> Relation:
        alias = node.alias or self._name("q")
        wrapper = exp.Tuple(expressions=[item.copy() for item in node.expressions])
        for column in list(wrapper.find_all(exp.Column)):
            if not is_beyond(column, self.relations, self.binder.beyond, self.report):
                resolve(column, self.relations, self.report)
        for item in wrapper.expressions:
            infer(item, self.report)
        node.set("expressions", wrapper.expressions)
        before = sum(len(each.shown) for each in self.relations)
        columns = unnested_columns(node, alias, before, self.report)
        if not columns:
            return self._broken(alias, node)
        make_plain(node, node.parent if isinstance(node.parent, exp.Join) else None)
        return Relation(alias, as_fields([Field(*each) for each in columns.items()]), node)

    def _window(self, node: exp.Expr) -> Relation:
        window: WindowTable = node.this
        inner = self._relation(window.this)
        alias = node.alias or inner.alias
        _set_alias(node, alias)
        if inner.broken:
            return self._broken(alias, node)
        time = window.args["time"]
        resolve(time, [inner], self.report)
        for key in window.args.get("partition_by") or []:
            resolve(key, [inner], self.report)
        errors = len(self.report.errors)
        fields = window_fields(window, inner, self.report)
        if len(self.report.errors) == errors:
            found: exp.Expr | None = None
            if window.args["kind"] == "session":
                found = session_of(window, inner, alias, self.report)
            elif found := pushed_down(window, self.binder.catalog):
                _set_alias(found, alias)
            if found is not None:
                node.replace(found)
                node = found
        return Relation(alias, as_fields(fields), node)


def _set_alias(node: exp.Expr, alias: str) -> None:
    node.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
