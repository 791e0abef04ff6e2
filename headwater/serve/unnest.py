"""UNNEST in a query that is run as it is: its arguments get types, so that rows become columns.

In: a query whose tables DuckDB has. Out: the same query, changed in place, whose UNNESTs mean in
DuckDB what they mean in Trino.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from sqlglot import exp

from headwater.analyze.portable.unnest import duckdb_unnest

if TYPE_CHECKING:
    import duckdb


def unnest_as_trino(connection: duckdb.DuckDBPyConnection, query: exp.Query) -> None:
    """Rewrite the UNNESTs of a query whose arguments DuckDB can give types.

    Args:
        connection: where the tables of the query are.
        query: changed in place.
    """
    for node in list(query.find_all(exp.Unnest)):
        kinds = _types(connection, query, node)
        if kinds is None or node.args.get("offset") or not node.args.get("alias"):
            continue
        for item, kind in zip(node.expressions, kinds, strict=True):
            item.type = exp.DataType.build(kind, dialect="duckdb")
        node.replace(duckdb_unnest(node.copy()))


def _types(
    connection: duckdb.DuckDBPyConnection, query: exp.Query, node: exp.Unnest
) -> list[str] | None:
    """Return the types of the arguments, None if DuckDB cannot tell them where they stand."""
    import duckdb

    select = node.find_ancestor(exp.Select)
    if select is None or not isinstance(node.parent, (exp.Join, exp.From)):
        return None
    asked = exp.Select(expressions=[item.copy() for item in node.expressions])
    if isinstance(node.parent, exp.Join):
        asked.set("from_", select.args["from_"].copy())
        at = select.args["joins"].index(node.parent)
        asked.set("joins", [join.copy() for join in select.args["joins"][:at]])
    ctes = [cte.copy() for clause in _clauses(query) for cte in clause.expressions]
    if ctes:
        asked.set("with_", exp.With(expressions=ctes))
    try:
        found = connection.execute(f"DESCRIBE {asked.sql(dialect='duckdb')}").fetchall()
    except duckdb.Error:  # it reads what stands around a subquery: DuckDB runs it as it is written
        return None
    return [str(row[1]) for row in found]


def _clauses(query: exp.Query) -> Iterator[exp.With]:
    return cast(Iterator[exp.With], query.find_all(exp.With))
