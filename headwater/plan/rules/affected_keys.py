"""Affected keys: run the query again for the keys that the change touches.

In: a bound aggregate whose group keys are all among its columns.
Out: its :class:`~headwater.plan.program.AffectedKeysProgram`.
"""

from __future__ import annotations

from datetime import timedelta

from sqlglot import exp

from headwater.algebra.nodes import RowsRead
from headwater.analyze.definitions import Catalog, View
from headwater.analyze.time.event_time import WINDOW_END
from headwater.plan.program import AffectedKeysProgram
from headwater.plan.query_shape import Shape, ShapeKind
from headwater.plan.rules.contract import Engine, Facts, Rule, other_bound, window_kind
from headwater.plan.sql.late import late_queries
from headwater.plan.sql.render import batch_read, print_sql, render

KEYS = "__keys"


def affected_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> AffectedKeysProgram:
    """Return how touched keys are computed anew, for a query that shows all its keys."""
    outputs = {item.unalias().sql(): item.alias_or_name for item in shape.select.selects}
    keys = group_keys(shape.select)
    names = {key.sql(): outputs[key.sql()] for key in keys}
    changed = render(
        view.query,
        catalog,
        lambda relation: batch_read(relation, relation.name + RowsRead.CHANGE.value, allowed),
    )
    touched = next(changed.find_all(exp.Select))
    touched.set("expressions", [exp.alias_(key.copy(), names[key.sql()]) for key in keys])
    touched.set("distinct", exp.Distinct())
    for clause in ("group", "having"):
        touched.set(clause, None)
    same = [
        exp.NullSafeEQ(this=key.copy(), expression=exp.column(names[key.sql()], KEYS))
        for key in keys
    ]
    query = render(
        view.query, catalog, lambda relation: batch_read(relation, relation.name, allowed)
    )
    everything = print_sql(query, "spark")
    join = exp.Join(this=exp.to_table(KEYS), side="LEFT", kind="SEMI", on=exp.and_(*same))
    next(query.find_all(exp.Select)).append("joins", join)
    return AffectedKeysProgram(
        print_sql(changed, "spark"),
        print_sql(query, "spark"),
        everything,
        tuple(names.values()),
        complete=not shape.select.args.get("having"),
        late=late_queries(shape, allowed),
    )


def group_keys(select: exp.Select) -> list[exp.Expr]:
    """Return the group keys that identify a row of an aggregate."""
    group = select.args.get("group")
    keys = list(group.expressions) if group else []
    return [key for key in keys if not _is_other_bound(key, select, keys)]


def _is_other_bound(key: exp.Expr, select: exp.Select, keys: list[exp.Expr]) -> bool:
    """Return whether the other bound of the same window identifies it already."""
    other = other_bound(key)
    if other is None or other.sql() not in {item.sql() for item in keys}:
        return False
    if window_kind(select, other.table) == "cumulate":
        return False  # windows that start together end apart
    shown = {item.unalias().sql() for item in select.selects}
    if shown & {key.sql(), other.sql()}:
        return key.sql() not in shown
    return key.name == WINDOW_END


def _applies(facts: Facts) -> str | None:
    aggregate = facts.shape.kind is ShapeKind.AGGREGATE and facts.append_only
    if aggregate and facts.corrects and facts.keyed:
        return "the query is run again for the keys that the change touches"
    return None


RULE = Rule("affected keys", Engine.INCREMENTAL, _applies, affected_program)
