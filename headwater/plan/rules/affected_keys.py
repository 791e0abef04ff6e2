"""Affected keys: run the query again for the keys that the change touches.

In: a view whose tree groups rows that only come, with all keys among its columns.
Out: its :class:`~headwater.plan.program.AffectedKeysProgram`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlglot import exp

from headwater.algebra.change import ChangeTree, change_of, equal_columns, has_change
from headwater.algebra.nodes import (
    Aggregate,
    Column,
    Filter,
    Join,
    JoinKind,
    Node,
    Project,
    Query,
    Scan,
    from_bottom,
)
from headwater.algebra.properties.windows import least_keys
from headwater.algebra.scalars import fresh
from headwater.analyze.definitions import Catalog, View
from headwater.analyze.rules.changelog import ChangelogModes
from headwater.plan.program import AffectedKeysProgram
from headwater.plan.query_shape import Shape, ShapeKind
from headwater.plan.rules.contract import Engine, Facts, Rule
from headwater.plan.sql.change import rows_of
from headwater.plan.sql.late import late_queries
from headwater.plan.sql.render import print_sql

KEYS = "__keys"


@dataclass(frozen=True, slots=True)
class _Keyed:
    """The groups of a tree that shows their keys.

    Attributes:
        above: what is made of the groups, from the top.
        groups: the groups.
        keys: name and label of each key.
        gained: the rows below that come.
    """

    above: tuple[Node, ...]
    groups: Aggregate
    keys: tuple[tuple[str, str], ...]
    gained: Node

    @classmethod
    def of(cls, tree: Query, appends: Callable[[str], bool]) -> _Keyed | None:
        """Return the groups that a tree is made of, None if it is made of something else.

        Args:
            tree: of a view.
            appends: whether a relation only gains rows.
        """
        above: list[Node] = []
        node = tree.root
        while isinstance(node, (Project, Filter)):
            above.append(node)
            node = node.input
        if not isinstance(node, Aggregate) or not node.measures:
            return None
        if not all(map(has_change, from_bottom(node.input))):
            return None
        change, shown = change_of(node.input, appends), _shown(tree, above)
        keys = least_keys(node.keys, shown, node.input)
        if change is None or change.sign or not keys or not shown.keys() >= {*keys}:
            return None
        return cls(tuple(above), node, tuple((each, shown[each]) for each in keys), change.node)

    def over(self, rows: Node) -> Node:
        """Return the root of the tree over other rows."""
        found = self.groups.over([rows])
        for node in reversed(self.above):
            found = node.over([found])
        return found


def _shown(tree: Query, above: list[Node]) -> dict[str, str]:
    """By column of the groups its label, of those that are shown as they are."""
    names = {name: label for label, name in reversed(tree.labels)}
    for node in above:
        if isinstance(node, Project):
            values = ((each.value, names.get(each.name)) for each in reversed(node.outputs))
            names = {v.name: label for v, label in values if label and isinstance(v, exp.Column)}
    return names


def affected_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> AffectedKeysProgram:
    """Return how touched keys are computed anew, for a query that shows all its keys."""
    tree = view.tree
    found = _Keyed.of(tree, ChangelogModes(catalog).appends)
    assert found is not None
    names = tuple(name for name, _ in found.keys)
    labels = tuple(label for _, label in found.keys)

    def written(node: Node, shown: Sequence[tuple[str, str]]) -> str:
        return print_sql(rows_of(ChangeTree(node), shown, catalog, allowed), "spark")

    touched = Aggregate(found.gained, names, ())
    rows = found.groups.input
    own = [rows.by_name[name] for name in names]
    reads = tuple(
        (Column(fresh(f"touched_{each.name}", rows.named), each.type), label)
        for each, label in zip(own, labels, strict=True)
    )
    same = equal_columns(own, [each for each, _ in reads])
    again = found.over(Join(rows, Scan(KEYS, reads), JoinKind.SEMI, same))
    return AffectedKeysProgram(
        written(touched, [*zip(labels, names, strict=True)]),
        written(again, tree.labels),
        written(tree.root, tree.labels),
        labels,
        complete=not any(isinstance(each, Filter) for each in found.above),
        late=late_queries(shape, allowed),
    )


def _applies(facts: Facts) -> str | None:
    view = facts.view
    if view.is_delta and facts.shape.kind is not ShapeKind.AGGREGATE:
        return None  # a Delta table that was kept by affected groups could not lose their names
    if facts.corrects and _Keyed.of(view.tree, facts.appends):
        return "the query is run again for the keys that the change touches"
    return None


RULE = Rule("affected keys", Engine.INCREMENTAL, _applies, affected_program, by_tree=True)
