"""Trino as one more judge of views, over the warehouse of a Spark session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import SparkSession

from headwater.config.settings import Config, TrinoSection
from headwater.lake.catalogs.backend import CATALOG
from headwater.plan.view_plan import ViewPlan
from headwater.project import Project
from headwater.serve.trino.catalog import catalogs
from headwater.serve.trino.verify import compare_in_trino
from headwater.serve.verify import VerifyResult, verify
from headwater.servers.trino import TrinoServer
from headwater.testing.harness import warehouse_of


@dataclass(frozen=True, slots=True)
class TrinoJudge:
    """Checks views as the harness does, and in Trino.

    Attributes:
        url: of Trino.
    """

    url: str

    def sees(self, project: Project) -> Project:
        """The same project, which knows where Trino is."""
        return replace(project, config=replace(project.config, trino=TrinoSection(url=self.url)))

    def __call__(
        self, project: Project, plans: Mapping[str, ViewPlan], views: Sequence[str]
    ) -> list[VerifyResult]:
        return verify(self.sees(project), plans, views, compare=compare_in_trino)


@contextmanager
def trino_over(spark: SparkSession, stack: Path) -> Iterator[TrinoJudge]:
    """Start Trino over the warehouse that a session writes to."""
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {CATALOG}.test")  # makes the catalog's database
    config = Config(stack, "test", "test", warehouse_of(spark), stack / "state")
    with TrinoServer(stack, catalogs(config)) as running:
        yield TrinoJudge(running.address)
