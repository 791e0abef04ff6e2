"""``headwater apply``: the definitions of the files become those of the lake.

In: a project and its changes. Out: each changed view has its new rows and columns, by one commit of
its table. Until then the old version serves. Views that have another name now are renamed first.

Before that, tables whose clauses or columns changed follow them (:mod:`headwater.deploy.tables`).

1. Beside each view that is built anew stands its shadow, an empty table with the columns that the
   view will have; one that a killed apply left goes on (``1-shadows``).
2. The engine builds the shadows from the history of their inputs, as it does with any view, in
   ticks of their own. Tables are landed, and the views that serve are maintained, until it is done.
3. Each shadow is judged by its SELECT in another engine. One that differs ends the apply.
4. From here on the apply has to be finished: the shadows say so (``4-begun``).
5. In the order in which they read each other, the views take the files of their shadows
   (``5-swapped``, after each). What reads them sees the difference of old and new as one change.
6. The shadows go (``6-done``).
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from headwater.analyze.definitions import CHANGES, NEXT, OnSchemaChange
from headwater.deploy.changes import BUILT, Kind, ProjectChanges
from headwater.deploy.rename import rename
from headwater.deploy.shadows import with_shadows
from headwater.deploy.tables import NEW_NAME
from headwater.deploy.versions import Version, put_in_place
from headwater.engine.side_tables import take_sides
from headwater.errors import HeadwaterError, ServiceError, TerminalError
from headwater.lake.catalog import Lake
from headwater.lake.failures import explain_failure
from headwater.lake.protocol.crash_points import crash_point
from headwater.lake.protocol.table import Table
from headwater.lake.reserved_names import quarantine_of, tables_of
from headwater.lake.shadows.shadow import begin_swap, drop_shadow, fits, make_shadow
from headwater.plan.planner import plan_project
from headwater.plan.view_plan import ViewPlan
from headwater.project import Project
from headwater.runtime.events import Progress, silent
from headwater.runtime.lease import Lease
from headwater.runtime.supervisor import Supervisor
from headwater.serve.lake_reader import LakeReader, drop_table, pause
from headwater.serve.stored_table import StoredTable
from headwater.serve.verify import VerifyResult, verify

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CRASH_POINTS = ("1-shadows", "4-begun", "5-swapped", "6-done")
"""Names for ``HEADWATER_CRASH_POINT``, in the order in which an apply reaches them."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A view that has another version now.

    Attributes:
        view: its name.
        version: the number of the version.
        rows: how many rows it has.
        verdict: what the check of its rows found, before they were shown.
    """

    view: str
    version: int
    rows: int
    verdict: str


_NOTHING_APPLIED = "a new version could not be built, so nothing was changed"
_OTHERS_APPLIED = "a new view could not be built; all other changes are applied"


class Unequal(Exception):
    """Shadows differ from their SELECT; nothing was swapped.

    Attributes:
        results: the checks.
    """

    def __init__(self, results: Sequence[VerifyResult]) -> None:
        super().__init__("a new version differs from its SELECT")
        self.results = results


def apply(
    changes: ProjectChanges,
    *,
    spark: SparkSession | None = None,
    progress: Progress = silent,
) -> list[Applied]:
    """Make the definitions of a project those of the lake.

    Args:
        changes: the project, as its files have it, held against the lake.
        spark: a running session to use; one is opened if there is none.
        progress: told of the commits that build the new versions.

    Raises:
        Unequal: a new version is not what its SELECT says.
        HeadwaterError: it cannot be built, or another process runs the project.
    """
    _check_tables(changes)
    changes = rename(changes)
    swap = _Swap(changes)
    jars = Supervisor(changes.project).jars
    open_ = partial(Supervisor, spark=spark, progress=progress, jars=jars)
    if tables := _of_kind(changes, Kind.ONWARD):
        _run(open_(_following(changes.project, tables), views=tables))
    if swap.names:
        # those that serve run, too, and stay fresh meanwhile
        views = [*swap.shadows, *_serving(changes, swap.built)]
        failed = open_(swap.both, views=views, deployment=swap).run(once=True)
        if len(swap.applied) < len(swap.names):
            raise (
                _not_built()
                if failed
                else ServiceError(
                    "APPLY_FAILED",
                    "the apply was interrupted, so nothing was changed",
                    hint="run `headwater apply` again: it goes on where it stopped",
                )
            )
    if new := _of_kind(changes, Kind.NEW, Kind.METADATA):
        _run(open_(changes.project, views=new), _OTHERS_APPLIED)
    if gone := _of_kind(changes, Kind.REMOVED):
        _remove(changes.project, gone)
    return swap.applied


def _check_tables(changes: ProjectChanges) -> None:
    """Refuse to apply anything if a table cannot follow its definition."""
    for change in changes.changes:
        if change.kind is Kind.REFUSED:
            message = f'table "{change.name}" cannot follow its definition: {change.reason}'
            raise TerminalError("SCHEMA_CHANGED", message, hint=NEW_NAME)


def _following(project: Project, tables: Sequence[str]) -> Project:
    """The project with tables that follow their definition, whether they say so or not."""
    follows = {name for table in tables for name in (table, table + CHANGES)}
    sources = {
        name: replace(each, on_schema_change=OnSchemaChange.EVOLVE) if name in follows else each
        for name, each in project.catalog.sources.items()
    }
    return replace(project, catalog=replace(project.catalog, sources=sources))


def _of_kind(changes: ProjectChanges, *kinds: Kind) -> list[str]:
    return [change.name for change in changes.changes if change.kind in kinds]


def _serving(changes: ProjectChanges, plans: Mapping[str, ViewPlan]) -> list[str]:
    """The views that are there and can go on while others are built."""
    found, resting = [], set[str]()
    new = _of_kind(changes, Kind.NEW)
    for name in (each for each in plans if each in changes.plans and each not in new):
        if not changes.goes_on(name) or resting & set(plans[name].view.inputs):
            resting.add(name)
        else:
            found.append(name)
    return found


def _run(supervisor: Supervisor, otherwise: str = _NOTHING_APPLIED) -> None:
    if supervisor.run(once=True):
        raise _not_built(otherwise)


def _not_built(otherwise: str = _NOTHING_APPLIED) -> ServiceError:
    return ServiceError(
        "APPLY_FAILED",
        otherwise,
        hint="correct what the messages above say, then run `headwater apply` again",
    )


def _remove(project: Project, names: Sequence[str]) -> None:
    """Drop tables that no file defines any more, with what was kept beside them."""
    there = LakeReader(project.config).names()
    lease = Lease.acquire(project.config)
    try:
        for name in names:
            for table in (each for each in there if each in (name, quarantine_of(name))):
                drop_table(project.config, table)
            shutil.rmtree(project.config.state / name, ignore_errors=True)
        pause(project.config, (), names)
    finally:
        lease.release()


class _Swap:
    """The shadows of some views: made before the engine runs, swapped after it."""

    def __init__(self, changes: ProjectChanges) -> None:
        self.names = _of_kind(changes, *BUILT)
        self.shadows = [name + NEXT for name in self.names]
        self.applied: list[Applied] = []
        self._plans = changes.plans
        self._keep = changes.project.config.maintenance.keep_versions
        for name in self.names:
            _check(self._plans[name], changes.table(name))
        self.both = with_shadows(changes.project, self.names, changes.old)
        self.built = plan_project(self.both.catalog) if self.names else {}

    def begin(self, lake: Lake) -> None:
        """Make the shadows that are not there (step 1)."""
        for name in self.names:
            plan, live = self.built[name + NEXT], lake.readable(name)
            ddl = ", ".join(f"`{each.name}` {each.spark_type}" for each in plan.columns)
            if not self._goes_on(lake, live, plan, ddl):
                for table in tables_of(plan)[1:]:
                    drop_shadow(lake, table, files=True)
                make_shadow(lake, live, plan.view.name, ddl, plan.partitioned_by)
        crash_point("1-shadows")

    def finish(self, lake: Lake, lease: Lease) -> None:
        """Judge the shadows and swap them (steps 3 to 6)."""
        results = verify(self.both, self.built, self.shadows)
        if any(each.broken for each in results):
            raise Unequal(results)
        verdicts = {each.view: each.verdict.value for each in results}
        for name in self.shadows:
            begin_swap(lake.readable(name))
        crash_point("4-begun")
        heads: dict[str, str] = {}
        for name in self.names:
            lease.check()
            try:
                done = self._swap(lake, name, lease.token, heads, verdicts[name + NEXT])
            except HeadwaterError:
                raise
            except Exception as error:
                raise explain_failure(error) or error from error
            self.applied.append(done)
            crash_point("5-swapped", name)
        for name in self.shadows:
            for table in tables_of(self.built[name]):
                drop_shadow(lake, table, files=table != name)
        crash_point("6-done")

    def _goes_on(self, lake: Lake, live: Table, plan: ViewPlan, ddl: str) -> bool:
        """Whether there is a shadow of this very definition."""
        shadow = lake.written(plan.view.name)
        if shadow is None or not fits(live, shadow, ddl, plan.partitioned_by):
            return False
        marker = shadow.marker()
        return marker is None or plan.is_of(marker.fingerprint)

    def _swap(
        self, lake: Lake, name: str, token: int, heads: dict[str, str], verdict: str
    ) -> Applied:
        plan, live, shadow = self._plans[name], lake.readable(name), lake.readable(name + NEXT)
        built = shadow.marker()
        cut = dict(built.cut_to) if built else {}
        for read in [each for each in cut if each.endswith(NEXT)]:
            newest, position = str(lake.readable(read).last_change()), cut.pop(read)
            if position != newest:
                raise ServiceError("APPLY_FAILED", f'"{name}" has not read all of "{read}"')
            cut[read.removesuffix(NEXT)] = heads[read]
        counts = sum((Counter(each.marker.counts) for each in shadow.commits()), Counter[str]())
        watermark = built.watermark if built else None
        rule = plan.decision.rule.name
        version = Version(
            plan.view.definition, plan.fingerprint, cut, watermark, dict(counts), rule
        )
        sides = partial(take_sides, lake, plan, self.built[name + NEXT])
        done = put_in_place(
            live, shadow, shadow.snapshot_id(), version, token, keep=self._keep, sides=sides
        )
        heads[name + NEXT] = str(done.snapshot_id)
        return Applied(name, done.version, live.rows_at(done.snapshot_id), verdict)


def _check(plan: ViewPlan, table: StoredTable | None) -> None:
    """Refuse what cannot be built anew."""
    name = plan.view.name
    if table is not None and table.is_delta is not plan.view.is_delta:
        raise TerminalError(
            "NOT_YET",
            f'view "{name}" changes its format, which no commit of one table can do',
            hint="give the new definition a new name",
        )
    if direct := [item.name for item in plan.inputs if item.kind == "source"]:
        raise TerminalError(
            "NOT_YET",
            f'view "{name}" reads the SOURCE {direct[0]}, whose rows cannot be read again',
            hint=f"land it: CREATE TABLE {direct[0]}; or give the new definition a new name",
        )
