"""What is said of expressions that fail: why a row left, and why a view is refused.

In: typed expressions. Out: reasons for a quarantine; errors for what no row is to blame for.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from headwater.analyze.failing.guards import has_guard
from headwater.analyze.fallibility.fallible import divides_by_zero, failing, fails_on_ordinary_data
from headwater.analyze.query_parts import aggregates, is_aggregate
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.functions.arrays import SCALAR_SUBQUERY
from headwater.analyze.typing.functions.carried import READERS
from headwater.dialect import span_of
from headwater.dialect.parser import Headwater
from headwater.dialect.syntax import SHOWN, JSONScalar
from headwater.errors import SqlError
from headwater.plan.guards.computed import heads

_SHOWN = 120


def refuse_over_groups(select: exp.Select) -> None:
    """Refuse divisions and casts of aggregates that can fail.

    Args:
        select: a bound SELECT, its proven divisions marked.

    Raises:
        SqlError: ``FALLIBLE_EXPRESSION``.
    """
    if not is_aggregate(select):
        return
    group = select.args.get("group")
    keys = set(group.expressions) if group else set()
    for item in heads(select):
        if aggregates(item):
            refuse_ordinary(item, "over a group, so no single row can be blamed", select, keys)


def refuse_ordinary(
    item: exp.Expr, where: str, select: exp.Select, keys: Collection[exp.Expr] | None = None
) -> None:
    """Refuse an expression that divides by what can be 0, or casts text.

    Args:
        item: the expression, its proven divisions marked.
        where: where it is, for the message.
        keys: the group keys if it is over groups: these, and what aggregates, are of rows.

    Raises:
        SqlError: ``FALLIBLE_EXPRESSION``.
    """
    # two nodes are compared by all that is below them: only those of a key's kind are
    kinds = {type(key) for key in keys or ()}

    def below(node: exp.Expr) -> bool:
        inside = keys is not None and isinstance(node, exp.AggFunc)
        is_key = type(node) in kinds and node in (keys or ())
        return inside or is_key or isinstance(node, exp.Query)

    for node in item.walk(prune=below):
        if not below(node) and fails_on_ordinary_data(node):
            raise _refused(node, where, select)


def refuse_nested(item: exp.Expr, select: exp.Select) -> None:
    """Refuse what can fail and gives an array, a map or a row: Spark cannot try that.

    Args:
        item: a typed expression.

    Raises:
        SqlError: ``FALLIBLE_EXPRESSION``.
    """
    for node in failing(item):
        if t.family(type_of(node)) in ("array", "map", "struct") and not has_guard(node):
            raise SqlError(
                "FALLIBLE_EXPRESSION",
                f"{shown(node)} can fail, and {t.sql_type(type_of(node))} cannot be guarded",
                hint="write its other arguments as literals, or ON ERROR FAIL before AS",
                span=span_of(node) or span_of(select),
            )


def _refused(node: exp.Expr, where: str, select: exp.Select) -> SqlError:
    ways_out = {exp.Cast: "TRY_CAST(x AS type)", SCALAR_SUBQUERY: "(SELECT max(x) FROM …)"}
    way_out = ways_out.get(type(node), "x / NULLIF(y, 0)")
    return SqlError(
        "FALLIBLE_EXPRESSION",
        f"{shown(node)} can fail {where}",
        hint=f"write {way_out}, or let the view fail: ON ERROR FAIL before AS",
        span=span_of(node) or span_of(select),
    )


def shown(node: exp.Expr) -> str:
    """Return an expression as a message shows it."""
    named = node.transform(lambda each: exp.var(each.meta[SHOWN]) if SHOWN in each.meta else each)
    text = bare(named).sql(dialect=Headwater)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def reason(expression: exp.Expr) -> str:
    """Return why a row leaves."""
    first, *more = failing(expression)
    if more:
        return f"cannot be computed: {shown(expression)}"
    match first:
        case exp.Div() | exp.Mod() if divides_by_zero(first):
            return f"division by zero: {shown(first)}"
        case exp.Cast() if t.family(type_of(first.this)) == "text":
            return f"not valid as {t.sql_type(type_of(first))}: {shown(first)}"
        case _ if isinstance(first, READERS):
            return f"not valid as {t.sql_type(type_of(first))}: {shown(first)}"
        case JSONScalar():
            return f"no text, number or boolean: {shown(first)}"
        case _ if isinstance(first, SCALAR_SUBQUERY):
            return f"several rows: {shown(first)}"
    return f"out of range: {shown(first)}"


def bare(node: exp.Expr) -> exp.Expr:
    """Return a copy whose columns are not qualified.

    Args:
        node: an expression over one input.
    """
    return node.transform(
        lambda each: exp.column(each.name) if isinstance(each, exp.Column) else each
    )
