"""Random changes of views: what ``plan --diff`` predicts is what becomes of the rows.

In: how many random changes, a seed. Out: a line per change that is predicted wrongly, and a line
with the counts; exit code 1 if something is wrong. A batch of changes is one project: PyIceberg
writes its tables and views as the engine would, with the rows that DuckDB gives for the old
definitions. Then the files change. The prediction has to be the difference of DuckDB's answers to
the old and the new SELECT, which are written without the product's SELECT at rest. A definition
with the same fingerprint has to have the same rows.

    python -m tests.fuzz.changes --queries 500 --seed 7
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import NoReturn

import click
import duckdb

from headwater.deploy.changes import BUILT, ProjectChanges
from headwater.deploy.preview import RowChanges, preview
from headwater.errors import HeadwaterError
from headwater.lake.protocol.marker import Marker
from headwater.lake.reserved_names import DEFINITION
from headwater.plan.planner import plan_project
from headwater.project import Project, load_project
from tests.algebra.query import inputs, stamped
from tests.algebra.rules.streams import create, landed
from tests.algebra.world import planned
from tests.fuzz.changed import (
    Change,
    Side,
    changed_input,
    changed_query,
    changed_reader,
    changed_stream,
)
from tests.fuzz.oracle import insert, open_duckdb
from tests.fuzz.schemas import CORRECTED, FED, KEYED, LOGS, STANDARD, Draw, Row
from tests.fuzz.streams import TIME, Log, random_logs
from tests.unit.serve.fake_lake import FakeLake, make_lake

BATCH, TICKS = 20, 3
EVERYTHING = 1_000_000
"""More rows than any difference has."""


@dataclass
class Tried:
    """What was found.

    Attributes:
        wrong: a text per change that is predicted wrongly.
        equal: changes that are predicted as they are.
        same: changes among them that are none, by their fingerprint.
        moved: changes among them in which rows differ.
        refused: changes of which a side is refused, by condition.
    """

    wrong: list[str] = field(default_factory=list)
    equal: int = 0
    same: int = 0
    moved: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    @property
    def changes(self) -> int:
        """How many were tried."""
        return len(self.wrong) + self.equal + self.refused.total()

    def add(self, change: Change, wrong: str, difference: Difference, *, same: bool) -> None:
        """Count a change.

        Args:
            change: the change.
            wrong: what is wrong with its prediction, empty if nothing is.
            difference: what became of the rows.
            same: whether its fingerprint says that nothing changed.
        """
        if wrong:
            sides = f"{change.old.statement}  {change.new.statement}"
            self.wrong.append(f"{change.name}: {wrong}\n  {sides}")
            return
        self.equal += 1
        self.same += same
        self.moved += bool(difference.any())

    def tell(self, seed: str) -> str:
        """Return the last line of a trial."""
        return (
            f"changes={self.changes} equal={self.equal} refused={self.refused.total()}"
            f" wrong={len(self.wrong)} moved={self.moved} same={self.same} seed={seed}"
        )


@dataclass(frozen=True, slots=True)
class Tables:
    """The inputs of a batch, in DuckDB.

    Attributes:
        definitions: their statements.
        names: of those that are landed.
        watermarks: by stream, its watermark in microseconds.
    """

    definitions: str
    names: Sequence[str]
    watermarks: Mapping[str, int | None] = field(default_factory=dict)

    def watermark(self, side: Side) -> int | None:
        """Return the watermark that a view has reached, in microseconds."""
        known = [self.watermarks[name] for name in side.inputs]
        least = [mark for mark in known if mark is not None]
        return min(least) - side.allowed * 10**6 if known and least == known else None


def random_batch(
    seed: str, size: int, duck: duckdb.DuckDBPyConnection
) -> tuple[Tables, list[Change]]:
    """Return tables, filled in DuckDB, and changes of views over them; the same for a seed.

    Every third batch is of streams.
    """
    number = sum(map(ord, seed))
    if number % 3 == 0:
        tables, logs = _streams(seed, duck)
        return tables, [changed_stream(f"{seed}-{n}", f"v{n}", logs) for n in range(size)]
    rnd = Draw(f"changes-{seed}", STANDARD if number % 2 else None)
    tables = _moving(rnd, duck)
    found = [changed_input(rnd, CORRECTED)]
    while len(found) < size:
        found.append(changed_query(rnd, f"v{len(found)}", found[0]))
        for _ in range(rnd.choice((0, 0, 0, 1, 2, 3))):
            found.append(changed_reader(rnd, f"v{len(found)}", found[-1]))
    return tables, found[:size]


def _moving(rnd: Draw, duck: duckdb.DuckDBPyConnection) -> Tables:
    """Tables whose rows come, change and go."""
    schema = rnd.schema
    ticks = [
        {name: schema.rows(rnd, name, range(6)) for name in (*schema.logs, KEYED)}
        for _ in range(TICKS)
    ]
    for each in inputs(schema):
        if each.name != CORRECTED:
            duck.execute(f"CREATE TABLE {each.name} ({each.columns})")
    duck.execute(f"CREATE TABLE {FED} ({schema.in_duckdb(CORRECTED)})")
    for tick in stamped(ticks, schema):
        for name in (*LOGS, FED):
            insert(duck, name, tick[name])
    keyed: dict[object, Row] = {row[0]: row for tick in ticks for row in tick[KEYED]}
    insert(duck, KEYED, [*keyed.values()])
    return Tables(schema.tables, (*LOGS, FED, KEYED))


def _streams(seed: str, duck: duckdb.DuckDBPyConnection) -> tuple[Tables, Sequence[Log]]:
    """Two logs whose rows come out of order."""
    rnd = Draw(f"changes-{seed}")
    logs = random_logs(rnd)
    create(duck, logs)
    list(landed(rnd, duck, logs, TICKS + 2))
    marks = dict[str, int | None]()
    for log in logs:
        newest = f"epoch_us(date_trunc('milliseconds', max({TIME}))) - {log.delay} * 1000000"
        found = duck.execute(f"SELECT CAST({newest} AS BIGINT) FROM {log.name}").fetchall()
        marks[log.name] = found[0][0]
    definitions = "".join(log.definition for log in logs)
    return Tables(definitions, [log.name for log in logs], marks), logs


class World:
    """DuckDB's answers to one side of some changes.

    Args:
        duck: where the tables are.
        tables: the tables.
        new: whether the views are those after the changes.
    """

    def __init__(self, duck: duckdb.DuckDBPyConnection, tables: Tables, *, new: bool) -> None:
        self.duck, self._tables, self._new = duck, tables, new
        self.sides = dict[str, Side]()

    @property
    def definitions(self) -> str:
        """The statements of the tables and views."""
        views = "".join(side.statement for side in self.sides.values())
        return self._tables.definitions + views

    def side(self, change: Change) -> Side:
        """Return what a change makes of a view, or makes it of."""
        return change.new if self._new else change.old

    def add(self, change: Change) -> None:
        """Make the table of a view.

        Raises:
            HeadwaterError: its definition is refused.
            duckdb.Error: DuckDB cannot run it.
        """
        side = self.side(change)
        read = "".join(self.sides[name].statement for name in change.reads)
        _, plans = planned(self._tables.definitions + read + side.statement, as_written=True)
        mark = self._tables.watermark(side)
        w = "NULL" if mark is None else f"make_timestamptz({mark})"
        self.duck.execute(f"SET VARIABLE w = {w}")
        fields = plans[change.name].view.fields
        items = (f'CAST("{f.name}" AS {f.type.sql("duckdb")}) AS "{f.name}"' for f in fields)
        rows = f"SELECT {', '.join(items)} FROM ({side.answer})"
        self.duck.execute(f"CREATE TABLE {change.name} AS {rows}")
        self.sides[change.name] = side

    def remove(self, change: Change) -> None:
        """Forget a view."""
        self.duck.execute(f"DROP TABLE IF EXISTS {change.name}")
        self.sides.pop(change.name, None)

    def types(self, name: str) -> dict[str, str]:
        """Return the type of each column of a view."""
        return {row[0]: row[1] for row in self.duck.execute(f"DESCRIBE {name}").fetchall()}

    def rows(self, name: str, columns: Mapping[str, bool]) -> Counter[AsText]:
        """Return the rows of a view.

        Args:
            name: the view.
            columns: which; NULL is in those that it does not have. Some are compared by their text.
        """
        held = self.types(name)
        items = (
            (f'CAST("{c}" AS VARCHAR)' if text else f'"{c}"') if c in held else "NULL"
            for c, text in columns.items()
        )
        rows = self.duck.execute(f"SELECT {', '.join(items)} FROM {name}").fetchall()
        return Counter(map(as_text, rows))


AsText = tuple[str, ...]
"""A row as it is compared."""


def as_text(row: Row) -> AsText:
    """Return a row as it is compared."""
    return tuple(repr(_plain(value)) for value in row)


def _plain(value: object) -> object:
    """A number is the same whatever its type; 0.0 equals -0.0, as the text of a number, too."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if value == "-0.0":
        return "0.0"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return value
    return Decimal(repr(value) if isinstance(value, float) else value).normalize() + 0


