"""The 99 queries of TPC-DS over tables that change: after each tick a view equals DuckDB's answer.

In: the folder that ``generate.py`` wrote, a seed. Out: a line per query, by which rule it is kept
or why it is refused; at the end one line ``queries=99 kept=N incremental=I recomputed=R refused=M
wrong=0``; exit code 1 if one is wrong.

Two judges: ``verify``, and the text of the query in DuckDB, whose averages and quotients of
decimals are DOUBLE where ours have digits: such values may differ by half a digit.

    python -m tests.tpcds.run build/tpcds/rows --seed 1
"""

from __future__ import annotations

import math
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import click
import duckdb
from pyspark.sql import SparkSession

from headwater.plan.full_program import FullProgram
from headwater.plan.planner import plan_project
from headwater.plan.program import AffectedGroupsProgram
from headwater.plan.view_plan import ViewPlan
from headwater.project import load_project
from headwater.runtime.supervisor import Supervisor
from headwater.serve.connection import quoted
from headwater.serve.lake_reader import LakeReader
from headwater.serve.verify import Verdict, verify
from headwater.testing.harness import warehouse_of
from tests.spark.running import local_session, refused
from tests.support.parts import in_part
from tests.tpcds.project import Rows

Row = tuple[object, ...]
NUMBERS = (int, float, Decimal)
BATCHES = 4
_HALF_A_DIGIT = 0.0051
"""An amount has two digits."""


class Tpcds:
    """The queries that are kept, over tables that change.

    Args:
        spark: the session.
        rows: of the tables.
        queries: the queries by name.
    """

    def __init__(self, spark: SparkSession, rows: Rows, queries: dict[str, str]) -> None:
        self.spark, self.rows, self.queries = spark, rows, queries
        rows.define(queries)
        found = load_project(rows.project)
        config = replace(found.config, warehouse=warehouse_of(spark))
        self.project = replace(found, config=config)
        self.plans = plan_project(self.project.catalog)
        self.found: set[str] = set()

    def tick(self) -> None:
        """Land a batch, and bring every view up to date."""
        self.rows.land()
        Supervisor(self.project, spark=self.spark).run(once=True)

    def wrong(self) -> dict[str, str]:
        """Return the views that differ from an answer, and how."""
        judged = verify(self.project, self.plans)
        wrong = {each.view: each.reason for each in judged if each.verdict is not Verdict.EQUAL}
        answers = self.rows.answers()
        for name, text in self.queries.items():
            if difference := self._difference(name, text, answers):
                wrong.setdefault(name, difference)
        return wrong

    def _difference(self, name: str, text: str, answers: duckdb.DuckDBPyConnection) -> str:
        """What differs from the answer; of equal rows of ORDER BY … LIMIT any may be in it."""
        expected = answers.sql(text).fetchall()
        held = self._held(name, answers)
        self.found |= {name} if held else set()
        if _alike(held, expected):
            return ""
        every = answers.sql(re.sub(r"\sLIMIT\s+\d+\s*$", "", text, flags=re.I)).fetchall()
        if len(every) > len(expected) == len(held) and _all_in(held, every):
            return ""
        lacks = [row for row in expected if not _all_in([row], held)]
        more = [row for row in held if not _all_in([row], every)]
        return f"{len(held)} rows, not {len(expected)}; lacks {lacks[:2]}, has {more[:2]}"

    def _held(self, name: str, duck: duckdb.DuckDBPyConnection) -> Sequence[Row]:
        table = LakeReader(self.project.config).table(name)
        assert table is not None
        columns = [field.name for field in self.plans[name].view.fields]
        table.create_view(duck, f"{name}@held", table.snapshot_id(), columns)
        return duck.sql(
            f"SELECT {', '.join(map(quoted, columns))} FROM {quoted(f'{name}@held')}"
        ).fetchall()


def _rounded(row: Row) -> tuple[str, ...]:
    """A row as it is sorted, and found."""
    return tuple(f"{float(v):.1f}" if isinstance(v, NUMBERS) else str(v).rstrip() for v in row)


def _alike(held: Sequence[Row], expected: Sequence[Row]) -> bool:
    left, right = sorted(held, key=_rounded), sorted(expected, key=_rounded)
    return len(left) == len(right) and all(map(_is_close, left, right))


def _all_in(some: Sequence[Row], every: Sequence[Row]) -> bool:
    return all(any(_is_close(row, other) for other in every) for row in some)


def _is_close(one: Row, other: Row) -> bool:
    return all(
        math.isclose(a, b, rel_tol=1e-6, abs_tol=_HALF_A_DIGIT)
        if isinstance(a, NUMBERS) and isinstance(b, NUMBERS)
        else str(a) == str(b)
        for a, b in zip(one, other, strict=True)
    )


def is_recomputed(plan: ViewPlan) -> bool:
    """Whether whatever changes has the whole query run again."""
    program = plan.program
    return isinstance(program, FullProgram) or (
        isinstance(program, AffectedGroupsProgram) and program.one_unit
    )


@click.command()
@click.argument("generated", type=click.Path(exists=True, path_type=Path))
@click.option("--seed", default=1, show_default=True)
@click.option("--query", "only", multiple=True, help="only this one: q07")
@click.option("--part", metavar="K/N", help="only the queries of one of N parts: 2/3")
def main(generated: Path, seed: int, only: Sequence[str], part: str | None) -> None:
    """Keep the queries of TPC-DS."""
    texts = {path.stem: path.read_text().strip() for path in sorted(generated.glob("q*.sql"))}
    queries = {
        name: text
        for name, text in texts.items()
        if in_part(name, part) and (not only or name in only)
    }
    bad: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder, local_session("tpcds") as spark:
        rows = Rows(generated, Path(folder), seed)
        out = refused(rows.definitions, queries)
        for name, why in out.items():
            click.echo(f"{name}: refused: {why}")
        kept = Tpcds(spark, rows, {n: text for n, text in queries.items() if n not in out})
        for number in range(BATCHES):
            kept.tick()
            found = kept.wrong()
            bad |= found
            click.echo(f"tick {number}: {len(found)} wrong")
        recomputed = [name for name in kept.queries if is_recomputed(kept.plans[name])]
        for name in kept.queries:
            rule = "recomputed" if name in recomputed else kept.plans[name].decision.rule.name
            empty = "" if name in kept.found else ", never a row"
            click.echo(f"{name}: {rule}{empty} {bad.get(name, '')}")
    counts = [
        f"queries={len(queries)} kept={len(kept.queries)}",
        f"incremental={len(kept.queries) - len(recomputed)} recomputed={len(recomputed)}",
        f"refused={len(out)} wrong={len(bad)} with_rows={len(kept.found)} seed={seed}",
    ]
    click.echo(" ".join(counts))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
