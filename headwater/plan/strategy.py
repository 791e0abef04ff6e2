"""Which engine keeps a view: ordered rules, the first that fits decides and says why.

In: the view, its shape and what its inputs are (:class:`Facts`).
Out: a :class:`~headwater.plan.view_plan.Decision`; or an error where no engine can keep the view.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from headwater.analyze.definitions import ChangelogMode, Emit, View
from headwater.analyze.query_parts import is_distinct
from headwater.analyze.rules.keys import missing_keys
from headwater.errors import SqlError
from headwater.plan.query_shape import Shape
from headwater.plan.rules.fold import is_folded
from headwater.plan.rules.folds import APPROXIMATE
from headwater.plan.rules.top_n import top_of
from headwater.plan.view_plan import Decision, Input

ENGINES = ("streaming", "incremental", "full")


@dataclass(frozen=True, slots=True)
class Facts:
    """What the rules look at.

    Attributes:
        view: the bound view.
        shape: its shape.
        emit: when its rows appear, as decided.
        inputs: what it reads.
        modes: what each input emits.
        mode: what it emits itself.
    """

    view: View
    shape: Shape
    emit: Emit
    inputs: tuple[Input, ...]
    modes: dict[str, ChangelogMode]
    mode: ChangelogMode

    def reads(self, kind: str) -> bool:
        """Whether an input is of this kind."""
        return any(item.kind == kind for item in self.inputs)

    @property
    def streams(self) -> bool:
        """Whether Spark can read all inputs as streams."""
        return all(item.streams for item in self.inputs)

    @property
    def keyed(self) -> bool:
        """Whether there are group keys, all among the view's columns, and a row for each."""
        select = self.shape.select
        return bool(select.args.get("group")) and not (missing_keys(select) or is_distinct(select))

    @property
    def timed(self) -> bool:
        """Whether every relation has a watermark of its own."""
        return all(relation.event_time for relation in self.shape.relations)


Rule = Callable[[Facts], Decision | None]


def decide(facts: Facts) -> Decision:
    """Return the decision of the first rule that fits.

    Raises:
        SqlError: ``NOT_YET`` if no engine keeps the view, ``ENGINE_CANNOT`` if the engine asked for
            cannot.
    """
    forced = facts.view.options.get("engine", "")
    if forced == "full":
        return Decision("full", "recompute", "asked for by WITH (engine = 'full')")
    candidates = []
    for rule in RULES:
        decision = rule(facts)
        if decision and decision.engine == "streaming" and not facts.streams:
            continue
        if decision and forced in ("", decision.engine):
            return decision
        candidates += [decision] if decision else []
    if candidates:
        raise SqlError(
            "ENGINE_CANNOT",
            f"the {forced} engine cannot keep view {facts.view.name}",
            hint=f"leave the option out: {candidates[0].engine} can, by {candidates[0].rule}",
            span=facts.view.span,
        )
    raise _refusal(facts)


def linear_stream(facts: Facts) -> Decision | None:
    """Filter, project, unnest, union all: each row on its own."""
    if facts.shape.kind == "linear" and _append_only(facts):
        return Decision("streaming", "linear", "append-only and stateless: each row on its own")
    return None


def window_close(facts: Facts) -> Decision | None:
    """Aggregates over windows that are final when the watermark closes them."""
    closes = facts.shape.window and facts.emit is Emit.ON_WINDOW_CLOSE
    if closes and facts.timed and not _aggregates_distinct(facts.view):
        return Decision(
            "streaming",
            "window on close",
            "rows are final once closed, so Spark's state can forget them",
        )
    return None


def interval_join(facts: Facts) -> Decision | None:
    """Joins whose event times are bounded on both sides."""
    if facts.shape.kind == "interval join" and facts.timed:
        return Decision(
            "streaming", "interval join", "event times bound how long a row waits for its match"
        )
    return None


def distinct_in_time(facts: Facts) -> Decision | None:
    """DISTINCT with the event time among the columns."""
    if facts.shape.kind == "distinct" and facts.shape.shows_event_times:
        return Decision(
            "streaming", "deduplicate", "the watermark bounds how long a row is remembered"
        )
    return None


def joined_tick(facts: Facts) -> Decision | None:
    """Rule 1 for inner joins: a row that is there stays, one with a new part is new."""
    general = facts.shape.kind == "general" and facts.mode is ChangelogMode.APPEND
    if general and _replayable(facts):
        reason = "inputs only gain rows: the change of one is joined with the others"
        return Decision("incremental", "rule 1, joined change", reason)
    return None


def linear_tick(facts: Facts) -> Decision | None:
    """Rule 1, where streaming is not wanted."""
    if facts.shape.kind == "linear" and _replayable(facts):
        return Decision("incremental", "rule 1, linear", "change in, change out")
    return None


