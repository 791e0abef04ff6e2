"""The functions a query may call, one entry each; what has no entry is refused.

In: a function node of sqlglot, or a name. Out: its :class:`Function`: signature, result type,
whether it aggregates, what the reference says. A function is listed only if it means the same in
Trino, Spark and DuckDB after translation by :mod:`headwater.analyze.portable`; every scalar was run
in Spark and DuckDB over the same rows. A new function is one entry in the file of its family.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

from sqlglot import exp

from headwater.analyze.rules.determinism import NODES
from headwater.analyze.typing.functions.aggregates import AGGREGATES
from headwater.analyze.typing.functions.entry import KINDS, WANTED, Described, Function, Table
from headwater.analyze.typing.functions.numbers import NUMBERS
from headwater.analyze.typing.functions.others import FORMS, OTHERS
from headwater.analyze.typing.functions.text import TEXT
from headwater.analyze.typing.functions.times import DIFF_UNITS, EXTRACT_UNITS, TIMES, TRUNC_UNITS

__all__ = [
    "AGGREGATES",
    "DIFF_UNITS",
    "EXTRACT_UNITS",
    "FAMILIES",
    "FORMS",
    "FUNCTIONS",
    "KINDS",
    "TRUNC_UNITS",
    "WANTED",
    "Described",
    "Function",
    "arguments",
    "function_name",
    "names",
    "written_name",
]

_CALL = re.compile(r"(\w+)\(")

FAMILIES: Mapping[str, Table] = {
    "Text": TEXT,
    "Numbers": NUMBERS,
    "Dates and times": TIMES,
    "Choices, arrays and JSON": OTHERS,
    "Aggregates": AGGREGATES,
}
"""The allow-list by family, as the reference shows it."""

FUNCTIONS: dict[type[exp.Expr], Function] = {
    node: each for table in FAMILIES.values() for node, each in table.items()
}
"""The allow-list by node class; an entry can be added from outside."""


def function_name(node: exp.Expr) -> str:
    """Return the name to show for a function or an operator that is refused as one, lower case."""
    if function := FUNCTIONS.get(type(node)):
        return function.name
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    return NODES.get(type(node)) or cast(exp.Func, node).sql_name().lower()


def written_name(node: exp.Func) -> str:
    """Return the name under which Trino has a function that we do not, lower case."""
    called = _CALL.match(node.sql(dialect="trino"))
    return called[1].lower() if called else function_name(node)


def arguments(node: exp.Func) -> list[exp.Expr]:
    """Return the arguments of a function node in order, without units, paths and formats."""
    skipped = ("unit", "format", "collation", "zone") + (
        ("expression",) if isinstance(node, exp.JSONExtractScalar) else ()
    )
    found: list[exp.Expr] = []
    for key in node.arg_types:
        value = node.args.get(key)
        if key in skipped or (isinstance(node, exp.Extract) and key == "this"):
            continue
        found.extend(
            item
            for item in (value if isinstance(value, list) else [value])
            if isinstance(item, exp.Expression)
        )
    return found


def names() -> tuple[str, ...]:
    """Return the names of all functions allowed, sorted."""
    return tuple(sorted({each.name for each in (*FUNCTIONS.values(), *FORMS)}))
