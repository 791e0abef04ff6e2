"""What of a ``MATCH_RECOGNIZE`` is refused that the clause alone does not tell.

In: a clause that :func:`headwater.patterns.read_clause` has read, and the types of its input.
Out: errors in the report.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.fallibility.fallible import fails_on_ordinary_data
from headwater.analyze.fallibility.nonzero_divisors import mark_proven
from headwater.analyze.inference.infer import infer
from headwater.analyze.names.ordering import has_no_order, is_comparable
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.dialect.syntax import MatchRecognize
from headwater.patterns import MatchClause, never_final, only_empty, skip_may_fail
from headwater.patterns.navigation import CLASSIFIER, Aggregation, Navigation


def check_clause(node: MatchRecognize, clause: MatchClause, report: Diagnostics) -> None:
    """Refuse what no stream of rows can have, and what is no column."""
    pattern, args = node.args["pattern"], node.args
    _plain_columns(node, report)
    if args.get("order") is None:
        hint = "write ORDER BY with the event time first"
        report.add("INVALID_PATTERN", "the rows of the pattern have no order", node, hint)
    elif args["order"].expressions[0].args.get("desc"):
        hint = "order by the event time, ascending"
        report.add("INVALID_PATTERN", "the order begins with the newest row", args["order"], hint)
    if reason := never_final(clause):
        report.add("UNBOUNDED_STATE", reason, pattern, "remove $ from the pattern")
    if reason := only_empty(clause):
        report.add(
            "INVALID_PATTERN", reason, pattern, "let the pattern take a row: write a+ for a*?"
        )
    if reason := skip_may_fail(clause):
        hint = "write AFTER MATCH SKIP TO NEXT ROW, or PAST LAST ROW"
        report.add("NOT_YET", f"not supported: {reason}", args["after"], hint)


def _plain_columns(node: MatchRecognize, report: Diagnostics) -> None:
    """PARTITION BY and ORDER BY name columns, as in Trino."""
    order = node.args["order"].expressions if node.args.get("order") else []
    named = [("PARTITION BY", each) for each in node.args.get("partition_by") or ()]
    for words, each in [*named, *(("ORDER BY", item.this) for item in order)]:
        if not isinstance(each, exp.Column):
            hint = "compute it in a subquery: FROM (SELECT …) MATCH_RECOGNIZE (…)"
            message = f"{words} of MATCH_RECOGNIZE names no column"
            report.add("INVALID_PATTERN", message, each, hint)


def check_conditions(
    node: MatchRecognize,
    clause: MatchClause,
    inputs: Mapping[str, exp.Expr],
    report: Diagnostics,
) -> None:
    """Refuse conditions that are not true or false, and values that engines order differently."""
    defined = {each.args["alias"].name.upper(): each for each in node.args["define"]}
    for condition in clause.conditions:
        at = defined.get(condition.variable)
        if at is None:
            continue
        if condition.column is not None:
            _boolean(inputs[condition.column], at, report)
        for walked in condition.walked:
            _check_walked(walked, condition.names, inputs, at, report)
    for name in clause.partition:
        of = type_of(inputs[name])
        if not t.is_unknown(of) and (not is_comparable(inputs[name]) or t.is_float(of)):
            kind = t.sql_type(of)
            hint = "partition by a number without fractions, text or a time"
            message = f'column "{name}" of PARTITION BY is {kind}'
            report.add("TYPE_CLASH", message, node.args["partition_by"][0], hint)
    for name, value in inputs.items():
        if isinstance(value, exp.Column) and has_no_order(value):
            kind = t.sql_type(type_of(value))
            message = f'rows of one time can differ in "{name}", and {kind} cannot be compared'
            hint = "read one of its parts"
            report.add("NON_DETERMINISTIC", message, value, hint)


def _check_walked(
    walked: exp.Expr,
    names: Mapping[str, object],
    inputs: Mapping[str, exp.Expr],
    at: exp.Expr,
    report: Diagnostics,
) -> None:
    """Type a condition that reads the match so far; its values are compared as they are."""
    holder = exp.Paren(this=walked.copy())
    for column in list(holder.find_all(exp.Column)):
        column.type = _kind(names.get(column.name), column.name, inputs)
    casts = len(list(holder.find_all(exp.Cast)))
    infer(holder, report)
    found = [each for each in holder.find_all(exp.Cast) if t.family(each.to) != "number"]
    if len(found) > casts:
        what = f"{t.sql_type(type_of(found[0].this))} beside {t.sql_type(found[0].to)}"
        hint = "cast it in a subquery: FROM (SELECT …) MATCH_RECOGNIZE (…)"
        report.not_yet(f"{what} in a condition that reads the match so far", at, hint)
    mark_proven(holder)
    if any(map(fails_on_ordinary_data, holder.find_all(exp.Div, exp.Mod))):
        message = f"the condition of {at.args['alias'].name} divides by a value of several rows"
        hint = "compare a product, or write CASE WHEN y <> 0 THEN x / y END"
        report.add("FALLIBLE_EXPRESSION", message, at, hint)
    _boolean(holder.this, at, report)


def _kind(reference: object, name: str, inputs: Mapping[str, exp.Expr]) -> exp.DataType:
    if isinstance(reference, Navigation):
        name = reference.column
        return t.VARCHAR if name == CLASSIFIER else type_of(inputs.get(name))
    if isinstance(reference, Aggregation):
        if reference.function in ("count", "count_if"):
            return t.BIGINT
        return _kind(Navigation(reference.arguments[0]), "", inputs)
    return t.BIGINT if reference is not None else type_of(inputs.get(name))


def _boolean(value: exp.Expr, at: exp.Expr, report: Diagnostics) -> None:
    kind = type_of(value)
    if kind.this not in (t.Type.BOOLEAN, t.Type.NULL) and not t.is_unknown(kind):
        message = f"the condition of {at.args['alias'].name} is {t.sql_type(kind)}"
        report.add("TYPE_CLASH", message, at, "write a comparison")
