"""``make nexmark-peers``: Headwater, PySpark by hand and Flink SQL over the same events.

In: a number of events. Out: tables of Iceberg, and per query the CPU seconds per million events of
each way and whether all answers are DuckDB's. A way is a process that first runs everything over a
tenth of the events. Its CPU seconds are those of Python and of the JVM, from the first file to the
last commit. Flink is left out if its jars are missing. It leaves deletes in the table of q18 for
the reader to apply; PySpark by hand rewrites the files.

    python -m bench.nexmark.peers --events 2000000
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import duckdb
from pyspark.sql import SparkSession

from bench.measure import ROOT, machine, tree_use
from bench.nexmark import by_hand
from bench.nexmark.events import TABLES, generate
from bench.nexmark.flink import launch
from bench.nexmark.run import QUERIES, tables
from headwater.plan.planner import plan_sound
from headwater.project import Project, read_project

CLOSING = "2026-02-01"
"""Day of a last event of each kind, which closes the windows before it in all ways."""
_DAY = f"TIMESTAMP '{CLOSING}'"
_BEFORE = "TIMESTAMP '2026-01-31'"
_NOBODY = "(-1)::BIGINT"
_LAST = {
    "person": f"SELECT * REPLACE ({_NOBODY} AS id, {_DAY} AS date_time)",
    "auction": f"SELECT * REPLACE ({_NOBODY} AS id, {_NOBODY} - 1 AS seller, {_DAY} AS date_time)",
    "bid": f"SELECT * REPLACE ({_NOBODY} AS auction, {_NOBODY} AS bidder, {_DAY} AS date_time)",
}
COMPARED = {
    **dict.fromkeys(("q5", "q8", "q11"), f"window_start < {_BEFORE}"),
    "q7": f"date_time < {_BEFORE}",
}
"""The rows that all ways must have."""

Way = Callable[[str, Path], str]
"""Answers a query over a folder of events; returns the table."""


def headwater(folder: Path) -> tuple[SparkSession, Way]:
    """A project of one view, run as ``headwater run --once --end-of-input`` does."""
    from headwater.runtime.session import open_session
    from headwater.runtime.supervisor import Supervisor

    config = _project(folder / "bench").config
    config.warehouse.mkdir()
    spark = open_session(config)

    def answer(name: str, events: Path) -> str:
        project = folder / f"{name}_{events.parent.name}"
        definitions = tables(events)  # a SOURCE takes files by age
        straight = definitions.replace("TABLE", "SOURCE").replace("ordering = 'name', ", "")
        found = _project(project, straight, name)
        if name not in plan_sound(found.catalog)[0]:  # what cannot be kept so is landed first
            found = _project(project, definitions, name)
        if Supervisor(found, spark=spark, views=[name]).run(once=True, end_of_input=True):
            raise RuntimeError(f"{name} failed")
        return f"lake.{project.name}.{name}"

    return spark, answer


def _project(folder: Path, definitions: str = "", view: str = "") -> Project:
    """Write and read a project; those of a way share a warehouse."""
    folder.mkdir(exist_ok=True)
    settings = f'name = "{folder.name}"\n[warehouse]\npath = "../warehouse"\n'
    (folder / "headwater.toml").write_text(settings, encoding="utf-8")
    text = definitions + (QUERIES[view].ours if view else "")
    (folder / "all.sql").write_text(text, encoding="utf-8")
    return read_project(folder)


def hand(folder: Path) -> tuple[SparkSession, Way]:
    """PySpark written by hand."""
    from bench.by_hand import open_session
    from headwater.jars.fetch import fetch
    from headwater.machine.java import find_java

    os.environ["JAVA_HOME"] = str(find_java().home)
    (folder / "warehouse").mkdir()
    spark = open_session(folder / "warehouse", fetch(), len(os.sched_getaffinity(0)))

    def answer(name: str, events: Path) -> str:
        run = f"{name}_{events.parent.name}"
        by_hand.run(spark, name, events, f"lake.bench.{run}", folder / f"checkpoint_{run}")
        return f"lake.bench.{run}"

    return spark, answer


WAYS = {"headwater": headwater, "by hand": hand}
FLINK = "flink"
"""A way that is no Python: a program of Java."""


def answer_all(way: str, folder: Path, inputs: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """Answer every query over some folders of events, in this process; yield what each took."""
    folder.mkdir()
    spark, answer = WAYS[way](folder)
    for events in inputs:
        for name in by_hand.QUERIES:
            before = tree_use(os.getpid())[1]
            table = answer(name, events)
            used = tree_use(os.getpid())[1] - before
            rows = folder / f"answer_{name}_{events.parent.name}"
            spark.catalog.refreshTable(table)  # another session may have written it
            spark.table(table).write.parquet(str(rows))
            yield {"query": name, "cpu": used, "rows": str(rows)}
    spark.stop()


def difference(events: Path, name: str, rows: str) -> str:
    """Return how an answer differs from DuckDB's, empty if it does not."""
    with duckdb.connect() as duck:
        duck.execute("SET TimeZone = 'UTC'")
        for table in TABLES:
            duck.execute(f"CREATE VIEW {table} AS FROM '{events}/{table}/*.parquet'")
        duck.execute(f"CREATE TABLE wanted AS {QUERIES[name].theirs}")
        names = [row[0] for row in duck.execute("DESCRIBE wanted").fetchall()]
        columns = ", ".join(f"CAST({each} AS VARCHAR) AS {each}" for each in names)
        times = ", ".join(
            f"{each}::TIMESTAMP AS {each}" if each.startswith(("date_", "window_")) else each
            for each in names
        )
        duck.execute(f"CREATE VIEW got AS SELECT {times} FROM '{rows}/*.parquet'")
        where = COMPARED.get(name, "true")
        if name == "q7":  # elsewhere one of several bids as high is enough
            columns = "DISTINCT price, window_end"
        one, other = (f"SELECT {columns} FROM {each} WHERE {where}" for each in ("got", "wanted"))
        found = duck.sql(
            f"({one} EXCEPT ALL {other}) UNION ALL ({other} EXCEPT ALL {one})"
        ).fetchall()
    return f"{len(found)} rows differ, as {found[0]}" if found else ""


