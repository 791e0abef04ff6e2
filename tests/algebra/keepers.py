"""How the engine keeps a view by each kind of program, with DuckDB in the place of Spark.

In: a view of a world. Out: its keeper, which writes to the view's table what the engine's writers
(``headwater.engine.incremental``) write, in each of the ways that they have: a MERGE, a MERGE in
parts, the whole table; by what changed, or computed anew.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql.types import DataType, DecimalType, StringType
from sqlglot import exp, parse_one

from headwater.algebra.change import SIGN
from headwater.engine.incremental.registry import writer_of
from headwater.lake.iceberg.merge import Upsert, same_keys
from headwater.plan.full_program import FullProgram
from headwater.plan.program import (
    CURRENT,
    NOW,
    UNIT,
    UNITS,
    AffectedGroupsProgram,
    AffectedKeysProgram,
    AppendProgram,
    ExactChangeProgram,
    FoldProgram,
    Program,
    StreamingProgram,
)
from tests.algebra.world import Kept, World

_ANEW = 0.15
"""Share of the ticks that compute the whole view, as recompute may decide at any of them."""


class Keeper:
    """Keeps one view.

    Args:
        world: where.
        view: the view.
    """

    def __init__(self, world: World, view: Kept) -> None:
        self.world, self.view, self.name = world, view, view.name
        self.prepare()

    def prepare(self) -> None:
        """Make the tables that its steps need."""

    def bring_up(self) -> None:
        """Bring the view up to its inputs."""
        raise NotImplementedError

    @property
    def anew(self) -> bool:
        """Whether this tick computes the whole view."""
        return self.world.ticks == 0 or self.world.random.random() < _ANEW

    def table(self, name: str, sql: str) -> None:
        """Make an empty table for the rows of a query.

        Args:
            name: of the table.
            sql: the query.
        """
        self.world.run(f"CREATE TABLE {name} AS FROM ({sql}) LIMIT 0")

    def fill(self, name: str, sql: str) -> None:
        """Let a table hold the rows of a query.

        Args:
            name: of the table.
            sql: the query.
        """
        self.world.once(f"DELETE FROM {name}", f"INSERT INTO {name} {sql}")


class Append(Keeper):
    """Append: the rows of the change are appended; a stream without state is the same."""

    def prepare(self) -> None:
        """Read the changes."""
        program, world = self.view.program, self.world
        assert isinstance(program, AppendProgram | StreamingProgram)
        streams = isinstance(program, StreamingProgram)
        inputs = (*world.given, *world.views)
        renamed = {name: f"{name}__change" for name in inputs} if streams else {}
        self.sql = world.sql(program.sql, **renamed)

    def bring_up(self) -> None:
        """Append."""
        self.world.once(f"INSERT INTO {self.name} {self.sql}")


class Merged(Keeper):
    """What is changed by key: in one MERGE, in parts, or written anew."""

    change: Upsert

    def merge(self) -> None:
        """Apply the change, in one of the ways."""
        world, name, change = self.world, self.name, self.change
        way = world.random.choice(("one", "parts", "rewritten"))
        if way == "parts" and change.keys:
            if change.updates or change.delete_when:
                world.run(world.sql(change.merge_sql(name, insert=False)))
            same = same_keys(change.keys)
            new = f"(SELECT s.* FROM {change.source} s LEFT ANTI JOIN {name} t ON {same})"
            world.once(f"INSERT INTO {name} {self._sql(change.insert_sql(new))}")
        elif way == "rewritten" and change.keys:
            rows = self._sql(change.rewrite_sql(name, self._kinds))
            world.run("DROP TABLE IF EXISTS __rewritten", f"CREATE TABLE __rewritten AS {rows}")
            world.run(f"DELETE FROM {name}", f"INSERT INTO {name} BY NAME FROM __rewritten")
        else:
            world.run(self._sql(change.merge_sql(name, insert=True)))

    def _sql(self, text: str) -> str:
        return self.world.sql(text)

    @property
    def _kinds(self) -> Mapping[str, DataType]:
        return {name: _kind(kind) for name, kind in self.view.columns}


class Exact(Merged):
    """Exact change: rows come and go by the key of the view."""

    def prepare(self) -> None:
        """Make the table of the change."""
        program = self.view.program
        assert isinstance(program, ExactChangeProgram)
        names = {name: f"s.`{name}`" for name, _ in self.view.columns}
        self.source = f"{self.name}__exact"
        self.changes, self.all = self.world.sql(program.change_sql), self.world.sql(program.all_sql)
        self.table(self.source, self.changes)
        self.change = Upsert(
            self.source,
            program.keys,
            {name: value for name, value in names.items() if name not in program.keys},
            names,
            f"s.{SIGN} < 0",
            f"s.{SIGN} > 0",
        )

    def bring_up(self) -> None:
        """Merge."""
        if self.anew:
            self.fill(self.name, self.all)
        else:
            self.fill(self.source, self.changes)
            self.merge()


class Fold(Merged):
    """Fold: the aggregated change is folded into the table; newest rows of keys too."""

    def prepare(self) -> None:
        """Make the table of the aggregated change."""
        program = self.view.program
        assert isinstance(program, FoldProgram)
        self.program, self.source = program, f"{self.name}__aggregated"
        inputs = (*self.world.given, *self.world.views)
        whole = {f"{name}__change": f"{name}__whole" for name in inputs}
        whole |= {f"{name}__before": f"{name}__nothing" for name in inputs}
        self.changes = self.world.sql(program.change_sql)
        self.whole = self.world.sql(writer_of(program).whole_sql(program), **whole)
        self.ends = ""
        if program.restart_when:
            read = {table.name for table in _tables(program.change_sql)}
            logs = [name for name in inputs if f"{name}__change" in read]
            ends = (f"SELECT 1 FROM {log}__change WHERE {program.restart_when}" for log in logs)
            self.ends = self.world.sql(" UNION ALL ".join(ends))
        self.table(self.source, self.changes)
        self.change = Upsert(
            self.source,
            program.keys,
            {c.name: c.update for c in program.columns if c.name not in program.keys},
            {c.name: c.insert for c in program.columns},
            program.delete_when,
            program.insert_when,
        )

    def bring_up(self) -> None:
        """Fold."""
        if self.anew or (self.ends and self.world.rows(self.ends)):
            self.fill(self.name, self.whole)
        else:
            self.fill(self.source, self.changes)
            self.merge()


class Keys(Merged):
    """Affected keys: the query is run again for the keys touched, which are replaced."""

    def prepare(self) -> None:
        """Make the tables of the keys and of their rows."""
        program = self.view.program
        assert isinstance(program, AffectedKeysProgram)
        names = [name for name, _ in self.view.columns]
        others = [name for name in names if name not in program.keys]
        self.source, keys = f"{self.name}__replaced", f"{self.name}__keys"
        columns = [f"k.`{key}`" for key in program.keys] + [f"r.`{name}`" for name in others]
        rows = self.world.sql(
            f"SELECT {', '.join(columns)}, r.__present FROM __keys k"
            f" LEFT JOIN (SELECT *, true AS __present FROM ({program.query_sql})) r"
            f" ON {same_keys(program.keys, 'k', 'r')}",
            __keys=keys,
        )
        self.steps = {keys: self.world.sql(program.keys_sql), self.source: rows}
        for name, sql in self.steps.items():
            self.table(name, sql)
        self.all = self.world.sql(program.all_sql)
        self.change = Upsert(
            self.source,
            program.keys,
            {name: f"s.`{name}`" for name in others},
            {name: f"s.`{name}`" for name in names},
            delete_when="s.__present IS NULL",
            insert_when="s.__present",
        )

    def bring_up(self) -> None:
        """Replace."""
        if self.anew:
            self.fill(self.name, self.all)
            return
        for name, sql in self.steps.items():
            self.fill(name, sql)
        self.merge()


class Units(Keeper):
    """Affected groups: the query is run again for the units touched, which are replaced."""

    def prepare(self) -> None:
        """Make the tables of the steps."""
        program, world = self.view.program, self.world
        assert isinstance(program, AffectedGroupsProgram)
        self.program = program
        steps = {step.name: step.sql for step in program.steps} | {UNITS: program.units_sql}
        own = {name: f"{self.name}{name}" for name in steps} | {CURRENT: f"{self.name}__before"}
        self.units, self.steps = own[UNITS], dict[str, str]()
        for name, sql in steps.items():
            self.steps[own[name]] = world.sql(sql, **own)
            self.table(own[name], self.steps[own[name]])
        self.rows, self.all = world.sql(program.rows_sql, **own), world.sql(program.all_sql)

    def bring_up(self) -> None:
        """Replace."""
        if self.anew:
            self.fill(self.name, self.all)
            return
        for name, sql in self.steps.items():
            self.fill(name, sql)
        if not self.world.rows(f"SELECT 1 FROM {self.units} LIMIT 1"):
            return
        touched = f" WHERE {UNIT} IN (SELECT unit FROM {self.units})"
        all_ = "" if self.program.one_unit else touched
        self.world.once(f"DELETE FROM {self.name}{all_}", f"INSERT INTO {self.name} {self.rows}")


class Full(Keeper):
    """Recompute: the query is run again."""

    def prepare(self) -> None:
        """Read the inputs."""
        assert isinstance(self.view.program, FullProgram)
        now = "CAST(getvariable('w') AS TIMESTAMP)"  # the watermark, as a trial of clocks sets it
        self.sql = self.world.sql(self.view.program.sql.replace(NOW, now))

    def bring_up(self) -> None:
        """Write the whole table."""
        self.fill(self.name, self.sql)


_KEEPERS: Mapping[type[Program], type[Keeper]] = {
    StreamingProgram: Append,
    AppendProgram: Append,
    ExactChangeProgram: Exact,
    FoldProgram: Fold,
    AffectedKeysProgram: Keys,
    AffectedGroupsProgram: Units,
    FullProgram: Full,
}


def keeper(world: World, view: Kept) -> Keeper:
    """Return what keeps a view.

    Args:
        world: where it is.
        view: the view.
    """
    return _KEEPERS[type(view.program)](world, view)


def _tables(sql: str) -> list[exp.Table]:
    return list(parse_one(sql, dialect="spark").find_all(exp.Table))


def _kind(kind: str) -> DataType:
    if not kind.upper().startswith("DECIMAL"):
        return StringType()
    precision, scale = kind[kind.index("(") + 1 : -1].split(",")
    return DecimalType(int(precision), int(scale))
