"""The ways to answer a workload, each a process that stays alive: ``python -m bench.ways``.

Arguments: WAY and FOLDER. In: one JSON object per line on standard input: the workload, its files,
the number of the run. Out: one JSON object per line on standard output: when the run began and
ended, where its answer is. What Spark and others print goes to ``FOLDER/WAY.log``.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from bench.workloads import WORKLOADS, Input, Workload, batch_sql, definitions

Run = Callable[[Workload, Input, int], dict[str, Any]]
CORES = len(os.sched_getaffinity(0))


def headwater(folder: Path, *, landed: bool) -> Run:
    """Headwater: a project run once by its supervisor, as ``headwater run --once`` does."""
    from headwater.config.settings import Config, RunSection
    from headwater.project import load_project
    from headwater.runtime.session import open_session
    from headwater.runtime.supervisor import Supervisor

    warehouse = folder / "warehouse"
    master = f"local[{CORES}]"
    config = Config(
        *(folder, "bench", "bench", warehouse, folder / "state"),
        master=master,
        run=RunSection(shuffle_partitions=CORES),
    )
    spark = open_session(config, app_name="headwater")
    steps: list[float] = []
    _watch_batches(steps)

    def run(workload: Workload, given: Input, number: int) -> dict[str, Any]:
        project = folder / f"run{number}"
        project.mkdir()
        (project / "headwater.toml").write_text(
            f'name = "run{number}"\n[warehouse]\npath = "{warehouse}"\n'
            f'[spark]\nmaster = "{master}"\n[run]\nshuffle_partitions = {CORES}\n'
        )
        (project / "all.sql").write_text(definitions(workload, given, landed=landed))
        steps.clear()
        if Supervisor(load_project(project), spark=spark).run(once=True, end_of_input=True):
            raise RuntimeError(f"the run failed, see {folder / 'state'}")
        table = f"run{number}.{workload.name}"
        return {"warehouse": str(warehouse), "table": table, "own": statistics.median(steps)}

    return run


def _watch_batches(steps: list[float]) -> None:
    """Note, per micro-batch, the seconds that its function takes besides the write it asks for."""
    from pyspark.sql.readwriter import DataFrameWriterV2
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    append, foreach = DataFrameWriterV2.append, DataStreamWriter.foreachBatch
    writing = threading.local()

    def timed_append(writer: Any) -> None:
        begun = time.perf_counter()
        append(writer)
        writing.seconds = getattr(writing, "seconds", 0) + time.perf_counter() - begun

    def timed_foreach(writer: Any, function: Callable[[Any, int], None]) -> Any:
        def timed(rows: Any, epoch: int) -> None:
            writing.seconds = 0
            begun = time.perf_counter()
            function(rows, epoch)
            steps.append(time.perf_counter() - begun - writing.seconds)

        return foreach(writer, timed)

    mock.patch.object(DataFrameWriterV2, "append", timed_append).start()
    mock.patch.object(DataStreamWriter, "foreachBatch", timed_foreach).start()


def by_hand(folder: Path) -> Run:
    """PySpark written by hand."""
    from bench import by_hand
    from headwater.jars.fetch import fetch
    from headwater.machine.java import find_java

    os.environ["JAVA_HOME"] = str(find_java().home)
    warehouse = folder / "warehouse"
    warehouse.mkdir(parents=True)
    spark = by_hand.open_session(warehouse, fetch(), CORES)

    def run(workload: Workload, given: Input, number: int) -> dict[str, Any]:
        table = f"bench.{workload.name}_{number}"
        checkpoint = folder / f"checkpoint{number}"
        by_hand.run(
            spark,
            workload.name,
            workload.columns,
            given.folder,
            given.per_batch,
            f"lake.{table}",
            checkpoint,
        )
        return {"warehouse": str(warehouse), "table": table}

    return run


def batch(folder: Path) -> Run:
    """DuckDB over all files at once, to Parquet."""
    import duckdb

    def run(workload: Workload, given: Input, number: int) -> dict[str, Any]:
        file = folder / f"answer{number}.parquet"
        folder.mkdir(exist_ok=True)
        with duckdb.connect() as db:
            db.execute(f"SET threads = {CORES}")
            db.execute("SET TimeZone = 'UTC'")
            db.execute(f"COPY ({batch_sql(workload, given)}) TO '{file}' (FORMAT parquet)")
        return {"file": str(file)}

    return run


WAYS: dict[str, Callable[[Path], Run]] = {
    "headwater": lambda folder: headwater(folder, landed=False),
    "landed": lambda folder: headwater(folder, landed=True),
    "by hand": by_hand,
    "duckdb": batch,
}


def serve(way: str, folder: Path) -> None:
    """Answer requests until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    log = (folder / f"{way}.log").open("ab")
    os.dup2(log.fileno(), 1)
    os.dup2(log.fileno(), 2)
    run = WAYS[way](folder / way.replace(" ", "_"))
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        given = Input(**{**request["input"], "folder": Path(request["input"]["folder"])})
        begun = time.time()
        found = run(WORKLOADS[request["workload"]], given, request["number"])
        answers.write(json.dumps({"begun": begun, "ended": time.time(), **found}) + "\n")


if __name__ == "__main__":
    serve(sys.argv[1], Path(sys.argv[2]))