def try_batch(seed: str, size: int, tried: Tried) -> None:
    """Try some changes together, and add what was found."""
    with open_duckdb() as before, open_duckdb() as after, tempfile.TemporaryDirectory() as folder:
        tables, changes = random_batch(seed, size, before)
        random_batch(seed, 0, after)
        worlds = [World(before, tables, new=False), World(after, tables, new=True)]
        sound = [each for each in changes if is_sound(each, worlds, tried)]
        old, new = worlds
        project = _written(Path(folder), tables, old)
        (project.root / "project.sql").write_text(new.definitions)
        _compare(load_project(project.root), sound, old, new, tried)


def is_sound(change: Change, worlds: Sequence[World], tried: Tried) -> bool:
    """Return whether both sides of a change can be planned, and run in DuckDB.

    Args:
        change: the change.
        worlds: get the tables of both sides.
        tried: is told why not.
    """
    try:
        for world in worlds:
            world.add(change)
    except (HeadwaterError, duckdb.Error, KeyError) as error:
        tried.refused[getattr(error, "condition", type(error).__name__)] += 1
        for world in worlds:
            world.remove(change)
        return False
    return True


def _written(folder: Path, tables: Tables, old: World) -> Project:
    """A project whose lake holds the old side."""
    lake = make_lake(folder, old.definitions)
    plans = plan_project(lake.project.catalog)
    for name in tables.names:
        marker = Marker(name, 1, 0, {}, {}, watermark=tables.watermarks.get(name))
        _write(lake, old.duck, name, marker, {})
    for name, side in old.sides.items():
        plan, mark = plans[name], tables.watermark(side)
        cut = {each.name: str(lake.snapshot(each.name)) for each in plan.inputs}
        marker = Marker(name, 1, 0, {}, cut, watermark=mark, fingerprint=plan.fingerprint)
        _write(lake, old.duck, name, marker, {DEFINITION: plan.view.definition})
    return lake.project


