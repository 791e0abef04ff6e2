"""Bound view → :class:`ViewPlan`: shape, emission, engine, operators, program, columns.

In: a :class:`~headwater.analyze.definitions.Catalog`.
Out: one plan per view, or all errors at once. No side effects, no JVM.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

from sqlglot import exp

from headwater.algebra.ages import Ages
from headwater.algebra.nodes import Scan, nodes_of
from headwater.algebra.passes import passed
from headwater.algebra.properties.moves import moves
from headwater.analyze.definitions import (
    Catalog,
    ChangelogMode,
    Emit,
    LateRows,
    OnSchemaChange,
    View,
)
from headwater.analyze.portable.rewrites import portable
from headwater.analyze.relational import algebra_of
from headwater.analyze.rules.changelog import ChangelogModes, effective_emit
from headwater.analyze.time.clock import has_watermark
from headwater.analyze.time.settling import Settled
from headwater.errors import HeadwaterError, SqlError, raise_all
from headwater.plan.closing import closing
from headwater.plan.full_program import FullProgram
from headwater.plan.guards.bad_rows import Guard, guard_of
from headwater.plan.identity import FORMER, Order, identity_of, in_order
from headwater.plan.program import Program
from headwater.plan.query_shape import MICROSECOND, Shape, ShapeKind, shape_of
from headwater.plan.rules import affected_groups, fold, top
from headwater.plan.rules.contract import Engine, Facts, Input, InputKind, Rule
from headwater.plan.rules.recompute import full_program
from headwater.plan.strategy import decide
from headwater.plan.tolerant import has_sums, tolerant
from headwater.plan.view_plan import ViewPlan
from headwater.project import Project, read_project

APPEND = ChangelogMode.APPEND
MILLISECOND = timedelta(milliseconds=1)


def plan_project(catalog: Catalog, *, thoroughly: bool = True) -> dict[str, ViewPlan]:
    """Plan every view of a project, in topological order.

    Args:
        thoroughly: as :func:`plan_sound` has it.

    Raises:
        SqlError: what no engine can keep; an ErrorGroup if there are several.
    """
    plans, faults = plan_sound(catalog, thoroughly=thoroughly)
    raise_all(list(faults.values()))
    return plans


def plan_sound(
    catalog: Catalog, *, thoroughly: bool = True
) -> tuple[dict[str, ViewPlan], dict[str, HeadwaterError]]:
    """Plan what can be planned of a project.

    Args:
        thoroughly: look for expressions that can fail, which takes half of the time. Without it,
            :attr:`ViewPlan.guard` raises ``FALLIBLE_EXPRESSION``.

    Returns:
        The plans by view, in topological order; and by view, why one cannot be planned. A view that
        reads one without a plan is in neither.
    """
    plans: dict[str, ViewPlan] = {}
    faults: dict[str, HeadwaterError] = {}
    for name, view in catalog.views.items():
        if any(read in catalog.views and read not in plans for read in view.inputs):
            continue
        try:
            plan = plan_view(view, catalog, plans)
            if thoroughly:
                _ = plan.guard
        except HeadwaterError as error:
            faults[name] = error
        except RecursionError:
            hint = "split the view into several"
            message = "the query is nested too deeply"
            faults[name] = SqlError("TOO_DEEP", message, hint=hint, span=view.span)
        else:
            plans[name] = plan
    return plans, faults


def read_sound(root: Path, beside: Sequence[Path] = ()) -> tuple[Project, dict[str, ViewPlan]]:
    """Read and plan what is sound of a project; its ``errors`` are those of the rest.

    Args:
        root: the folder of the project.
        beside: files or folders to read after the others.

    Returns:
        The project without what has an error, and the plans of its views in topological order.

    Raises:
        ConfigError: the folder or the settings are wrong.
    """
    project = read_project(root, beside=beside)
    plans, faults = plan_sound(project.catalog)
    project = project.without(faults)
    return project, {name: plans[name] for name in project.catalog.views}


def plan_view(view: View, catalog: Catalog, plans: Mapping[str, ViewPlan]) -> ViewPlan:
    """Plan one view.

    Raises:
        SqlError: ``NOT_YET``, ``UNBOUNDED_STATE``, ``ENGINE_CANNOT`` or ``MISPLACED_CLAUSE``.
    """
    emit = effective_emit(view, catalog)
    shape = shape_of(view, catalog, emit)
    _check_emission(view, shape)
    late = _lateness(view, shape, emit)
    _check_milliseconds(view, shape, late)
    modes = {
        name: plans[name].mode if name in plans else catalog.sources[name].mode
        for name in view.inputs
    }
    _check_recent(view, shape)
    inputs = tuple(_input(name, mode, catalog, shape) for name, mode in modes.items())
    planned = {name: each.mode for name, each in plans.items()}
    mode = ChangelogModes(catalog, planned).view(view)
    final = closing(view.query, catalog) if emit is Emit.ON_WINDOW_CLOSE else []
    ordered = replace(view, query=in_order(view.query))
    facts = Facts(ordered, shape_of(ordered, catalog, emit), emit, inputs, mode, final)
    decision = decide(facts)
    streams = decision.engine is Engine.STREAMING
    if streams:
        ordered = view  # Spark's state has the order in which the query was first written
    allowed = None if late.accept else late.allowed
    write = partial(_program, decision.rule, ordered, catalog, emit, allowed)
    folds = decision.rule is fold.RULE
    holds_sums = folds or streams
    stateful = streams and shape.kind is not ShapeKind.LINEAR
    return ViewPlan(
        view=view,
        shape=shape,
        decision=decision,
        inputs=inputs,
        mode=mode,
        emit=emit,
        late=late,
        build=lambda order: write(
            ordered.query if order is Order.SETTLED else in_order(ordered.query, order)
        ),
        partitioned_by=tuple(_transform(item) for item in view.partitioned_by),
        identify=lambda form: identity_of(
            _as_format_2_saw(facts, view, catalog) if form == FORMER else view,
            catalog,
            emit,
            late,
            stateful,
            form,
        ),
        printed=hashlib.sha256(_printed(view, catalog).encode()).hexdigest()[:16],
        earlier_rule=affected_groups.RULE.name if decision.rule is top.RULE else "",
        closing=[
            one
            for one in final
            if isinstance(one, Settled) and decision.engine is Engine.INCREMENTAL
        ],
        follows=view.changes if _evolves(view, catalog) else "",
        find_guard=partial(_guard, ordered, catalog, allowed),
        build_guarded=lambda guard: write(tolerant(guard.query, sums=not holds_sums)),
        build_whole=(
            partial(_whole, view, catalog, emit, allowed)
            if folds and has_sums(view.query)
            else None
        ),
    )


def _as_format_2_saw(facts: Facts, view: View, catalog: Catalog) -> View:
    """Return a view after the planner has looked at it.

    In format 2 the planner decided on the query that the fingerprint was then taken from. The rule
    of first rows moves columns of its query to another one, whose relations have other numbers.
    """
    seen = replace(view, query=view.query.copy())
    decide(replace(facts, view=seen, shape=shape_of(seen, catalog, facts.emit)))
    return seen


def with_inputs(plans: dict[str, ViewPlan], views: Sequence[str]) -> set[str]:
    """Return the views asked for, and everything they read, directly or not."""
    wanted = set(views)
    for name, plan in reversed(plans.items()):
        if name in wanted:
            wanted.update(item.name for item in plan.inputs)
    return wanted


def close_after(plan: ViewPlan, newest: int) -> int:
    """Return the source watermark that makes everything up to an event time final.

    Args:
        newest: newest event time of its inputs, microseconds since 1970 UTC.

    Returns:
        A watermark in microseconds, a whole millisecond, not before ``newest``.
    """
    end = newest
    if plan.shape.window:
        end = plan.shape.window.last_end(newest)
    elif plan.decision.engine is Engine.STREAMING and plan.shape.join:
        end = newest + max(plan.shape.join.wait, -plan.shape.join.lower, 0)
    for one in plan.closing:
        end = max(end, one.last_date(newest) + one.after // MICROSECOND)
    end += plan.late.allowed // MICROSECOND
    step = MILLISECOND // MICROSECOND
    return (-(-end // step) + 1) * step


def _check_recent(view: View, shape: Shape) -> None:
    """Refuse late rows beside ``watermark()``."""
    if moves(view.tree.root) and view.late is not None and not view.late.accept:
        raise SqlError(
            "MISPLACED_CLAUSE",
            f"view {view.name} compares with watermark() and drops late rows",
            hint="remove LATE ROWS: how old a row is decides what becomes of it",
            span=view.span,
        )


def _guard(view: View, catalog: Catalog, allowed: timedelta | None) -> Guard | None:
    """Find the rows on which a view fails: the same rows at every watermark."""
    guard = guard_of(view, catalog, allowed)
    root = view.tree.root
    if guard is None or not moves(root):
        return guard
    dated = {age.flag for each in nodes_of(root, Scan) for age in each.ages.dated}
    words = {"watermark()", *dated}
    causes = (text for bad in guard.bad for cause in bad.causes for text in cause)
    texts = [text.lower() for text in (*guard.combined, *causes)]
    if any(word in text for word in words for text in texts):
        raise SqlError(
            "NOT_YET",
            f"not supported: an expression of view {view.name} that can fail beside watermark()",
            hint="compute the expression in a view below, or write TRY_CAST or NULLIF",
            span=view.span,
        )
    return guard


def _input(name: str, mode: ChangelogMode, catalog: Catalog, shape: Shape) -> Input:
    kind = InputKind.VIEW
    if name not in catalog.views:
        kind = InputKind.TABLE if catalog.sources[name].kept else InputKind.SOURCE
    source = catalog.source_of(name)
    ages = Ages(recent=shape.recent.get(name), dated=shape.dated.get(name, ()))
    return Input(
        name,
        kind,
        appends=mode is APPEND and not ages.moves,
        streams=not catalog.is_delta(name),
        evolves=source is not None and source.landed,
        ages=ages,
        timed=has_watermark(name, catalog),
    )


def _printed(view: View, catalog: Catalog) -> str:
    """Return the part of a definition that must not change, as format 1 had it."""
    # The columns of a keyed table are compared one by one: they may follow their definition.
    if not view.changes:
        return view.text
    log = catalog.sources[view.changes]
    order = [field.name for field in log.position]
    return repr((view.changes, view.primary_key, order, log.truncates, log.replaces))


def _evolves(view: View, catalog: Catalog) -> bool:
    return (
        bool(view.changes)
        and catalog.sources[view.changes].on_schema_change == OnSchemaChange.EVOLVE
    )


def _check_emission(view: View, shape: Shape) -> None:
    aggregates = shape.kind is ShapeKind.AGGREGATE
    streams = any(each.source and not each.source.kept for each in shape.relations)
    if streams and view.emit is Emit.ON_WINDOW_CLOSE and aggregates and not shape.window:
        raise SqlError(
            "UNBOUNDED_STATE",
            f"view {view.name} waits for a window to close, but groups by none",
            hint="group by window_start of TUMBLE(…) or HOP(…), or use EMIT CHANGES",
            span=view.span,
        )


def _lateness(view: View, shape: Shape, emit: Emit) -> LateRows:
    """As written; otherwise ACCEPT where rows are corrected, DROP where they are final."""
    streams = any(each.source and not each.source.kept for each in shape.relations)
    by_time = shape.kind is ShapeKind.DISTINCT and shape.shows_event_times
    waits = emit is Emit.ON_WINDOW_CLOSE or (
        streams and (by_time or shape.kind is ShapeKind.INTERVAL_JOIN)
    )
    timed = any(relation.event_time for relation in shape.relations)
    if view.late is None:
        return LateRows(accept=not (timed and (waits or shape.kind is ShapeKind.INTERVAL_JOIN)))
    if not timed:
        raise SqlError(
            "MISPLACED_CLAUSE",
            f"view {view.name} has LATE ROWS, but nothing it reads has a watermark",
            hint="declare WATERMARK FOR … in the table, or remove LATE ROWS",
            span=view.span,
        )
    if view.late.into and any(r.source and not r.source.kept for r in shape.relations):
        raise SqlError(
            "NOT_YET",
            f"view {view.name} stores late rows of a SOURCE, whose rows carry no watermark",
            hint="land the input: CREATE TABLE instead of CREATE SOURCE",
            span=view.span,
        )
    if view.late.accept and waits:
        raise SqlError(
            "MISPLACED_CLAUSE",
            f"view {view.name} accepts late rows without limit, but its rows are final",
            hint="use LATE ROWS ACCEPT FOR INTERVAL '1' HOUR, or EMIT CHANGES",
            span=view.span,
        )
    return view.late


def _check_milliseconds(view: View, shape: Shape, late: LateRows) -> None:
    """Spark counts watermarks in whole milliseconds; a finer one could overtake the stamps."""
    for length in (late.allowed, *(relation.delay for relation in shape.relations)):
        if length % MILLISECOND:
            raise SqlError(
                "INVALID_WATERMARK",
                f"view {view.name} depends on a delay or lateness finer than a millisecond",
                hint="round it to whole milliseconds",
                span=view.span,
            )


def _program(
    rule: Rule,
    view: View,
    catalog: Catalog,
    emit: Emit,
    allowed: timedelta | None,
    query: exp.Query,
) -> Program:
    """The program of a view for one of its queries: its own, or the one with the guard."""
    tree = passed(algebra_of(query, catalog)) if rule.by_tree else view.tree
    spark = replace(view, query=portable(query, "spark"), tree=tree)
    return rule.program(spark, shape_of(spark, catalog, emit), catalog, allowed)


def _whole(
    view: View, catalog: Catalog, emit: Emit, allowed: timedelta | None, guard: Guard
) -> FullProgram:
    """The program that needs no state, in which a sum may leave its type."""
    spark = replace(view, query=portable(tolerant(guard.query), "spark"))
    return full_program(spark, shape_of(spark, catalog, emit), catalog, allowed)


TRANSFORMS = {"year": "years", "month": "months", "day": "days", "hour": "hours"}


def _transform(item: exp.Expr) -> str:
    """A partition transform as Spark's DDL names it."""
    text = item.sql(dialect="spark").lower()
    name, _, rest = text.partition("(")
    return f"{TRANSFORMS.get(name, name)}({rest}" if rest else name
