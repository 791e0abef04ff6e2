"""Recomputation: the query over the pinned inputs replaces the whole table.

In: a view that asks for it by ``WITH (engine = 'full')``.
Out: its :class:`~headwater.plan.full_program.FullProgram`.
"""

from __future__ import annotations

from datetime import timedelta

from sqlglot import exp

from headwater.analyze.definitions import Catalog, View
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.types import spark_type
from headwater.dialect.syntax import ViewWatermark
from headwater.plan.full_program import FullProgram
from headwater.plan.program import NOW
from headwater.plan.query_shape import Shape
from headwater.plan.rules.contract import Engine, Facts, Rule
from headwater.plan.sql.recursion import depth_of, take_out_recursion
from headwater.plan.sql.render import batch_read, print_sql, render


def full_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> FullProgram:
    """Return the recomputation of a view over its whole inputs."""
    query = render(
        view.query, catalog, lambda relation: batch_read(relation, relation.name, allowed)
    )
    for clock in list(query.find_all(ViewWatermark)):
        clock.replace(exp.Var(this=f"CAST({NOW} AS {spark_type(type_of(clock))})"))
    plain, recursions = take_out_recursion(query, depth_of(view))
    return FullProgram(print_sql(plain, "spark"), recursions)


def _applies(facts: Facts) -> str | None:
    asked = facts.view.options.get("engine") == Engine.FULL
    return "requested by WITH (engine = 'full')" if asked else None


RULE = Rule("recompute", Engine.FULL, _applies, full_program)
