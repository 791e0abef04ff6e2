"""Calls of the language's functions in a query that a person asks, as DuckDB has them.

In: a query as it was parsed, without types. Out: the same with calls of the table of functions in
DuckDB's words. Results have DuckDB's types, and what Trino refuses is as DuckDB answers it.
"""

from __future__ import annotations

from typing import cast

from sqlglot import exp

from headwater.analyze.inference.compositions import LANGUAGE
from headwater.analyze.inference.language_texts import composed_untyped
from headwater.analyze.names.function_names import read_names
from headwater.analyze.portable.engine_texts import untyped_text
from headwater.analyze.portable.function_edge_cases import duckdb_zip
from headwater.analyze.portable.patterns import duckdb_every
from headwater.analyze.typing import functions as f
from headwater.analyze.typing.functions.lambdas import ZIP_WITH
from headwater.analyze.typing.functions.text import (
    REGEXP_COUNT,
    REGEXP_EXTRACT_ALL,
    REGEXP_SPLIT,
)

_EVERY = (REGEXP_COUNT, REGEXP_EXTRACT_ALL, REGEXP_SPLIT)


def call_as_duckdb(query: exp.Expr) -> None:
    """Replace the calls, in place."""
    read_names(query)
    for node in reversed(list(query.walk(bfs=True))):
        made = _made(node)
        if made is not node:
            node.replace(made)


def _made(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Bracket):
        node.set("offset", 1)  # the language counts from 1, as DuckDB does; sqlglot would from 0
        return node
    if isinstance(node, _EVERY) and node.expressions[1].is_string:
        return duckdb_every(node)
    if isinstance(node, ZIP_WITH):
        return duckdb_zip(node)
    function = f.FUNCTIONS.get(type(node))
    text = function.texts.get(LANGUAGE) if function and function.texts else None
    if text is None:
        return untyped_text(node, "duckdb")
    root = exp.Paren(this=composed_untyped(text, f.arguments(cast(exp.Func, node))))
    call_as_duckdb(root)
    return root
