"""Every function is described, and its examples give the results that the reference shows."""

from __future__ import annotations

from datetime import date, datetime
from functools import cache
from typing import Any

import duckdb
import pytest
from sqlglot import exp

from headwater.analyze.definitions import View
from headwater.analyze.inference.window_functions import WINDOW_FUNCTIONS
from headwater.analyze.portable.rewrites import portable
from headwater.analyze.project import bind
from headwater.analyze.typing.functions import AGGREGATES, FORMS, FUNCTIONS, INTERNAL, Described
from headwater.analyze.typing.functions.aggregates import EXAMPLE_TABLE
from headwater.analyze.typing.functions.windows import WINDOWS
from headwater.dialect import parse

COLUMNS, ROWS = EXAMPLE_TABLE
TABLE = (
    f"CREATE TABLE sales ({', '.join(COLUMNS)})"
    " WITH (connector = 'files', path = 'sales') FORMAT PLAIN ENCODE JSON;"
)
OTHERS = [each for forms in FORMS.values() for each in forms]
SCALARS = [
    each for node, each in FUNCTIONS.items() if each.kind == "scalar" and node not in INTERNAL
]
EXAMPLES = [
    pytest.param(call, result, kind, id=call)
    for kind, entries in {
        "scalar": (*SCALARS, *OTHERS), "aggregate": AGGREGATES.values(), "window": WINDOWS,
    }.items()
    for entry in entries
    for call, result in entry.examples
]  # fmt: skip


@cache
def sales() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    names = [column.split()[0] for column in COLUMNS]
    casts = [f"CAST({column.split(' ', 1)[0]} AS {column.split(' ', 1)[1]})" for column in COLUMNS]
    listed = ", ".join(f"{cast} AS {name}" for cast, name in zip(casts, names, strict=True))
    values = ", ".join(f"({row})" for row in ROWS)
    connection.execute(
        f"CREATE TABLE sales AS SELECT {listed} FROM (VALUES {values}) AS t ({', '.join(names)})"
    )
    return connection


def bound(call: str) -> View:
    view = f"CREATE STREAMING VIEW v ON ERROR FAIL AS SELECT {call} AS x FROM sales"
    return bind({"t.sql": parse(f"{TABLE} {view}", file="t.sql")}).views["v"]


def shown(value: Any) -> str:
    """A value as the reference shows it."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, list):
        return f"[{', '.join(map(str, value))}]"
    if isinstance(value, datetime):
        zone = " UTC" if value.tzinfo else ""
        return value.replace(tzinfo=None).isoformat(" ") + zone
    return value.isoformat() if isinstance(value, date) else str(value)


@pytest.mark.parametrize(("call", "result", "kind"), EXAMPLES)
def test_an_example_gives_its_result_in_duckdb(call: str, result: str, kind: str) -> None:
    query = portable(bound(call).query, "duckdb")
    assert isinstance(query, exp.Select)
    order = " ORDER BY price" if kind == "window" else ""
    limit = " LIMIT 1" if kind == "scalar" else ""
    # by Arrow: DuckDB's own rows need another package for times with a zone
    found = sales().sql(query.sql(dialect="duckdb") + order + limit).to_arrow_table()
    assert ", ".join(shown(value) for value in found.column("x").to_pylist()) == result


def test_every_window_function_is_described() -> None:
    assert sorted(each.name for each in WINDOWS) == sorted(WINDOW_FUNCTIONS.values())


@pytest.mark.parametrize(
    "entry", (*SCALARS, *AGGREGATES.values(), *OTHERS, *WINDOWS), ids=lambda e: e.name
)
def test_a_description_is_one_short_sentence(entry: Described) -> None:
    assert entry.about[0].isupper()
    assert entry.about[-1] == "." and ". " not in entry.about
    assert len(entry.about.split()) <= 25
    assert entry.examples
