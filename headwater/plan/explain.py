"""``explain``: a plan as a person reads it, with all that decides how the view is kept.

In: a :class:`~headwater.plan.view_plan.ViewPlan`.
Out: text; :func:`facts` gives the same as rows for ``--output json``.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from sqlglot import exp

from headwater.algebra.nodes import Aggregate, AsOf, Match, Node, nodes_of
from headwater.algebra.text import text_of
from headwater.analyze.definitions import ChangelogMode, Emit, LateRows, OnError
from headwater.analyze.time.event_time import NONE
from headwater.errors.words import duration
from headwater.patterns import MatchClause
from headwater.patterns.clause import CLOSE
from headwater.plan.program import Program, StreamingProgram
from headwater.plan.query_shape import MICROSECOND, RelationShape, ShapeKind
from headwater.plan.view_plan import ViewPlan


def explain(plan: ViewPlan) -> str:
    """Return the plan of a view as text: decision, properties, operator tree."""
    width = max(len(name) for name in facts(plan))
    lines = [f"view {plan.view.name}"]
    lines += [f"  {name.ljust(width)}  {value}" for name, value in facts(plan).items()]
    return "\n".join([*lines, "", *tree(plan)])


def facts(plan: ViewPlan) -> dict[str, str]:
    """Return the properties of a plan by name, in the order in which they are shown."""
    decision = plan.decision
    found = {
        "engine": decision.words,
        "because": decision.reason,
        "emission": _emission(plan),
        "late rows": _late(plan),
        "stream key": ", ".join(plan.stream_key) or "none",
        "watermark": _watermarks(plan),
        "state": state(plan) or "none",
        "partitioned": ", ".join(plan.partitioned_by) or "no",
    }
    if plan.closing:
        found["final"] = _final(plan)
    if plan.guard:
        kept = "quarantine" if plan.view.on_error == OnError.QUARANTINE else "drop"
        found["bad rows"] = f"{kept} rows that fail in {', '.join(plan.guard.expressions)}"
    elif plan.view.on_error == OnError.FAIL:
        found["bad rows"] = "stop the view"
    return found


def state(plan: ViewPlan) -> str:
    """Return what a view remembers, or an empty string."""
    read = [each.ages.recent.length for each in plan.inputs if each.ages.recent]
    if read:
        return f"the landed rows of {age(max(read))}"
    if not plan.closing:
        return "; ".join(dict.fromkeys(_states(plan)))
    reaches = [reach for one in plan.closing for reach in one.reads.values()]
    if nodes_of(plan.view.tree.root, AsOf):
        return (
            "the landed rows; a tick looks for the newest version of each key at the time of a row"
        )
    if any(None in reach for reach in reaches):
        return f"the landed rows; {_read_by_a_tick(plan.program)}"
    highest = max(reach.highest or NONE for reach in reaches)
    span = highest - min(reach.lowest or NONE for reach in reaches)
    return f"the landed rows; a tick reads {duration(span) if span else 'those'} of event time"


def age(length: int) -> str:
    """Return what :attr:`Age.length` says, in words.

    Args:
        length: microseconds; one less than a whole millisecond where the bound itself is not taken.
    """
    strict = (length + 1) % 1000 == 0
    words = duration((length + strict) * MICROSECOND)
    return (
        f"less than {words} behind the watermark"
        if strict
        else f"at most {words} behind the watermark"
    )


def _read_by_a_tick(program: Program) -> str:
    recent = [each.recent for each in program.patterns if each.recent]
    if not recent or len(recent) < len(program.patterns):
        return "a tick may read all of them"
    span = max(each.since for each in recent) * MICROSECOND
    return (
        f"a tick reads {duration(span)} of event time before the watermark, and older rows of keys"
        " whose matches depend on them"
    )


def _states(plan: ViewPlan) -> Iterator[str]:
    """What the operators of a view remember, from the top down."""
    if join := plan.shape.join:
        lower, upper = join.lower * MICROSECOND, join.upper * MICROSECOND
        span = max(upper, timedelta(0)) - min(lower, timedelta(0))
        yield f"rows of both sides for {duration(span)} of event time"
    if plan.shape.kind is ShapeKind.DISTINCT:
        by_time = plan.shape.shows_event_times
        yield "rows above the watermark" if by_time else "every row, in the view's own table"
        return
    open_ = " of the windows still open" if plan.mode is ChangelogMode.APPEND else ""
    labels = {name: label for label, name in reversed(plan.view.tree.labels)}
    for groups in _outermost_groups(plan.view.tree.root):
        keys = ", ".join(labels.get(each, each) for each in groups.keys)
        yield f"one row per ({keys}){open_}" if keys else "one row"


def _outermost_groups(node: Node) -> Iterator[Aggregate]:
    """The groups that no others are made of: those below are computed from the inputs."""
    if isinstance(node, Aggregate):
        yield node
        return
    for each in node.inputs:
        yield from _outermost_groups(each)


def _final(plan: ViewPlan) -> str:
    """When a row appears, of a view that waits for it."""
    dates = []
    for one in plan.closing:
        after = one.after + plan.late.allowed
        date = " or ".join(_date(anchor, plan) for anchor in one.anchors)
        dates.append(date + (f" + {duration(after)}" if after else ""))
    found = f"once the watermark is at {' and '.join(dict.fromkeys(dates))}"
    return f"{found}; a row with all parts at once" if plan.closing[0].unless else found


def _date(anchor: exp.Expr, plan: ViewPlan) -> str:
    if not (isinstance(anchor, exp.Column) and anchor.name == CLOSE):
        return anchor.sql("trino")
    found = "the last row that can change a match"
    clauses: list[MatchClause] = [each.clause for each in nodes_of(plan.view.tree.root, Match)]
    bounds = [each.within for each in clauses if each.within and not each.lookahead]
    if len(bounds) < len(clauses):
        return found
    return f"{found}, at most {duration(max(bounds))} after its first row"


def tree(plan: ViewPlan) -> list[str]:
    """Return the lines of the relational algebra of a view."""
    said = {each.name: _relation(each, plan.late) for each in plan.shape.relations}
    return text_of(plan.view.tree, said).splitlines()


def _relation(relation: RelationShape, late: LateRows) -> str:
    if relation.source is None:
        return "view"
    kind = "log table" if relation.source.kept else "source"
    if relation.source.external:
        kind = "external table"
    if not relation.event_time:
        return kind
    dropped = "" if late.accept else ", late rows dropped"
    return f"{kind}, watermark {relation.event_time} - {duration(relation.delay)}{dropped}"


def program_sql(program: Program) -> dict[str, str]:
    """Return the Spark SQL of a program by the step it is for."""
    late = {f"late rows of {name}": text for name, text in program.late.items()}
    return program.texts() | late


def _emission(plan: ViewPlan) -> str:
    if plan.final:
        return "on window close: rows are final and append-only"
    if plan.mode is ChangelogMode.APPEND:
        return "changes: append-only, rows appear once and stay"
    how = f" by ({', '.join(plan.stream_key)})" if plan.stream_key else ""
    return f"{Emit.CHANGES.value}: rows are corrected{how} as data arrives"


def _late(plan: ViewPlan) -> str:
    into = f", stored in {plan.late.into}" if plan.late.into else ""
    if plan.late.accept:
        return f"accept: every row counts{into}"
    program = plan.program
    straight = [r.name for r in plan.shape.relations if r.event_time and not r.tells_lateness]
    if straight and isinstance(program, StreamingProgram) and program.stateful:
        into = f"; late rows of {', '.join(dict.fromkeys(straight))} are not counted (a SOURCE)"
    if plan.late.allowed:
        return f"accept for {duration(plan.late.allowed)}, then drop and count{into}"
    return f"drop and count{into}"


def _watermarks(plan: ViewPlan) -> str:
    """Where the watermark of a view comes from: of views that it reads, from theirs."""
    own = [relation for relation in plan.shape.relations if relation.event_time]
    texts = {f"{each.name}.{each.event_time} - {duration(each.delay)}" for each in own}
    texts |= {f"{name}.{each.column}" for name, each in plan.shape.recent.items()}
    told = {each.name for each in own} | plan.shape.recent.keys()
    passed = sorted(each.name for each in plan.inputs if each.timed and each.name not in told)
    texts |= {f"that of {', '.join(passed)}"} if passed else set()
    return ", ".join(sorted(texts)) or "none"
