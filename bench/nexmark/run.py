"""The 23 queries of NEXMark as views of a project, each compared with DuckDB on the same events.

In: a number of events. Out: a line per query; at the end one line
``queries=23 equal=N refused=M wrong=W``, and exit code 1 if W is not 0. A query is refused by
``headwater check`` alone; a view that is missing or differs is wrong. DuckDB runs a query that was
written by hand, over the files of events, and knows nothing of what Headwater made of its own.

    python -m bench.nexmark.run --events 1000000
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
import duckdb

from bench.nexmark.events import FILES, TABLES, Events, generate
from headwater.project import Project, read_project
from headwater.serve.connection import duckdb_connection
from headwater.serve.lake_reader import LakeReader

HERE = Path(__file__).parent
EPOCHS = 4
_QUERY = re.compile(
    r"^-- (?P<name>q\d+): (?P<title>[^\n]+)\n(?P<ours>.*?)^-- duckdb\n(?P<theirs>.*?)(?=^-- q|\Z)",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Query:
    """One query of the benchmark.

    Attributes:
        name: ``q0`` to ``q22``, also the name of its view.
        title: what it asks.
        ours: the statements of Headwater.
        theirs: the same in DuckDB's SQL, over the tables of events.
    """

    name: str
    title: str
    ours: str
    theirs: str


QUERIES: Mapping[str, Query] = {
    found["name"]: Query(**found.groupdict())
    for found in _QUERY.finditer((HERE / "queries.sql").read_text(encoding="utf-8"))
}


def tables(events: Path) -> str:
    """Return the definitions of the tables over a folder of events."""
    text = (HERE / "tables.sql").read_text(encoding="utf-8")
    return text.format(events=events, files=FILES // EPOCHS)


def write_project(folder: Path, events: Path, queries: Mapping[str, Query]) -> Project:
    """Write a project with the views of some queries, and read what is sound of it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "headwater.toml").write_text('name = "nexmark"\n', encoding="utf-8")
    (folder / "tables.sql").write_text(tables(events), encoding="utf-8")
    for query in queries.values():
        (folder / f"{query.name}.sql").write_text(query.ours, encoding="utf-8")
    return read_project(folder)


def refusals(project: Project) -> dict[str, str]:
    """Return why each query is refused that is: planned or not, without a JVM."""
    from headwater.plan.planner import plan_sound

    sound = project.without(plan_sound(project.catalog)[1])
    errors = {name: each.error for name, each in sound.broken.items() if each.error}
    return {
        name: f"{errors[name].condition}: {errors[name].message}"
        for name in QUERIES
        if name in errors
    }


@contextmanager
def answers(project: Project, events: Events) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB with the files of events as tables."""
    with duckdb_connection() as duck:
        for table in (*TABLES, "side_input"):
            duck.execute(f"CREATE VIEW {table} AS FROM '{events.folder}/{table}/*.parquet'")
        yield duck


def difference(duck: duckdb.DuckDBPyConnection, reader: LakeReader, query: Query) -> str:
    """Return how a view differs from DuckDB's answer, and nothing if it does not."""
    table = reader.table(query.name)
    if table is None:
        return "has no table"
    shown = [name for name in table.columns() if not name.startswith("_")]
    table.create_view(duck, "held", table.snapshot_id(), shown)
    duck.execute("CREATE OR REPLACE TABLE got AS FROM held")
    duck.execute("CREATE OR REPLACE TABLE wanted AS FROM got LIMIT 0")
    duck.execute(f"INSERT INTO wanted BY NAME {query.theirs}")
    kinds = duck.sql("SELECT column_name, column_type FROM (DESCRIBE got)").fetchall()
    columns = ", ".join(
        f"printf('%.9e', {name}) AS {name}" if kind == "DOUBLE" else name for name, kind in kinds
    )
    for kind, one, other in (("too many", "got", "wanted"), ("too few", "wanted", "got")):
        sql = f"SELECT {columns} FROM {one} EXCEPT ALL SELECT {columns} FROM {other}"
        duck.execute(f"CREATE OR REPLACE TABLE differs AS {sql}")
        if (rows := duck.sql("SELECT count(*) FROM differs").fetchall()[0][0]) > 0:
            example = duck.sql("FROM differs LIMIT 1").fetchall()[0]
            return f"has {rows} rows {kind}, as {example}"
    rows = duck.sql("SELECT count(*) FROM got").fetchall()[0][0]
    return "" if rows else "has no rows, which proves little"


def maintain(folder: Path) -> int:
    """Run a project to the end of its input; return the exit code."""
    begun = time.monotonic()
    command = [sys.executable, "-m", "headwater", "--project", str(folder)]
    with (folder / "run.log").open("w") as log:
        done = subprocess.run(
            [*command, "run", "--once", "--end-of-input"], stdout=log, stderr=log, check=False
        )
    seconds = time.monotonic() - begun
    click.echo(f"run --once --end-of-input: exit code {done.returncode} after {seconds:.0f} s")
    if done.returncode:
        click.echo((folder / "run.log").read_text()[-4000:])
    return done.returncode


def run(folder: Path, count: int, seed: int) -> int:
    """Generate, maintain and compare; return the exit code."""
    begun = time.monotonic()
    events = generate(folder / "events", count, seed)
    listed = ", ".join(f"{number:,} of {table}" for table, number in events.rows.items())
    click.echo(f"{count:,} events in {time.monotonic() - begun:.1f} s: {listed}")
    project = write_project(folder / "project", events.folder, QUERIES)
    refused = refusals(project)
    sound = {name: query for name, query in QUERIES.items() if name not in refused}
    for name in refused:
        (folder / "project" / f"{name}.sql").unlink()
    code = maintain(folder / "project")
    project = read_project(folder / "project")
    wrong = 0
    with answers(project, events) as duck:
        reader = LakeReader(project.config, {})
        for name, query in QUERIES.items():
            if name in refused:
                click.echo(f"{name:4} refused  {query.title}: {refused[name]}")
                continue
            why = difference(duck, reader, query)
            wrong += bool(why)
            click.echo(
                f"{name:4} {'WRONG' if why else 'equal'}    {query.title}{why and ': '}{why}"
            )
    equal = len(sound) - wrong
    click.echo(f"queries={len(QUERIES)} equal={equal} refused={len(refused)} wrong={wrong}")
    return 1 if wrong or code else 0


@click.command()
@click.option("--events", "count", default=20_000, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--keep", type=click.Path(path_type=Path), help="Folder to keep everything in.")
def main(count: int, seed: int, keep: Path | None) -> None:
    """Maintain the queries of NEXMark."""
    if keep is not None:
        sys.exit(run(keep, count, seed))
    with tempfile.TemporaryDirectory(prefix="nexmark-") as folder:
        sys.exit(run(Path(folder), count, seed))


if __name__ == "__main__":
    main()
