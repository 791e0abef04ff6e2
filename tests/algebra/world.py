"""A project's tables in DuckDB: what each holds, held before, and gained or lost.

In: relations whose rows a test gives, and views with their programs. Out: the views, brought up to
the relations tick by tick as the engine does it in Spark: the change of a view is an input of the
views that read it. Statements are prepared once, so that many ticks cost little more than their
execution.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, replace
from functools import cache
from random import Random

import duckdb

from headwater.algebra.change import SIGN
from headwater.analyze.definitions import Catalog, ChangelogMode
from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.plan.planner import plan_project
from headwater.plan.program import Program
from headwater.plan.view_plan import ViewPlan
from tests.algebra.translate import MACROS, collected, duckdb_sql, duckdb_type
from tests.fuzz.oracle import open_duckdb
from tests.fuzz.schemas import Row

_NUMBERS = itertools.count()
_ENDING = re.compile("__(before|change|any)$")


@dataclass(frozen=True, slots=True)
class Given:
    """A relation whose rows a test gives.

    Attributes:
        name: its name.
        columns: its columns as DuckDB writes them.
        moves: whether its rows also go: a tick gives all of them, of others those that came.
    """

    name: str
    columns: str
    moves: bool = False


@dataclass(frozen=True, slots=True)
class Kept:
    """A view that a world keeps.

    Attributes:
        name: its name.
        program: how.
        shown: names of its visible columns.
        columns: name and Spark SQL type of all columns of its table.
        appends: whether its rows, once there, stay.
    """

    name: str
    program: Program
    shown: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    appends: bool = False

    @classmethod
    def of(cls, plan: ViewPlan, *, guarded: bool = False) -> Kept:
        """Return a view as its plan keeps it.

        Args:
            plan: its plan.
            guarded: whether rows on which it fails are left out.
        """
        return cls(
            plan.view.name,
            plan.guarded_program if guarded else plan.program,
            tuple(field.name for field in plan.view.fields),
            tuple((column.name, column.spark_type) for column in plan.columns),
            plan.mode is ChangelogMode.APPEND,
        )


def planned(definitions: str, *, as_written: bool = False) -> tuple[Catalog, dict[str, ViewPlan]]:
    """Return what the binder and the planner make of definitions.

    Args:
        definitions: SQL of tables and views.
        as_written: whether ordered lists stay as they are, which DuckDB sorts another way.

    Raises:
        HeadwaterError: they are refused.
    """
    catalog = bind({"algebra.sql": parse(definitions, file="algebra.sql")})
    if not as_written:
        views = {
            name: replace(view, query=view.query.transform(collected))
            for name, view in catalog.views.items()
        }
        catalog = replace(catalog, views=views)
    return catalog, plan_project(catalog)


class World:
    """Relations and views in a schema of their own.

    Args:
        given: the relations.
        views: the views, each after those that it reads.
        names: how many different names units have.
        seed: chooses between the ways in which the engine writes the same change.
    """

    def __init__(
        self, given: Sequence[Given], views: Sequence[Kept], names: int = 50, seed: int = 0
    ) -> None:
        from tests.algebra.keepers import keeper  # noqa: PLC0415  keepers are made of worlds

        self._opened = ExitStack()
        self.duck, self.schema = self._opened.enter_context(in_schema())
        self.names, self.random, self.ticks = names, Random(seed), 0
        self._prepared: dict[str, str] = {}
        read = {name for view in views for name in _tables(view.program)}
        self.given = {each.name: each for each in given if each.name in read}
        self.views = {view.name: view for view in views}
        self._read = read & self.views.keys() | {view.name for view in views if view.appends}
        self._held: dict[str, Sequence[Row]] = {}
        self._changed: set[str] = set()
        for each in self.given.values():
            self._relate(each.name, each.columns, f"{SIGN} INT" if each.moves else "")
        for view in views:
            columns = ", ".join(f'"{name}" {duckdb_type(kind)}' for name, kind in view.columns)
            self._relate(view.name, columns, "" if view.appends else f"{SIGN} INT")
        self._keepers = [keeper(self, view) for view in views]

    def tick(self, rows: Mapping[str, Sequence[Row]]) -> None:
        """Give the relations rows, and bring the views up to them.

        Args:
            rows: by relation, the rows that came; of one whose rows move, all it holds.
        """
        for name, each in self.given.items():
            self._change(each, rows.get(name, ()))
        for keep in self._keepers:
            name = keep.view.name
            self.once(f"DELETE FROM {name}__before", f"INSERT INTO {name}__before FROM {name}")
            keep.bring_up()
            if name in self._read:
                self._compare(keep.view)
        self.ticks += 1

    def wrong(self, view: str, right: str) -> str:
        """Return the rows of a view that are missing or too many; empty if there are none.

        Args:
            view: its name.
            right: DuckDB's query for what it must hold.
        """
        shown = ", ".join(f'"{name}"' for name in self.views[view].shown)
        held = f"SELECT {shown} FROM {view}"
        found = self.rows(
            f"SELECT 'missing', * FROM (FROM ({right}) EXCEPT ALL {held}) UNION ALL"
            f" SELECT 'surplus', * FROM ({held} EXCEPT ALL FROM ({right}))"
        )
        return str(found[:4]) if found else ""

    def sql(self, text: str, **renamed: str) -> str:
        """Return a program's SQL as DuckDB runs it.

        Args:
            text: Spark SQL.
            renamed: tables that are to be read from others.
        """
        return duckdb_sql(text, names=self.names, renamed=renamed)

    def once(self, *statements: str) -> None:
        """Run statements that run in many ticks: they are planned once."""
        for statement in statements:
            self.duck.execute(f"EXECUTE {self._prepare(statement)}")

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """Return the rows of a query that is asked in many ticks."""
        return self.duck.execute(f"EXECUTE {self._prepare(query)}").fetchall()

    def run(self, *statements: str) -> None:
        """Run statements."""
        for statement in statements:
            self.duck.execute(statement)

    def close(self) -> None:
        """Forget everything."""
        self.run(*(f"DEALLOCATE {name}" for name in self._prepared.values()))
        self._opened.close()

    def _prepare(self, statement: str) -> str:
        if statement not in self._prepared:
            name = f"{self.schema}_{len(self._prepared)}"
            self.run(f"PREPARE {name} AS {statement}")
            self._prepared[statement] = name
        return self._prepared[statement]

    def _relate(self, name: str, columns: str, sign: str) -> None:
        self.run(f"CREATE TABLE {name} ({columns})", f"CREATE TABLE {name}__before ({columns})")
        self.run(f"CREATE TABLE {name}__change ({', '.join(filter(None, (columns, sign)))})")
        change = f"SELECT * {f'EXCLUDE ({SIGN})' if sign else ''} FROM {name}__change"
        self.run(
            f"CREATE VIEW {name}__any AS FROM {name} UNION ALL {change}",
            # as for a view without a commit: all rows came, none were there before
            f"CREATE VIEW {name}__whole AS SELECT *{f', 1 AS {SIGN}' if sign else ''} FROM {name}",
            f"CREATE VIEW {name}__nothing AS FROM {name} WHERE false",
        )

    def _change(self, given: Given, rows: Sequence[Row]) -> None:
        """Let a given relation gain rows, or hold others."""
        name, change = given.name, f"{given.name}__change"
        if name in self._changed:
            self.once(f"DELETE FROM {name}__before", f"INSERT INTO {name}__before FROM {name}")
            self.once(f"DELETE FROM {change}")
            self._changed.remove(name)
        if given.moves:
            held = self._held.get(name, ())
            self._held[name] = rows
            if difference := _difference(held, rows):
                self._changed.add(name)
                self._insert(change, difference)
                self.once(f"DELETE FROM {name}")
                self._insert(name, rows)
        elif rows:
            self._changed.add(name)
            self._insert(change, rows)
            self.once(f"INSERT INTO {name} FROM {change}")

    def _compare(self, view: Kept) -> None:
        """Fill a view's change with the rows that it gained and lost."""
        name, columns = view.name, ", ".join(f'"{column}"' for column in view.shown)
        self.once(f"DELETE FROM {name}__change")
        for one, other, sign in ((name, f"{name}__before", 1), (f"{name}__before", name, -1)):
            difference = f"SELECT {columns} FROM {one} EXCEPT ALL SELECT {columns} FROM {other}"
            if not view.appends:
                signed = f"SELECT *, {sign} FROM ({difference})"
                self.once(f"INSERT INTO {name}__change ({columns}, {SIGN}) {signed}")
            elif sign > 0:
                self.once(f"INSERT INTO {name}__change ({columns}) {difference}")
            elif lost := self.rows(difference):
                raise AssertionError(f"{name} only gains rows, but lost {lost[:4]}")

    def _insert(self, name: str, rows: Sequence[Row]) -> None:
        if rows:
            marks = f"({', '.join('?' * len(rows[0]))})"
            values = [value for row in rows for value in row]
            text = f"INSERT INTO {name} VALUES {', '.join([marks] * len(rows))}"
            self.duck.execute(text, values)


