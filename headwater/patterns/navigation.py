"""What an expression of ``MEASURES`` and ``DEFINE`` reads of a match.

In: a parsed expression. Out: the expression over named values, and what each name stands for: the
value of a column at a row of the match (:class:`Navigation`), an aggregate over rows of it
(:class:`Aggregation`), or the match's number. ``LAST(x + 1)`` is ``LAST(x) + 1``, so a navigation
always reads one column, as in Trino.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NoReturn

from sqlglot import exp

from headwater.dialect.position import span_of
from headwater.dialect.syntax import ProcessingMode
from headwater.errors import SqlError
from headwater.errors.nearest import did_you_mean

CLASSIFIER = ""
"""Stands for a column: the name of the variable that a row matches."""

Labels = frozenset[int] | None
"""Variables by their index; None for all rows of the match."""


@dataclass(frozen=True, slots=True)
class Navigation:
    """The value of a column at a row that the match decides.

    Attributes:
        column: the column's name, or :data:`CLASSIFIER`.
        labels: the variables whose rows count.
        last: counted from the last of these rows back; otherwise from the first one forward.
        logical: how many of these rows to go on.
        physical: how many rows of the partition to go on from there; negative for ``PREV``.
        final: the last row is that of the whole match, not the current one.
    """

    column: str
    labels: Labels = None
    last: bool = True
    logical: int = 0
    physical: int = 0
    final: bool = False


@dataclass(frozen=True, slots=True)
class Aggregation:
    """An aggregate over the rows of a match.

    Attributes:
        function: its name in :mod:`headwater.patterns.aggregates`.
        labels: the variables whose rows count.
        arguments: columns of the input, or :data:`CLASSIFIER`; none for ``count(*)``.
        final: over the whole match, not only up to the current row.
    """

    function: str
    labels: Labels
    arguments: tuple[str, ...]
    final: bool = False


@dataclass(frozen=True, slots=True)
class MatchNumber:
    """``MATCH_NUMBER()``: 1 for a partition's first match."""


Reference = Navigation | Aggregation | MatchNumber

AGGREGATES: Mapping[type[exp.Expr] | str, str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.CountIf: "count_if",
    exp.LogicalAnd: "bool_and",
    "every": "bool_and",
    exp.LogicalOr: "bool_or",
    exp.AnyValue: "arbitrary",
    exp.ArrayAgg: "array_agg",
    exp.ArgMin: "min_by",
    exp.ArgMax: "max_by",
}
_CALLS = ("prev", "next", "classifier", "match_number")


def fail(condition: str, message: str, hint: str, at: exp.Expr) -> NoReturn:
    """Raise an error at a node."""
    raise SqlError(condition, message, hint=hint, span=span_of(at))


