"""Whether an expression can be NULL.

In: a typed, resolved expression. Out: True or False; True where it is not known.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.fallibility.fallible import can_fail, sum_leaves_type
from headwater.analyze.inference.window_functions import NUMBERED, SHARES, VALUES
from headwater.analyze.names.scope import NULLABLE
from headwater.analyze.typing.functions import FUNCTIONS

_NEVER = (
    *NUMBERED,
    *SHARES,
    exp.Is,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
    exp.Count,
    exp.CountIf,
    exp.ApproxDistinct,
    exp.Array,
    exp.Struct,
)
_LEAVES = (exp.Identifier, exp.DataType, exp.Var, exp.Interval)
_KEEPS = (
    *(exp.Min, exp.Max, exp.Sum, exp.Avg, exp.LogicalAnd, exp.LogicalOr, exp.ApproxQuantile),
    *(exp.ArgMin, exp.ArgMax, exp.GroupConcat),
)


def nullable(expression: exp.Expr, grouped: bool) -> bool:
    """Return whether an expression can be NULL.

    Args:
        grouped: whether its query has GROUP BY, so that no group is empty.
    """
    stack: list[exp.Expr] = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, exp.Column):
            if node.meta.get(NULLABLE, True):
                return True
        elif isinstance(node, exp.Identifier) and isinstance(node.type, exp.DataType):
            return True  # a parameter of a lambda
        elif isinstance(node, exp.Lambda):
            continue
        elif isinstance(node, exp.Case):
            branches = [branch.args["true"] for branch in node.args["ifs"]]
            if not node.args.get("default"):
                return True
            stack += [*branches, node.args["default"]]
        elif isinstance(node, exp.If):
            if not node.args.get("false"):
                return True
            stack += [node.args["true"], node.args["false"]]
        elif isinstance(node, exp.Coalesce):
            if all(nullable(item, grouped) for item in (node.this, *node.expressions)):
                return True
        elif isinstance(node, (*_NEVER, *_LEAVES, exp.Exists)):
            continue
        elif isinstance(node, exp.Query) or _adds_null(node, grouped):
            return True
        else:
            stack.extend(node.iter_expressions())
    return False


def _adds_null(node: exp.Expr, grouped: bool) -> bool:
    """Return whether a node can be NULL although its operands are not."""
    if isinstance(node, exp.AggFunc):
        return not (grouped and isinstance(node, _KEEPS)) or sum_leaves_type(node)
    if can_fail(node) and node.find(exp.AggFunc, exp.Window):
        return True  # a group has NULL where a row would leave
    if isinstance(node, exp.Filter):
        return not isinstance(node.this, _NEVER)
    if isinstance(node, (exp.Null, exp.TryCast, exp.Dot, exp.Bracket, *VALUES)):
        return True
    function = FUNCTIONS.get(type(node))
    return function is not None and function.nullable == "always"
