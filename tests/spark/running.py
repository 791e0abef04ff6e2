"""Views that are kept by ticks over tables whose rows come from a test."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from headwater.analyze.definitions import Catalog
from headwater.analyze.project import bind_all
from headwater.config.settings import Config, RunSection
from headwater.dialect import parse
from headwater.engine.incremental.recompute_policy import NEVER, RecomputeLimits
from headwater.engine.incremental.tick import Ticks
from headwater.engine.incremental.view import IncrementalView
from headwater.errors import HeadwaterError, raise_all
from headwater.lake.catalog import Lake
from headwater.plan.planner import plan_project
from headwater.plan.view_plan import ViewPlan
from headwater.runtime.session import open_session, session_for_thread


@contextmanager
def local_session(name: str, settings: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """A session of its own, with a lake in a folder that is removed after the block.

    Args:
        name: of the project.
        settings: more settings of Spark.
    """
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        config = Config(
            directory=home,
            name=name,
            namespace=name,
            warehouse=home / "warehouse",
            state=home / "state",
            master="local[2]",
            run=RunSection(shuffle_partitions=2),
            spark=dict(settings or {}),
        )
        spark = open_session(config, app_name=f"headwater-{name}")
        try:
            yield spark
        finally:
            spark.stop()


def planned(definitions: str) -> tuple[Catalog, dict[str, ViewPlan]]:
    """What the binder and the planner make of definitions.

    Raises:
        HeadwaterError: they are refused.
    """
    catalog, errors = bind_all({"test.sql": parse(definitions, file="test.sql")})
    raise_all(errors)
    return catalog, plan_project(catalog)


def refused(
    definitions: Callable[[Mapping[str, str]], str], queries: Mapping[str, str]
) -> dict[str, str]:
    """Return why each query that is refused is.

    Args:
        definitions: returns the SQL of the tables and of some queries by name.
        queries: the queries by name.
    """
    found = {}
    for name, text in queries.items():
        try:
            planned(definitions({name: text}))
        except HeadwaterError as error:
            found[name] = str(error).splitlines()[0]
    return found


class Running:
    """All views of some definitions, each with a session of its own.

    Args:
        spark: the session they are cloned from.
        lake: where their inputs have been made.
        definitions: SQL of the tables and views.
        limits: from when on a tick computes the whole view, by its name; asked at each opening.
    """

    def __init__(
        self,
        spark: SparkSession,
        lake: Lake,
        definitions: str,
        limits: Callable[[str], RecomputeLimits] = lambda _: NEVER,
    ) -> None:
        self.lake, self.limits = lake, limits
        self.catalog, self.plans = planned(definitions)
        self.views: dict[str, IncrementalView] = {}
        self._lakes = {name: lake.using(session_for_thread(spark)) for name in self.plans}
        self.open()

    def open(self) -> None:
        """Open every view anew, as after a restart."""
        for name, plan in self.plans.items():
            limits = self.limits(name)
            self.views[name] = IncrementalView(self._lakes[name], plan, self.catalog, limits=limits)

    def tick(self, without: Iterable[str] = ()) -> Mapping[str, Exception]:
        """Run the views once; return what stopped which."""
        ticks = Ticks(self.lake, list(self.catalog.sources))
        left_out = set(without)
        try:
            views = [view for name, view in self.views.items() if name not in left_out]
            return ticks.run(views, ticks.pin()).failed
        finally:
            ticks.close()

    def held(self, name: str) -> list[tuple[object, ...]]:
        """The visible rows of a view."""
        return [tuple(row) for row in self.read(name).collect()]

    def read(self, name: str) -> DataFrame:
        """Read the visible rows of a view."""
        names = [field.name for field in self.plans[name].view.fields]
        table = self.views[name].target
        table.refresh()
        return table.read().select(*names)
