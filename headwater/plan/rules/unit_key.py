"""The unit of a row: what it is a function of, and its name.

In: a bound SELECT. Out: the name of the unit of each of its rows, as Spark SQL over what stands in
FROM, so that a WHERE on it can stand in front of everything that looks at several rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from headwater.analyze.query_parts import (
    is_aggregate,
    is_distinct,
    optional,
    relations,
    window_calls,
)
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.types import spark_type
from headwater.dialect.syntax import PatternRows
from headwater.plan.sql.render import spark_expression
from headwater.plan.unit_name import UnitName

_NOT_HASHED = (exp.DataType.Type.MAP, exp.DataType.Type.UNKNOWN)


def unit_of(select: exp.Select, tag: int | None) -> exp.Expr:
    """Return the name of the unit of a row.

    Args:
        tag: number of the SELECT within a UNION ALL, None if it is the only one.
    """
    parts = [_of_its_type(part) for part in unit_parts(select)]
    if tag is not None:
        parts.insert(0, exp.Literal.number(tag))
    if not parts:
        return spark_expression("CAST(0 AS BIGINT)")
    return exp.Anonymous(this="xxhash64", expressions=parts)


def name_of(select: exp.Select, tag: int | None, held: Mapping[str, exp.Expr]) -> UnitName:
    """Return how the units of a SELECT are named.

    Args:
        tag: as :func:`unit_of` has it.
        held: what the columns of the table hold, over FROM.
    """
    columns = [
        next((name for name, node in held.items() if node == part), None)
        for part in unit_parts(select)
    ]
    shown = None if None in columns else tuple(name for name in columns if name is not None)
    return UnitName(unit_of(select, tag).sql(dialect="spark"), tag, shown)


def unit_of_equal(columns: Sequence[exp.Expr]) -> exp.Expr:
    """Return the name of the unit of all rows that are equal, on either side of a set operation.

    Args:
        columns: the rows' columns, whose values can be of another type in one of the sides.
    """
    parts = [exp.cast(column.copy(), spark_type(type_of(column))) for column in columns]
    return exp.Anonymous(this="xxhash64", expressions=parts)


def _of_its_type(part: exp.Expr) -> exp.Expr:
    """Give what is computed the type that the language has for it, as columns have theirs."""
    # Equal values have equal hashes only if they are of one type, and Spark's differ from the
    # language's: INT for ``cardinality(x)``, BIGINT for ``i / 2``.
    kind = type_of(part)
    if isinstance(part, exp.Column) or kind.this not in exp.DataType.NUMERIC_TYPES:
        return part.copy()
    return exp.cast(part.copy(), spark_type(kind))


def unit_parts(select: exp.Select) -> list[exp.Expr]:
    """Return what the unit of a row is a function of; nothing if all rows are one unit.

    What looks at several rows looks at rows of one unit only: group keys, the columns that every
    window is partitioned by, all columns of what is distinct, the partition of a row pattern.
    """
    if select.args.get("limit"):
        return []
    first, *_ = relations(select)
    if isinstance(first, PatternRows):
        return [exp.column(key, first.alias_or_name) for key in first.args["clause"].partition]
    # what a subquery says is no function of the row: it changes while the row stays
    outputs = [item for each in select.selects if not (item := each.unalias()).find(exp.Query)]
    windows = window_calls(select)
    if not is_aggregate(select) and not windows:
        return outputs if is_distinct(select) else _preserved(select)
    group = select.args.get("group")
    parts = list(group.expressions) if group else []
    if windows:
        by = [window.args.get("partition_by") or [] for window in windows]
        common = [part for part in by[0] if all(part in other for other in by[1:])]
        common = [part for part in common if not part.find(exp.Query)]
        parts = [part for part in parts if part in common] if is_aggregate(select) else common
    return [part for part in parts if part in outputs] if is_distinct(select) else parts


def _preserved(select: exp.Select) -> list[exp.Expr]:
    """The columns of the first item of FROM that no join can leave NULL."""
    used: dict[str, dict[str, exp.Column]] = {}
    for column in _compared_columns(select):
        if not holds_map(column):
            used.setdefault(column.table, {}).setdefault(column.name, column)
    items = [item.alias_or_name for item in relations(select)]
    for alias, nullable in zip(items, optional(select), strict=True):
        if alias in used and not nullable:
            return list(used[alias].values())
    return [column for alias in items for column in used.get(alias, {}).values()]


def _compared_columns(select: exp.Select) -> Iterator[exp.Column]:
    """The columns of the SELECT list and of ON: not those of WHERE, which a guard adds to."""
    for item in select.selects:
        yield from item.find_all(exp.Column)
    for join in select.args.get("joins") or []:
        if (on := join.args.get("on")) is not None:
            yield from on.find_all(exp.Column)
        if isinstance(join.this, exp.Unnest):
            yield from join.this.find_all(exp.Column)


def holds_map(node: exp.Expr) -> bool:
    """Return whether values of a typed expression can be neither hashed nor compared."""
    kinds = type_of(node).find_all(exp.DataType)
    return any(kind.this in _NOT_HASHED for kind in kinds)
