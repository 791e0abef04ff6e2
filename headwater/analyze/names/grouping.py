"""GROUP BY positions, aliases and ALL → expressions.

In: a SELECT whose stars are expanded. Out: its GROUP BY holds expressions only, in place.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.names.scope import output_named
from headwater.analyze.query_parts import own_aggregate


def bind_grouping(select: exp.Select, columns: Collection[str], report: Diagnostics) -> bool:
    """Replace positions and output names in GROUP BY by what they stand for.

    Args:
        select: changed in place.
        columns: names of the columns in FROM, which come before output names.

    Returns:
        Whether all keys are understood.
    """
    group = select.args.get("group")
    if not isinstance(group, exp.Group):
        return True
    before = len(report.errors)
    for key, words in (
        ("grouping_sets", "GROUPING SETS"),
        ("cube", "CUBE"),
        ("rollup", "ROLLUP"),
        ("totals", "WITH TOTALS"),
    ):
        if group.args.get(key):
            report.not_yet(words, group, "write one view per grouping, with the keys named")
            group.set(key, None)
    for node in group.find_all(exp.Rollup, exp.Cube, exp.GroupingSets):
        report.not_yet(node.key.upper(), node, "write one view per grouping, with the keys named")
        return False
    all_ = group.args.get("all") and not group.expressions
    keys = dict.fromkeys(_all_keys(select, report) if all_ else ())
    group.set("all", None)
    for key_ in group.expressions:
        bound = _key(key_, select, columns, report)
        if bound is not None:
            keys.setdefault(bound)
    if keys:
        group.set("expressions", list(keys))
    else:
        select.set("group", None)
    return len(report.errors) == before


def _all_keys(select: exp.Select, report: Diagnostics) -> list[exp.Expr]:
    """Return what GROUP BY ALL means: each output of columns, without an aggregate and OVER."""
    outputs = [item.unalias() for item in select.expressions]
    keys = [each for each in outputs if not _calculates(each)]
    of_columns = [each.copy() for each in keys if each.find(exp.Column)]
    if keys and not of_columns:
        hint = "leave GROUP BY out for one row, or name a column"
        report.not_yet("GROUP BY ALL of constants", keys[0], hint)
    return list(dict.fromkeys(of_columns))


def _calculates(output: exp.Expr) -> bool:
    """Tell whether it holds an aggregate or OVER, those of its subqueries apart."""
    own = output.walk(prune=lambda node: isinstance(node, exp.Query))
    return any(isinstance(node, (exp.AggFunc, exp.Window)) for node in own)


def _key(
    key: exp.Expr, select: exp.Select, columns: Collection[str], report: Diagnostics
) -> exp.Expr | None:
    if isinstance(key, exp.Paren):
        return _key(key.this, select, columns, report)
    if isinstance(key, exp.Literal):
        at = int(key.name) if key.is_int else 0
        if not 1 <= at <= len(select.expressions):
            hint = f"positions are 1 to {len(select.expressions)}"
            report.add(
                "INVALID_GROUP_KEY", f"GROUP BY position {key.name} does not exist", key, hint
            )
            return None
        found: exp.Expr = select.expressions[at - 1].unalias().copy()
    elif isinstance(key, exp.Column) and not key.table and key.name not in columns:
        output = output_named(select, key, report)
        found = key if output is None else output.this.copy()
    else:
        found = key
    if aggregate := own_aggregate(found):
        place = key if found is not key else aggregate
        report.add(
            "MISPLACED_AGGREGATE", "aggregates cannot be group keys", place, "group by a column"
        )
        return None
    return found
