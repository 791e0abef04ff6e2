"""Notices that the SQL files of a running project have changed.

In: a project, and what to tell. Out: an event that says which definitions are new, changed or gone,
and how to run them. A run goes on with the definitions that it began with: the cut of a tick, the
lease and the jars belong to one set of definitions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from headwater.analyze.definitions import CHANGES, Catalog
from headwater.errors import ErrorGroup, HeadwaterError
from headwater.plan.planner import plan_sound
from headwater.project import Project, read_project, state_of
from headwater.runtime.events import DefinitionsChanged, Progress

LOOK_EVERY = 2.0
"""Seconds between two looks at the files."""


@contextmanager
def watched(project: Project, tell: Progress, every: float = LOOK_EVERY) -> Iterator[None]:
    """Tell of changed definitions until the block ends.

    Args:
        project: as it is run.
        tell: gets a :class:`~headwater.runtime.events.DefinitionsChanged` for each change.
        every: seconds between two looks.
    """
    watch = DefinitionWatch(project)

    def look() -> None:
        if event := watch.look():
            tell(event)

    with looking(look, every):
        yield


@contextmanager
def looking(look: Callable[[], None], every: float) -> Iterator[None]:
    """Call ``look`` again and again, in a thread of its own, until the block ends.

    Args:
        look: what to call.
        every: seconds between two calls.
    """
    done = threading.Event()

    def look_on() -> None:
        while not done.wait(every):
            look()

    thread = threading.Thread(target=look_on, name="looking", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


class DefinitionWatch:
    """Compares the files of a project with what runs."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._runs = _definitions(project.catalog)
        self._seen = state_of(project.root)

    def look(self) -> DefinitionsChanged | None:
        """Return what has changed since the last look, None if nothing has."""
        now = state_of(self._project.root)
        if now == self._seen:
            return None
        self._seen = now
        try:
            project = read_project(self._project.root)
        except HeadwaterError as error:
            return DefinitionsChanged(error=error)
        project = project.without(plan_sound(project.catalog)[1])
        found = _definitions(project.catalog)
        had = self._runs
        changes = {
            "new": [name for name in found if name not in had],
            "changed": [name for name in found if name in had and found[name] != had[name]],
            "removed": [name for name in had if name not in found and name not in project.broken],
        }
        wrong = ErrorGroup(project.errors) if project.errors else None
        return DefinitionsChanged({key: tuple(each) for key, each in changes.items()}, wrong)


def _definitions(catalog: Catalog) -> Mapping[str, object]:
    """What is defined, by name, apart from its place in a file."""
    sources = {
        name.removesuffix(CHANGES): replace(each, span=None)
        for name, each in catalog.sources.items()
    }
    views = {name: each.text for name, each in catalog.views.items() if not each.changes}
    sinks = {name: replace(each, span=None) for name, each in catalog.sinks.items()}
    return {**sources, **views, **sinks}
