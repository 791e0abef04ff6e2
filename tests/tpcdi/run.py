"""TPC-DI's transformations as views: after each batch every view equals DuckDB's answer.

In: a seed, a scale. Out: a line per view, by which rule it is maintained and how many rows it has;
at the end one line ``views=N incremental=I recomputed=R refused=M wrong=0``; exit code 1 if one is
wrong. Batch 1 is the historical load; the others insert, update and delete. If a view is refused,
the command stops with the errors of ``check``.

Two judges: ``verify``, and the text of all views in DuckDB over the source files.

    python -m tests.tpcdi.run --seed 1 --scale 1
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import click
import duckdb
from pyspark.sql import SparkSession

from headwater.plan.planner import plan_project
from headwater.project import load_project
from headwater.runtime.supervisor import Supervisor
from headwater.serve.connection import quoted
from headwater.serve.lake_reader import LakeReader
from headwater.serve.verify import Verdict, verify
from headwater.testing.harness import warehouse_of
from tests.spark.running import local_session
from tests.tpcdi.judge import Judge, view_texts
from tests.tpcdi.source_files import SourceFiles
from tests.tpcds.run import is_recomputed

PROJECT = Path(__file__).parent / "project"
BATCHES = 3


class Tpcdi:
    """The views over files that come batch by batch.

    Args:
        spark: the session.
        folder: where the project and its files are.
        files: which write the batches.
    """

    def __init__(self, spark: SparkSession, folder: Path, files: SourceFiles) -> None:
        self._spark, self._files = spark, files
        found = load_project(folder)
        self.project = replace(found, config=replace(found.config, warehouse=warehouse_of(spark)))
        self.plans = plan_project(self.project.catalog)
        self.rows: dict[str, int] = {}
        self._judge = Judge(folder, self.project)

    def tick(self) -> None:
        """Land a batch, and bring every view up to date."""
        self._files.land()
        Supervisor(self.project, spark=self._spark).run(once=True)

    def wrong(self) -> dict[str, str]:
        """Return the views that differ from an answer, and how."""
        judged = verify(self.project, self.plans)
        wrong = {each.view: each.reason for each in judged if each.verdict is not Verdict.EQUAL}
        with self._judge.answers() as duck:
            for name in self.plans:
                if difference := self._difference(name, duck):
                    wrong.setdefault(name, difference)
        return wrong

    def _difference(self, name: str, duck: duckdb.DuckDBPyConnection) -> str:
        """Return what a view lacks of the answer, and what it has more."""
        table = LakeReader(self.project.config).table(name)
        assert table is not None
        columns = [field.name for field in self.plans[name].view.fields]
        table.create_view(duck, f"{name}@held", table.snapshot_id(), columns)
        held, listed = quoted(f"{name}@held"), ", ".join(map(quoted, columns))
        (self.rows[name],) = duck.sql(f"SELECT count(*) FROM {held}").fetchall()[0]
        more, lacks = (
            duck.sql(f"SELECT {listed} FROM {a} EXCEPT ALL SELECT {listed} FROM {b}").fetchall()
            for a, b in ((held, name), (name, held))
        )
        return f"lacks {len(lacks)}: {lacks[:2]}, has {more[:2]}" if more or lacks else ""


@click.command()
@click.option("--seed", default=1, show_default=True)
@click.option("--scale", default=1.0, show_default=True, help="how many times as many rows")
def main(seed: int, scale: float) -> None:
    """Maintain the tables of TPC-DI's warehouse."""
    bad: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as home, local_session("tpcdi") as spark:
        folder = Path(home) / "tpcdi"
        shutil.copytree(PROJECT, folder)
        kept = Tpcdi(spark, folder, SourceFiles(folder / "data", seed, scale))
        for number in range(1, BATCHES + 1):
            kept.tick()
            found = kept.wrong()
            bad |= found
            click.echo(f"batch {number}: {len(found)} wrong")
        recomputed = [name for name, plan in kept.plans.items() if is_recomputed(plan)]
        for name, plan in kept.plans.items():
            rule = "recomputed" if name in recomputed else plan.decision.rule.name
            if not kept.rows[name]:
                bad.setdefault(name, "holds no rows, which proves little")
            click.echo(f"{name}: {rule}, {kept.rows[name]} rows, {bad.get(name, 'equal')}")
    refused = len(view_texts(PROJECT)) - len(kept.plans)
    counts = f"incremental={len(kept.plans) - len(recomputed)} recomputed={len(recomputed)}"
    click.echo(f"views={len(kept.plans)} {counts} refused={refused} wrong={len(bad)}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
