"""What the pages of the console show, read while somebody looks.

In: the folder of a project. Out: its definitions, and the status of every relation, as ``headwater
status`` reads it. The definitions are read again when a file has changed, the lake at most once in
:data:`FRESH` seconds, whatever the number of readers. Nothing is read while nobody asks.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from headwater.config.settings import FILE
from headwater.errors import HeadwaterError
from headwater.plan.planner import read_sound
from headwater.plan.view_plan import ViewPlan
from headwater.project import Project, state_of
from headwater.serve.lake_reader import LakeReader
from headwater.serve.status import RUN_FILE, Status, read_run_file, status

FRESH = 1.0
"""Seconds for which a reading of the lake is shown."""


@dataclass(frozen=True, slots=True)
class ProjectReading:
    """One reading of a project.

    Attributes:
        project: what is sound of it.
        plans: the plans of its views.
        version: how often the definitions were read.
        relations: its landed tables, views and sinks, inputs before what reads them.
        run: what the running process says about itself; empty if none runs.
        at: when this was read.
        seconds: how long reading the lake took.
        problem: why the lake cannot be read, or None.
    """

    project: Project
    plans: Mapping[str, ViewPlan]
    version: int
    relations: Sequence[Status]
    run: Mapping[str, Any]
    at: datetime
    seconds: float = 0.0
    problem: HeadwaterError | None = None

    def relation(self, name: str) -> Status | None:
        """Return the status of one relation, None if the project has none of the name."""
        return next((each for each in self.relations if each.name == name), None)


class ProjectReader:
    """Reads a project for all pages. Safe for several threads.

    Args:
        root: the folder of the project.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._reading = threading.Lock()
        self._files: object = None
        self._look: ProjectReading | None = None
        self._version = 0
        self._looked = float("-inf")
        self._lake: LakeReader | None = None

    def look(self) -> ProjectReading:
        """Return the project as it is now, or was less than :data:`FRESH` seconds ago.

        Raises:
            ConfigError: the folder or the settings are wrong.
        """
        with self._reading:
            if self._look is None or time.monotonic() - self._looked >= FRESH:
                self._look = self._read(self._look)
                self._looked = time.monotonic()
            return self._look

    def _read(self, before: ProjectReading | None) -> ProjectReading:
        sound: tuple[Project, Mapping[str, ViewPlan]]
        files = (state_of(self._root), _stamp(self._root / FILE))
        if before is not None and files == self._files:
            sound = before.project, before.plans
        else:
            sound = read_sound(self._root)
            self._files, self._lake = files, None
            self._version += 1
        read = (*sound, self._version)
        project = sound[0]
        run = read_run_file(project.config.state / RUN_FILE)
        began = time.monotonic()
        try:
            self._lake = self._lake or LakeReader(project.config, project.catalog.external)
            relations = status(project, lake=self._lake)
        except HeadwaterError as error:
            self._lake = None
            return ProjectReading(*read, (), run, datetime.now(UTC), problem=error)
        seconds = time.monotonic() - began
        return ProjectReading(*read, relations, run, datetime.now(UTC), seconds)


def _stamp(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0
