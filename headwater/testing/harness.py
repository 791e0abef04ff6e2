"""Runs ``.slt`` files on a real, local Spark, for ``headwater test`` and for our own tests.

In: files. Out: what failed, with the place. One Spark session serves all files of a process; every
file gets a namespace and a project of its own. Tables read what the file ingests instead of their
connectors. After every ``tick`` and ``close`` each view is checked against its SELECT at rest,
asked or not.
"""

from __future__ import annotations

import difflib
import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from headwater.analyze.definitions import Catalog
from headwater.config.settings import Config, RunSection, load_config
from headwater.errors import ErrorGroup, HeadwaterError, raise_all
from headwater.errors.nearest import did_you_mean
from headwater.errors.steps import step
from headwater.lake.storage.warehouse import WAREHOUSE
from headwater.plan.explain import explain
from headwater.plan.planner import plan_project
from headwater.project import Project, read_project
from headwater.serve.embedded import Embedded
from headwater.serve.verify import Verdict, VerifyResult, verify
from headwater.testing import slt
from headwater.testing.crash import crash_a_tick
from headwater.testing.reads import mentioned, needed
from headwater.testing.rows import local_source, write_rows
from headwater.testing.slt import Record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.plan.view_plan import ViewPlan
    from headwater.runtime.supervisor import Supervisor

_namespaces = itertools.count(1)
_NAMES, _STATEMENT = "names.txt", "statement"

Judge = Callable[[Project, Mapping[str, "ViewPlan"], Sequence[str]], list[VerifyResult]]
"""Checks views of a project, all of them if none is named, against their SELECT at rest."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A step that did not do what the file says.

    Attributes:
        place: ``file:line``.
        step: the verb line.
        message: what happened instead.
    """

    place: str
    step: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.step}\n{self.message}"


class Mismatch(Exception):
    """A step did not do what the file says; the text says what happened instead."""