def _write(
    lake: FakeLake,
    duck: duckdb.DuckDBPyConnection,
    name: str,
    marker: Marker,
    properties: Mapping[str, str],
) -> None:
    rows = duck.sql(f"FROM {name}").to_arrow_table()
    identifier = (lake.project.config.namespace, name)
    table = lake.catalog.create_table(identifier, rows.schema, properties=dict(properties))
    table.append(rows, snapshot_properties=marker.to_summary())


def _compare(
    project: Project, changes: Sequence[Change], old: World, new: World, tried: Tried
) -> None:
    found = ProjectChanges(project, plan_project(project.catalog))
    built = {each.name for each in found.changes if each.kind in BUILT}
    predicted = {each.view: each for each in preview(found, EVERYTHING)}
    for change in changes:
        difference = Difference.of(change.name, old, new)
        if change.name in built:
            said = difference.wrong(predicted[change.name], found.plans[change.name].stream_key)
        else:
            said = "" if built & {*change.reads} else difference.any()
        tried.add(change, said, difference, same=change.name not in built)


@dataclass(frozen=True, slots=True)
class Difference:
    """What becomes of the rows of a view.

    Attributes:
        columns: those of both sides, first the new ones; some are compared by their text.
        come: rows that it has then.
        gone: rows that it had.
    """

    columns: Mapping[str, bool]
    come: Counter[AsText]
    gone: Counter[AsText]

    @classmethod
    def of(cls, name: str, old: World, new: World) -> Difference:
        """Return the difference of a view in two worlds."""
        before, after = old.types(name), new.types(name)
        names = dict.fromkeys([*after, *before])
        columns = {
            each: each in before and each in after and not _alike(before[each], after[each])
            for each in names
        }
        was, is_now = old.rows(name, columns), new.rows(name, columns)
        return cls(columns, is_now - was, was - is_now)

    def any(self) -> str:
        """Return some of the rows that differ, empty if there are none."""
        found = [*(f"+{row}" for row in self.come), *(f"-{row}" for row in self.gone)]
        return "; ".join(found[:4])

    def wrong(self, said: RowChanges, key: Sequence[str]) -> str:
        """Return what is wrong with a prediction, empty if nothing is.

        Args:
            said: the prediction.
            key: the columns that identify a row.
        """
        if said.columns != tuple(self.columns):
            return f"columns {said.columns}, not {tuple(self.columns)}"
        come = Counter(as_text(row[1:]) for row in said.rows if row[0] == "+")
        gone = Counter(as_text(row[1:]) for row in said.rows if row[0] == "-")
        if (come, gone) != (self.come, self.gone):
            return f"said {Difference(self.columns, come, gone).any()}, but it is {self.any()}"
        places = [[*self.columns].index(name) for name in key if name in self.columns]
        both = set[AsText]()
        if places and len(places) == len(key):
            of = [{tuple(row[at] for at in places) for row in side} for side in (come, gone)]
            both = of[0] & of[1]
        counts = come.total() - len(both), gone.total() - len(both), len(both)
        found = said.appear, said.vanish, said.change
        return "" if found == counts else f"counts {found}, not {counts}"


