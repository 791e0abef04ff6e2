"""Bags: the rows that inner joins and UNION ALL gain and lose, each as often as it does.

In: bound queries that look at each row, or each combination of rows, on its own. Out: the same
queries over the changes of their inputs, for rules that do not read trees yet; of trees
:mod:`headwater.algebra.change` does the same.

A joined row changes by one of its items: the change of each is joined with the items before it as
they were, and those after it as they are now. Rows that come and rows that go stand side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from sqlglot import exp

from headwater.algebra.nodes import RowsRead
from headwater.analyze.correlated.subqueries import has_predicates
from headwater.analyze.definitions import Catalog
from headwater.analyze.query_parts import (
    is_aggregate,
    is_distinct,
    is_limited,
    is_union_all,
    optional,
    relations,
    union_branches,
    window_calls,
)
from headwater.analyze.rules.changelog import ChangelogModes
from headwater.plan.query_shape import RelationShape, relations_of
from headwater.plan.rules.tree_rewrites import union_all
from headwater.plan.sql.render import batch_read, render


def is_bag(query: exp.Expr) -> bool:
    """Return whether the change of a bound query follows from the changes of its inputs alone."""
    branches = union_branches(query)
    if any(is_aggregate(each) or is_distinct(each) or any(optional(each)) for each in branches):
        return False
    return is_union_all(query) and all(map(reads_bags, branches))


def reads_bags(select: exp.Select) -> bool:
    """Return whether a SELECT looks at nothing but joined rows, of bags.

    Args:
        select: a bound SELECT; what it makes of these rows, and outer joins, are not looked at.
    """
    if is_limited(select) or window_calls(select):
        return False
    inner = (item.this for item in relations(select) if isinstance(item, exp.Subquery))
    return not has_predicates(select) and all(map(is_bag, inner))


Cut = Callable[[RelationShape, int], "exp.Expr | None"]


class BagChange:
    """Writes the changes of what a query reads.

    Args:
        query: a bound query; the nodes given to the methods are part of it.
        allowed: allowed lateness, or None if every row counts.
        cut: gives the condition on the rows of a relation that a change of an item of FROM, by its
            number, can meet.
    """

    def __init__(
        self,
        query: exp.Query,
        catalog: Catalog,
        allowed: timedelta | None,
        cut: Cut | None = None,
    ) -> None:
        self._catalog = catalog
        self._allowed = allowed
        self._cut = cut
        self._modes = ChangelogModes(catalog)
        self._relations = {id(item.table): item for item in relations_of(query, catalog)}

    def appends(self, relation: RelationShape) -> bool:
        """Return whether an input only gains rows."""
        return not relation.ages.moves and self._modes.appends(relation.name)

    def appended(self, node: exp.Expr) -> bool:
        """Return whether everything that is read somewhere only gains rows.

        Args:
            node: a query, or an item of FROM.
        """
        read = (self._relations.get(id(table)) for table in node.find_all(exp.Table))
        return all(self.appends(relation) for relation in read if relation)

    def change(self, query: exp.Query) -> exp.Query:
        """Return the rows that a bag gains and loses."""
        return union_all([part for each in union_branches(query) for part in self.parts(each)])

    def parts(self, select: exp.Select) -> list[exp.Select]:
        """Return a SELECT once for each item of FROM, over the rows that change by it.

        A LEFT JOIN is taken for what it finds: rows that it has found nothing for are not lost when
        it does.

        Args:
            select: a SELECT that reads bags.
        """
        items = relations(select)
        changing = [n for n, item in enumerate(items) if not isinstance(item, exp.Unnest)]
        return [self._part(select, number) for number in changing]

    def _part(self, select: exp.Select, changing: int) -> exp.Select:
        part, own = select.copy(), relations(select)
        for number, item in enumerate(relations(part)):
            if not isinstance(item, exp.Unnest):
                state = RowsRead.AFTER if number > changing else RowsRead.BEFORE
                state = RowsRead.CHANGE if number == changing else state
                item.replace(self._item(own[number], state, changing))
        if changing and part.args["joins"][changing - 1].side:
            part.args["joins"][changing - 1].set("side", None)
            part.args["joins"][changing - 1].set("kind", None)
        return part

    def _item(self, item: exp.Expr, state: RowsRead, changing: int) -> exp.Expr:
        if isinstance(item, exp.Table):
            source = self._reader(state, changing)(self._relations[id(item)])
        elif state is RowsRead.CHANGE:
            source = self.change(item.this)
        else:
            source = render(item.this, self._catalog, self._reader(state, changing))
        alias = exp.TableAlias(this=exp.to_identifier(item.alias_or_name))
        if isinstance(source, exp.Table):
            source.set("alias", alias)
            return source
        return exp.Subquery(this=source, alias=alias)

    def _reader(self, state: RowsRead, changing: int) -> Callable[[RelationShape], exp.Expr]:
        def read(relation: RelationShape) -> exp.Expr:
            met = self._cut is not None and state is not RowsRead.CHANGE
            within = self._cut(relation, changing) if self._cut and met else None
            return batch_read(relation, relation.name + state.value, self._allowed, within)

        return read
