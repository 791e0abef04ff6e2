"""Random streaming views in the real engine: at every commit each equals DuckDB's answer.

In: how many views, a seed. Out: a line per view that is wrong, with the seed of it, and at the end
``queries=N commits=N wrong=N refused=N seed=S``; exit code 1 if something is wrong. Some views run
together over two logs: rows land, most of them out of order and some too late, while views read,
rest, are opened anew, compute everything or the change only, whichever comes when.

    python -m tests.fuzz.run_streams --queries 200 --seed 1
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

import click
import duckdb
from pyspark.sql import SparkSession

from headwater.engine.incremental.recompute_policy import NEVER, RecomputeLimits
from headwater.engine.incremental.view import IncrementalView
from headwater.errors import HeadwaterError
from headwater.lake.catalog import Lake
from headwater.lake.protocol.marker import Marker
from headwater.plan.at_rest import at_rest
from headwater.runtime.session import session_for_thread
from tests.fuzz.closing import closing_query
from tests.fuzz.dated import dated_query
from tests.fuzz.recent import corrected_query, recent_query
from tests.fuzz.run import SETTINGS, vary
from tests.fuzz.schemas import spark_type
from tests.fuzz.streams import SECOND, TIME, Log, StreamingQuery, random_logs
from tests.spark.law import Landed, check_law
from tests.spark.running import local_session, planned

BATCH, ROUNDS = 6, 6
_NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
_THEN = ("go on", "go on", "read", "read", "open anew")


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a batch.

    Attributes:
        queries: how many were kept and compared.
        commits: how many commits were compared.
        wrong: how many views were wrong.
        refused: how many were refused.
    """

    queries: int
    commits: int
    wrong: int
    refused: int


class Batch:
    """Some views that run together.

    Args:
        spark: the session they are cloned from.
        name: of their namespace.
        logs: what they read.
        queries: the views by name.
    """

    def __init__(
        self,
        spark: SparkSession,
        name: str,
        logs: Sequence[Log],
        queries: dict[str, StreamingQuery],
    ) -> None:
        self._spark, self._lake, self._ways = spark, Lake(spark, name), Random(name)
        self._logs, self._queries = logs, queries
        self.landed = {
            log.name: Landed(
                self._lake,
                log.name,
                {column: spark_type(kind) for column, kind in log.kinds.items()},
                TIME,
                log.delay * SECOND,
            )
            for log in logs
        }
        statements = [query.definition(view) for view, query in queries.items()]
        lines = dict.fromkeys("".join(statements).splitlines(keepends=True))
        self.catalog, self.plans = planned("".join([*(g.definition for g in logs), *lines]))
        self._running: dict[str, IncrementalView] = {}
        self.wrong: dict[str, str] = {}

    def run(self, rnd: Random) -> int:
        """Land rows and move views at random, then compare; return how many commits there are."""
        clock = _NOON
        for name in self._queries:
            self._start(name)
        for _ in range(ROUNDS):
            clock += rnd.choice((30, 300, 600, 1500, 7200)) * SECOND
            for log in rnd.sample(self._logs, rnd.choice((1, 2, 2))):
                rows = [log.row(rnd, clock) for _ in range(rnd.choice((0, 1, 2, 6)))]
                self.landed[log.name].land(*rows)
                for name in self._queries:
                    self._move(name, rnd.choice(_THEN))
        for each in self.landed.values():
            each.close(clock + timedelta(days=1))
        for name in self._queries:
            self._move(name, "read")
        return sum(self._compare(name) for name in self._queries if name not in self.wrong)

    def _start(self, name: str) -> None:
        lake = self._lake.using(session_for_thread(self._spark))
        limits = self._ways.choice((NEVER, RecomputeLimits(10**6)))
        self._running[name] = IncrementalView(lake, self.plans[name], self.catalog, limits=limits)

    def _move(self, name: str, then: str) -> None:
        """Do something with a view; what fails is what is wrong with it."""
        if name in self.wrong:
            return
        try:
            if then == "read":
                sides = (self.landed[log] for log in self._queries[name].inputs)
                self._running[name].step({side.name: side.table.snapshot_id() for side in sides})
            elif then == "open anew":
                self._start(name)
        except Exception as error:  # noqa: BLE001 - whatever it is
            self.wrong[name] = f"{type(error).__name__}: {str(error)[:2000]}"

    def _compare(self, name: str) -> int:
        """Compare every commit of a view, also with the SELECT at rest as the product writes it."""
        query, plan = self._queries[name], self.plans[name]
        sides = [self.landed[log] for log in query.inputs]

        def rest(marker: Marker) -> str:
            return at_rest(plan, self.catalog, "duckdb", watermark=marker.watermark).text()

        try:
            for oracle in (query.answer, rest):
                markers = check_law(self._lake, name, query.columns, oracle, sides)
        except (AssertionError, duckdb.Error) as error:
            self.wrong[name] = str(error)[:4000]
            return 0
        return len(markers)


def run_batch(spark: SparkSession, numbers: Sequence[int], seed: int) -> Result:
    """Try some random views over logs of their own.

    Args:
        spark: where they run.
        numbers: which ones.
        seed: the same seed, the same views, rows and moves; not the same batches of Spark.
    """
    start = numbers[0]
    vary(spark, Random(f"{seed}-{start}-spark"))
    logs = random_logs(Random(f"{seed}-{start}-logs"))
    queries, refused = dict[str, StreamingQuery](), 0
    for number in numbers:
        rnd = Random(f"{seed}-{number}")
        draws = (corrected_query, closing_query, recent_query, closing_query, dated_query)
        draw = draws[number % len(draws)]
        query = draw(rnd, logs)
        try:
            planned("".join([*(log.definition for log in logs), query.definition("v")]))
        except HeadwaterError as error:
            refused += 1
            click.echo(f"refused {seed}-{number}: {str(error).splitlines()[0]}\n  {query.select}")
            continue
        queries[f"v{number}"] = query
    batch = Batch(spark, f"streams_{seed}_{start}", logs, queries)
    commits = batch.run(Random(f"{seed}-{start}-rows"))
    for name, why in batch.wrong.items():
        click.echo(f"WRONG {seed}-{name}: {queries[name]}\n  {logs}\n  {why}")
    return Result(len(queries), commits, len(batch.wrong), refused)


@click.command()
@click.option("--queries", "count", default=60, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(count: int, seed: int) -> None:
    """Try random streaming views in Spark."""
    began, results = time.monotonic(), list[Result]()
    with local_session("streams", SETTINGS) as spark:
        for start in range(0, count, BATCH):
            results.append(run_batch(spark, range(start, min(start + BATCH, count)), seed))
            minutes = (time.monotonic() - began) / 60
            done = sum(each.queries for each in results)
            wrong = sum(each.wrong for each in results)
            click.echo(f"[{minutes:6.1f} min] {done} views, {wrong} wrong")
    commits, refused = sum(e.commits for e in results), sum(e.refused for e in results)
    click.echo(f"queries={done} commits={commits} wrong={wrong} refused={refused} seed={seed}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
