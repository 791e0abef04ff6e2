"""Plans made by hand, for engine tests that are about the engine and not about the planner."""

from __future__ import annotations

from datetime import timedelta

from sqlglot import exp, parse_one

from headwater.analyze.definitions import Catalog, ChangelogMode, Emit, LateRows, View
from headwater.analyze.project import bind_all
from headwater.dialect import parse
from headwater.plan.identity import Identity
from headwater.plan.planner import plan_project
from headwater.plan.program import Program, StreamingProgram
from headwater.plan.query_shape import RelationShape, Shape, ShapeKind
from headwater.plan.rules.contract import Engine, Input, InputKind, Rule
from headwater.plan.view_plan import Decision, TableColumn, ViewPlan
from headwater.plan.windows import TimeWindow

ANY = parse_one("SELECT 1")


def relation(landed, window: TimeWindow | None = None) -> RelationShape:
    return RelationShape(
        landed.name, landed.name, landed.source, window, exp.to_table(landed.name), ANY, ()
    )


def hand_made(
    name: str,
    program: Program,
    columns: dict[str, str],
    *relations: RelationShape,
    views: tuple[str, ...] = (),
    into: str | None = None,
    allowed: timedelta = timedelta(0),
    accept: bool = False,
    table_format: str = "iceberg",
) -> ViewPlan:
    streams = isinstance(program, StreamingProgram)
    rule = Rule(
        "by hand",
        Engine.STREAMING if streams else Engine.INCREMENTAL,
        lambda facts: "a test",
        lambda view, shape, catalog, allowed: program,
    )
    plan = ViewPlan(
        view=View(
            name,
            ANY,
            (),
            tuple(r.name for r in relations) + views,
            options={"format": table_format},
        ),
        shape=Shape(ShapeKind.LINEAR, relations, ANY),
        decision=Decision(rule, "a test"),
        inputs=tuple(Input(r.name, InputKind.TABLE) for r in relations)
        + tuple(Input(view, InputKind.VIEW) for view in views),
        mode=ChangelogMode.APPEND,
        emit=Emit.ON_WINDOW_CLOSE,
        late=LateRows(accept, allowed, into),
        build=lambda _: program,
        partitioned_by=(),
        identify=lambda _: Identity({}, {"query": "by hand"}),
        printed="by hand",
    )
    # what the planner derives from the view's fields is given by hand here
    vars(plan)["columns"] = tuple(
        TableColumn(column, kind, column.startswith("_")) for column, kind in columns.items()
    )
    return plan


def planned(sql: str) -> tuple[Catalog, dict[str, ViewPlan]]:
    """What the binder and the planner make of definitions."""
    catalog, errors = bind_all({"test.sql": parse(sql, file="test.sql")})
    assert not errors, errors
    return catalog, plan_project(catalog)