class World:
    """What one file works on: a project, its tables, a supervisor that can die and come back.

    Args:
        spark: the session shared by all files.
        folder: an empty folder for the project of this file.
        base: files that define objects before the first statement, or none.
        namespace: the namespace of a world that is there already, to go on with it.
        judges: what checks the views after every tick.
        names: the tables and views that run, with all that they read; everything by default, or
            what the world that is there already runs.
    """

    def __init__(
        self,
        spark: SparkSession,
        folder: Path,
        base: Sequence[Path] = (),
        namespace: str | None = None,
        judges: Sequence[Judge] = (verify,),
        names: Collection[str] | None = None,
    ) -> None:
        self._spark = spark
        self._judges = judges
        self._folder = folder
        self._namespace = namespace or f"slt_{os.getpid()}_{next(_namespaces)}"
        self._statements = 0
        self._ingests = 0
        self._supervisor: Supervisor | None = None
        (folder / "headwater.toml").write_text(f'name = "{self._namespace}"\n')
        for number, path in enumerate(base):
            shutil.copy(path, folder / f"base{number:04}_{path.name}")
        if names is not None:  # also for the process that dies
            (folder / _NAMES).write_text("\n".join(names), encoding="utf-8")
        self.project, self.plans = self._load()

    def statement(self, sql: str) -> None:
        """Add definitions to the project.

        Args:
            sql: CREATE statements.

        Raises:
            HeadwaterError: they cannot be bound or planned; the project stays as it was.
        """
        self._statements += 1
        path = self._folder / f"{_STATEMENT}{self._statements:04}.sql"
        path.write_text(sql + "\n", encoding="utf-8")
        try:
            self.project, self.plans = self._load()
        except HeadwaterError:
            path.unlink()
            raise
        self.stop()

    def ingest(self, record: Record) -> None:
        """Put rows where a table will find them, as one file and so as one epoch."""
        name, *mode = record.arguments
        source = self.project.catalog.source_of(name)
        if source is None:
            hint = did_you_mean(name, self.project.catalog.sources, "tables and sources")
            raise Mismatch(f'there is no table or source "{name}": {hint}')
        self._ingests += 1
        folder = self._input(source.name)
        write_rows(source, folder, self._ingests, record.body, mode == ["raw"], record.span)

    def tick(self) -> None:
        """Process all that is there; windows stay open."""
        self._running().tick()

    def close(self) -> None:
        """Process all that is there and say that no more rows will come."""
        self._running().close()

    def crash(self, point: str) -> None:
        """Tick in another process and kill it at a step of a commit; the next tick starts anew.

        Args:
            point: name of the step (``headwater.lake.protocol.commit.CRASH_POINTS``), ``:n`` for
                the nth time.
        """
        self.stop()
        problem = crash_a_tick(self._folder, self._namespace, warehouse_of(self._spark), point)
        if problem:
            raise Mismatch(problem)

    def query(self, sql: str) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
        """Return columns and rows of a SELECT over the tables."""
        with Embedded(self.project).query(sql) as result:
            return result.columns, list(result.rows)

    def verify(self, views: Sequence[str] = ()) -> None:
        """Check views against their SELECT at rest; without names, all that have a commit.

        Raises:
            Mismatch: with the differing rows, or with why a named view could not be checked.
        """
        found_by = (judge(self.project, self.plans, views) for judge in self._judges)
        for result in itertools.chain.from_iterable(found_by):
            found = result.difference
            if result.verdict is Verdict.DIFFERENT and found:
                surplus = [f"  in the table, not in the SELECT: {r}" for r in found.surplus_rows]
                missing = [f"  in the SELECT, not in the table: {r}" for r in found.missing_rows]
                title = f'view "{result.view}" does not equal its SELECT'
                raise Mismatch("\n".join([title, *surplus, *missing]))
            failed = result.verdict is Verdict.FAILED
            if failed or (views and result.verdict is not Verdict.EQUAL):
                raise Mismatch(f'view "{result.view}": {result.verdict.value}: {result.reason}')

    def stop(self) -> None:
        """Stop what runs; the session goes on."""
        if self._supervisor is not None:
            self._supervisor.stop()
            self._supervisor = None

    def _load(self) -> tuple[Project, dict[str, ViewPlan]]:
        names = self._folder / _NAMES
        wanted = names.read_text(encoding="utf-8").split() if names.exists() else None
        if any(self._folder.glob("*.sql")):
            project = read_project(self._folder)
            raise_all(_concerning(project, wanted))
        else:
            project = Project(self._folder, load_config(self._folder), Catalog({}, {}), ())
        config = replace(
            project.config,
            namespace=self._namespace,
            warehouse=warehouse_of(self._spark),
            state=self._folder / "state",
            run=RunSection(recompute_below=0),  # few rows show what many would
        )
        sources = {
            name: local_source(source, self._input(name))
            for name, source in project.catalog.sources.items()
        }
        for name in sources:
            self._input(name).mkdir(parents=True, exist_ok=True)
        catalog = replace(project.catalog, sources=sources, sinks={})  # nothing leaves a test
        if wanted is not None:
            catalog = needed(catalog, wanted)
        project = replace(project, config=config, catalog=catalog, errors=(), broken={})
        return project, plan_project(catalog)

    def _input(self, name: str) -> Path:
        return self._folder / "input" / name

    def _running(self) -> Supervisor:
        from headwater.runtime.supervisor import Supervisor

        if self._supervisor is None:
            self._supervisor = Supervisor(self.project, spark=self._spark)
        return self._supervisor


def _concerning(project: Project, wanted: Collection[str] | None) -> list[HeadwaterError]:
    """The errors of the test's own statements and of what it reads."""
    broken = {n: each for n, each in project.broken.items() if wanted is None or n in wanted}
    roots = {*broken, *(name for each in broken.values() for name in each.blocked_by)}
    found = [each.error for name, each in project.broken.items() if name in roots and each.error]
    own = [e for e in project.errors if not e.span or Path(e.span.file).name.startswith(_STATEMENT)]
    return list(dict.fromkeys([*found, *own, *(project.errors if wanted is None else ())]))


def run_record(world: World, record: Record) -> list[str] | None:
    """Do one step.

    Returns:
        The result as lines, for verbs with an expected result.

    Raises:
        Mismatch: the step did not do what the file says, apart from its expected result.
    """
    match record.verb:
        case "statement":
            _statement(world, record)
        case "ingest":
            world.ingest(record)
        case "tick" | "close":
            (world.tick if record.verb == "tick" else world.close)()
            world.verify()
        case "crash":
            world.crash(record.arguments[0])
        case "advance":
            raise Mismatch("no feature depends on processing time yet: there is no clock to move")
        case "query":
            return _query(world, record)
        case "explain":
            return _explain(world, record.arguments[0])
        case "verify":
            world.verify(record.arguments)
    return None


