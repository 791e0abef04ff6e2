"""Names of expressions without one in a query that a person asks, as Trino gives them.

In: a query whose tables DuckDB has. Out: the same query, changed in place: ``_col1`` is the second
column of its SELECT if that has no name, ``*`` counted as the columns that it stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from headwater.analyze.query_parts import written_name
from headwater.dialect.vocabulary import unnamed_column

if TYPE_CHECKING:
    import duckdb

_UNNAMED = "_col#"
"""What an output of the outermost SELECT is called until DuckDB says where it stands."""


def name_outputs(connection: duckdb.DuckDBPyConnection, query: exp.Query) -> None:
    """Name what has no name in each SELECT and in each list of values.

    Args:
        connection: where the tables of the query are; it is asked what a ``*`` stands for.
        query: changed in place; :func:`shown_names` gives the names of its own outputs.
    """
    for values in query.find_all(exp.Values):
        _name_values(values)
    outermost = query.selects and _first_select(query)
    for select in reversed(list(query.find_all(exp.Select))):
        position: int | None = 0
        for number, item in enumerate(select.expressions):
            if _is_star(item):
                # of the outermost SELECT, DuckDB says where each column stands when it runs
                wanted = select is not outermost and any(
                    not _is_star(each) and not written_name(each)
                    for each in select.expressions[number:]
                )
                width = _width(connection, query, select, item) if wanted else 0
                position = None if position is None or width is None else position + width
                continue
            if not written_name(item) and position is not None:
                name = _UNNAMED if select is outermost else unnamed_column(position)
                alias = exp.alias_(item.copy(), name, quoted=True)
                item.replace(alias)
            position = None if position is None else position + 1


def shown_names(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the outputs of a query that went through :func:`name_outputs`.

    Args:
        columns: what DuckDB calls them.
    """
    return tuple(
        unnamed_column(at) if name.startswith(_UNNAMED) else name for at, name in enumerate(columns)
    )


def _first_select(query: exp.Query) -> exp.Expr:
    """The SELECT that gives a query its names."""
    found: exp.Expr = query
    while not isinstance(found, exp.Select):
        found = found.this
    return found


def _is_star(item: exp.Expr) -> bool:
    inner = item.expression if isinstance(item, exp.Dot) else item
    return isinstance(inner, exp.Star) or (
        isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star)
    )


def _name_values(values: exp.Values) -> None:
    """Name the columns of ``(VALUES …)`` in FROM; of a CTE, its SELECT would have to."""
    alias = values.args.get("alias")
    if (alias is not None and alias.columns) or not isinstance(values.parent, (exp.From, exp.Join)):
        return
    first = values.expressions[0]
    width = len(first.expressions) if isinstance(first, exp.Tuple) else 1
    table = alias.this if alias is not None and alias.this else exp.to_identifier("_values", True)
    columns = [exp.to_identifier(unnamed_column(at), quoted=True) for at in range(width)]
    values.set("alias", exp.TableAlias(this=table, columns=columns))


def _width(
    connection: duckdb.DuckDBPyConnection, query: exp.Query, select: exp.Select, star: exp.Expr
) -> int | None:
    """Return for how many columns a star stands, None if DuckDB cannot tell it where it stands."""
    import duckdb

    asked = exp.Select(expressions=[star.copy()])
    for clause in ("from_", "joins", "laterals"):
        if (found := select.args.get(clause)) is not None:
            copies = [each.copy() for each in found] if isinstance(found, list) else found.copy()
            asked.set(clause, copies)
    ctes = [each.copy() for clause in query.find_all(exp.With) for each in clause.expressions]
    if ctes:
        asked.set("with_", exp.With(expressions=ctes))
    try:
        return len(connection.execute(f"DESCRIBE {asked.sql(dialect='duckdb')}").fetchall())
    except duckdb.Error:  # it reads what stands around it
        return None
