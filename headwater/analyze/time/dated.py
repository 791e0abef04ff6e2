"""``watermark()`` beside a time: comparisons whose answer changes once for each row.

In: a bound query. Out: the same query, in which ``ts < watermark() - INTERVAL '5' MINUTE`` is a
column of the table in FROM, and the table has the mark :data:`DATED`. An engine gives a marked
table the column, and corrects each row that the watermark passes.

A comparison with ``watermark()`` goes where its time comes from: ``max(ts) < w`` is
``NOT bool_or(ts >= w)``, and a column of a subquery is compared in the subquery. NULL stays NULL.
A comparison that cannot go there stays: then each commit computes the view anew.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from headwater.algebra.ages import Age, Ages, comparison_of
from headwater.analyze.definitions import Catalog
from headwater.analyze.names.scope import NULLABLE
from headwater.analyze.query_parts import (
    is_aggregate,
    is_over,
    is_union_all,
    relations,
    selects,
    union_branches,
)
from headwater.analyze.time.bounds import shifted
from headwater.analyze.time.event_time import MICROSECOND, interval
from headwater.analyze.time.recent import RECENT
from headwater.analyze.time.sessions import SESSION
from headwater.analyze.time.versions import AS_OF
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.dialect.syntax import ViewWatermark, WindowTable
from headwater.dialect.vocabulary import LENGTHS

DATED = "dated"
"""Mark of a table in FROM: by name, the columns that compare its rows with the watermark."""
YOUNG = "young"
"""Mark of a table in FROM: the :class:`Age` that its rows may have, where others of it have any."""

_AGE = "age"
_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
}
GATHERED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.Max: exp.LogicalOr,
    exp.Min: exp.LogicalAnd,
}
"""What says of single rows whether an aggregate of their times is at least something."""
_TIMES = (t.Type.TIMESTAMP, t.Type.TIMESTAMPNTZ, t.Type.TIMESTAMPTZ)


def date_comparisons(query: exp.Query, catalog: Catalog) -> None:
    """Turn what can be dated into columns of the tables in FROM, in place.

    Args:
        query: a bound query.
    """
    for between in [each for each in query.find_all(exp.Between) if each.find(ViewWatermark)]:
        low = exp.GTE(this=between.this.copy(), expression=between.args["low"])
        high = exp.LTE(this=between.this.copy(), expression=between.args["high"])
        between.replace(_typed(exp.Paren(this=_typed(exp.And(this=low, expression=high)))))
        low.type = high.type = t.BOOLEAN
    comparisons = [each for each in query.find_all(*_MIRRORED) if each.find(ViewWatermark)]
    for node in comparisons:
        if found := _compared(node, catalog):
            node.replace(found)
    _mark_tables(query)


def ages_of(table: exp.Table) -> Ages:
    """Return what the marks of a table in FROM say."""
    return Ages(table.meta.get(RECENT), table.meta.get(YOUNG), table.meta.get(DATED, ()))


def mark_ages(table: exp.Table, ages: Ages) -> None:
    """Mark a table in FROM that is read so."""
    for mark, age in ((RECENT, ages.recent), (YOUNG, ages.young), (DATED, ages.dated)):
        if age:
            table.meta[mark] = age


def as_written(node: exp.Expr) -> exp.Expr:
    """Return a copy of a bound expression with the comparisons that the author wrote.

    Args:
        node: over tables with columns of :data:`DATED`.
    """

    def written(part: exp.Expr) -> exp.Expr:
        turned = isinstance(part, exp.Not)
        column = part.this if turned else part
        if not isinstance(column, exp.Column) or _AGE not in column.meta:
            return part
        age: Age = column.meta[_AGE]
        time = exp.column(age.column, table=column.args.get("table"))
        return exp.paren(comparison_of(age, time, young=not turned))

    return node.transform(written)


def _compared(node: exp.Expr, catalog: Catalog) -> exp.Expr | None:
    """What stands for a comparison of a time with the watermark, None if nothing does."""
    parts = _parts(node)
    if parts is None:
        return None
    kind, value, length = parts
    at_least = _young(value, length, catalog)
    later = _young(value, length - 1, catalog) if kind not in (exp.LT, exp.GTE) else None
    if at_least is None or (later is None and kind not in (exp.LT, exp.GTE)):
        return None
    if kind in (exp.GT, exp.LTE):
        assert later is not None
        found = later
    elif kind in (exp.GTE, exp.LT):
        found = at_least
    else:
        assert later is not None
        both = _typed(exp.And(this=at_least, expression=_typed(exp.Not(this=later))))
        found = _typed(exp.Paren(this=both))
    return found if kind in (exp.GT, exp.GTE, exp.EQ) else _typed(exp.Not(this=found))


def _parts(node: exp.Expr) -> tuple[type[exp.Expr], exp.Expr, int] | None:
    """The kind of ``value (kind) watermark() - length``, the value and the length."""
    kind = type(node)
    for turned, one, other in (
        (kind, node.this, node.expression),
        (_MIRRORED[kind], node.expression, node.this),
    ):
        if _own_clock(one):
            continue
        if isinstance(other, exp.DateDiff):
            return _counted(turned, one, other)
        if (length := interval(one.unnest())) is not None:
            # 5 minutes < watermark() - value: value < watermark() - 5 minutes
            between, shift = shifted(other)
            if not isinstance(between, exp.Sub) or _own_clock(between.expression):
                return None
            clock, ahead = shifted(between.this)
            value, later = shifted(between.expression)
            length += later - ahead - shift
        else:
            value, later = shifted(one)
            clock, ahead = shifted(other)
            length = later - ahead
        if isinstance(clock, ViewWatermark) and type_of(value).this in _TIMES:
            return turned, value, length // MICROSECOND
    return None


def _counted(
    kind: type[exp.Expr], count: exp.Expr, between: exp.DateDiff
) -> tuple[type[exp.Expr], exp.Expr, int] | None:
    """The same for ``count (kind) date_diff(unit, value, watermark())``: whole units."""
    unit = LENGTHS.get(between.text("unit").upper())
    whole = isinstance(count, exp.Literal) and count.is_int and int(count.name) > 0
    if not whole or unit is None or not isinstance(between.this, ViewWatermark):
        return None
    if _own_clock(between.expression) or type_of(between.expression).this not in _TIMES:
        return None
    least = int(count.name) + (kind in (exp.LT, exp.GTE))
    if kind in (exp.LT, exp.LTE):  # count < units, count <= units
        return exp.LTE, between.expression, least * (unit // MICROSECOND)
    if kind in (exp.GT, exp.GTE):
        return exp.GT, between.expression, least * (unit // MICROSECOND)
    return None


def _own_clock(node: exp.Expr) -> bool:
    return any(True for _ in node.find_all(ViewWatermark))


def _young(value: exp.Expr, length: int, catalog: Catalog) -> exp.Expr | None:
    """``value >= watermark() - length``, from columns of tables; None if it is not made of them."""
    while isinstance(value, exp.Paren):
        value = value.this
    if isinstance(value, exp.Column):
        return _young_column(value, length, catalog)
    if isinstance(value, exp.Cast) and type_of(value.this).this in _TIMES:
        return _young(value.this, length, catalog)  # a time without a zone is one in UTC
    if isinstance(value, (exp.Window, exp.Filter)):
        inner = _young(value.this, length, catalog)
        if inner is None or not isinstance(value.this, (exp.Max, exp.Min, exp.Filter)):
            return None
        found = value.copy()
        found.set("this", inner)
        return _typed(found)
    if isinstance(value, (exp.Max, exp.Min)) and not value.args.get("expressions"):
        inner = _young(value.this, length, catalog)
        return inner and _typed(GATHERED[type(value)](this=inner))
    if isinstance(value, exp.Coalesce):
        values = [_young(each, length, catalog) for each in (value.this, *value.expressions)]
        found_all = [each for each in values if each is not None]
        if len(found_all) < len(values):
            return None
        return _typed(exp.Coalesce(this=found_all[0], expressions=found_all[1:]))
    if isinstance(value, exp.Subquery) and isinstance(value.this, exp.Select):
        return _young_subquery(value, length, catalog)
    return None


def _young_subquery(value: exp.Subquery, length: int, catalog: Catalog) -> exp.Expr | None:
    """The same of a subquery that is one value."""
    if len(value.this.selects) != 1 or value.this.args.get("limit"):
        return None
    inner = _young(value.this.selects[0].unalias(), length, catalog)
    if inner is None:
        return None
    found = value.copy()
    output = found.this.selects[0]
    output.unalias().replace(inner)
    output.type = t.BOOLEAN
    return _typed(found)


def _young_column(column: exp.Column, length: int, catalog: Catalog) -> exp.Expr | None:
    owner = _owner(column)
    if owner is None:
        return None
    select, item = owner
    age = Age(column.name, length, type_of(column))
    table = _table_of(item)
    if table is not None:
        known = catalog.sources.get(table.name) or catalog.views.get(table.name)
        source = catalog.sources.get(table.name)
        if known is None or (source is not None and not source.kept):
            return None
        if all(each.name != age.column for each in known.fields):
            return None
    elif not isinstance(item, exp.Subquery) or not _add_output(item, age, catalog):
        return None
    found = exp.column(age.flag, table=column.table)
    found.type = t.BOOLEAN
    found.meta.update({NULLABLE: True, _AGE: age})
    return found if _may_stand(column, found, select) else None


def _owner(column: exp.Column) -> tuple[exp.Select, exp.Expr] | None:
    """The SELECT that a column belongs to, and the item of its FROM."""
    select = column.parent_select
    while isinstance(select, exp.Select):
        for item in relations(select):
            if item.alias_or_name == column.table:
                return select, item
        select = select.parent_select
    return None


def _may_stand(column: exp.Column, flag: exp.Expr, select: exp.Select) -> bool:
    """Return whether a column can stand beside another one, once GROUP BY has it too if need be."""
    if column.parent_select is not select or not is_aggregate(select):
        return True
    group = select.args.get("group") or exp.Group()
    keys = group.expressions
    node: exp.Expr | None = column
    while node is not None and node is not select:
        if isinstance(node, exp.AggFunc) and not is_over(node):
            return True
        if isinstance(node, (exp.Where, exp.Join, exp.Group)):
            return True
        if node is not column and node in keys:
            return True
        node = node.parent
    if column not in keys or any(v for k, v in group.args.items() if k != "expressions"):
        return False
    if flag not in keys:
        group.append("expressions", flag.copy())
    return True


def _add_output(item: exp.Subquery, age: Age, catalog: Catalog) -> bool:
    """Let a subquery show a comparison of one of its columns; return whether it can."""
    if SESSION in item.meta or AS_OF in item.meta or not is_union_all(item.this):
        return False
    branches = union_branches(item.this)
    if age.flag in branches[0].named_selects:
        return True
    at = branches[0].named_selects.index(age.column)
    found = []
    for branch in branches:
        value, shift = shifted(branch.selects[at].unalias())
        inner = _young(value, age.length + shift // MICROSECOND, catalog)
        if inner is None:
            return False
        found.append(inner)
    for branch, inner in zip(branches, found, strict=True):
        output = exp.Alias(this=inner, alias=exp.to_identifier(age.flag))
        branch.append("expressions", _typed(output))
    return True


def _typed(node: exp.Expr) -> exp.Expr:
    node.type = t.BOOLEAN
    return node


def _mark_tables(query: exp.Query) -> None:
    """Mark the tables whose rows are compared; those that are read up to two ages, too."""
    mentions: dict[str, list[exp.Table]] = {}
    for table in _tables(query):
        mentions.setdefault(table.name, []).append(table)
    flags: dict[str, dict[str, Age]] = {}
    for column in query.find_all(exp.Column):
        owner = _owner(column) if _AGE in column.meta else None
        if owner is not None and (read := _table_of(owner[1])) is not None:
            flags.setdefault(read.name, {})[column.name] = column.meta[_AGE]
    for name, tables in mentions.items():
        if len({table.meta.get(RECENT) for table in tables}) > 1:
            for table in tables:
                if age := table.meta.pop(RECENT, None):
                    table.meta[YOUNG] = age
                    flags.setdefault(name, {})[age.flag] = age
        if name in flags:
            for table in tables:
                table.meta[DATED] = tuple(flags[name][each] for each in sorted(flags[name]))


def _tables(query: exp.Query) -> Iterator[exp.Table]:
    """Yield the mentions of tables and views in FROM."""
    for select in selects(query):
        yield from (table for item in relations(select) if (table := _table_of(item)) is not None)


def _table_of(item: exp.Expr) -> exp.Table | None:
    """The table or view that a FROM item is, or that its windows are of."""
    inner = item.this.this if isinstance(item.this, WindowTable) else item
    return inner if isinstance(inner, exp.Table) else None