def _statement(world: World, record: Record) -> None:
    wanted = record.arguments[1] if record.arguments[0] == "error" else None
    try:
        world.statement(record.sql)
    except HeadwaterError as error:
        if wanted and wanted in conditions(error):
            return
        raise Mismatch(f"it failed:\n{error.render()}") from error
    if wanted:
        raise Mismatch(f"it succeeded, expected {wanted}")


def conditions(error: HeadwaterError) -> set[str]:
    """Return the conditions of an error or of all errors in a group."""
    errors = error.errors if isinstance(error, ErrorGroup) else (error,)
    return {each.condition for each in errors}


def _query(world: World, record: Record) -> list[str]:
    letters, *order = record.arguments
    columns, rows = world.query(record.sql)
    if len(columns) != len(letters):
        raise Mismatch(
            f"it has {len(columns)} columns ({', '.join(columns)}), TYPES says {len(letters)}"
        )
    for name, letter, values in zip(columns, letters, zip(*rows, strict=True), strict=False):
        found = {slt.type_letter(value) for value in values} - {None, letter}
        if found and letter != "T":
            raise Mismatch(f'column "{name}" is of type {found.pop()}, TYPES says {letter}')
    return slt.render_rows(columns, rows, sort=order == ["rowsort"])


def _explain(world: World, name: str) -> list[str]:
    if name not in world.plans:
        raise Mismatch(f'there is no view "{name}"')
    return [line for line in explain(world.plans[name]).splitlines() if line.strip()]


def run_file(
    path: Path,
    spark: SparkSession,
    *,
    base: Sequence[Path] = (),
    rewrite: bool = False,
    judges: Sequence[Judge] = (verify,),
) -> list[Failure]:
    """Run one file.

    Args:
        spark: the session shared by all files.
        base: SQL files whose definitions are there before the first step.
        rewrite: whether to write the results that came out into the file as the expected ones.
        judges: what checks the views after every tick.

    Returns:
        The steps that failed; after one that is no mere difference of results, the rest is not run.

    Raises:
        ConfigError: ``TEST_SYNTAX``.
    """
    text = path.read_text(encoding="utf-8")
    records = slt.parse(text, str(path))
    results: list[tuple[Record, list[str]]] = []
    failures: list[Failure] = []
    with tempfile.TemporaryDirectory(prefix="headwater-slt-") as folder:
        world = World(spark, Path(folder), base, judges=judges, names=mentioned(records))
        try:
            for number, record in enumerate(records, 1):
                doing = f"running {path}: line {record.span.line}, {record.verb}"
                step(f"{doing} (step {number} of {len(records)})", minor=True)
                result = run_record(world, record)
                if result is not None and record.expected is not None:
                    results.append((record, result))
                    if not rewrite and tuple(result) != record.expected:
                        failures.append(_failure(record, _difference(record.expected, result)))
        except (Mismatch, HeadwaterError) as error:
            failures.append(_failure(record, str(error)))
        finally:
            world.stop()
    if rewrite:
        path.write_text(slt.rewritten(text, results), encoding="utf-8")
    return failures


def _failure(record: Record, message: str) -> Failure:
    return Failure(f"{record.span.file}:{record.span.line}", record.span.text, message)


def _difference(expected: Sequence[str], found: Sequence[str]) -> str:
    lines = difflib.ndiff(list(expected), list(found))
    return "\n".join(f"  {line}" for line in lines if not line.startswith("?"))


@contextmanager
def shared_session(warehouse: Path | None = None) -> Iterator[SparkSession]:
    """Yield the Spark session of this process; start one, and stop it afterwards, if there is none.

    Args:
        warehouse: where a session that is started writes; a temporary folder by default.

    Raises:
        ServiceError: Java or a jar is missing.
    """
    from pyspark.sql import SparkSession

    from headwater.runtime.session import open_session
    from headwater.runtime.spark_requirements import DELTA

    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    with tempfile.TemporaryDirectory(prefix="headwater-test-") as name:
        folder = Path(name)
        config = Config(
            directory=folder,
            name="test",
            namespace="test",
            warehouse=warehouse or folder / "warehouse",
            state=folder / "state",
            master="local[2]",
            run=RunSection(shuffle_partitions=2),
        )
        spark = open_session(config, app_name="headwater test", further=(DELTA,))
        try:
            yield spark
        finally:
            spark.stop()


def warehouse_of(spark: SparkSession) -> Path:
    """Return the folder of the warehouse that a session writes to."""
    location = spark.conf.get(WAREHOUSE) or ""
    return Path(urlsplit(location).path)
