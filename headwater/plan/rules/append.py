"""Append: the change of the view is the query over the change of its inputs.

In: a bound query whose rows stay once they are there.
Out: its :class:`~headwater.plan.program.AppendProgram`.
"""

from __future__ import annotations

from datetime import timedelta

from headwater.algebra.nodes import (
    Filter,
    FlatMap,
    Project,
    Scan,
    Union,
    Values,
    from_bottom,
)
from headwater.analyze.definitions import Catalog, ChangelogMode, View
from headwater.plan.program import AppendProgram
from headwater.plan.query_shape import Shape, ShapeKind
from headwater.plan.rules.contract import Engine, Facts, Rule
from headwater.plan.sql.change import change_in, reads_of, rows_of
from headwater.plan.sql.late import late_queries
from headwater.plan.sql.render import print_sql

_SINGLE = (Scan, Values, Project, Filter, FlatMap, Union)
"""The nodes that look at each row on its own."""


def linear_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> AppendProgram:
    """Return how a change passes through: change in, change out."""
    change = change_in(catalog, view.tree.root)
    rows = rows_of(change, view.tree.labels, catalog, allowed)
    return AppendProgram(print_sql(rows, "spark"), late_queries(shape, allowed), reads_of(change))


def _linear(facts: Facts) -> str | None:
    """Each row on its own, if streaming is not wanted."""
    if facts.view.is_delta and facts.shape.kind is not ShapeKind.LINEAR:
        return None  # a Delta table that was kept by affected groups could not lose their names
    nodes = from_bottom(facts.view.tree.root)
    linear = facts.append_only and all(isinstance(each, _SINGLE) for each in nodes)
    return "change in, change out" if linear and not facts.reads_source else None


def _joined(facts: Facts) -> str | None:
    """Inner joins: a row that is there stays, one with a new part is new."""
    general = facts.shape.kind is ShapeKind.GENERAL and facts.mode is ChangelogMode.APPEND
    if general and facts.append_only and not facts.reads_source:
        return "inputs only gain rows: the change of one is joined with the others"
    return None


LINEAR = Rule("append", Engine.INCREMENTAL, _linear, linear_program, by_tree=True)
JOINED = Rule("append", Engine.INCREMENTAL, _joined, linear_program, by_tree=True)
