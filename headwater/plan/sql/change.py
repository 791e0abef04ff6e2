"""The change of a tree as Spark's query, and what that query reads of the inputs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlglot import exp

from headwater.algebra.change import SIGN, ChangeTree, change_of
from headwater.algebra.nodes import Query, RowsRead, Scan, from_bottom
from headwater.analyze.definitions import Catalog
from headwater.analyze.portable.rewrites import portable
from headwater.analyze.rules.changelog import ChangelogModes
from headwater.plan.program import READS_CHANGE, READS_STATES, Reads
from headwater.plan.query_shape import RelationShape
from headwater.plan.sql.from_algebra import select_of
from headwater.plan.sql.render import batch_read, render


@dataclass(frozen=True, slots=True)
class ChangeQuery:
    """The rows that a query gains and loses.

    Attributes:
        query: Spark's, over ``<input>__change`` and other temporary views of the inputs.
        signed: whether the rows have their sign, last; otherwise all of them came.
        reads: what it reads of each input.
    """

    query: exp.Query
    signed: bool
    reads: frozenset[Reads]


def change_query(tree: Query, catalog: Catalog, allowed: timedelta | None) -> ChangeQuery:
    """Return the query for the rows that a tree gains and loses.

    Args:
        tree: each node of it has a change.
        allowed: allowed lateness, or None if every row counts.
    """
    change = change_of(tree.root, ChangelogModes(catalog).appends)
    assert change is not None  # a view reads something
    scans = [each for each in from_bottom(change.node) if isinstance(each, Scan)]
    alone = not change.sign and all(each.state is RowsRead.CHANGE for each in scans)
    reads = READS_CHANGE if alone else READS_STATES
    return ChangeQuery(rows_of(change, tree, catalog, allowed), bool(change.sign), reads)


def rows_of(
    change: ChangeTree, tree: Query, catalog: Catalog, allowed: timedelta | None
) -> exp.Query:
    """Return Spark's query for a change of a tree, or for all rows that it has now."""
    labels = tree.labels + (((SIGN, change.sign),) if change.sign else ())

    def read(relation: RelationShape) -> exp.Expr:
        return batch_read(relation, relation.name + relation.state.value, allowed)

    query = select_of(Query(change.node, labels))
    return render(portable(query, "spark"), catalog, read)
