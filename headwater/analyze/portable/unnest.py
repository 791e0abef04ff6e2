"""UNNEST of several arrays, of rows and of maps, as each engine can do it.

In: a typed UNNEST. Out: what gives the same rows in Spark or DuckDB: the arrays side by side, what
is shorter or NULL padded with NULL, a row as one column per field, a map as keys and values.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp, parse_one

from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of


def spark_unnest(node: exp.Expr) -> exp.Expr:
    """Spark zips arrays to NULL if one of them is NULL, and explodes one row to one column."""
    if type_of(node.expressions[0]).this is t.Type.MAP:
        return node
    columns = [column for item in node.expressions for column in _columns(item, "spark")]
    if len(columns) > 1:
        columns = [exp.Coalesce(this=column, expressions=[exp.Array()]) for column in columns]
    node.set("expressions", columns)
    return node


def duckdb_unnest(node: exp.Expr) -> exp.Expr:
    """DuckDB unnests one array in FROM, and several of them side by side in SELECT."""
    columns = [column for item in node.expressions for column in _columns(item, "duckdb")]
    if len(columns) == 1:
        node.set("expressions", columns)
        return node
    calls = [exp.Anonymous(this="UNNEST", expressions=[column]) for column in columns]
    names = _names(node)
    items = [exp.alias_(call, name, quoted=True) for call, name in zip(calls, names, strict=True)]
    query = exp.Subquery(this=exp.Select(expressions=items))
    return exp.Lateral(this=query, alias=node.args["alias"])


def _names(node: exp.Expr) -> list[str]:
    """The names of the columns if none are given: fields have theirs."""
    found: list[str] = []
    for item in node.expressions:
        kind = type_of(item)
        inner = t.elements(kind)
        if kind.this is t.Type.MAP:
            found += ["key", "value"]
        elif inner and inner[0].this is t.Type.STRUCT:
            found += [field.name for field in inner[0].expressions]
        else:
            found.append(f"c{len(found) + 1}")
    return found


def _columns(item: exp.Expr, dialect: str) -> Iterator[exp.Expr]:
    """Yield an array for each column that an argument of UNNEST gives."""
    inner = t.elements(type_of(item))
    if type_of(item).this is t.Type.MAP:
        yield exp.Anonymous(this="MAP_KEYS", expressions=[item.copy()])
        yield exp.Anonymous(this="MAP_VALUES", expressions=[item.copy()])
    elif inner and inner[0].this is t.Type.STRUCT:
        for field in inner[0].expressions:
            name = exp.to_identifier(field.name, quoted=True).sql(dialect)
            call = "TRANSFORM(a, x -> x.{0})" if dialect == "spark" else "[x.{0} FOR x IN a]"
            filled = parse_one(call.format(name), dialect=dialect)
            for hole in list(filled.find_all(exp.Column)):
                if hole.name == "a" and not hole.table:
                    hole.replace(item.copy())
            yield filled
    else:
        yield item.copy()