class ExpressionReader:
    """Rewrites the expressions of one clause.

    Args:
        labels: the variables of the pattern and of SUBSET, upper case.
        name: gives the name under which an expression sees what it refers to.
        hoist: gives the name of the input column that holds an expression over one row.
    """

    def __init__(
        self,
        labels: Mapping[str, frozenset[int]],
        name: Callable[[Reference], exp.Expr],
        hoist: Callable[[exp.Expr], str],
    ) -> None:
        self._labels, self._name, self._hoist = labels, name, hoist

    def rewrite(self, node: exp.Expr) -> exp.Expr:
        """Return an expression in which every reference to the match is a name."""
        return self._rewrite(node, None)

    def _rewrite(self, node: exp.Expr, outer: Navigation | None) -> exp.Expr:
        if isinstance(node, exp.Query | exp.Subquery | exp.Window):
            fail("NOT_YET", "not supported: a subquery or OVER in MATCH_RECOGNIZE", "", node)
        if isinstance(node, exp.Column):
            labels = self._labels_of(node.args.get("table"))
            found = self._name(replace(outer or Navigation(""), column=_name(node), labels=labels))
            for column in found.find_all(exp.Column):
                if not column.this.meta:  # what is wrong with it is said at its place
                    column.this.meta.update(node.this.meta)
            return found
        if isinstance(node, ProcessingMode) or _call(node) or _aggregate(node):
            return self._function(node, outer)
        found = node.copy()
        for key, value in node.args.items():
            if isinstance(value, exp.Expr):
                found.set(key, self._rewrite(value, outer))
            elif isinstance(value, list):
                items = [self._rewrite(v, outer) if isinstance(v, exp.Expr) else v for v in value]
                found.set(key, items)
        return found

    def _labels_of(self, variable: exp.Expr | None) -> Labels:
        if variable is None:
            return None
        name = variable.name.upper()
        if name not in self._labels:
            hint = did_you_mean(name, self._labels, "variables")
            fail("INVALID_PATTERN", f'pattern variable "{name}" is not known', hint, variable)
        return self._labels[name]

    def _function(self, node: exp.Expr, outer: Navigation | None) -> exp.Expr:
        mode, function = "", node
        if isinstance(node, ProcessingMode):
            mode, function = node.args["mode"], node.this
        call = _call(function)
        if mode and call in ("prev", "next", "classifier", "match_number"):
            hint = f"write {mode} before FIRST, LAST or an aggregate: PREV({mode} LAST(x))"
            fail("INVALID_PATTERN", f"{mode} stands before {call.upper()}", hint, node)
        if call == "match_number":
            return self._name(MatchNumber())
        if call == "classifier":
            labels = self._classifier_labels(function)
            return self._name(replace(outer or Navigation(""), column=CLASSIFIER, labels=labels))
        if outer is not None:
            what = call or _aggregate(function)
            hint = "PREV and NEXT may hold FIRST or LAST and nothing else: PREV(LAST(x))"
            fail("INVALID_PATTERN", f"{what.upper()} stands inside a navigation", hint, node)
        if not call:
            return self._aggregation(function, mode == "FINAL")
        return self._navigation(function, call, mode == "FINAL")

    def _classifier_labels(self, function: exp.Expr) -> Labels:
        arguments = function.expressions
        if len(arguments) > 1 or any(not isinstance(each, exp.Column) for each in arguments):
            hint = "write CLASSIFIER() or CLASSIFIER(variable)"
            fail("INVALID_PATTERN", "CLASSIFIER takes at most one variable", hint, function)
        return self._labels_of(arguments[0].this if arguments else None)

    def _navigation(self, function: exp.Expr, call: str, final: bool) -> exp.Expr:
        argument, offset = _arguments(function, call)
        if call in ("first", "last"):
            at = Navigation("", last=call == "last", logical=offset, final=final)
        else:
            physical = -offset if call == "prev" else offset
            inner = argument.this if isinstance(argument, ProcessingMode) else argument
            at = Navigation("", physical=physical)
            if (nested := _call(inner)) in ("first", "last"):
                final = isinstance(argument, ProcessingMode) and argument.args["mode"] == "FINAL"
                argument, logical = _arguments(inner, nested)
                at = replace(at, last=nested == "last", logical=logical, final=final)
        self._one_variable(argument, function, call)
        return self._rewrite(argument, at)

    def _one_variable(self, argument: exp.Expr, function: exp.Expr, call: str) -> None:
        found = {
            self._labels_of(node.args.get("table"))
            for node in argument.find_all(exp.Column)
            if _call(node.parent) != "classifier"
        } | {
            self._classifier_labels(node)
            for node in argument.find_all(exp.Anonymous)
            if _call(node) == "classifier"
        }
        if len(found) > 1:
            message = f"{call.upper()} reads columns of different variables"
            fail("INVALID_PATTERN", message, "read them in calls of their own", function)
        if not found and call not in AGGREGATES.values():
            fail("INVALID_PATTERN", f"{call.upper()} reads no column", "", function)

    # aggregates

    def _aggregation(self, function: exp.Expr, final: bool) -> exp.Expr:
        name = _aggregate(function)
        if isinstance(function, exp.Filter) or function.find(exp.Distinct, exp.Order):
            what = "DISTINCT, ORDER BY or FILTER in an aggregate of MATCH_RECOGNIZE"
            fail(
                "NOT_YET", f"not supported: {what}", "aggregate the result of the clause", function
            )
        if name not in AGGREGATES.values():
            known = ", ".join(sorted(set(AGGREGATES.values())))
            message = f"not supported: {name} in MATCH_RECOGNIZE"
            fail("NOT_YET", message, f"the aggregates here are {known}", function)
        arguments = [each for each in _operands(function) if not isinstance(each, exp.Star)]
        if name == "count" and (counted := _all_of(arguments)) is not None:
            labels = self._labels_of(counted.args.get("table"))
            return self._name(Aggregation(name, labels, (), final))
        if len(arguments) != (2 if name in ("min_by", "max_by") else 1):
            message = f"not supported: {name} with {len(arguments)} arguments in MATCH_RECOGNIZE"
            fail("NOT_YET", message, "", function)
        for argument in arguments:
            self._one_variable(argument, function, name)
        columns = [self._argument(each) for each in arguments]
        read = {labels for _, has_labels in columns for labels in has_labels}
        if len(read) > 1:
            message = f"{name.upper()} reads columns of different variables"
            fail("INVALID_PATTERN", message, "read them in aggregates of their own", function)
        labels = next(iter(read), None)
        return self._name(Aggregation(name, labels, tuple(c for c, _ in columns), final))

    def _argument(self, node: exp.Expr) -> tuple[str, set[Labels]]:
        """Return the column that holds an argument, and its labels; a constant has none."""
        if _call(node) == "classifier":
            return CLASSIFIER, {self._classifier_labels(node)}
        for inner in node.walk():
            if call := _call(inner) or (isinstance(inner, ProcessingMode) and "mode"):
                if call in ("classifier", "match_number"):
                    message = f"not supported: {call.upper()}() in an expression of an aggregate"
                    fail("NOT_YET", message, f"aggregate {call.upper()}() alone", inner)
                hint = "aggregates read columns; navigate outside of them"
                fail("INVALID_PATTERN", "a navigation stands inside an aggregate", hint, inner)
            if isinstance(inner, exp.Query | exp.Window) or _aggregate(inner):
                fail("INVALID_PATTERN", "an aggregate reads only columns", "", inner)
        read = {self._labels_of(each.args.get("table")) for each in node.find_all(exp.Column)}
        return self._hoist(without_labels(node)), read