@contextmanager
def in_schema() -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
    """Give a connection, and the name of a schema of its own that it uses during the block."""
    duck, name = _duckdb(), f"world_{next(_NUMBERS)}"
    duck.execute(f"CREATE SCHEMA {name}")
    duck.execute(f"USE {name}")
    try:
        yield duck, name
    finally:
        duck.execute("USE main")
        duck.execute(f"DROP SCHEMA {name} CASCADE")


def _difference(before: Sequence[Row], now: Sequence[Row]) -> list[Row]:
    """The rows that came and those that went, with their sign."""
    by_text = {repr(row): row for row in (*before, *now)}
    old, new = (Counter(map(repr, rows)) for rows in (before, now))
    came = [(*by_text[text], 1) for text in (new - old).elements()]
    return [*came, *((*by_text[text], -1) for text in (old - new).elements())]


def _tables(program: Program) -> set[str]:
    """The relations that a program reads."""
    parts = (str(getattr(program, each.name)) for each in fields(program))
    return {_ENDING.sub("", name) for name in re.findall(r"\w+", " ".join(parts))}


@cache
def _duckdb() -> duckdb.DuckDBPyConnection:
    """The connection of all worlds of a process: to open one takes longer than a tick."""
    duck = open_duckdb()
    duck.execute("SET threads = 1")
    for macro in MACROS:
        duck.execute(macro)
    return duck
