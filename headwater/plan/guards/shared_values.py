"""Definitions of subquery columns that a condition computes once and uses by name.

In: definitions over the rows of an input. Out: a name for each long one, and conditions around
which the definitions of their names stand. A column that is used many times, and is made of
columns that are used many times, would otherwise be written out as often as all these multiply to.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from headwater.analyze.lets import is_long, let, named
from headwater.analyze.typing import types as t
from headwater.dialect.syntax import SHOWN

_LONG = 64
"""Nodes of a definition that is written once: engines compute shorter ones faster in place."""


@dataclass(frozen=True, slots=True)
class _Shared:
    """A definition with a name.

    Attributes:
        value: the definition over columns of the input and names from before.
        columns: the columns of the input that it reads, through names too.
    """

    value: exp.Expr
    columns: frozenset[str]


class SharedValues:
    """The long definitions of a query by the names that conditions use."""

    def __init__(self) -> None:
        self._shared: dict[str, _Shared] = {}

    def share(self, value: exp.Expr, column: str) -> exp.Expr:
        """Return what stands for a column: its definition, or the name of a long one.

        Args:
            value: the typed definition.
            column: the column's name, for messages.
        """
        if not is_long(value, _LONG):
            return value
        name = f"shared_{len(self._shared) + 1}"
        self._shared[name] = _Shared(value, frozenset(self.columns(value)))
        found = named(name, value)
        found.meta[SHOWN] = column
        return found

    def columns(self, expression: exp.Expr) -> set[str]:
        """Return the columns of the input that an expression reads."""
        found = {each.name for each in expression.find_all(exp.Column)}
        return found.union(*(self._shared[name].columns for name in self._names(expression)))

    def used(self, condition: exp.Expr) -> bool:
        """Return whether a condition uses names of long definitions."""
        return bool(self._names(condition))

    def around(self, condition: exp.Expr) -> exp.Expr:
        """Return a condition without names that nothing defines.

        Args:
            condition: a fresh condition, true or false; it becomes a part of the result.
        """
        wanted = self._names(condition)
        for name, shared in reversed(self._shared.items()):
            if name in wanted:
                wanted |= self._names(shared.value)
                condition.type = t.BOOLEAN.copy()
                condition = let(named(name, shared.value), shared.value.copy(), condition)
        return condition

    def _names(self, expression: exp.Expr) -> set[str]:
        if not self._shared:
            return set()
        found = (each for each in expression.find_all(exp.Identifier) if _is_name(each))
        return {each.name for each in found if each.name in self._shared}


def _is_name(node: exp.Expr) -> bool:
    """Whether an identifier is a value, not a part of a column."""
    return isinstance(node.type, exp.DataType)
