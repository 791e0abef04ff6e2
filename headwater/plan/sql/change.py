"""The change of a tree as Spark's query, and what that query reads of the inputs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from sqlglot import exp

from headwater.algebra.change import SIGN, ChangeTree, change_of
from headwater.algebra.nodes import Node, Query, RowsRead, Scan, nodes_of
from headwater.analyze.definitions import Catalog
from headwater.analyze.portable.rewrites import portable
from headwater.analyze.rules.changelog import ChangelogModes
from headwater.plan.program import READS_CHANGE, READS_STATES, Reads
from headwater.plan.query_shape import RelationShape
from headwater.plan.sql.from_algebra import select_of
from headwater.plan.sql.render import batch_read, render


def change_in(catalog: Catalog, root: Node) -> ChangeTree:
    """Return the change of a tree that reads relations of a catalog, each of whose nodes has one.

    Args:
        catalog: what it reads.
        root: its topmost node.
    """
    change = change_of(root, ChangelogModes(catalog).appends)
    assert change is not None  # a view reads something
    return change


def reads_of(change: ChangeTree) -> frozenset[Reads]:
    """Return what the query of a change reads of each input."""
    scans = nodes_of(change.node, Scan)
    alone = not change.sign and all(each.state is RowsRead.CHANGE for each in scans)
    return READS_CHANGE if alone else READS_STATES


def rows_of(
    change: ChangeTree,
    labels: Sequence[tuple[str, str]],
    catalog: Catalog,
    allowed: timedelta | None,
) -> exp.Query:
    """Return Spark's query for a change, or for all rows that a tree has now.

    Args:
        change: the rows; their sign is the last column of the query.
        labels: the other columns, as a tree shows them.
        catalog: what is read.
        allowed: allowed lateness, or None if every row counts.
    """
    sign = [(SIGN, change.sign)] if change.sign else []

    def read(relation: RelationShape) -> exp.Expr:
        return batch_read(relation, relation.name + relation.state.value, allowed)

    query = select_of(Query(change.node, (*labels, *sign)))
    return render(portable(query, "spark"), catalog, read)
