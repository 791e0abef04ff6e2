"""Calls by name → nodes of the table of functions.

In: a statement as parsed, in which sqlglot left what it does not know as a call by name. Out: the
same statement with the nodes of :data:`~headwater.analyze.typing.functions.FUNCTIONS` instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from headwater.analyze.typing.functions import by_name
from headwater.dialect.parser import Headwater
from headwater.dialect.syntax import DIALECT, GIVEN


def has_names(statement: exp.Expr) -> bool:
    """Return whether a statement calls a function of the table by a name that is to be read."""
    return next(_named(statement), None) is not None


def read_names(statement: exp.Expr) -> None:
    """Replace calls by name with the nodes of the table, in place.

    Args:
        statement: as parsed.
    """
    for call in reversed(list(_named(statement))):  # the inner ones first
        made = _made(call)
        made.meta.update({key: each for key, each in call.meta.items() if key != GIVEN})
        call.replace(made)


def _named(statement: exp.Expr) -> Iterator[exp.Anonymous]:
    for call in statement.find_all(exp.Anonymous, bfs=False):
        found = by_name(call.name)
        if found is None or isinstance(call.parent, exp.Dot):
            continue
        dialect = call.meta.get(DIALECT, "trino")
        if dialect == "trino" or dialect in found[1].dialects:
            yield call


def _made(call: exp.Anonymous) -> exp.Expr:
    found = by_name(call.name)
    assert found is not None
    node, function = found
    arguments = [argument.copy() for argument in call.expressions]
    if function.texts is not None and "expressions" in node.arg_types:
        return node(expressions=arguments)
    build = Headwater.Parser.FUNCTIONS[function.name.upper()]
    made: exp.Expr = build(arguments)
    return made
