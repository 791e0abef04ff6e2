"""The law, checked: a view's table against its SELECT over the inputs that its commit recorded.

In: a project, its plans, views, maybe a snapshot. Out: per view, whether the table holds exactly
what the SELECT returns, or the rows in which they differ. The table and the inputs are read by
another engine than the one that wrote them: DuckDB in this process, or Trino. A view that DuckDB
cannot run is compared by the next engine that can. A view that cannot be judged ends no report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from headwater.errors import ConfigError, HeadwaterError, ServiceError
from headwater.errors.plain import is_bug, plain
from headwater.lake.evolve import other_meaning
from headwater.lake.failures import OUT_OF_REACH, explain_failure
from headwater.serve.compare import Columns, RowDifference, compare
from headwater.serve.connection import duckdb_connection, quoted
from headwater.serve.embedded import translated_errors
from headwater.serve.lake_reader import NOTHING_IS_READABLE, LakeReader
from headwater.serve.status import RUN_FILE, behind, read_run_file

if TYPE_CHECKING:
    from headwater.lake.protocol.history import Commit, History
    from headwater.plan.view_plan import ViewPlan
    from headwater.project import Project
    from headwater.serve.stored_table import StoredTable

ROWS_SHOWN = 20
NO_SNAPSHOT = "-1"
"""What a cut says of a table that had no snapshot yet (Iceberg's streaming offset)."""


class Verdict(Enum):
    """What the check of one view found."""

    EQUAL = "equal"
    DIFFERENT = "different"
    CHANGED = "definition changed"
    NOT_KEPT = "not verifiable"
    NO_COMMIT = "no commit yet"
    FAILED = "cannot be checked"
    LEFT_OUT = "not checked"


@dataclass(frozen=True, slots=True)
class Case:
    """What an engine has to compare: a commit of a view, and what that had read.

    Attributes:
        project: the project.
        plan: the view's plan.
        columns: how exact each column has to be.
        commit: the commit.
        table: the view's table.
        read_at: the snapshot of the table to compare.
        inputs: by name, the tables that the view reads, and the snapshot that the commit has read;
            None for nothing yet.
    """

    project: Project
    plan: ViewPlan
    columns: Columns
    commit: Commit
    table: StoredTable
    read_at: int | None
    inputs: Mapping[str, tuple[StoredTable, int | None]]


class Unseen(Exception):
    """An engine cannot see a table of the case; the text says which, and why."""


Comparer = Callable[[Case, int], RowDifference]
"""Compares a case in an engine, and returns so many of the rows that differ at most; raises
:class:`Unseen` where it cannot."""

_NOT_RUN = ("QUERY_REFUSED", "ENGINE_FAULT", "UNSUPPORTED_TYPE", "UNPRINTABLE")
"""Conditions of an engine that cannot run a SELECT; another one may."""
_ENDS = NOTHING_IS_READABLE | {"TRINO_UNKNOWN", "TRINO_DOWN", "SECRET_MISSING", "EXTRA_MISSING"}
"""Conditions that no view can be judged under."""


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """The check of one view.

    Attributes:
        view: its name.
        verdict: what was found.
        reason: why it could not be checked, or what else there is to say; or an empty string.
        commit: the commit checked, if there is one.
        columns: names of the columns compared.
        difference: the numbers of rows and the rows that differ, if it was checked.
    """

    view: str
    verdict: Verdict
    reason: str = ""
    commit: Commit | None = None
    columns: tuple[str, ...] = ()
    difference: RowDifference | None = None

    @property
    def broken(self) -> bool:
        """Whether the law does not hold, or cannot be said to hold any more."""
        return self.verdict in _BROKEN

    @property
    def judged(self) -> bool:
        """Whether there is an answer."""
        return self.verdict not in (Verdict.FAILED, Verdict.LEFT_OUT)


_BROKEN = (Verdict.DIFFERENT, Verdict.CHANGED, Verdict.FAILED, Verdict.LEFT_OUT)


def verify(
    project: Project,
    plans: Mapping[str, ViewPlan],
    views: Sequence[str] = (),
    snapshot: int | None = None,
    limit: int = ROWS_SHOWN,
    compare: Comparer | None = None,
    others: Mapping[str, Comparer] | None = None,
) -> list[VerifyResult]:
    """Check views against their SELECT at rest.

    Views that the project leaves out are named. A view that cannot be judged has the reason.

    Args:
        views: the views to check; all if empty.
        snapshot: the snapshot to check, for a single view; its newest commit by default.
        limit: how many differing rows of each side to return.
        compare: the engine; DuckDB in this process by default.
        others: by name, the engines to ask in turn for a view that the first cannot run.

    Raises:
        ConfigError: ``ONE_VIEW`` if a snapshot is given for several, ``UNKNOWN_SNAPSHOT``,
            ``PART_OF_A_COMMIT``.
        ServiceError: nothing can be read; if a snapshot is given, whatever keeps it from being
            checked.
    """
    names = list(views) or list(plans)
    if snapshot is not None and len(names) != 1:
        raise ConfigError("ONE_VIEW", "--snapshot needs exactly one view", hint="name the view")
    lake = LakeReader(project.config, project.catalog.external)
    first = {"DuckDB": compare_embedded} if compare is None else {"this engine": compare}
    engines = {**first, **(others or {})}
    waits = behind(project, read_run_file(project.config.state / RUN_FILE))
    found: dict[str, VerifyResult] = {}
    for name in names:
        try:
            result = _verify_one(project, lake, plans[name], snapshot, limit, engines)
        except Exception as error:
            failed = as_failure(error)
            if snapshot is not None or failed.condition in _ENDS:
                raise failed from error
            hint = f" ({failed.hint})" if failed.hint else ""
            result = VerifyResult(name, Verdict.FAILED, failed.message + hint)
        said = [result.reason, _behind(plans[name], found), waits.get(name, "")]
        found[name] = replace(result, reason="; ".join(filter(None, said)))
    left_out = (each for each in project.broken.values() if each.kind == "view")
    return [
        *found.values(),
        *(
            VerifyResult(each.name, Verdict.LEFT_OUT, each.said)
            for each in left_out
            if not views or each.name in views
        ),
    ]


def as_failure(error: Exception) -> HeadwaterError:
    """Return why one view cannot be judged."""
    known = error if isinstance(error, HeadwaterError) else explain_failure(error)
    if known is None or (known is not error and known.condition not in OUT_OF_REACH):
        return ServiceError("READ_FAILED", plain(error))
    return known


def _behind(plan: ViewPlan, found: Mapping[str, VerifyResult]) -> str:
    """Say which of the views that a view reads are not what they should be."""
    bad = [each for each in plan.view.inputs if each in found and found[each].broken]
    return "; ".join(f"it reads {each}: {found[each].verdict.value}" for each in bad)


def _verify_one(
    project: Project,
    lake: LakeReader,
    plan: ViewPlan,
    snapshot: int | None,
    limit: int,
    engines: Mapping[str, Comparer],
) -> VerifyResult:
    case = case_of(project, lake, plan, snapshot)
    if isinstance(case, VerifyResult):
        return case
    name, commit, columns = plan.view.name, case.commit, case.columns
    outcome = _compared(case, limit, engines)
    if isinstance(outcome, str):
        return VerifyResult(name, Verdict.FAILED, outcome, commit)
    if isinstance(outcome, Unseen):
        return VerifyResult(name, Verdict.NOT_KEPT, str(outcome), commit)
    difference, said = outcome
    equal = not difference.surplus and not difference.missing
    verdict = Verdict.EQUAL if equal else Verdict.DIFFERENT
    return VerifyResult(name, verdict, said, commit, columns.names, difference)


def case_of(
    project: Project, lake: LakeReader, plan: ViewPlan, snapshot: int | None = None
) -> Case | VerifyResult:
    """Return what a commit of a view has read, and the view's table; or why that cannot be told.

    Args:
        snapshot: the snapshot that is meant; the newest commit by default.

    Raises:
        ConfigError: ``UNKNOWN_SNAPSHOT``, ``PART_OF_A_COMMIT``.
        ServiceError: something cannot be read, or was expired.
    """
    name = plan.view.name
    sources = [each.name for each in plan.inputs if each.kind == "source"]
    if sources:
        reason = f"source {', '.join(sources)} is not landed, so its rows cannot be read again"
        return VerifyResult(name, Verdict.NOT_KEPT, reason)
    table = lake.table(name)
    commit = _newest_commit(table, snapshot) if table is not None else None
    if table is None or commit is None:
        first = "correct the errors, then " if project.errors else ""
        step = f"{first}run: headwater run --once; a view of empty inputs makes no commit"
        return VerifyResult(name, Verdict.NO_COMMIT, step)
    if not plan.is_of(commit.marker.fingerprint):
        reason = f"epoch {commit.marker.epoch} was written by another definition of the view"
        return VerifyResult(name, Verdict.CHANGED, reason, commit)
    if meaning := other_meaning(plan, lambda name: input_at(lake, name, commit)):
        reason = f"its meaning changed after epoch {commit.marker.epoch}: {meaning}"
        return VerifyResult(name, Verdict.CHANGED, reason, commit)
    if lacking := _lacking(plan, table, snapshot):
        where = "its table" if snapshot is None else f"snapshot {snapshot}"
        reason = f'column "{lacking}" is missing from {where}; run the project, then verify again'
        return VerifyResult(name, Verdict.CHANGED, reason, commit)
    if reason := _gone(project, lake, plan, commit):
        return VerifyResult(name, Verdict.NOT_KEPT, reason, commit)
    # not the commit's own snapshot: whoever changed rows by hand made a newer one without a marker
    read_at = snapshot if snapshot is not None else table.snapshot_id()
    columns = columns_of(plan)
    inputs = {each.name: input_at(lake, each.name, commit) for each in plan.inputs}
    return Case(project, plan, columns, commit, table, read_at, inputs)


def _compared(
    case: Case, limit: int, engines: Mapping[str, Comparer]
) -> tuple[RowDifference, str] | Unseen | str:
    """Compare in the first engine that can run the SELECT.

    Returns:
        The difference, and which engine has found it if it is not the first; or why none could.
    """
    refused: dict[str, str] = {}
    for engine, run in engines.items():
        try:
            difference = run(case, limit)
        except Unseen as unseen:
            if len(engines) == 1:
                return unseen
            refused[engine] = str(unseen)
        except Exception as error:
            known = isinstance(error, HeadwaterError) and error.condition in _NOT_RUN
            lacking = refused and isinstance(error, HeadwaterError)  # it was not asked for
            if not (known or lacking or is_bug(error)):
                raise
            refused[engine] = plain(error)
        else:
            return difference, f"compared by {engine}: {_refusals(refused)}" if refused else ""
    return _refusals(refused)


def _refusals(refused: Mapping[str, str]) -> str:
    return "; ".join(f"{engine} cannot run it ({reason})" for engine, reason in refused.items())


def _newest_commit(table: History, snapshot_id: int | None) -> Commit | None:
    """Return the newest commit at or before a snapshot, or None if there is none."""
    if snapshot_id is not None and table.snapshot(snapshot_id) is None:
        raise ConfigError(
            "UNKNOWN_SNAPSHOT",
            f'table "{table.name}" has no snapshot {snapshot_id}; it may have expired',
            hint=f"list them with: headwater sql 'SELECT * FROM \"{table.name}$snapshots\"'",
        )
    found = next(table.commits(start=snapshot_id), None)
    if snapshot_id is not None and found is not None and found.snapshot_id == snapshot_id:
        _refuse_part(table, found)
    return found


def _refuse_part(table: History, found: Commit) -> None:
    """Refuse a snapshot that was published only with a later one of the same epoch."""
    for whole in table.commits():
        if whole.marker.epoch == found.marker.epoch and whole.snapshot_id != found.snapshot_id:
            raise ConfigError(
                "PART_OF_A_COMMIT",
                f"snapshot {found.snapshot_id} is only a part of epoch {found.marker.epoch}",
                hint=f"the whole epoch is snapshot {whole.snapshot_id}",
            )


def _lacking(plan: ViewPlan, table: StoredTable, snapshot: int | None) -> str:
    """A column of a keyed table that the table gets, or got later (ON SCHEMA CHANGE EVOLVE)."""
    if not plan.follows or table.is_delta:
        return ""
    held = table.columns(snapshot)
    return next((each.name for each in plan.view.fields if each.name not in held), "")


def _gone(project: Project, lake: LakeReader, plan: ViewPlan, commit: Commit) -> str:
    """What a commit has read of tables that others write, and did not keep."""
    for each in plan.inputs:
        if each.name in project.catalog.external:
            try:
                input_at(lake, each.name, commit)
            except ServiceError as error:
                return error.message
    return ""


def columns_of(plan: ViewPlan) -> Columns:
    """Return the columns of a view by how exact they have to be."""
    from headwater.plan.at_rest import comparisons

    compared = comparisons(plan)

    def of(kind: str) -> tuple[str, ...]:
        return tuple(each.column for each in compared if each.kind == kind)

    names = tuple(each.column for each in compared)
    return Columns(names, of("exact"), of("float"), of("approximate"), of("floats"))


def input_at(lake: LakeReader, name: str, commit: Commit) -> tuple[StoredTable, int | None]:
    """Return an input and the snapshot of it that a commit has read; None for nothing yet."""
    table = lake.table(name)
    if table is None:
        raise ServiceError("TABLE_MISSING", f'table "{name}" is no longer in the catalog')
    position = commit.marker.cut_to.get(name, NO_SNAPSHOT)
    if position == NO_SNAPSHOT:
        return table, None
    if not table.is_readable(int(position)):
        raise ServiceError(
            "SNAPSHOT_EXPIRED",
            f'snapshot {position} of "{name}", which epoch {commit.marker.epoch} of'
            f' "{commit.marker.view}" has read, was expired',
            hint="verify a newer commit",
        )
    return table, int(position)


def compare_embedded(case: Case, limit: int) -> RowDifference:
    """Compare in DuckDB, in this process.

    Args:
        limit: how many differing rows of each side to return.
    """
    from headwater.plan.at_rest import at_rest

    columns = case.columns
    select = at_rest(
        case.plan,
        case.project.catalog,
        "duckdb",
        watermark=case.commit.marker.watermark,
        relation=lambda name: quoted(f"{name}@cut"),
        bounds=bool(columns.bounded),
    )
    with duckdb_connection() as connection, translated_errors():
        case.table.create_view(connection, "@table", case.read_at, columns.names)
        for name, (source, position) in case.inputs.items():
            source.create_view(connection, f"{name}@cut", position, list(source.columns()))
        if select.patterns:
            from headwater.serve.pattern_rows import create_matches

            create_matches(connection, select.patterns)
        return compare(connection, columns, 'FROM "@table"', select.sql, limit)