_NUMBERS = ("INT", "DECIMAL", "DOUBLE", "FLOAT")


def _alike(one: str, other: str) -> bool:
    """Whether values of two types are compared as they are."""
    return one == other or all(
        any(word in kind for word in _NUMBERS) and "[]" not in kind for kind in (one, other)
    )


@click.command()
@click.option("--queries", "count", default=500, show_default=True, help="random changes")
@click.option("--seed", default="1", show_default=True)
def main(count: int, seed: str) -> None:
    """Try ``headwater plan --diff`` on random changes."""
    try_all(count, seed, try_batch)


def try_all(count: int, seed: str, try_one: Callable[[str, int, Tried], None]) -> NoReturn:
    """Try batches of changes, say what was found, and exit.

    Args:
        count: how many changes.
        seed: the same seed, the same changes.
        try_one: tries a batch, given its seed and size.
    """
    tried = Tried()
    for start in range(0, count, BATCH):
        before = len(tried.wrong)
        try_one(f"{seed}-{start}", min(BATCH, count - start), tried)
        for text in tried.wrong[before:]:
            click.echo(f"WRONG {seed}-{start} {text}")
    click.echo(f"refused: {dict(tried.refused)}")
    click.echo(tried.tell(seed))
    sys.exit(1 if tried.wrong else 0)


if __name__ == "__main__":
    main()
