"""The passes that bind a SELECT: their order, what each needs and what it gives.

In: a SELECT as parsed. Out: the same tree in canonical form, changed in place by one pass after
another. A pass that needs what an earlier one gives stands after it; a test holds that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from headwater.analyze.bind.from_subqueries import (
    group_by_commas,
    table_first,
    unnest_first,
)
from headwater.analyze.bind.join_conditions import move_to_joins
from headwater.analyze.bind.merge_subqueries import merge_subqueries
from headwater.analyze.bind.over_groups import lift_groups
from headwater.analyze.bind.placement import check_aggregates, check_windows
from headwater.analyze.bind.relations import Binder, RelationBinder
from headwater.analyze.bind.windowing import (
    complete_window_keys,
    recognise_date_trunc,
    replace_window_time,
)
from headwater.analyze.correlated.outer import from_items
from headwater.analyze.correlated.places import place_subqueries
from headwater.analyze.correlated.subqueries import bind_predicates, has_predicates
from headwater.analyze.definitions import Field
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.failing.attempts import settle_attempts
from headwater.analyze.inference.infer import infer
from headwater.analyze.inference.outputs import (
    comment_of,
    expand_stars,
    fields_of,
    leave_out_unread,
    list_columns,
    name_in_qualify,
    name_outputs,
)
from headwater.analyze.inference.ties import anchor_windows, break_ties
from headwater.analyze.names.grouping import bind_grouping
from headwater.analyze.names.ordering import bind_order
from headwater.analyze.names.scope import Relation, is_beyond, knows, note_read, resolve
from headwater.analyze.portable.collecting_aggregates import settle
from headwater.analyze.portable.frames import settle_frames
from headwater.analyze.time.recent import mark_joined, mark_recent
from headwater.analyze.typing.common_type import expect_boolean


@dataclass(slots=True)
class SelectBinding:
    """One SELECT on its way through the passes.

    Attributes:
        binder: the binder of the statement.
        select: the SELECT, changed in place.
        named: whether its columns need names.
        outer: the relations of the SELECT around, if it is a subquery of an expression.
        bases: by SELECT, the relation that it reads if it reads one only.
        before: the number of relations outside the brackets that it is in.
        relations: what its FROM gives.
        listed: what its FROM gave, before subqueries were merged, if it is joins in brackets.
        brackets: joins in brackets that became derived tables of it.
        grouped: whether all group keys are understood.
        written: its FROM and joins as parsed, if subqueries of expressions can read them.
        comments: by output, the comment of the column that it is.
        fields: the columns of its result.
    """

    binder: Binder
    select: exp.Select
    named: bool
    outer: Sequence[Relation]
    bases: dict[int, tuple[exp.Select, Relation]]
    before: int = 0
    relations: list[Relation] = field(default_factory=list)
    listed: Sequence[Relation] = ()
    brackets: Sequence[exp.Subquery] = ()
    written: Sequence[exp.Expr] = ()
    grouped: bool = True
    comments: dict[str, str] = field(default_factory=dict)
    fields: tuple[Field, ...] = ()

    @property
    def report(self) -> Diagnostics:
        """Where errors go."""
        return self.binder.report

    @property
    def columns(self) -> set[str]:
        """Names of the columns in FROM."""
        return {name for item in self.relations for name in item.fields}

    @property
    def roots(self) -> Iterator[exp.Expr]:
        """The expressions outside FROM and ORDER BY."""
        yield from self.select.expressions
        for key in ("where", "having", "qualify"):
            if node := self.select.args.get(key):
                yield node
        if group := self.select.args.get("group"):
            yield from group.expressions


@dataclass(frozen=True, slots=True)
class Pass:
    """One step of binding a SELECT.

    Attributes:
        name: its name.
        run: changes the binding in place.
        needs: facts that must hold before it.
        gives: facts that hold after it.
    """

    name: str
    run: Callable[[SelectBinding], None]
    needs: tuple[str, ...]
    gives: tuple[str, ...]


def _place(binding: SelectBinding) -> None:
    binder = binding.binder
    place_subqueries(binding.select, binding.named, binder, lambda each: _reads(each, binder))


def _reads(select: exp.Select, binder: Binder) -> list[Relation]:
    """Return what a SELECT reads that is not part of the query."""
    inputs, tainted = {**binder.inputs}, binder.tainted
    found = RelationBinder(binder).bind(select)
    binder.inputs.clear()
    binder.inputs.update(inputs)
    binder.tainted = tainted
    return found


def _from(binding: SelectBinding) -> None:
    if has_predicates(binding.select):
        binding.written = from_items(binding.select)
    reader = RelationBinder(binding.binder, binding.before)
    binding.relations = reader.bind(binding.select)
    binding.brackets = reader.brackets


def _stars(binding: SelectBinding) -> None:
    if not binding.select.expressions:
        binding.listed = binding.relations
        list_columns(binding.select, binding.relations)
    expand_stars(binding.select, binding.relations, binding.report)


def _unread_columns(binding: SelectBinding) -> None:
    for bracket in binding.brackets:
        leave_out_unread(bracket, binding.select)


def _grouping(binding: SelectBinding) -> None:
    binding.grouped = bind_grouping(binding.select, binding.columns, binding.report)


def _date_add(binding: SelectBinding) -> None:
    for root in binding.roots:
        rewrite_date_add(root)


def _resolve(binding: SelectBinding) -> None:
    outer, relations = binding.outer, binding.relations
    for root in binding.roots:
        for column in list(root.find_all(exp.Column)):
            if not isinstance(column.this, exp.Star) and not _inside_query(column, root):
                around = outer and not knows(column, relations)
                seen = around and knows(column, outer)
                read = outer if seen else relations
                if seen:
                    note_read(column, outer)
                if not is_beyond(column, read, binding.binder.beyond, binding.report):
                    resolve(column, read, binding.report)
    if group := binding.select.args.get("group"):
        group.set("expressions", list(dict.fromkeys(group.expressions)))  # a and t.a are one key


def _comments(binding: SelectBinding) -> None:
    binding.comments = {
        item.alias: comment_of(item.this, binding.relations) for item in binding.select.selects
    }


def _subqueries(binding: SelectBinding) -> None:
    bind_predicates(binding.select, binding.relations, binding.written, binding.binder)


def _recent(binding: SelectBinding) -> None:
    mark_recent(binding.select, binding.binder.catalog)
    for join in binding.select.args.get("joins") or []:
        mark_joined(join, binding.binder.catalog)


def _merge(binding: SelectBinding) -> None:
    read = [relation for relation in binding.relations if not relation.computed]
    binding.relations = merge_subqueries(binding.select, read, binding.bases)


def _windows(binding: SelectBinding) -> None:
    recognise_date_trunc(binding.select, binding.relations, binding.binder.catalog)
    complete_window_keys(binding.select)


def _types(binding: SelectBinding) -> None:
    for root in [*binding.roots, *_ordered(binding.select)]:
        infer(root, binding.report)
        if isinstance(root, (exp.Where, exp.Having, exp.Qualify)):
            expect_boolean(root.this, root.key.upper(), binding.report)


def _attempts(binding: SelectBinding) -> None:
    for root in binding.select.iter_expressions():
        settle_attempts(root, binding.report)


def _aggregates_placed(binding: SelectBinding) -> None:
    if binding.grouped:
        check_aggregates(binding.select, binding.report)


def _base(binding: SelectBinding) -> None:
    if len(binding.relations) == 1:
        binding.bases[id(binding.select)] = (binding.select, binding.relations[0])


def _fields(binding: SelectBinding) -> None:
    binding.fields = fields_of(binding.select, binding.comments)


def _ordered(select: exp.Select) -> list[exp.Expr]:
    """Return what ORDER BY names beside outputs."""
    order = select.args.get("order")
    items = order.expressions if order is not None else []
    return [item.this for item in items if not isinstance(item.this, exp.Column) or item.this.table]


def _inside_query(node: exp.Expr, root: exp.Expr) -> bool:
    inner = node.parent
    while inner is not None and inner is not root.parent:
        if isinstance(inner, exp.Query):
            return True
        inner = inner.parent
    return False


_IN_OTHERS = {"WEEK": (7, "DAY"), "QUARTER": (3, "MONTH")}
"""Units that intervals of Trino do not have, as a number of others."""


def rewrite_date_add(root: exp.Expr) -> None:
    """``date_add('hour', 2, ts)`` → ``ts + INTERVAL '2' HOUR``, which all engines read alike."""
    for node in reversed(list(root.find_all(exp.DateAdd))):  # the inner ones first
        amount, unit = node.expression, node.text("unit").upper()
        negative = isinstance(amount, exp.Neg)
        literal = amount.this if negative else amount
        if not (isinstance(literal, exp.Literal) and literal.is_int and unit):
            continue
        times, unit = _IN_OTHERS.get(unit, (1, unit))
        length = exp.Literal.string(str(times * int(literal.name)))
        span = exp.Interval(this=length, unit=exp.Var(this=unit))
        shifted = (exp.Sub if negative else exp.Add)(this=node.this.copy(), expression=span)
        node.replace(shifted)


PASSES: tuple[Pass, ...] = (
    Pass("places", _place, (), ("subqueries of rows",)),
    Pass("from", _from, ("subqueries of rows",), ("relations",)),
    Pass(
        "stars",
        _stars,
        ("relations",),
        ("columns listed",),
    ),
    Pass(
        "window time",
        lambda b: replace_window_time(b.select, b.relations),
        ("relations",),
        ("window time",),
    ),
    Pass(
        "names",
        lambda b: name_outputs(b.select, b.named),
        ("columns listed", "window time"),
        ("outputs named",),
    ),
    Pass("date_add", _date_add, ("columns listed",), ("intervals",)),
    Pass("grouping", _grouping, ("relations", "outputs named"), ("group keys",)),
    Pass(
        "qualify",
        lambda b: name_in_qualify(b.select, b.columns, b.report),
        ("relations", "outputs named"),
        ("qualify",),
    ),
    Pass(
        "order",
        lambda b: bind_order(b.select, b.relations, b.report),
        ("relations", "outputs named"),
        ("order",),
    ),
    Pass("resolve", _resolve, ("relations", "group keys", "qualify"), ("columns resolved",)),
    Pass("comments", _comments, ("columns resolved",), ("comments",)),
    Pass("subqueries", _subqueries, ("columns resolved",), ("subqueries bound",)),
    Pass("recent", _recent, ("columns resolved", "subqueries bound", "intervals"), ("recent",)),
    Pass("merge", _merge, ("columns resolved", "recent", "comments"), ("merged",)),
    Pass("windows", _windows, ("group keys", "merged"), ("window keys",)),
    Pass("types", _types, ("window keys", "order", "intervals"), ("types",)),
    Pass("attempts", _attempts, ("types",), ("attempts settled",)),
    Pass(
        "settled frames",
        lambda b: settle_frames(b.select, b.report),
        ("types",),
        ("settled frames",),
    ),
    Pass(
        "frames",
        lambda b: anchor_windows(b.select, b.relations, b.report),
        ("settled frames",),
        ("frames",),
    ),
    Pass("collect", lambda b: settle(b.select), ("settled frames",), ("collections ordered",)),
    Pass(
        "ties",
        lambda b: break_ties(b.select, b.relations, b.report),
        ("types", "order"),
        ("ties broken",),
    ),
    Pass(
        "windows placed",
        lambda b: check_windows(b.select, b.report),
        ("qualify", "subqueries bound"),
        ("windows placed",),
    ),
    Pass(
        "aggregates placed",
        _aggregates_placed,
        ("window keys", "subqueries bound"),
        ("aggregates placed",),
    ),
    Pass(
        "table first",
        lambda b: table_first(b.select, b.report),
        ("types", "merged", "ties broken", "frames"),
        ("table first",),
    ),
    Pass(
        "commas",
        lambda b: group_by_commas(b.select, b.report),
        ("table first",),
        ("commas grouped",),
    ),
    Pass(
        "joins",
        lambda b: move_to_joins(b.select),
        ("types", "merged", "commas grouped"),
        ("join conditions",),
    ),
    Pass("unnest", lambda b: unnest_first(b.select), ("join conditions",), ("unnested",)),
    Pass(
        "lift groups",
        lambda b: lift_groups(b.select),
        ("aggregates placed", "frames", "unnested"),
        ("groups lifted",),
    ),
    Pass("unread columns", _unread_columns, ("groups lifted",), ("columns read",)),
    Pass("base", _base, ("merged",), ("base",)),
    Pass("fields", _fields, ("types", "comments", "groups lifted"), ("fields",)),
)
"""In the order in which they run."""
