"""Exact change: rows that change are replaced by the key of the view.

In: a view whose tree looks at single rows, joined or not, and has a key. Out: its
:class:`~headwater.plan.program.ExactChangeProgram`.

Of the rows that came and went, equal ones cancel out. What is left of a key is a row that goes, one
that comes, or both: then the second takes the place of the first.
"""

from __future__ import annotations

from datetime import timedelta

from sqlglot import exp

from headwater.algebra.change import SIGN, has_change
from headwater.algebra.nodes import from_bottom
from headwater.analyze.definitions import Catalog, View
from headwater.dialect.syntax import PatternRows
from headwater.plan.program import ExactChangeProgram
from headwater.plan.query_shape import Shape
from headwater.plan.rules.contract import Engine, Facts, Rule
from headwater.plan.rules.tree_rewrites import outputs
from headwater.plan.rules.unit_key import holds_map
from headwater.plan.sql.change import change_in, rows_of
from headwater.plan.sql.late import late_queries
from headwater.plan.sql.render import batch_read, print_sql, render


def exact_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> ExactChangeProgram:
    """Return how the rows of a view are replaced by its key."""
    query = view.query
    change = change_in(catalog, view.tree.root)
    changed = rows_of(change, view.tree.labels, catalog, allowed)
    names = [exp.column(each.name, quoted=True) for each in outputs(query, "")]
    sign, keys = exp.column(SIGN), view.proven_key or ()
    total = exp.alias_(exp.Sum(this=sign.copy()), SIGN)
    net = exp.select(*names, total).from_(changed.subquery("__changed")).group_by(*names)
    newest = [
        name
        if name.name in keys
        else exp.alias_(exp.ArgMax(this=name, expression=sign), name.name, quoted=True)
        for name in names
    ]
    left = exp.select(*newest, exp.alias_(exp.Max(this=sign), SIGN))
    left = left.from_(net.subquery("__net")).where(
        exp.NEQ(this=sign, expression=exp.Literal.number(0))
    )
    left = left.group_by(*(name for name in names if name.name in keys))
    everything = render(query, catalog, lambda item: batch_read(item, item.name, allowed))
    return ExactChangeProgram(
        print_sql(left, "spark"),
        print_sql(everything, "spark"),
        keys,
        late_queries(shape, allowed),
    )


def _applies(facts: Facts) -> str | None:
    """Joined rows with a key, over inputs that are corrected."""
    view = facts.view
    moves = any(each.ages.moves for each in facts.inputs)
    has = all(map(has_change, from_bottom(view.tree.root)))
    if moves or not (facts.corrects and view.proven_key and has):
        return None
    if view.is_delta:  # a table that was kept by affected groups could not lose their names
        return None
    if view.query.find(PatternRows) or any(map(holds_map, outputs(view.query, ""))):
        return None  # rows that have maps cannot be compared
    return "the rows that come and go are merged by the key of the view"


RULE = Rule("exact change", Engine.INCREMENTAL, _applies, exact_program, by_tree=True)