def closed_events(folder: Path, count: int, seed: int) -> Path:
    """Generate events, with one of each kind that closes all windows."""
    events = generate(folder / "events", count, seed).folder
    with duckdb.connect() as duck:
        for table, last in _LAST.items():
            file = events / table / "9999.parquet"
            duck.execute(f"COPY ({last} FROM '{events}/{table}/0000.parquet' LIMIT 1) TO '{file}'")
            for number, each in enumerate(sorted((events / table).iterdir())):
                os.utime(each, (1.7e9 + number, 1.7e9 + number))  # streams take files by age
    return events


@click.command()
@click.option("--events", "count", default=2_000_000, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--way", type=click.Choice(list(WAYS)), hidden=True)
@click.option("--inputs", nargs=2, type=click.Path(path_type=Path), hidden=True)
@click.option("--folder", type=click.Path(path_type=Path), hidden=True)
def main(
    count: int, seed: int, way: str | None, inputs: tuple[Path, Path], folder: Path | None
) -> None:
    """Answer the queries all ways."""
    if way is not None and folder is not None:
        for found in answer_all(way, folder, inputs):
            click.echo(json.dumps(found))
        return
    with tempfile.TemporaryDirectory(prefix="nexmark-") as name:
        root = Path(name)
        small, large = (
            closed_events(root / label, size, seed)
            for label, size in (("small", count // 10), ("large", count))
        )
        ways = list(WAYS)
        if why := launch.missing():
            click.echo(f"{FLINK} is left out: {why}")
        else:
            ways.append(FLINK)
        taken = {way: _taken(way, root, (small, large)) for way in ways}
        sys.exit(report(count, large, taken))


def _taken(way: str, root: Path, inputs: tuple[Path, Path]) -> dict[str, dict[str, Any]]:
    """What each query took of a way, once it is warm."""
    folder = root / way.replace(" ", "_")
    command = [sys.executable, "-m", "bench.nexmark.peers", "--way", way, "--folder", str(folder)]
    command += ["--inputs", *map(str, inputs)]
    if way == FLINK:
        command = launch.command(folder, inputs)
    with (root / f"{way}.log").open("w") as log:
        done = subprocess.run(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True, check=False
        )
    if done.returncode:
        raise SystemExit((root / f"{way}.log").read_text()[-3000:])
    lines = map(json.loads, done.stdout.splitlines())
    return {each["query"]: each for each in lines}  # the later ones are over all events


def report(count: int, events: Path, taken: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> int:
    """Print a line per query; return the exit code, 1 if an answer is wrong."""
    about, wrong = machine(), 0
    click.echo(
        f"{about['cores']} cores, {about['cpu']}, commit {about['commit']}; {count:,} events"
    )
    ours, *others = taken
    heads = "".join(f"{way:>12}" for way in taken)
    ratios = "".join(f"{f'{way} / {ours}':>21}" for way in others)
    click.echo(f"CPU s per million{heads}{ratios}  answers")
    for name in by_hand.QUERIES:
        found = {way: each[name] for way, each in taken.items()}
        cpu = [each["cpu"] * 1e6 / count if "cpu" in each else None for each in found.values()]
        bad, none = _judged(events, name, found)
        wrong += bool(bad)
        figures = "".join(_figure(each, 12) for each in cpu)
        figures += "".join(_figure(each and cpu[0] and each / cpu[0], 21) for each in cpu[1:])
        click.echo(f"{name:<17}{figures}  {'; '.join([*bad, *none]) or 'equal'}")
    click.echo(f"queries={len(by_hand.QUERIES)} wrong={wrong}")
    return 1 if wrong else 0


def _judged(
    events: Path, name: str, found: Mapping[str, Mapping[str, Any]]
) -> tuple[list[str], list[str]]:
    """Return which ways answer wrongly, and which do not answer."""
    why = {w: difference(events, name, each["rows"]) for w, each in found.items() if "rows" in each}
    bad = [f"{way}: {each}" for way, each in why.items() if each]
    return bad, [f"{way}: {each['why']}" for way, each in found.items() if "why" in each]


def _figure(value: float | None, width: int) -> str:
    return f"{'-':>{width}}" if value is None else f"{value:{width}.2f}"


if __name__ == "__main__":
    main()
