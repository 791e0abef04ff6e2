"""What a chart has to know of a view: its time axis, its groups, how its numbers add up.

In: plans, in topological order. Out: :class:`ViewFacts` by view.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from headwater.algebra.nodes import Top, nodes_of
from headwater.analyze.definitions import Field
from headwater.analyze.query_parts import is_aggregate
from headwater.analyze.typing.types import family, is_timestamp
from headwater.dialect import to_sql
from headwater.plan.view_plan import ViewPlan

_FOLDS: Mapping[type[exp.Expr], str] = {
    exp.Count: "SUM", exp.CountIf: "SUM", exp.Sum: "SUM", exp.Max: "MAX", exp.Min: "MIN",
}  # fmt: skip
"""How the values of several rows become one: the count of two groups is the sum of their counts.
Of what is not here (a mean, a percentile, a distinct count) several rows have no common value."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A column of numbers that a chart can draw.

    Attributes:
        field: the column.
        fold: the aggregate that makes one number of several rows.
        exact: whether that number means for several rows what the column means for one.
    """

    field: Field
    fold: str
    exact: bool


@dataclass(frozen=True, slots=True)
class ViewFacts:
    """What a view's rows are to a chart.

    Attributes:
        plan: the plan of the view.
        time: the column of its time axis: of the groups if it has some.
        grouped: whether each row is a group, so that its time says when, not what.
        single: whether it has one row.
        top: the column that its first rows are chosen by; empty where all rows are shown.
        keys: columns that tell rows apart, without those of time.
        measures: its numbers, in the order of the SELECT.
        definitions: by column, the expression that computes it.
    """

    plan: ViewPlan
    time: str | None
    grouped: bool
    single: bool
    top: str
    keys: tuple[str, ...]
    measures: tuple[Measure, ...]
    definitions: Mapping[str, str]

    @property
    def name(self) -> str:
        """The view's name."""
        return self.plan.view.name

    @property
    def fields(self) -> tuple[Field, ...]:
        """The view's columns."""
        return self.plan.view.fields


def view_facts(plans: Mapping[str, ViewPlan]) -> dict[str, ViewFacts]:
    """Return the facts of the views that a chart can show, by view.

    Keyed tables are left out, since they are inputs.

    Args:
        plans: by view, in topological order.
    """
    overlapping: set[str] = set()
    found = {}
    for name, plan in plans.items():
        if _rows_overlap(plan) or overlapping & {each.name for each in plan.inputs}:
            overlapping.add(name)
        if not plan.view.changes:
            found[name] = _facts(plan, overlap=name in overlapping)
    return found


def is_time(field: Field) -> bool:
    """Whether a column holds dates or times."""
    return is_timestamp(field.type) or field.type.is_type(exp.DType.DATE)


def _facts(plan: ViewPlan, *, overlap: bool) -> ViewFacts:
    query, fields = plan.view.query, plan.view.fields
    outputs = dict(zip((f.name for f in fields), _outputs(query), strict=True))
    grouped = is_aggregate(plan.shape.select)
    identity = set(plan.stream_key)
    times = [field.name for field in fields if is_time(field)]
    axis = [name for name in times if name in identity] if grouped else times
    single = grouped and not plan.shape.select.args.get("group") and isinstance(query, exp.Select)
    return ViewFacts(
        plan=plan,
        time=next(iter(axis), None),
        grouped=grouped,
        single=single,
        top=_top(plan, query),
        keys=tuple(f.name for f in fields if f.name in identity and not is_time(f)),
        measures=tuple(_measures(plan, outputs, overlap=overlap, single=single)),
        definitions={name: to_sql(node, pretty=False) for name, node in outputs.items()},
    )


def _rows_overlap(plan: ViewPlan) -> bool:
    """Whether an input row counts in several rows, by hopping windows or by grouping sets."""
    hops = any(each.window and each.window.kind == "hop" for each in plan.shape.relations)
    return hops or (
        isinstance(plan.view.query, exp.SetOperation) and is_aggregate(plan.shape.select)
    )


def _outputs(query: exp.Query) -> list[exp.Expr]:
    return [each.unalias() for each in query.selects]


def _measures(
    plan: ViewPlan, outputs: Mapping[str, exp.Expr], *, overlap: bool, single: bool
) -> Iterator[Measure]:
    for field in plan.view.fields:
        name = field.name
        if family(field.type) != "number" or name in plan.stream_key or _is_number_of(name):
            continue
        call = outputs[name]
        call = call.this if isinstance(call, exp.Filter) else call
        fold = _FOLDS.get(type(call))
        if fold == "SUM" and (overlap or isinstance(call.this, exp.Distinct)):
            fold = None
        yield Measure(field, fold or "MAX", exact=single or fold is not None)


def _is_number_of(name: str) -> bool:
    """Whether a number only names something; adding such numbers up says nothing."""
    return name == "id" or name.endswith("_id")


def _top(plan: ViewPlan, query: exp.Query) -> str:
    """The column by which LIMIT, or a row number, chooses the rows that are shown."""
    if not nodes_of(plan.view.tree.root, Top):
        return ""
    order = query.args.get("order")
    terms = order.expressions if isinstance(order, exp.Order) else []
    names = {f.name for f in plan.view.fields if family(f.type) == "number"}
    wanted = [term.this.output_name for term in terms]
    return next((name for name in wanted if name in names), "")
