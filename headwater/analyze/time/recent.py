"""``watermark()`` in WHERE: a view of the rows that the watermark has not left behind.

In: a SELECT whose columns are resolved. Out: the same without such conditions; the tables in FROM
hold them as marks (:data:`RECENT`). A marked table gains rows and also loses them, when the
watermark moves on: whatever reads it corrects its rows. What else is compared with ``watermark()``
stays: :mod:`headwater.analyze.time.dated` reads it when the whole query is bound.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sqlglot import exp

from headwater.algebra.ages import Age
from headwater.algebra.scalars import conjunction, conjuncts
from headwater.analyze.definitions import Catalog, Column
from headwater.analyze.query_parts import column_shown, is_union_all, item_named, union_branches
from headwater.analyze.time.bounds import differences
from headwater.analyze.time.event_time import MICROSECOND
from headwater.analyze.time.sessions import SESSION
from headwater.dialect.syntax import ViewWatermark, WindowTable

RECENT = "recent"
"""Mark of a table in FROM: the :class:`Age` that its rows may have."""

_CLOCK = "watermark"


def mark_recent(select: exp.Select, catalog: Catalog) -> None:
    """Turn the conditions of a WHERE that bound how old a row may be into marks, in place.

    Args:
        select: bound up to its columns; subqueries in FROM are bound wholly.
    """
    where = select.args.get("where")
    terms = conjuncts(where.this if where else None)
    rest = [each for each in terms if not _mark(each, partial(item_named, select), catalog)]
    if len(rest) < len(terms):
        select.set("where", exp.Where(this=exp.and_(*rest, copy=False)) if rest else None)


def mark_joined(join: exp.Join, catalog: Catalog) -> None:
    """Do the same with the conditions of ON about the table that is joined, in place.

    Args:
        join: bound.
    """
    table = join.this
    if join.side not in ("", "LEFT") or not isinstance(table, exp.Table):
        return

    def named(alias: str) -> exp.Expr | None:
        return table if alias == table.alias_or_name else None

    terms = conjuncts(join.args.get("on"))
    rest = [each for each in terms if not _mark(each, named, catalog)]
    if len(rest) < len(terms):
        join.set("on", conjunction(rest or [exp.true()]))


def _mark(term: exp.Expr, item_of: Callable[[str], exp.Expr | None], catalog: Catalog) -> bool:
    """Return whether a condition bounds how old a row may be, once its tables have the mark."""
    if not term.find(ViewWatermark) or term.find(exp.Query):
        return False
    clock = exp.column(_CLOCK, table=_CLOCK)
    compared = term.copy()
    for call in list(compared.find_all(ViewWatermark)):
        call.replace(clock.copy())
    found = list(differences(compared))
    if len(found) != 1 or found[0][0] != (_CLOCK, _CLOCK):
        return False
    _, (alias, name), least = found[0]
    tables = _tables(item_of(alias), name, catalog)
    for table, time in tables or ():
        age = Age(time.name, -(least // MICROSECOND), time.type)
        known: Age = table.meta.get(RECENT, age)
        table.meta[RECENT] = min(known, age, key=lambda each: each.length)
    return tables is not None


Timed = tuple[exp.Expr, Column]
"""A table in FROM and its event time."""


def _tables(item: exp.Expr | None, name: str, catalog: Catalog) -> list[Timed] | None:
    """The tables whose event time a column is; None where a bound would not reach them."""
    if isinstance(item, exp.Table):
        inner = item.this.this if isinstance(item.this, WindowTable) else item
        time = _event_time(inner, catalog)
        return [(inner, time)] if time is not None and time.name == name else None
    if not isinstance(item, exp.Subquery) or SESSION in item.meta or not is_union_all(item.this):
        return None
    found: list[Timed] = []
    for branch in union_branches(item.this):
        column = column_shown(branch, name)
        tables = column and _tables(item_named(branch, column.table), column.name, catalog)
        if not tables:
            return None
        found += tables
    return found


def _event_time(table: exp.Expr, catalog: Catalog) -> Column | None:
    """The event time of a landed table; of a keyed one, that of its changes."""
    source = catalog.source_of(table.name)
    if source is None or not source.landed or not source.watermark:
        return None
    return next(each for each in source.columns if each.name == source.watermark.column)
