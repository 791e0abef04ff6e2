"""Top: the first rows of groups, where rows only come, are among those held and those that came.

In: a bound query that orders rows and takes the first, over a FROM that only gains rows. Out: its
:class:`~headwater.plan.program.AffectedGroupsProgram`.

A row that is not among the first of its group never gets there later, so the table holds all that
is needed: a change is ranked together with the rows held of its groups, and only groups in which a
new row is among the first are replaced. What the order and the groups are made of is kept in hidden
columns where the view does not show it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from sqlglot import exp

from headwater.algebra.scalars import conjuncts
from headwater.analyze.definitions import Catalog, View
from headwater.analyze.query_parts import is_aggregate, is_distinct, relations, window_calls
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.types import BIGINT, is_unknown, spark_type
from headwater.plan.program import CURRENT, UNIT, UNITS, AffectedGroupsProgram, Step
from headwater.plan.query_shape import Shape
from headwater.plan.rules.bags import BagChange, is_bag
from headwater.plan.rules.contract import Engine, Facts, Rule
from headwater.plan.rules.unit_key import name_of, unit_of
from headwater.plan.sql.late import late_queries
from headwater.plan.sql.render import batch_read, print_sql, render, spark, spark_expression

_GAINED, _RANKED, _PLACE, _IS_NEW = "__gained", "__ranked", "__place", "__is_new"
_FUNCTIONS = (exp.RowNumber, exp.Rank, exp.DenseRank)


@dataclass(frozen=True, slots=True)
class TopRows:
    """The first rows of each group.

    Attributes:
        select: whose FROM and WHERE give the rows.
        outputs: name and expression over FROM of each column; None for the place of the row.
        function: which gives the place.
        groups: expressions over FROM; none if all rows are one group.
        order: the order within a group, over FROM.
        count: how many places there are.
    """

    select: exp.Select
    outputs: tuple[tuple[str, exp.Expr | None], ...]
    function: exp.Expr
    groups: tuple[exp.Expr, ...]
    order: tuple[exp.Ordered, ...]
    count: int


def top_of(query: exp.Query) -> TopRows | None:
    """Return what a query takes the first rows of, None if it does anything else.

    Args:
        query: a bound query: ``ORDER BY … LIMIT n``, ``QUALIFY row_number() OVER (…) <= n``, or a
            subquery with that column and ``WHERE`` around it; also rank and dense_rank.
    """
    if not isinstance(query, exp.Select) or query.args.get("offset"):
        return None
    top = _limited(query) if query.args.get("limit") else _ranked(query)
    if top is None or not is_bag(_rows(top, list(_columns(top).values()))):
        return None
    asked = [*top.groups, *(item.this for item in top.order)]
    return top if all(map(_is_kept_exactly, asked)) else None


def top_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> AffectedGroupsProgram:
    """Return the program of a query that :func:`top_of` knows.

    Args:
        view: the bound view, whose inputs only gain rows.
        allowed: allowed lateness, or None if every row counts.
    """
    top = top_of(view.query)
    assert top is not None
    columns, unit = _columns(top), exp.alias_(unit_of(top.select, None), UNIT)
    rows = _rows(top, [*(exp.alias_(node.copy(), name) for name, node in columns.items()), unit])
    everything = render(rows, catalog, lambda each: batch_read(each, each.name, allowed))
    first = _First(top, columns)
    return AffectedGroupsProgram(
        steps=(
            Step(_GAINED, print_sql(BagChange(rows, catalog, allowed).change(rows), "spark")),
            Step(_RANKED, _pretty(first.ranked(first.candidates()))),
        ),
        units_sql=_pretty(f"SELECT DISTINCT {UNIT} AS unit FROM {_RANKED} WHERE {_IS_NEW}"),
        rows_sql=_pretty(f"{first.chosen(_RANKED)} WHERE {UNIT} IN (SELECT unit FROM {UNITS})"),
        all_sql=_pretty(first.of_all(print_sql(everything, "spark"))),
        names=(name_of(top.select, None, columns),),
        one_unit=not top.groups,
        state=tuple(
            (name, spark_type(type_of(columns[name])), columns[name].sql(dialect="spark"))
            for name in first.hidden
        ),
        reads_current=True,
        late=late_queries(shape, allowed),
    )


class _First:
    """Spark SQL that ranks rows and takes the first.

    Args:
        columns: the columns of the rows, without their unit.
    """

    def __init__(self, top: TopRows, columns: Mapping[str, exp.Expr]) -> None:
        self._top = top
        self._kept = ", ".join([*(f"`{name}`" for name in columns), UNIT])
        self._names = {node.sql(): f"`{name}`" for name, node in columns.items()}
        self.hidden = [name for name in columns if name not in dict(top.outputs)]

    def candidates(self) -> str:
        """Return the new rows, and those that the table holds of the same groups."""
        return (
            f"SELECT {self._kept}, false AS {_IS_NEW} FROM {CURRENT}"
            f" WHERE {UNIT} IN (SELECT {UNIT} FROM {_GAINED})"
            f" UNION ALL SELECT {self._kept}, true FROM {_GAINED}"
        )

    def ranked(self, rows: str) -> str:
        """Return the first of some rows, with their place."""
        top = self._top
        groups = ", ".join(self._names[group.sql()] for group in top.groups)
        by = f"PARTITION BY {groups} " if groups else ""
        over = f"{by}ORDER BY {', '.join(map(self._ordered, top.order))}"
        place = f"{top.function.sql(dialect='spark')} OVER ({over})"
        numbered = f"SELECT *, {place} AS {_PLACE} FROM ({rows})"
        return f"SELECT * FROM ({numbered}) WHERE {_PLACE} <= {top.count}"

    def of_all(self, rows: str) -> str:
        """Return the columns of the table for the first of many rows."""
        top = self._top
        if top.groups or not top.select.args.get("limit"):
            return self.chosen(f"({self.ranked(rows)})")
        order = ", ".join(map(self._ordered, top.order))
        return f"{self.chosen(f'({rows})')} ORDER BY {order} LIMIT {top.count}"

    def chosen(self, ranked: str) -> str:
        """Return the columns of the table for rows with a place."""
        shown = (
            f"CAST({_PLACE} AS BIGINT) AS `{name}`" if node is None else f"`{name}`"
            for name, node in self._top.outputs
        )
        hidden = (f"`{name}`" for name in self.hidden)
        return f"SELECT {', '.join([*shown, *hidden, UNIT])} FROM {ranked}"

    def _ordered(self, item: exp.Ordered) -> str:
        by_name = item.copy()
        by_name.set("this", spark_expression(self._names[item.this.sql()]))
        return by_name.sql(dialect="spark")


def _pretty(sql: str) -> str:
    return print_sql(spark(sql), "spark")


def _is_kept_exactly(node: exp.Expr) -> bool:
    """Return whether a column of the type of an expression holds its value without rounding."""
    kind = type_of(node)
    computed = kind.this is exp.DataType.Type.DECIMAL and not isinstance(node, exp.Column)
    return not computed and not is_unknown(kind)


def _limited(select: exp.Select) -> TopRows | None:
    limit, order = select.args["limit"], select.args.get("order")
    others = is_aggregate(select) or is_distinct(select) or window_calls(select)
    if others or order is None or not isinstance(limit, exp.Limit):
        return None
    outputs = {item.alias_or_name: item.unalias() for item in select.selects}
    items = []
    for item in order.expressions:
        over_from = item.copy()
        if isinstance(item.this, exp.Column) and not item.this.table:
            over_from.set("this", outputs[item.this.name].copy())
        items.append(over_from)
    count = int(limit.expression.name)
    return TopRows(select, tuple(outputs.items()), exp.RowNumber(), (), tuple(items), count)


def _ranked(query: exp.Select) -> TopRows | None:
    """QUALIFY, or a WHERE around a subquery, that asks for the first places only."""
    outputs = {item.alias_or_name: item.unalias() for item in query.selects}
    select, condition, below = query, query.args.get("qualify"), dict[str, exp.Expr]()
    if condition is None:
        inner = _ranking(query)
        if inner is None:
            return None
        select, condition = inner, query.args["where"]
        below = {item.alias_or_name: item.unalias() for item in inner.selects}
        outputs = {name: below[node.name] for name, node in outputs.items()}
    others = is_aggregate(select) or is_distinct(select) or _has(select, "limit", "offset")
    terms = conjuncts(condition.this)
    bound = _bound(terms[0]) if len(terms) == 1 and not others else None
    if bound is None:
        return None
    place, count = bound
    window = _bare(below[place.name] if isinstance(place, exp.Column) and below else place)
    if not isinstance(window, exp.Window) or not isinstance(window.this, _FUNCTIONS):
        return None
    chosen = {name: None if _bare(node) == window else node for name, node in outputs.items()}
    if any(node is not None and node.find(exp.Window) for node in chosen.values()):
        return None
    groups, order = window.args.get("partition_by") or (), window.args["order"].expressions
    return TopRows(select, tuple(chosen.items()), window.this, tuple(groups), tuple(order), count)


def _ranking(query: exp.Select) -> exp.Select | None:
    """The only subquery in FROM of a query that does nothing but choose from it."""
    items = relations(query)
    inner = items[0].this if len(items) == 1 and isinstance(items[0], exp.Subquery) else None
    plain = all(isinstance(item.unalias(), exp.Column) for item in query.selects)
    if not isinstance(inner, exp.Select) or not plain or _has(inner, "qualify"):
        return None
    others = _has(query, "group", "having", "distinct", "order") or not _has(query, "where")
    return None if others else inner


def _has(select: exp.Select, *clauses: str) -> bool:
    return any(select.args.get(clause) for clause in clauses)


def _bound(term: exp.Expr) -> tuple[exp.Expr, int] | None:
    """What stands at most at a place, and which place that is."""
    sides = [term.this, term.expression] if isinstance(term, exp.Binary) else []
    if isinstance(term, (exp.GT, exp.GTE)):
        sides.reverse()
    if isinstance(term, exp.EQ) and isinstance(sides[0], exp.Literal):
        sides.reverse()
    if len(sides) != 2 or not (isinstance(sides[1], exp.Literal) and sides[1].is_int):
        return None
    place, count = _bare(sides[0]), int(sides[1].name)
    if isinstance(term, (exp.LTE, exp.GTE)):
        return place, count
    if isinstance(term, (exp.LT, exp.GT)):
        return place, count - 1
    return (place, 1) if isinstance(term, exp.EQ) and count == 1 else None


def _bare(node: exp.Expr) -> exp.Expr:
    """A place without brackets and without the CAST that Spark's functions get."""
    while isinstance(node, exp.Paren) or (isinstance(node, exp.Cast) and node.to == BIGINT):
        node = node.this
    return node


def _rows(top: TopRows, columns: list[exp.Expr]) -> exp.Select:
    """The rows to choose from, with other columns."""
    rows = top.select.copy()
    for clause in ("qualify", "order", "limit"):
        rows.set(clause, None)
    rows.set("expressions", columns or [exp.Literal.number(1)])
    return rows


def _columns(top: TopRows) -> dict[str, exp.Expr]:
    """What is kept of a row: what the view shows, its groups and its order."""
    columns = {name: node for name, node in top.outputs if node is not None}
    texts = {node.sql() for node in columns.values()}
    for node in (*top.groups, *(item.this for item in top.order)):
        if node.sql() not in texts:
            texts.add(node.sql())
            columns[f"_state_{len(columns)}"] = node
    return columns


def _applies(facts: Facts) -> str | None:
    if facts.corrects and facts.append_only and top_of(facts.view.query):
        return "inputs only gain rows, so the first rows are among stored and new rows"
    return None


RULE = Rule("top", Engine.INCREMENTAL, _applies, top_program)
