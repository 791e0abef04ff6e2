"""``DEFINE``: the conditions of the variables, as columns and as what only a walk can decide.

In: the definitions. Out: one :class:`VariableCondition` per variable. A conjunct that reads the
row itself, or rows at a fixed distance (``PREV``, ``NEXT``), is part of a column. Any other
conjunct reads the match so far; of it, whatever reads only the row itself is a column too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from headwater.dialect.syntax import ProcessingMode
from headwater.errors import SqlError
from headwater.patterns.formula import OPERATORS, compiled
from headwater.patterns.navigation import CLASSIFIER, ExpressionReader, Navigation, Reference, fail

_PLAIN = (exp.Literal, exp.Boolean, exp.Null, exp.Interval, exp.DataType, exp.Var)


@dataclass(frozen=True)
class VariableCondition:
    """The condition of one variable.

    Attributes:
        variable: its name, upper case.
        column: the input column that says which rows may be the variable's; None for all rows.
        walked: conjuncts over ``names`` and input columns that read the match so far.
        names: what the names in ``walked`` stand for, when the row itself is part of the match.
        reads: the rows that the condition reads at a distance.
    """

    variable: str
    column: str | None = None
    walked: tuple[exp.Expr, ...] = ()
    names: Mapping[str, Reference] = field(default_factory=dict)
    reads: tuple[Navigation, ...] = ()


def read_conditions(
    definitions: Sequence[exp.Expr],
    variables: Sequence[str],
    labels: Mapping[str, frozenset[int]],
    hoist: Callable[[exp.Expr], str],
    over: Callable[[exp.Expr], exp.Expr],
) -> tuple[VariableCondition, ...]:
    """Read the conditions of all variables, in the order of the variables.

    Args:
        definitions: ``variable AS condition``.
        variables: the variables of the pattern.
        labels: these and the subsets, with the variables they stand for.
        hoist: gives the name of the input column that holds an expression.
        over: puts ``LAG`` or ``LEAD`` over the partition.
    """
    defined: dict[str, exp.Expr] = {}
    for node in definitions:
        name = node.args["alias"].name.upper()
        if name not in variables:
            known = ", ".join(variables)
            message = f'pattern variable "{name}" is not in the pattern'
            fail("INVALID_PATTERN", message, f"the variables are {known}", node.args["alias"])
        if name in defined:
            message = f'pattern variable "{name}" is defined twice'
            fail("INVALID_PATTERN", message, "join the conditions with AND", node.args["alias"])
        for mode in node.find_all(ProcessingMode):
            if mode.args["mode"] == "FINAL":
                hint = "remove FINAL: a condition reads the match so far"
                fail("INVALID_PATTERN", "FINAL stands in DEFINE", hint, mode)
        defined[name] = node.this
    return tuple(
        _ConditionReader(index, name, labels, hoist, over).read(defined.get(name))
        for index, name in enumerate(variables)
    )


class _ConditionReader:
    def __init__(
        self,
        index: int,
        variable: str,
        labels: Mapping[str, frozenset[int]],
        hoist: Callable[[exp.Expr], str],
        over: Callable[[exp.Expr], exp.Expr],
    ) -> None:
        self._index, self._variable = index, variable
        self._hoist, self._over = hoist, over
        self._reader = ExpressionReader(labels, self._name, hoist)
        self._names: dict[str, Reference] = {}
        self._reads: list[Navigation] = []

    def read(self, node: exp.Expr | None) -> VariableCondition:
        if node is None:
            return VariableCondition(self._variable)
        columns, walked = [], []
        for conjunct in _conjuncts(node):
            read = self._reader.rewrite(conjunct)
            if self._walks(read):
                walked.append(self._with_columns(read))
            elif read != exp.true():
                columns.append(read)
        self._check(walked, node)
        together = exp.and_(*columns, copy=False) if columns else None
        column = None if together is None else self._hoist(together)
        return VariableCondition(
            self._variable, column, tuple(walked), self._names, tuple(self._reads)
        )

    def _check(self, walked: Sequence[exp.Expr], node: exp.Expr) -> None:
        slots = {name: slot for slot, name in enumerate(self._names)}
        for conjunct in walked:
            try:
                compiled(conjunct, slots)
            except SqlError as error:  # what was rewritten has no place of its own
                fail(error.condition, error.message, error.hint, node)

    def _name(self, reference: Reference) -> exp.Expr:
        if not isinstance(reference, Navigation):
            return self._walked(reference)
        mine = reference.labels is None or self._index in reference.labels
        self._reads.append(reference)
        if not (mine and reference.last and reference.logical == 0):
            return self._walked(reference)
        if reference.column == CLASSIFIER:
            if reference.physical == 0:
                return exp.Literal.string(self._variable)
            return self._walked(reference)
        column = exp.column(reference.column)
        if reference.physical == 0:
            return column
        shift = exp.Lag if reference.physical < 0 else exp.Lead
        distance = exp.Literal.number(abs(reference.physical))
        return self._over(shift(this=column, offset=distance))

    def _walked(self, reference: Reference) -> exp.Expr:
        for name, known in self._names.items():
            if known == reference:
                return exp.column(name)
        name = f"_w{len(self._names)}"
        self._names[name] = reference
        return exp.column(name)

    def _walks(self, node: exp.Expr) -> bool:
        return any(column.name in self._names for column in node.find_all(exp.Column))

    def _with_columns(self, node: exp.Expr) -> exp.Expr:
        """Replace what reads a single row by a column, or by a column at a row of the match."""
        if isinstance(node, _PLAIN) or (
            isinstance(node, exp.Neg) and isinstance(node.this, _PLAIN)
        ):
            return node
        if not self._walks(node):
            return exp.column(self._hoist(node))
        if isinstance(node, exp.Column):
            reference = self._names[node.name]
            if isinstance(reference, Navigation) and reference.column:
                self._hoist(exp.column(reference.column))
            return node
        if not isinstance(node, OPERATORS) and (elsewhere := self._one_row(node)) is not None:
            return elsewhere
        found = node.copy()
        for key, value in node.args.items():
            if isinstance(value, exp.Expr):
                found.set(key, self._with_columns(value))
            elif isinstance(value, list):
                inner = [self._with_columns(v) if isinstance(v, exp.Expr) else v for v in value]
                found.set(key, inner)
        return found

    def _one_row(self, node: exp.Expr) -> exp.Expr | None:
        """Return ``f(a.x)`` as a navigation over ``f(x)``; None if it reads several rows.

        Without a row it is NULL, as the functions of columns are that get NULL.
        """
        found = {self._names.get(column.name) for column in node.find_all(exp.Column)}
        only = found.pop()
        if found or not isinstance(only, Navigation) or not only.column:
            return None
        expression = node.copy()
        for column in list(expression.find_all(exp.Column)):
            column.replace(exp.column(only.column))
        return self._walked(replace(only, column=self._hoist(expression)))


def _conjuncts(node: exp.Expr) -> list[exp.Expr]:
    while isinstance(node, exp.Paren):
        node = node.this
    return list(node.flatten()) if isinstance(node, exp.And) else [node]
