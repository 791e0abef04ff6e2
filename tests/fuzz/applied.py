"""Random changes of views, applied by the engine: what was predicted is what became of the rows.

In: how many random changes, a seed. Out: as of :mod:`tests.fuzz.changes`, whose changes these are.
A batch is one project: Spark lands its tables and builds its views, the files change, ``plan
--diff`` predicts, ``apply`` swaps. The rows of the tables before and after are held against the
prediction.

    python -m tests.fuzz.applied --queries 40 --seed 7
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import click
import duckdb
from pyspark.sql import SparkSession

from headwater.config.settings import RunSection
from headwater.deploy.apply import apply
from headwater.deploy.changes import BUILT, ProjectChanges
from headwater.deploy.preview import preview
from headwater.plan.planner import plan_project
from headwater.project import Project, load_project
from headwater.runtime.supervisor import Supervisor
from headwater.serve.connection import quoted
from headwater.serve.lake_reader import LakeReader
from headwater.testing.harness import warehouse_of
from tests.fuzz.changed import Change
from tests.fuzz.changes import (
    EVERYTHING,
    Difference,
    Tables,
    Tried,
    World,
    is_sound,
    random_batch,
    try_all,
)
from tests.fuzz.oracle import open_duckdb
from tests.fuzz.run import SETTINGS
from tests.spark.running import local_session


def apply_batch(spark: SparkSession, seed: str, size: int, tried: Tried) -> None:
    """Apply some changes together, and add what was found.

    Args:
        spark: the session.
        seed: the same seed, the same changes.
        size: how many.
        tried: gets what was found.
    """
    with open_duckdb() as before, open_duckdb() as after, tempfile.TemporaryDirectory() as folder:
        tables, changes = random_batch(seed, size, before)
        random_batch(seed, 0, after)
        worlds = [World(before, tables, new=False), World(after, tables, new=True)]
        sound = [each for each in changes if is_sound(each, worlds, tried)]
        found = _Applied(spark, Path(folder), re.sub(r"\W", "_", f"changes {seed}"), tables)
        found.land(before)
        _compare(found, sound, worlds, tried)


class _Applied:
    """A project whose tables read Parquet files."""

    def __init__(self, spark: SparkSession, folder: Path, name: str, tables: Tables) -> None:
        self.spark, self._folder, self._name, self._tables = spark, folder, name, tables
        (folder / "headwater.toml").write_text('name = "changes"\n')

    def land(self, duck: duckdb.DuckDBPyConnection) -> None:
        """Write the files of the tables."""
        for name in self._tables.names:
            (self._folder / name).mkdir()
            held = (row[0] for row in duck.execute(f"DESCRIBE {name}").fetchall())
            columns = ", ".join(column for column in held if not column.startswith("_"))
            file = self._folder / name / "0.parquet"
            duck.execute(f"COPY (SELECT {columns} FROM {name}) TO '{file}' (FORMAT PARQUET)")

    def defined(self, world: World) -> ProjectChanges:
        """Write the definitions of a world."""
        text = world.definitions.replace("ENCODE JSON", "ENCODE PARQUET")
        (self._folder / "project.sql").write_text(text)
        project = self._configured(load_project(self._folder))
        return ProjectChanges(project, plan_project(project.catalog))

    def held(self, changes: ProjectChanges, names: Sequence[str], into: World) -> World:
        """Hold what the tables of views hold in a world."""
        lake = LakeReader(changes.project.config)
        for name in names:
            table = lake.table(name)
            assert table is not None
            columns = [each for each in table.columns() if not each.startswith("_")]
            table.create_view(into.duck, f"{name}@held", table.snapshot_id(), columns)
            into.duck.execute(f"CREATE TABLE {name} AS FROM {quoted(f'{name}@held')}")
        return into

    def _configured(self, found: Project) -> Project:
        config = replace(
            found.config,
            namespace=self._name,
            warehouse=warehouse_of(self.spark),
            run=RunSection(trigger=timedelta(milliseconds=50)),
        )
        return replace(found, config=config)


def _compare(
    found: _Applied, sound: Sequence[Change], worlds: Sequence[World], tried: Tried
) -> None:
    first = found.defined(worlds[0])
    Supervisor(first.project, spark=found.spark).run(once=True)
    lake = LakeReader(first.project.config)
    names = [each.name for each in sound if (held := lake.table(each.name)) and held.newest()]
    with open_duckdb() as before, open_duckdb() as after:
        old = found.held(first, names, World(before, found._tables, new=False))
        changes = found.defined(worlds[1])
        built = [each.name for each in changes.changes if each.kind in BUILT]
        predicted = {each.view: each for each in preview(changes, EVERYTHING)}
        apply(changes, spark=found.spark)
        new = found.held(changes, names, World(after, found._tables, new=True))
        for change in sound:
            # what has no commit yet is built by the next run, and not by apply
            if not {change.name, *change.reads} <= {*names}:
                tried.refused["NO_COMMIT"] += 1
                continue
            key = changes.plans[change.name].stream_key
            difference = Difference.of(change.name, old, new)
            said = difference.any()
            if change.name in built:
                said = difference.wrong(predicted[change.name], key)
            tried.add(change, said, difference, same=change.name not in built)


@click.command()
@click.option("--queries", "count", default=40, show_default=True, help="random changes")
@click.option("--seed", default="1", show_default=True)
def main(count: int, seed: str) -> None:
    """Apply random changes, as ``headwater plan --diff`` predicts them."""
    with local_session("changes", SETTINGS) as spark:
        try_all(count, seed, partial(apply_batch, spark))


if __name__ == "__main__":
    main()
