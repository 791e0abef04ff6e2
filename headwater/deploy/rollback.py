"""``headwater rollback``: an earlier version of a view becomes the current one again.

In: views and the number of a version. Out: one commit for each view, with the rows, the columns and
the definition of that version; it goes on from where it had read its inputs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.analyze.definitions import ChangelogMode
from headwater.deploy.versions import InPlace, Version, put_in_place
from headwater.errors import ConfigError, TerminalError
from headwater.lake.catalog import Lake
from headwater.lake.reserved_names import definition_of, version_tag
from headwater.plan.planner import plan_project
from headwater.runtime.lease import Lease
from headwater.runtime.opener import Opener
from headwater.runtime.session import project_session
from headwater.serve.iceberg import StoredIcebergTable
from headwater.serve.lake_reader import LakeReader
from headwater.serve.stored_table import StoredTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.project import Project


@dataclass(frozen=True, slots=True)
class ViewVersion:
    """One version of a view that is kept.

    Attributes:
        number: from 1.
        snapshot_id: its last snapshot.
        at: when that was committed, milliseconds since 1970 UTC.
        rows: how many rows it has.
        definition: its SQL.
        current: whether it is the one that serves.
    """

    number: int
    snapshot_id: int
    at: int
    rows: int
    definition: str
    current: bool


def versions(table: StoredTable) -> list[ViewVersion]:
    """Return the versions of a view that are kept, the newest first."""
    newest = table.newest()
    if newest is None:
        return []
    now = newest.marker.version
    found = [ViewVersion(now, newest.snapshot_id, newest.at, newest.total, table.definition, True)]
    for number in range(now - 1, 0, -1):
        snapshot = table.snapshot(table.refs.get(version_tag(number), -1))
        if snapshot is not None:
            text, rows = table.definitions.get(number, ""), table.rows_at(snapshot)
            found.append(ViewVersion(number, snapshot.id, snapshot.at, rows, text, False))
    return found


def rollback(
    project: Project,
    views: Sequence[str],
    to: int | None = None,
    *,
    spark: SparkSession | None = None,
) -> dict[str, InPlace]:
    """Put an earlier version of views in the place of the current one.

    Args:
        project: as its files have it.
        views: the views; those that read each other together.
        to: the number of the version; the one before the current one by default.
        spark: a running session to use; one is opened if there is none.

    Raises:
        ConfigError: ``UNKNOWN_VERSION``; ``ROLLBACK_ALONE`` if a view that reads one of them has to
            go with it.
        TerminalError: ``SNAPSHOT_EXPIRED`` if its files, or what it would go on from, are not kept.
        HeadwaterError: another process runs the project.
    """
    _check_readers(project, views)
    reader = LakeReader(project.config)
    chosen = {name: _chosen(reader, name, to) for name in views}
    lease = Lease.acquire(project.config)
    try:
        unchecked = {*views, *project.catalog.external}
        for name, version in chosen.items():
            _check_kept(reader, name, version, unchecked)
        with project_session(project.config, spark) as session:
            lake = Opener(project.config, project.catalog, session, lease).lake(session)
            heads: dict[str, tuple[int, int]] = {}
            keep = project.config.maintenance.keep_versions
            done = {}
            for name in (each for each in project.catalog.views if each in chosen):
                lease.check()
                done[name] = _roll_back(lake, name, chosen[name], lease.token, heads, keep)
            return done
    finally:
        lease.release()


def _chosen(reader: LakeReader, name: str, to: int | None) -> ViewVersion:
    table = reader.table(name)
    kept = [each for each in versions(table) if not each.current] if table else []
    found = next((each for each in kept if to in (None, each.number)), None)
    if found is None:
        known = ", ".join(str(each.number) for each in kept) or "none"
        what = "an earlier version" if to is None else f"version {to}"
        raise ConfigError(
            "UNKNOWN_VERSION",
            f'{what} of view "{name}" is not kept',
            hint=f"kept are: {known}; see: headwater versions {name}",
        )
    return found


def _check_readers(project: Project, views: Sequence[str]) -> None:
    """Refuse to take rows from under a view that was planned for rows that only come."""
    plans = plan_project(project.catalog)
    for name, plan in plans.items():
        for read in plan.view.inputs:
            if name in views or read not in views or plans[read].mode is not ChangelogMode.APPEND:
                continue
            raise ConfigError(
                "ROLLBACK_ALONE",
                f'view "{name}" reads "{read}", whose rows only come, and cannot take some away',
                hint=f"roll both back: headwater rollback {' '.join([*views, name])}",
            )


def _roll_back(
    lake: Lake,
    name: str,
    chosen: ViewVersion,
    token: int,
    heads: dict[str, tuple[int, int]],
    keep: int,
) -> InPlace:
    table = lake.readable(name)
    last = table.newest(before=chosen.snapshot_id)
    assert last is not None
    cut = dict(last.marker.cut_to)
    for read in cut.keys() & heads.keys():
        had, head = heads[read]
        if cut[read] != str(had):
            raise TerminalError(
                "ROLLBACK_ALONE",
                f'version {chosen.number} of "{name}" had not read all of "{read}"',
                hint="change the files back, then: headwater apply",
            )
        cut[read] = str(head)
    definition = table.properties().get(definition_of(chosen.number), "")
    version = Version(definition, last.marker.fingerprint, cut, last.marker.watermark)
    done = put_in_place(table, table, chosen.snapshot_id, version, token, keep=keep)
    heads[name] = (last.snapshot_id, done.snapshot_id)
    return done


def _check_kept(
    reader: LakeReader, name: str, version: ViewVersion, unchecked: Collection[str]
) -> None:
    """Refuse a version whose files are gone, or that has read what is not kept any more."""
    table = reader.table(name)
    assert table is not None
    hint = "change the files back, then: headwater apply"
    if isinstance(table, StoredIcebergTable) and (lost := table.lost_files(version.snapshot_id)):
        raise TerminalError(
            "SNAPSHOT_EXPIRED",
            f'version {version.number} of "{name}" lacks {len(lost)} of its files: {lost[0]}',
            hint=hint,
        )
    last = table.newest(before=version.snapshot_id)
    for read, position in (last.marker.cut_to if last else {}).items():
        if read in unchecked or not position.isdigit():
            continue
        source = reader.table(read)
        if source is None:
            raise TerminalError(
                "SNAPSHOT_EXPIRED",
                f'"{read}", from which "{name}" would go on, is gone or has another name',
                hint=hint,
            )
        if not source.is_readable(int(position)):
            raise TerminalError(
                "SNAPSHOT_EXPIRED",
                f'snapshot {position} of "{read}", from which "{name}" would go on, was expired',
                hint=hint,
            )
