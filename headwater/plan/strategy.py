"""Which rule maintains a view: the first of the registry that applies decides and says why.

In: what is known of the view (:class:`~headwater.plan.rules.contract.Facts`).
Out: a :class:`~headwater.plan.view_plan.Decision`; or an error if no rule applies.
"""

from __future__ import annotations

from headwater.analyze.definitions import Emit
from headwater.errors import SqlError
from headwater.plan.rules import registry
from headwater.plan.rules.contract import Engine, Facts, InputKind
from headwater.plan.view_plan import Decision


def decide(facts: Facts) -> Decision:
    """Return the decision of the first rule that applies.

    Raises:
        SqlError: ``NOT_YET`` if no engine keeps the view, ``ENGINE_CANNOT`` if the engine asked for
            cannot.
    """
    forced = facts.view.options.get("engine", "")
    others = []
    whole = facts.recursive or facts.constant or facts.clocked
    for rule in registry.RULES:
        if whole and rule.engine is not Engine.FULL:
            continue
        if (reason := rule.applies(facts)) is None:
            continue
        if forced in ("", rule.engine):
            return Decision(rule, reason)
        others.append(rule)
    if others:
        raise SqlError(
            "ENGINE_CANNOT",
            f"the {forced} engine cannot maintain view {facts.view.name}",
            hint=f"remove the option: the {others[0].engine} engine can, by {others[0].name}",
            span=facts.view.span,
        )
    raise _refusal(facts)


def _refusal(facts: Facts) -> SqlError:
    name, span = facts.view.name, facts.view.span
    updating = [each for each in facts.inputs if not each.appends]
    if updating and facts.emit is not Emit.CHANGES:
        how = "rows are corrected"
        if updating[0].ages.moves:
            how = "rows change as the watermark moves"
            how = "rows leave as the watermark moves" if updating[0].ages.recent else how
        what = f"view {name} reads {updating[0].name}, whose {how}"
        hint = "write EMIT CHANGES"
        if updating[0].kind is InputKind.VIEW:
            hint += f", or give {updating[0].name} EMIT ON WINDOW CLOSE"
    elif facts.clocked and facts.emit is not Emit.CHANGES:
        what = f"view {name} shows watermark() in rows that are final"
        hint = "write EMIT CHANGES"
    elif not facts.streams and facts.emit is not Emit.CHANGES:
        delta = next(each.name for each in facts.inputs if not each.streams)
        what = f"view {name} closes windows over {delta}, a Delta table"
        hint = "write EMIT CHANGES"
    elif facts.reads_source:
        what = f"view {name} corrects its rows but reads a SOURCE, which has no table"
        hint = "land the input: CREATE TABLE instead of CREATE SOURCE"
    elif facts.emit is not Emit.CHANGES and facts.aggregates_distinct:
        what = f"view {name} aggregates distinct values in windows that close"
        hint = "use approx_distinct, or write EMIT CHANGES over tables"
    elif facts.approximates_inside:
        what = f"view {name} approximates within a subquery or UNION, or before LIMIT or QUALIFY"
        hint = "make that part a view of its own"
    else:
        what = f"no engine can maintain view {name} yet: an input has no watermark"
        hint = "declare WATERMARK FOR … in the tables it reads"
    return SqlError("NOT_YET", what, hint=hint, span=span)
