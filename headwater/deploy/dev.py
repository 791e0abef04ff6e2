"""``headwater dev``: on every save the errors of the files, or the first rows of what changed.

In: a project's folder. Out: at each look at which a file differs, what to show. DuckDB computes the
SELECT over what has landed; windows that are not over yet are shown, too. Starts no JVM and writes
nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.errors import HeadwaterError, ServiceError
from headwater.plan.at_rest import at_rest
from headwater.plan.planner import plan_sound
from headwater.plan.view_plan import ViewPlan
from headwater.project import Project, read_project, state_of
from headwater.serve.connection import duckdb_connection, quoted, rows_of
from headwater.serve.embedded import translated_errors
from headwater.serve.lake_reader import LakeReader

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, slots=True)
class FirstRows:
    """The first rows of a view, or why there are none.

    Attributes:
        view: its name.
        columns: its columns.
        rows: the rows.
        error: what kept it from being computed.
        seconds: how long it took.
    """

    view: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[object, ...], ...] = ()
    error: HeadwaterError | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Look:
    """What the files say now.

    Attributes:
        errors: of all files.
        changed: the views that differ from the look before; at the first look none.
        views: how many views are sound.
    """

    errors: tuple[HeadwaterError, ...]
    changed: tuple[FirstRows, ...]
    views: int


class Dev:
    """Looks at the files of a project.

    Args:
        root: its folder.
        limit: how many rows of each view are shown.
    """

    def __init__(self, root: Path, limit: int = 10) -> None:
        self._root, self._limit = root, limit
        self._seen: Mapping[Path, tuple[int, int]] | None = None
        self._known: dict[str, str] | None = None

    def look(self) -> Look | None:
        """Return what is to be shown, None if no file has changed since the last look."""
        now = state_of(self._root)
        if now == self._seen:
            return None
        self._seen = now
        try:
            project = read_project(self._root)
        except HeadwaterError as error:
            return Look((error,), (), 0)
        plans, faults = plan_sound(project.catalog)
        project = project.without(faults)
        found = {n: plan.fingerprint for n, plan in plans.items() if not plan.view.changes}
        if self._known is None:
            for name in [*found][:1]:
                self._first_rows(project, plans, name)  # loads what the first save needs
            changed = []
        else:  # a view that had an error is new
            changed = [name for name in found if self._known.get(name) != found[name]]
        self._known = found
        first = tuple(self._first_rows(project, plans, name) for name in changed)
        return Look(project.errors, first, len(found))

    def _first_rows(self, project: Project, plans: Mapping[str, ViewPlan], name: str) -> FirstRows:
        began = time.monotonic()
        try:
            with duckdb_connection() as connection, translated_errors():
                text = _Preview(project, plans, connection).select(name)
                found = connection.sql(f"SELECT * FROM ({text}) LIMIT {self._limit}")
                rows = FirstRows(name, tuple(found.columns), tuple(rows_of(found)))
        except HeadwaterError as error:
            rows = FirstRows(name, error=error)
        return replace(rows, seconds=time.monotonic() - began)


class _Preview:
    """SELECTs over what has landed, in one connection."""

    def __init__(
        self,
        project: Project,
        plans: Mapping[str, ViewPlan],
        connection: duckdb.DuckDBPyConnection,
    ) -> None:
        self._project, self._plans, self._connection = project, plans, connection
        self._lake = LakeReader(project.config, project.catalog.external)
        self._made: dict[str, int | None] = {}

    def select(self, name: str) -> str:
        """Return the SELECT of a view; what it reads is there."""
        plan = self._plans[name]
        marks = [self._watermark(item.name) for item in plan.inputs]
        known = [mark for mark in marks if mark is not None]
        select = at_rest(
            plan,
            self._project.catalog,
            "duckdb",
            watermark=min(known, default=None),
            final=False,
            relation=quoted,
        )
        if select.patterns:
            from headwater.serve.pattern_rows import create_matches

            create_matches(self._connection, select.patterns)
        self._made[name] = min(known, default=None)
        return select.sql

    def _watermark(self, name: str) -> int | None:
        """Make what a view reads, and return the watermark that it has."""
        if name not in self._made:
            if name in self._plans and not self._plans[name].view.changes:
                text = self.select(name)
                self._connection.execute(f"CREATE TEMP VIEW {quoted(name)} AS {text}")
                return self._made[name]
            table = self._lake.table(name)
            if table is None or table.snapshot_id() is None:
                raise ServiceError(
                    "NO_DATA_YET",
                    f'nothing of "{name}" has landed yet',
                    hint="land what is there: headwater run --once",
                )
            table.create_view(self._connection, name, table.snapshot_id(), list(table.columns()))
            marker = table.marker()
            self._made[name] = marker.watermark if marker else None
        return self._made[name]


def looks(root: Path, limit: int, every: float) -> Iterator[Look]:
    """Yield what is to be shown, at once and after every save, for ever.

    Args:
        root: the folder of the project.
        limit: how many rows of each view are shown.
        every: seconds between two looks.
    """
    dev = Dev(root, limit)
    while True:
        if look := dev.look():
            yield look
        time.sleep(every)
