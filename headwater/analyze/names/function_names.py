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

_OF_ANY = (
    *(exp.Min, exp.Max, exp.AnyValue, exp.LogicalAnd, exp.LogicalOr),
    *(exp.BitwiseAndAgg, exp.BitwiseOrAgg, exp.ArgMin, exp.ArgMax),
)
"""Aggregates that are the same of a value that comes once or often."""


def has_names(statement: exp.Expr) -> bool:
    """Return whether there is something to do in a statement."""
    return next(_named(statement), None) is not None or any(_repeated(statement))


def read_names(statement: exp.Expr, *, internal: bool = False) -> None:
    """Replace calls by name with the nodes of the table, in place.

    Args:
        statement: as parsed.
        internal: whether it is Headwater's own, which may call what users cannot.
    """
    for call in reversed(list(_named(statement, internal))):  # the inner ones first
        made = _made(call)
        made.meta.update({key: each for key, each in call.meta.items() if key != GIVEN})
        call.replace(made)
    for distinct in list(_repeated(statement)):
        aggregate = distinct.parent
        assert aggregate is not None
        value, *others = distinct.expressions
        aggregate.set("this", value)
        if others:
            aggregate.set("expression", others[0])


def _repeated(statement: exp.Expr) -> Iterator[exp.Expr]:
    """Yield DISTINCT in aggregates to which it makes no difference."""
    for call in statement.find_all(*_OF_ANY):
        most = 2 if isinstance(call, (exp.ArgMin, exp.ArgMax)) else 1
        distinct = call.this
        if isinstance(distinct, exp.Distinct) and len(distinct.expressions) <= most:
            yield distinct


def _named(statement: exp.Expr, internal: bool = False) -> Iterator[exp.Anonymous]:
    for call in statement.find_all(exp.Anonymous, bfs=False):
        found = by_name(call.name, internal=internal)
        if found is None or isinstance(call.parent, exp.Dot):
            continue
        dialect = call.meta.get(DIALECT, "trino")
        if dialect == "trino" or dialect in found[1].dialects:
            yield call


def _made(call: exp.Anonymous) -> exp.Expr:
    found = by_name(call.name, internal=True)
    assert found is not None
    node, function = found
    arguments = [argument.copy() for argument in call.expressions]
    if function.texts is not None and "expressions" in node.arg_types:
        return node(expressions=arguments)
    build = Headwater.Parser.FUNCTIONS[function.name.upper()]
    made: exp.Expr = build(arguments)
    return made
