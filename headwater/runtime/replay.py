"""``quarantine replay``: one table's quarantine decoded again, as the only process of the project.

In: a project and the name of a landed table. Out: what was landed and what stayed.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.connectors.registry import jars_of
from headwater.errors import ConfigError, HeadwaterError
from headwater.intake.land import Landing
from headwater.intake.replay import Replayed, replay
from headwater.lake.catalog import Lake
from headwater.lake.reserved_names import VERSION, quarantine_of
from headwater.project import Project
from headwater.runtime.backoff import as_headwater_error
from headwater.runtime.lease import Lease
from headwater.runtime.session import project_session, session_for_thread

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def replay_quarantine(
    project: Project, table: str, *, dry_run: bool = False, spark: SparkSession | None = None
) -> Replayed:
    """Decode the quarantine of a landed table again.

    Args:
        dry_run: only count.
        spark: a running session to use; if None, one is opened, and stopped at the end.

    Raises:
        ServiceError: ``ALREADY_RUNNING`` while the project is run.
        ConfigError: ``REPLAY_NOT_POSSIBLE``, ``REPLAY_NOT_EXACT``.
        HeadwaterError: what landing raises, or what a failure of Spark means.
    """
    try:
        return _replayed(project, table, spark, dry_run=dry_run)
    except HeadwaterError:
        raise
    except Exception as error:
        raise as_headwater_error(table, error) from error


def _replayed(
    project: Project, table: str, spark: SparkSession | None, *, dry_run: bool
) -> Replayed:
    config, source = project.config, project.catalog.source_of(table)
    assert source is not None, "require_replayable"
    with (
        Lease.acquire(config) as lease,
        project_session(config, spark, further=jars_of(source)) as session,
    ):
        own = session_for_thread(session)
        lake = Lake(own, config.namespace)
        if not lake.exists(quarantine_of(table)):
            return Replayed(table, 0)
        landing = Landing(
            own, lake, source, config, version=VERSION, token=lease.token, fence=lease
        )
        with closing(landing.connector):
            return replace(replay(landing, dry_run=dry_run), table=table)


def require_replayable(project: Project, name: str) -> None:
    """Refuse a name whose quarantine cannot be decoded again.

    Args:
        name: what the user asked for.

    Raises:
        ConfigError: ``UNKNOWN_TABLE``, ``REPLAY_NOT_POSSIBLE``.
    """
    source = project.catalog.source_of(name)
    if source is None and name in project.catalog.views:
        raise ConfigError(
            "REPLAY_NOT_POSSIBLE",
            f'quarantined rows of view "{name}" are still in its inputs, and not replayed',
            hint="correct the view's SELECT and rebuild it under a new name",
        )
    if source is None:
        catalog = project.catalog
        known = ", ".join(
            catalog.shown(each.name) for each in catalog.sources.values() if each.landed
        )
        raise ConfigError(
            "UNKNOWN_TABLE", f'table "{name}" does not exist', hint=f"the tables are: {known}"
        )
    if source.external:
        raise ConfigError(
            "REPLAY_NOT_POSSIBLE",
            f'"{name}" is an external table, which has no quarantine',
        )
    if not source.kept:
        raise ConfigError(
            "REPLAY_NOT_POSSIBLE",
            f'"{name}" is a SOURCE, which has no table in the lake',
            hint=f'land it first (CREATE TABLE instead of CREATE SOURCE "{name}")',
        )
