"""``watermark()`` in WHERE: a view of the rows that the watermark has not left behind.

In: a SELECT whose columns are resolved. Out: the same without such conditions; the tables in FROM
hold them as marks (:data:`RECENT`). A marked table gains rows and also loses them, when the
watermark moves on: whatever reads it corrects its rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from headwater.analyze.definitions import Catalog, Column
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.query_parts import (
    column_shown,
    conjuncts,
    is_union_all,
    item_named,
    union_branches,
)
from headwater.analyze.time.bounds import differences
from headwater.analyze.time.event_time import MICROSECOND
from headwater.analyze.time.sessions import SESSION
from headwater.dialect.syntax import WindowTable

RECENT = "recent"
"""Mark of a table in FROM: the :class:`Age` that its rows may have."""

_CLOCK = "watermark"
_EXAMPLE = "write WHERE ts > watermark() - INTERVAL '24' HOUR, with microseconds to weeks"


@dataclass(frozen=True, slots=True)
class Age:
    """How far behind the view's watermark an event time may be.

    Attributes:
        column: the event time.
        length: microseconds.
        type: of the column.
    """

    column: str
    length: int
    type: exp.DataType

    @property
    def clause(self) -> str:
        """The condition as SQL."""
        strict = (self.length + 1) % 10**6 == 0
        seconds = f"{(self.length + strict) / 10**6:.6f}".rstrip("0").rstrip(".")
        return f"{self.column} {'>' if strict else '>='} watermark() - INTERVAL '{seconds}' SECOND"


def reads_clock(node: exp.Expr) -> bool:
    """Return whether ``watermark()`` is called anywhere below a node."""
    return any(map(_is_clock, node.find_all(exp.Anonymous)))


def mark_recent(select: exp.Select, catalog: Catalog, report: Diagnostics) -> None:
    """Turn the conditions of a WHERE that compare with ``watermark()`` into marks, in place.

    Args:
        select: bound up to its columns; subqueries in FROM are bound wholly.
    """
    where = select.args.get("where")
    terms = conjuncts(where.this if where else None)
    clocked = [term for term in terms if reads_clock(term) and not term.find(exp.Query)]
    for term in clocked:
        _mark(select, term, catalog, report)
    if clocked:
        rest = [term for term in terms if term not in clocked]
        select.set("where", exp.Where(this=exp.and_(*rest, copy=False)) if rest else None)


def _mark(select: exp.Select, term: exp.Expr, catalog: Catalog, report: Diagnostics) -> None:
    clock = exp.column(_CLOCK, table=_CLOCK)
    compared = term.transform(lambda node: clock.copy() if _is_clock(node) else node)
    found = list(differences(compared))
    if len(found) != 1 or found[0][0] != (_CLOCK, _CLOCK):
        message = "watermark() bounds how old a row may be, and nothing else"
        report.add("MISPLACED_CLAUSE", message, term, _EXAMPLE)
        return
    _, (alias, name), least = found[0]
    tables = _tables(select, alias, name, catalog)
    if tables is None:
        message = f'"{name}" is not the event time of a table in FROM'
        hint = "compare the column that WATERMARK FOR names, in the SELECT that reads the table"
        report.add("MISPLACED_CLAUSE", message, term, hint)
    for table, time in tables or ():
        age = Age(time.name, -(least // MICROSECOND), time.type)
        known: Age = table.meta.get(RECENT, age)
        table.meta[RECENT] = min(known, age, key=lambda each: each.length)


def _is_clock(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() == _CLOCK


Timed = tuple[exp.Expr, Column]
"""A table in FROM and its event time."""


def _tables(select: exp.Select, alias: str, name: str, catalog: Catalog) -> list[Timed] | None:
    """The tables whose event time a column is; None where a bound would not reach them."""
    item = item_named(select, alias)
    if isinstance(item, exp.Table):
        inner = item.this.this if isinstance(item.this, WindowTable) else item
        time = _event_time(inner, catalog)
        return [(inner, time)] if time is not None and time.name == name else None
    if not isinstance(item, exp.Subquery) or SESSION in item.meta or not is_union_all(item.this):
        return None
    found: list[Timed] = []
    for branch in union_branches(item.this):
        column = column_shown(branch, name)
        tables = column and _tables(branch, column.table, column.name, catalog)
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