def without_labels(node: exp.Expr) -> exp.Expr:
    """Return an expression over one row without its pattern variables."""
    found = node.copy()
    for column in found.find_all(exp.Column):
        column.set("table", None)
    return found


def _name(node: exp.Column) -> str:
    if isinstance(node.this, exp.Star):
        fail("SYNTAX_ERROR", "* stands outside of count", "name the columns", node)
    if node.args.get("db") is not None:
        fail("INVALID_PATTERN", "a column has more than one prefix", "remove the first one", node)
    return str(node.name)


def _all_of(arguments: list[exp.Expr]) -> exp.Expr | None:
    """Return what ``count(*)``, ``count()`` or ``count(a.*)`` counts; None for a column."""
    if not arguments:
        return exp.Column()
    only = arguments[0]
    return only if isinstance(only, exp.Column) and isinstance(only.this, exp.Star) else None


def _operands(function: exp.Expr) -> list[exp.Expr]:
    first = [function.this] if isinstance(function.this, exp.Expr) else []
    second = function.args.get("expression")
    return [*first, *([second] if second is not None else []), *function.expressions]


def _call(node: exp.Expr | None) -> str:
    if isinstance(node, exp.First | exp.Last):
        return "first" if isinstance(node, exp.First) else "last"
    if isinstance(node, exp.Anonymous) and str(node.this).lower() in _CALLS:
        return str(node.this).lower()
    return ""


def _aggregate(node: exp.Expr) -> str:
    if isinstance(node, exp.Filter):
        return _aggregate(node.this)
    if isinstance(node, exp.Anonymous):
        return AGGREGATES.get(str(node.this).lower(), "")
    if isinstance(node, exp.AggFunc):
        return AGGREGATES.get(type(node), node.sql_name().lower())
    return ""


def _arguments(function: exp.Expr, call: str) -> tuple[exp.Expr, int]:
    operands = _operands(function)
    if not 1 <= len(operands) <= 2:
        hint = f"write {call.upper()}(column) or {call.upper()}(column, 1)"
        message = f"{call.upper()} takes one or two arguments"
        fail("INVALID_PATTERN", message, hint, function)
    if len(operands) == 1:
        return operands[0], 0 if call in ("first", "last") else 1
    offset = operands[1]
    if not isinstance(offset, exp.Literal) or offset.is_string or not offset.name.isdecimal():
        message = f"the offset of {call.upper()} is not a number of rows"
        fail("INVALID_PATTERN", message, "write 0, 1, 2 …", offset)
    return operands[0], int(offset.name)
