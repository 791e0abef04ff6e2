"""Accepted views over small random rows: the SELECT at rest against the author's text, in DuckDB.

In: a project. Out: per view, what the oracle of :mod:`tests.support.author_text` says of the rows
that the SELECT at rest returns. Rows are few, with NULL and with twins. Constants of the project's
text are among their values, so that conditions hold for some of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from random import Random

import duckdb
from sqlglot import Dialect, exp
from sqlglot.tokenizer_core import TokenType

from headwater.analyze.definitions import Catalog, Field, OnError
from headwater.errors import HeadwaterError
from headwater.plan.at_rest import at_rest
from headwater.plan.view_plan import ViewPlan
from headwater.serve.connection import literal
from tests.accepted.queries import columns
from tests.support.author_text import (
    Answer,
    AuthorView,
    Verdict,
    ask,
    author_views,
    give,
    relations,
)
from tests.support.bags import Bag

_ROWS = 9
_KIND = exp.DataType.Type
_MOMENTS = ("01 10:00:00", "01 10:00:30", "01 11:10:00", "02 09:59:59.5")
_WALL = (_KIND.TIMESTAMP, _KIND.TIMESTAMPNTZ)
_NULLS, _SHORT, _SMALL = 0.12, 20, 120


def answers(
    duck: duckdb.DuckDBPyConnection,
    text: str,
    catalog: Catalog,
    plans: Mapping[str, ViewPlan],
) -> dict[str, Answer]:
    """Return what the oracle says of every view of a project.

    Args:
        duck: as the oracle opens it; the tables of another project may be in it.
        text: the definitions as they are written.
        catalog: what the binder made of them.
        plans: what the planner made of them.
    """
    written = {view.name: view for view in author_views(text)}
    read = {name for view in written.values() for name in relations(view)}
    read |= {name for plan in plans.values() for name in plan.view.inputs}
    found: dict[str, Answer] = {}
    create_tables(duck, text, catalog, [name for name in catalog.sources if name in read])
    for name in catalog.sources:
        if name in read:
            names = _listed(catalog.sources[name].fields)
            give(duck, name, f'SELECT {names} FROM main."{name}"')
    for name, plan in plans.items():
        create_view(duck, name, catalog)
        found[name] = _answer(duck, catalog, plan, written.get(name))
        give(duck, name, f'SELECT {_listed(plan.view.fields)} FROM main."{name}"')
    return {name: each for name, each in found.items() if name in written}


def create_tables(
    duck: duckdb.DuckDBPyConnection, text: str, catalog: Catalog, names: Iterable[str]
) -> None:
    """Create tables with random rows.

    Args:
        duck: where.
        text: the definitions: their constants are among the values.
        catalog: what the binder made of them.
        names: of the tables.
    """
    values = _Values(text)
    for name in names:
        source = catalog.sources[name]
        never = {*source.primary_key, source.watermark.column if source.watermark else ""}
        create_view(duck, name, catalog)
        rows = ", ".join(values.row(source.fields, never) for _ in range(_ROWS))
        duck.execute(f'INSERT INTO "{name}" ({_listed(source.fields)}) VALUES {rows}')


def _answer(
    duck: duckdb.DuckDBPyConnection, catalog: Catalog, plan: ViewPlan, written: AuthorView | None
) -> Answer:
    """Fill the table of a view from its SELECT at rest, and ask the oracle about it."""
    name, fields = plan.view.name, plan.view.fields
    if written is not None:
        if "RECURSIVE" in written.query.upper():
            return Answer(Verdict.NOT_ASKABLE, "over random rows a recursion may have no end")
        # a row on which the SELECT fails is no row of the table, and ends the author's query
        plan = replace(plan, view=replace(plan.view, on_error=OnError.FAIL))
    try:
        select = at_rest(plan, catalog, "duckdb", final=False, relation=lambda n: f'main."{n}"')
        duck.execute(f'INSERT INTO "{name}" BY NAME FROM ({select.text()})')
    except (duckdb.Error, HeadwaterError) as error:
        return Answer(Verdict.NOT_ASKABLE, f"at rest: {str(error).splitlines()[0]}")
    held = Bag.of(duck.sql(f'SELECT {_listed(fields)} FROM main."{name}"'))
    if written is None:
        return Answer(Verdict.NOT_ASKABLE, "no view")
    return ask(duck, written, [field.name for field in fields], held)


def create_view(duck: duckdb.DuckDBPyConnection, name: str, catalog: Catalog) -> None:
    """Create the empty table of a relation."""
    shape = ", ".join(f'"{c}" {kind}' for c, kind in columns(name, catalog, "duckdb"))
    duck.execute(f'CREATE OR REPLACE TABLE main."{name}" ({shape})')


def _listed(fields: Sequence[Field]) -> str:
    return ", ".join(f'"{field.name}"' for field in fields)


class _Values:
    """Random values as literals of DuckDB, none of them one on which usual expressions fail.

    Args:
        text: seeds the generator; its constants are among the values.
    """

    def __init__(self, text: str) -> None:
        self._random = Random(text)
        every = Dialect.get_or_raise("trino").tokenize(text)
        tokens = [each for each in every if len(each.text) < _SHORT]
        texts = [each.text for each in tokens if each.token_type is TokenType.STRING]
        numbers = [each.text for each in tokens if each.token_type is TokenType.NUMBER]
        self._texts = ["a", "b", "c", *texts[:8]]
        self._numbers = ["1", "2", "3", "4", *[n for n in numbers if n.isdigit() and n != "0"][:6]]
        self._numbers = [each for each in self._numbers if int(each) < _SMALL]

    def row(self, fields: Sequence[Field], never: Collection[str]) -> str:
        """Return a row.

        Args:
            fields: its columns.
            never: names of columns that are never NULL.
        """
        cells = (
            "NULL"
            if field.name not in never and self._random.random() < _NULLS
            else self.value(field.type)
            for field in fields
        )
        return f"({', '.join(cells)})"

    def value(self, kind: exp.DataType) -> str:
        """Return a value; nothing in it is NULL, for arrays and rows with NULL are not equal."""
        pick, parts = self._random.choice, kind.expressions
        match kind.this:
            case _KIND.ARRAY | _KIND.LIST:
                count = self._random.randint(0, 3)
                return f"[{', '.join(self.value(parts[0]) for _ in range(count))}]"
            case _KIND.STRUCT:
                items = (f"'{each.name}': {self.value(each.args['kind'])}" for each in parts)
                return f"{{{', '.join(items)}}}"
            case _KIND.MAP:
                keys = sorted({self.value(parts[0]) for _ in range(2)})
                return f"MAP {{{', '.join(f'{key}: {self.value(parts[1])}' for key in keys)}}}"
            case _KIND.BOOLEAN:
                return pick(("true", "false"))
            case _KIND.DATE:
                return f"DATE '2024-01-{pick(_MOMENTS)[:2]}'"
            case _KIND.TIME:
                return f"TIME '{pick(_MOMENTS)[3:]}'"
            case _KIND.VARBINARY | _KIND.BINARY:
                return "'ab'::BLOB"
            case _KIND.UUID:
                return f"'00000000-0000-0000-0000-00000000000{pick('12')}'::UUID"
            case each if each in exp.DataType.TEMPORAL_TYPES:
                zone = "TIMESTAMP" if each in _WALL else "TIMESTAMPTZ"
                return f"{zone} '2024-01-{pick(_MOMENTS)}'"
            case each if each in exp.DataType.INTEGER_TYPES:
                return pick(self._numbers)
            case each if each in exp.DataType.NUMERIC_TYPES:
                return pick(("0.5", "1", "2.25", "25"))
        return literal(pick(self._texts))
