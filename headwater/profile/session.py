"""A Spark session that is profiled from its start to its end.

In: a project, and what its jars are. Out: ``NAME.json``, a trace; ``NAME.html``, the flame graph of
the JVM; what to say about both.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.profile.calls import CallTrace
from headwater.profile.cpu import CpuProfile, Seconds
from headwater.profile.spark_log import spark_spans
from headwater.profile.trace import write_trace
from headwater.runtime.events import EpochLanded, ViewCommitted
from headwater.runtime.session import open_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.config.settings import Config
    from headwater.project import Project
    from headwater.runtime.events import Event, Progress

JARS = "profile"


@dataclass(slots=True)
class Profile:
    """What a profile found; filled when its session has ended.

    Attributes:
        trace: the trace.
        flame_graph: the flame graph.
        starting: CPU seconds by kind until everything had committed once.
        whole: the same until the end.
        commits: how many there were from then on.
        calls: calls from Python to the JVM, in all.
    """

    trace: Path
    flame_graph: Path
    starting: Seconds = field(default_factory=dict)
    whole: Seconds = field(default_factory=dict)
    commits: int = 0
    calls: int = 0

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return a line per kind of work, the dearest first, and one for all of it.

        The last number is CPU milliseconds per commit.
        """
        lines = [("all", sum(self.starting.values()), sum(self.whole.values()))]
        for kind in sorted(self.whole, key=lambda each: -self.whole[each]):
            lines.append((kind, self.starting.get(kind, 0.0), self.whole[kind]))
        each = max(self.commits, 1)
        return [
            (kind, f"{first:.2f}", f"{all_ - first:.2f}", f"{1000 * (all_ - first) / each:.1f}")
            for kind, first, all_ in lines
        ]


class _Watch:
    """Notices when all tables and views have committed once, and counts what they commit then."""

    def __init__(self, names: Collection[str], begun: Callable[[], None]) -> None:
        self._missing, self._begun, self.commits = set(names), begun, 0

    def __call__(self, event: Event) -> None:
        """Take an event of the run."""
        if not isinstance(event, EpochLanded | ViewCommitted):
            return
        if not self._missing:
            self.commits += 1
            return
        self._missing.discard(event.table if isinstance(event, EpochLanded) else event.view)
        if not self._missing:
            self._begun()


@contextmanager
def profiled_session(
    project: Project, jars: Sequence[str], trace: Path, tell: Progress
) -> Iterator[tuple[SparkSession, Progress, Profile]]:
    """Open a session, and profile it until the block ends.

    Args:
        project: what is run.
        jars: what of ``headwater/jars/ivy.xml`` the project needs.
        trace: the file to write; the flame graph is written beside it.
        tell: told of what the run does.

    Returns:
        The session, what to tell instead, and what is filled at the end.

    Raises:
        ServiceError: what ``open_session`` raises.
    """
    profile = Profile(trace, trace.with_suffix(".html"))
    folder = Path(tempfile.mkdtemp(prefix="headwater-profile-"))
    events = folder / "events"
    events.mkdir()
    try:
        spark = open_session(_logging(project.config, events), further=(*jars, JARS))
        calls, cpu = CallTrace(spark.sparkContext._gateway), CpuProfile(spark)  # noqa: SLF001

        def begun() -> None:
            profile.starting = cpu.read(folder)

        watch = _Watch(_kept(project), begun)

        def told(event: Event) -> None:
            tell(event)
            watch(event)

        try:
            yield spark, told, profile
        finally:
            spans = calls.finish()
            profile.calls, profile.commits = calls.count, watch.commits
            profile.whole = cpu.finish(profile.flame_graph, folder)
            profile.starting = profile.starting or profile.whole
            spark.stop()
            write_trace(trace, [*spans, *spark_spans(events)])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _logging(config: Config, folder: Path) -> Config:
    log = {"enabled": "true", "dir": folder.as_uri(), "compress": "false"}
    settings = {f"spark.eventLog.{name}": value for name, value in log.items()}
    settings["spark.eventLog.rolling.enabled"] = "false"
    return replace(config, spark={**config.spark, **settings})


def _kept(project: Project) -> set[str]:
    tables = (name for name, source in project.catalog.sources.items() if source.landed)
    return {*tables, *project.catalog.views}
