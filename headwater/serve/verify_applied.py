"""``headwater verify`` of a view whose file has changed since it was applied.

In: what the check by the files found. Out: views whose newest commit is of another definition are
judged by that one, which their table holds as SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.dialect import parse_all
from headwater.dialect.syntax import CreateStreamingView
from headwater.plan.planner import plan_sound
from headwater.project import Project, read_project
from headwater.serve.lake_reader import LakeReader
from headwater.serve.verify import Verdict, VerifyResult

if TYPE_CHECKING:
    from sqlglot import exp

    from headwater.plan.view_plan import ViewPlan

SAID = "judged by the definition that is applied; its file has changed since, see: headwater plan"

Check = Callable[["Project", Mapping[str, "ViewPlan"], Sequence[str]], list[VerifyResult]]
"""Checks some views of a project."""


def judge_applied(
    project: Project, results: Sequence[VerifyResult], check: Check
) -> list[VerifyResult]:
    """Judge views by the definition that their commit is of, if the files have another one.

    Args:
        project: as its files have it.
        results: what a check by the files found.
        check: checks views again.
    """
    lake = LakeReader(project.config)
    stored = {
        each.view: statement
        for each in results
        if each.verdict is Verdict.CHANGED and (statement := _definition(lake, each))
    }
    if not stored:
        return list(results)

    def applied(statement: exp.Expression) -> Sequence[exp.Expression]:
        return [stored.get(statement.name, statement)]

    as_applied = replace(read_project(project.root, edit=applied), config=project.config)
    plans, faults = plan_sound(as_applied.catalog)
    as_applied = as_applied.without(faults)
    again = [name for name in stored if name in plans]
    read = [each.view for each in results if each.view in plans and _reads(plans, each, again)]
    found = {each.view: each for each in check(as_applied, plans, [*again, *read])}
    return [_judged(each, found.get(each.view), each.view in again) for each in results]


def _definition(lake: LakeReader, result: VerifyResult) -> CreateStreamingView | None:
    """The definition that a commit is of, if its table holds it."""
    table = lake.table(result.view)
    newest = table.marker() if table else None
    if table is None or newest is None or result.commit is None:
        return None
    version = result.commit.marker.version
    text = table.definition if version == newest.version else table.definitions.get(version, "")
    statements, errors = parse_all(text, file=f"{result.view} in the lake") if text else ([], [])
    found = statements[0] if statements and not errors else None
    return found if isinstance(found, CreateStreamingView) else None


def _reads(plans: Mapping[str, ViewPlan], result: VerifyResult, names: Sequence[str]) -> bool:
    """Whether a view reads one that is judged again, of which its own result speaks."""
    return result.view not in names and not {*names}.isdisjoint(plans[result.view].view.inputs)


def _judged(before: VerifyResult, now: VerifyResult | None, applied: bool) -> VerifyResult:
    if now is None or now.verdict is Verdict.CHANGED:
        return before
    return replace(now, reason="; ".join(filter(None, (SAID, now.reason)))) if applied else now
