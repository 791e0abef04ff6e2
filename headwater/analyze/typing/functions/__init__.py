"""The functions a query may call, one entry each; what has no entry is refused.

In: a function node of sqlglot, or a name. Out: its :class:`Function`: signature, result type,
whether it aggregates, what the reference says. A function is listed only if it means the same in
Trino, Spark and DuckDB after translation by :mod:`headwater.analyze.portable`; every scalar was run
in Spark and DuckDB over the same rows. A new function is one entry in the file of its family.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain

from sqlglot import exp
from sqlglot.errors import SqlglotError

from headwater.analyze.typing.determinism import NODES
from headwater.analyze.typing.functions.aggregates import AGGREGATES as _AGGREGATES
from headwater.analyze.typing.functions.arrays import ARRAYS, ELEMENTS
from headwater.analyze.typing.functions.binary import BINARY
from headwater.analyze.typing.functions.bits import BITS
from headwater.analyze.typing.functions.carried import CARRIED
from headwater.analyze.typing.functions.entry import KINDS, WANTED, Described, Function, Table
from headwater.analyze.typing.functions.lambdas import LAMBDAS
from headwater.analyze.typing.functions.numbers import NUMBERS, RANGES
from headwater.analyze.typing.functions.others import FAULTS, OTHERS
from headwater.analyze.typing.functions.others import FORMS as _FORMS
from headwater.analyze.typing.functions.statistics import STATISTICS
from headwater.analyze.typing.functions.syntax import PERCENTILES, SYNTAX
from headwater.analyze.typing.functions.text import TEXT
from headwater.analyze.typing.functions.times import (
    DATE_UNITS,
    DIFF_UNITS,
    EXTRACT_UNITS,
    TIME_FORMS,
    TIMES,
    TRUNC_UNITS,
)
from headwater.analyze.typing.functions.urls import URLS
from headwater.analyze.typing.functions.zones import ZONES

__all__ = [
    "AGGREGATES",
    "DATE_UNITS",
    "DIFF_UNITS",
    "EXTRACT_UNITS",
    "FAMILIES",
    "FORMS",
    "FUNCTIONS",
    "INTERNAL",
    "KINDS",
    "SYNTAX",
    "TRUNC_UNITS",
    "WANTED",
    "Described",
    "Function",
    "arguments",
    "by_name",
    "function_name",
    "names",
    "written_name",
]

_CALL = re.compile(r"(\w+)\(")

AGGREGATES: Table = {**_AGGREGATES, **STATISTICS}

FAMILIES: Mapping[str, Table] = {
    "Text": TEXT,
    "Numbers": NUMBERS,
    "Bits": BITS,
    "Dates and times": TIMES,
    "Arrays": ARRAYS,
    "Lambdas": LAMBDAS,
    "Bytes and hashes": BINARY,
    "URLs": URLS,
    "Choices, arrays and JSON": OTHERS,
    "Aggregates": AGGREGATES,
}
"""The allow-list by family, as the reference shows it."""

FORMS: Mapping[str, tuple[Described, ...]] = {
    "Choices, arrays and JSON": _FORMS,
    "Dates and times": TIME_FORMS,
    "Aggregates": PERCENTILES,
}
"""What is written like a function, by family."""

INTERNAL: Table = {**ELEMENTS, **ZONES, **FAULTS, **RANGES, **CARRIED}
"""What has no name that a query can call."""

FUNCTIONS: dict[type[exp.Expr], Function] = {
    node: each for table in (*FAMILIES.values(), INTERNAL) for node, each in table.items()
}
"""The allow-list by node class; an entry can be added from outside."""

_BY_NAME: Mapping[str, tuple[type[exp.Expr], Function]] = {
    name: (node, each)
    for node, each in FUNCTIONS.items()
    for name in (*([each.name] if each.texts is not None else ()), *each.aliases)
}


def function_name(node: exp.Expr) -> str:
    """Return the name to show for a function or an operator that is refused as one, lower case."""
    if function := FUNCTIONS.get(type(node)):
        return function.name
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    own = node.sql_name() if isinstance(node, exp.Func) else node.key
    return NODES.get(type(node)) or own.lower()


def written_name(node: exp.Func) -> str:
    """Return the name under which Trino has a function that we do not, lower case."""
    try:
        called = _CALL.match(node.sql(dialect="trino"))
    except (SqlglotError, TypeError, AttributeError, ValueError):
        called = None  # sqlglot 30.30 cannot print each call that it reads: sumIf(x, 0.5) of others
    return called[1].lower() if called else function_name(node)


def arguments(node: exp.Func) -> list[exp.Expr]:
    """Return the arguments of a function node in order, without units, paths and formats."""
    skipped = ("unit", "format", "collation", "zone", "path") + (
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


def by_name(name: str, *, internal: bool = False) -> tuple[type[exp.Expr], Function] | None:
    """Return the node and the entry of a function that is called by a name, if there is one.

    Args:
        name: an alias of any function, or the name of a line; lower case.
        internal: whether the call is Headwater's own, so that it may be one of :data:`INTERNAL`.
    """
    found = _BY_NAME.get(name)
    return found if internal or found is None or found[0] not in INTERNAL else None


def names() -> tuple[str, ...]:
    """Return the names of all functions allowed, sorted."""
    called = (each for node, each in FUNCTIONS.items() if node not in INTERNAL)
    return tuple(sorted({each.name for each in (*called, *chain(*FORMS.values()), *SYNTAX)}))
