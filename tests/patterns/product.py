"""Headwater's answer to a query over VALUES, with DuckDB for the scalar expressions."""

from __future__ import annotations

from functools import cache
from typing import Any

import duckdb
import pyarrow as pa
from sqlglot import exp

from headwater.dialect import parse
from headwater.dialect.syntax import MatchRecognize
from headwater.patterns import MatchClause, read_clause
from headwater.patterns.matcher import PatternMatcher
from headwater.patterns.measures import result


@cache
def _duckdb() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def parsed(text: str) -> MatchRecognize:
    """Parse ``MATCH_RECOGNIZE ( text )``."""
    (query,) = parse(f"SELECT * FROM t MATCH_RECOGNIZE ({text}) AS m")
    node = query.find(MatchRecognize)
    assert isinstance(node, MatchRecognize)
    return node


def input_table(
    clause: MatchClause, node: MatchRecognize, rows_sql: str, **tables: pa.Table
) -> pa.Table:
    """Return the rows with the clause's input columns, sorted."""
    for name, table in tables.items():
        _duckdb().register(name, table)
    columns = "".join(
        f", {_sql(each)} AS {name}"
        for name, each in clause.inputs.items()
        if not isinstance(each, exp.Column)
    )
    keys = [*(_sql(each) for each in node.args.get("partition_by") or ())]
    order = node.args.get("order")
    keys += [_sql(each) for each in order.expressions] if order else []
    sort = f" ORDER BY {', '.join(keys)}" if keys else ""
    found = _duckdb().sql(f"SELECT *{columns} FROM {rows_sql}{sort}").to_arrow_table()
    assert isinstance(found, pa.Table)
    return found


def answer(text: str, rows_sql: str) -> list[dict[str, Any]]:
    """Return the rows of the clause."""
    node = parsed(text)
    clause = read_clause(node)
    table = input_table(clause, node, rows_sql)
    found = result(clause, table, PatternMatcher(clause).matches(table))
    return rows_of(clause, found)


def rows_of(clause: MatchClause, found: pa.Table) -> list[dict[str, Any]]:
    """Return the rows of a result with its measures."""
    names = [each for each in found.column_names if not each.startswith("_")]
    if clause.all_rows:
        names = [each for each in names if each not in dict(clause.outputs)]
    shown = [f'"{each}"' for each in names]
    shown += [f'{_sql(each)} AS "{name}"' for name, each in clause.outputs]
    if not shown:
        return [{} for _ in range(found.num_rows)]
    _duckdb().register("_found", found)
    answer = _duckdb().sql(f"SELECT {', '.join(shown)} FROM _found").to_arrow_table()
    found_rows: list[dict[str, Any]] = answer.to_pylist()
    return found_rows


def _sql(node: exp.Expr) -> str:
    return node.sql("duckdb")