def self_maintainable(facts: Facts) -> Decision | None:
    """Rule 2: aggregates and DISTINCT whose state can absorb a change."""
    if facts.emit is not Emit.CHANGES or facts.reads("source"):
        return None
    signed = not _append_only(facts)
    if not is_folded(facts.view.query, signed=signed):
        return None
    reason = "the aggregated change is merged into the state by key"
    if facts.shape.kind == "general":
        reason = "the change of each input is joined with the others, aggregated and merged by key"
    if signed:
        reason += "; rows that go are subtracted"
    return Decision("incremental", "rule 2, self-maintainable aggregate", reason)


def newest_row(facts: Facts) -> Decision | None:
    """Rule 2 for a keyed table: the change that happened last is the row."""
    if facts.view.changes:
        return Decision(
            "incremental",
            "rule 2, newest row of each key",
            "of two changes of a key the later one wins, in whatever order they arrive",
        )
    return None


def affected_keys(facts: Facts) -> Decision | None:
    """Rule 3: any aggregate, re-run for the keys that the change touches."""
    if facts.shape.kind == "aggregate" and _corrected(facts) and facts.keyed:
        return Decision(
            "incremental",
            "rule 3, affected keys",
            "the query is run again for the keys that the change touches",
        )
    return None


def first_rows(facts: Facts) -> Decision | None:
    """Rule 4 for Top-N over what only gains rows."""
    appends = all(item.appends for item in facts.inputs) and not facts.reads("source")
    if facts.emit is Emit.CHANGES and appends and top_of(facts.view.query):
        return Decision(
            "incremental",
            "rule 4, first rows",
            "inputs only gain rows: the first are among those held and those that came",
        )
    return None


def affected_units(facts: Facts) -> Decision | None:
    """Rule 4: any query over tables and views, run again for the units that the change touches."""
    if facts.emit is Emit.CHANGES and not facts.reads("source") and not _approximates(facts.view):
        return Decision(
            "incremental",
            "rule 4, affected units",
            "the query is run again for the groups and rows that the change touches",
        )
    return None


RULES: tuple[Rule, ...] = (
    linear_stream,
    window_close,
    interval_join,
    distinct_in_time,
    linear_tick,
    joined_tick,
    newest_row,
    self_maintainable,
    affected_keys,
    first_rows,
    affected_units,
)


def _approximates(view: View) -> bool:
    """Whether an approximate aggregate stands where its bounds say nothing of the view's rows.

    Within a part of the query, or where it decides which rows there are.
    """
    chooses = view.query.args.get("limit") or view.query.args.get("qualify")
    calls = view.query.find_all(*APPROXIMATE)
    return any(chooses or call.find_ancestor(exp.Select) is not view.query for call in calls)


def _aggregates_distinct(view: View) -> bool:
    """Whether an aggregate has DISTINCT, which Spark does not compute in a stream."""
    return any(call.find(exp.Distinct) for call in view.query.find_all(exp.AggFunc))


def _append_only(facts: Facts) -> bool:
    return all(mode is ChangelogMode.APPEND for mode in facts.modes.values())


def _replayable(facts: Facts) -> bool:
    return _append_only(facts) and not facts.reads("source")


def _corrected(facts: Facts) -> bool:
    return _replayable(facts) and facts.emit is Emit.CHANGES


def _refusal(facts: Facts) -> SqlError:
    name, span = facts.view.name, facts.view.span
    updating = [each for each, mode in facts.modes.items() if mode is not ChangelogMode.APPEND]
    if updating and facts.emit is not Emit.CHANGES:
        what = f"view {name} reads {updating[0]}, whose rows are corrected as data comes"
        hint = "write EMIT CHANGES"
        if any(each.name == updating[0] and each.kind == "view" for each in facts.inputs):
            hint += f", or give {updating[0]} EMIT ON WINDOW CLOSE"
    elif not facts.streams and facts.emit is not Emit.CHANGES:
        delta = next(each.name for each in facts.inputs if not each.streams)
        what = f"view {name} closes windows over {delta}, a Delta table"
        hint = "write EMIT CHANGES"
    elif facts.reads("source"):
        what = f"view {name} corrects its rows but reads a SOURCE, which is not kept"
        hint = "land the input: CREATE TABLE instead of CREATE SOURCE"
    elif facts.emit is not Emit.CHANGES and _aggregates_distinct(facts.view):
        what = f"view {name} aggregates distinct values in windows that close"
        hint = "use approx_distinct, or write EMIT CHANGES over tables"
    elif _approximates(facts.view):
        what = f"view {name} approximates within a subquery or UNION, or before LIMIT or QUALIFY"
        hint = "make that part a view of its own"
    else:
        what = f"no engine keeps view {name} yet: an input has no watermark"
        hint = "declare WATERMARK FOR … in the tables it reads"
    return SqlError("NOT_YET", what, hint=hint, span=span)
