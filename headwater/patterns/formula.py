"""Conditions that compare values of several rows of a match, as functions.

In: an expression whose columns are input columns of the row, or slots of the match so far. Out: a
:class:`Formula`. It knows the operators that a comparison over rows needs; functions of one row
are columns already. NULL is None, and AND, OR and NOT know three values.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from sqlglot import exp

from headwater.dialect.vocabulary import LENGTHS
from headwater.errors import SqlError
from headwater.patterns.aggregates import EXACT, Value, total
from headwater.patterns.navigation import fail

Values = tuple[Sequence[Any], Mapping[str, Sequence[Any]], int]
"""The slots, the input columns, the row."""

Evaluate = Callable[[Values], Any]

_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Formula:
    """A compiled condition.

    Attributes:
        columns: the input columns it reads.
    """

    evaluate: Evaluate
    columns: frozenset[str]

    def value(
        self, slots: Sequence[Value], columns: Mapping[str, Sequence[Value]], row: int
    ) -> Value:
        """Return what the condition says of a row."""
        return self.evaluate((slots, columns, row))


def compiled(expression: exp.Expr, slots: Mapping[str, int]) -> Formula:
    """Compile a condition.

    Args:
        expression: the condition.
        slots: the columns that stand for the match so far, with their places.

    Raises:
        SqlError: ``NOT_YET``, the condition uses a function over values of several rows.
    """
    columns = {each.name for each in expression.find_all(exp.Column)} - set(slots)
    return Formula(_Compiler(slots).compile(expression), frozenset(columns))


class _Compiler:
    def __init__(self, slots: Mapping[str, int]) -> None:
        self._slots = slots

    def compile(self, node: exp.Expr) -> Evaluate:
        """Return the function of a node."""
        if isinstance(node, exp.Column):
            return self._column(node.name)
        if isinstance(node, exp.Paren):
            return self.compile(node.this)
        if isinstance(node, exp.Literal | exp.Boolean | exp.Null | exp.Interval):
            return _constant(node)
        if (two := _BINARY.get(type(node))) is not None:
            return _both(two, self.compile(node.this), self.compile(node.expression))
        if isinstance(node, exp.Neg | exp.Abs | exp.Not):
            return _one(_UNARY[type(node)], self.compile(node.this))
        if isinstance(node, exp.And | exp.Or):
            left, right = self.compile(node.this), self.compile(node.expression)
            return _connected(left, right, decides=isinstance(node, exp.Or))
        if isinstance(node, exp.Is):
            return self._is(node)
        if isinstance(node, exp.Between):
            low = exp.GTE(this=node.this, expression=node.args["low"])
            high = exp.LTE(this=node.this, expression=node.args["high"])
            return self.compile(exp.And(this=low, expression=high))
        if isinstance(node, exp.In) and node.expressions:
            equal = [exp.EQ(this=node.this, expression=each) for each in node.expressions]
            return self.compile(exp.or_(*equal, copy=False))
        if isinstance(node, exp.Coalesce):
            return self._coalesce([node.this, *node.expressions])
        if isinstance(node, exp.If | exp.Case):
            return self._case(node)
        if isinstance(node, exp.DateDiff) and node.text("unit").upper() in LENGTHS:
            unit = LENGTHS[node.text("unit").upper()]
            between = _both(_minus, self.compile(node.this), self.compile(node.expression))
            return _one(lambda time: _divided(time // _TICK, unit // _TICK), between)
        name = node.name.upper() if isinstance(node, exp.Anonymous) else node.key.upper()
        message = f"not supported: {name} over values of several rows in DEFINE"
        hint = "use + - * / %, comparisons, AND, OR, NOT, CASE or COALESCE"
        return fail("NOT_YET", message, hint, node)

    def _column(self, name: str) -> Evaluate:
        if name in self._slots:
            slot = self._slots[name]
            return lambda values: values[0][slot]
        return lambda values: values[1][name][values[2]]

    def _is(self, node: exp.Is) -> Evaluate:
        inner, what = self.compile(node.this), node.expression
        if isinstance(what, exp.Boolean):
            return lambda values: inner(values) is what.this
        return lambda values: inner(values) is None

    def _coalesce(self, nodes: Sequence[exp.Expr]) -> Evaluate:
        parts = [self.compile(each) for each in nodes]

        def evaluate(values: Values) -> Value:
            found = (part(values) for part in parts)
            return next((each for each in found if each is not None), None)

        return evaluate

    def _case(self, node: exp.Expr) -> Evaluate:
        ifs = [node] if isinstance(node, exp.If) else node.args["ifs"]
        subject = node.this if isinstance(node, exp.Case) else None
        branches = []
        for each in ifs:
            condition = each.this
            if subject is not None:
                condition = exp.EQ(this=subject, expression=each.this)
            branches.append((self.compile(condition), self.compile(each.args["true"])))
        default = node.args.get("false") or node.args.get("default") or exp.Null()
        otherwise = self.compile(default)

        def evaluate(values: Values) -> Value:
            for condition, result in branches:
                if condition(values) is True:
                    return result(values)
            return otherwise(values)

        return evaluate


def _constant(node: exp.Expr) -> Evaluate:
    value: Any = None
    if isinstance(node, exp.Boolean):
        value = bool(node.this)
    elif isinstance(node, exp.Interval):
        unit = LENGTHS.get(node.text("unit").upper().rstrip("S"))
        if unit is None or not node.name.lstrip("-").isdecimal():
            fail("NOT_YET", f"not supported: {node.sql()} in DEFINE", "use days or less", node)
        value = int(node.name) * unit
    elif isinstance(node, exp.Literal):
        value = node.name if node.is_string else _number(node.name)
    return lambda values: value


def _number(text: str) -> Value:
    if "e" in text.lower():
        return float(text)
    return Decimal(text) if "." in text else int(text)


def _one(function: Callable[[Value], Value], inner: Evaluate) -> Evaluate:
    def evaluate(values: Values) -> Value:
        found = inner(values)
        return None if found is None else function(found)

    return evaluate


def _both(function: Callable[[Value, Value], Value], left: Evaluate, right: Evaluate) -> Evaluate:
    def evaluate(values: Values) -> Value:
        first, second = left(values), right(values)
        if first is None or second is None:
            return None
        if isinstance(first, float) and isinstance(second, Decimal):
            second = float(second)
        elif isinstance(second, float) and isinstance(first, Decimal):
            first = float(first)
        return function(first, second)

    return evaluate


def _connected(left: Evaluate, right: Evaluate, *, decides: bool) -> Evaluate:
    """AND, decided by false, or OR, decided by true."""

    def evaluate(values: Values) -> Value:
        first = left(values)
        if first is decides:
            return decides
        second = right(values)
        if second is decides:
            return decides
        return None if first is None or second is None else not decides

    return evaluate


def _minus(left: Value, right: Value) -> Value:
    if isinstance(left, Decimal):
        return EXACT.subtract(left, right)
    return total(left, -right) if isinstance(left, int) else left - right


def _times(left: Value, right: Value) -> Value:
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        return EXACT.multiply(Decimal(left), Decimal(right))
    return total(left * right, 0)


def _divided(left: Value, right: Value) -> Value:
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        raise SqlError(
            "NOT_YET",
            "not supported: a division of decimals over values of several rows in DEFINE",
            hint="cast one of them to DOUBLE",
        )
    if isinstance(left, int) and isinstance(right, int):
        _refuse_zero(right)
        found = abs(left) // abs(right)
        return found if (left < 0) == (right < 0) else -found
    if right == 0:
        return float("nan") if left == 0 or left != left else float("inf") * (1 if left > 0 else -1)
    return left / right


def _modulo(left: Value, right: Value) -> Value:
    _refuse_zero(right)
    found = abs(left) % abs(right)
    return found if left >= 0 else -found


def _refuse_zero(value: Value) -> None:
    if value == 0:
        hint = "write NULLIF(…, 0) around a divisor that reads one row, or guard it with CASE"
        raise SqlError("MATCH_FAILED", "division by zero in DEFINE", hint=hint)


def _plus(left: Value, right: Value) -> Value:
    return EXACT.add(Decimal(left), Decimal(right)) if _decimal(left, right) else total(left, right)


def _decimal(left: Value, right: Value) -> bool:
    return isinstance(left, Decimal) or isinstance(right, Decimal)


_BINARY: Mapping[type[exp.Expr], Callable[[Any, Any], Any]] = {
    exp.EQ: operator.eq,
    exp.NEQ: operator.ne,
    exp.LT: operator.lt,
    exp.LTE: operator.le,
    exp.GT: operator.gt,
    exp.GTE: operator.ge,
    exp.Add: _plus,
    exp.Sub: _minus,
    exp.Mul: _times,
    exp.Div: _divided,
    exp.Mod: _modulo,
}

_UNARY: Mapping[type[exp.Expr], Callable[[Any], Any]] = {
    exp.Neg: operator.neg,
    exp.Abs: abs,
    exp.Not: operator.not_,
}

OPERATORS = (
    *(*_BINARY, *_UNARY, exp.And, exp.Or, exp.Paren, exp.Is, exp.Between, exp.In),
    *(exp.Coalesce, exp.If, exp.Case, exp.DateDiff),
)
"""What a formula may combine values of several rows with."""
