"""Top: the first rows of groups, where rows only come, are among those held and those that came.

In: a view whose tree orders rows and takes the first, of rows that only come. Out: its
:class:`~headwater.plan.program.AffectedGroupsProgram`.

A row that is not among the first of its group never gets there later, so the table holds all that
is needed: a change is ranked together with the rows held of its groups, and only groups in which a
new row is among the first are replaced. What the order and the groups are made of is kept in hidden
columns where the view does not show it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlglot import exp

from headwater.algebra.change import ChangeTree, change_of, has_change
from headwater.algebra.nodes import (
    Column,
    Computed,
    Filter,
    Node,
    Project,
    Query,
    Scalar,
    Top,
    Window,
    from_bottom,
)
from headwater.algebra.scalars import column, fresh, names_in, passed_on, replaced
from headwater.analyze.definitions import Catalog, View
from headwater.analyze.query_parts import relations
from headwater.analyze.rules.changelog import ChangelogModes
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.types import is_unknown, spark_type
from headwater.plan.program import CURRENT, UNIT, UNITS, AffectedGroupsProgram, Step
from headwater.plan.query_shape import Shape
from headwater.plan.rules.bags import is_bag
from headwater.plan.rules.contract import Engine, Facts, Rule
from headwater.plan.sql.change import change_in, rows_of
from headwater.plan.sql.late import late_queries
from headwater.plan.sql.render import print_sql, spark, spark_expression
from headwater.plan.unit_name import UnitName

_GAINED, _RANKED, _PLACE, _IS_NEW = "__gained", "__ranked", "__place", "__is_new"
_FUNCTIONS = (exp.RowNumber, exp.Rank, exp.DenseRank)


@dataclass(frozen=True, slots=True)
class _Ranking:
    """What a tree takes the first rows of, and how.

    Attributes:
        rows: the node with all rows.
        outputs: label and value over these rows of each column; None for the place of the row.
        function: which gives the place.
        groups: values over the rows; none if all rows are one group.
        order: the order within a group.
        count: how many places there are.
        alone: whether exactly so many rows are taken, of one group.
    """

    rows: Node
    outputs: tuple[tuple[str, Scalar | None], ...]
    function: exp.Expr
    groups: tuple[Scalar, ...]
    order: tuple[exp.Ordered, ...]
    count: int
    alone: bool = False

    @property
    def decisive(self) -> tuple[Scalar, ...]:
        """What decides which rows are first."""
        return (*self.groups, *(item.this for item in self.order))


def _ranking_of(tree: Query, appends: Callable[[str], bool]) -> _Ranking | None:
    """What a tree takes the first rows of, where these only come; None if it does anything else.

    Args:
        appends: whether a relation only gains rows.
    """
    found = _ranking(tree)
    if found is None or not all(map(has_change, from_bottom(found.rows))):
        return None
    change = change_of(found.rows, appends)
    if change is None or change.sign:
        return None
    made = _computed_on_top(found.rows)
    return found if all(_is_kept_exactly(each, made) for each in found.decisive) else None


def _is_kept_exactly(value: Scalar, made: Collection[str]) -> bool:
    """Whether a column of the type of a value holds it without rounding."""
    kind = type_of(value)
    computed = not isinstance(value, exp.Column) or value.name in made
    return not is_unknown(kind) and not (computed and kind.this is exp.DataType.Type.DECIMAL)


def _computed_on_top(node: Node) -> set[str]:
    """The columns of a node that it computes, and does not read."""
    found: set[str] = set()
    while isinstance(node, (Filter, Project)):
        if isinstance(node, Project):
            found.update(each.name for each in node.outputs if not _is_column(each.value))
        node = node.input
    return found


def _ranking(tree: Query) -> _Ranking | None:
    node, values = _below_projections(tree.root)
    outputs = [(label, values[name]) for label, name in tree.labels]
    match node:
        case Top(rows, order, exp.Literal() as limit, None, False) if limit.is_int and order:
            found = tuple(outputs)
            return _Ranking(rows, found, exp.RowNumber(), (), order, int(limit.name), alone=True)
        case Filter(numbered, predicate):
            return _ranked(numbered, predicate, outputs)
    return None


def _ranked(
    node: Node, predicate: Scalar, outputs: Sequence[tuple[str, Scalar]]
) -> _Ranking | None:
    """The first rows by the only call of a window that a predicate compares."""
    bound = _bound(predicate)
    node, values = _below_projections(node)
    if bound is None or not isinstance(node, Window) or len(node.calls) != 1:
        return None
    (call,), (place, count) = node.calls, bound
    if not _is(replaced(place, values), call.name) or not isinstance(call.value, _FUNCTIONS):
        return None
    if _repeats((value for _, value in outputs), values):
        return None
    found = [(label, replaced(value, values)) for label, value in outputs]
    shown = tuple((label, None if _is(value, call.name) else value) for label, value in found)
    if any(value is not None and call.name in names_in([value]) for _, value in shown):
        return None
    return _Ranking(node.input, shown, call.value, node.partition, node.order, count)


def _below_projections(node: Node) -> tuple[Node, dict[str, Scalar]]:
    """What stands below projections, and the values of the columns here."""
    values: dict[str, Scalar] = {each.name: column(each.name, each) for each in node.columns}
    while isinstance(node, Project):
        own = {each.name: each.value for each in node.outputs}
        if _repeats(values.values(), own):
            break
        values = {name: replaced(value, own) for name, value in values.items()}
        node = node.input
    return node, values


def _bound(term: exp.Expr) -> tuple[exp.Column, int] | None:
    """The column that is at most a number, and the number."""
    term = term.unnest()
    sides = [term.this, term.expression] if isinstance(term, exp.Binary) else []
    if isinstance(term, (exp.GT, exp.GTE)):
        sides.reverse()
    if isinstance(term, exp.EQ) and isinstance(sides[0], exp.Literal):
        sides.reverse()
    if len(sides) != 2 or not (isinstance(sides[1], exp.Literal) and sides[1].is_int):
        return None
    place, count = sides[0].unnest(), int(sides[1].name)
    if not isinstance(place, exp.Column):
        return None
    if isinstance(term, (exp.LTE, exp.GTE)):
        return place, count
    if isinstance(term, (exp.LT, exp.GT)):
        return place, count - 1
    return (place, 1) if isinstance(term, exp.EQ) and count == 1 else None


def _repeats(over: Iterable[Scalar], values: Mapping[str, Scalar]) -> bool:
    """Whether a value that is computed would stand in others more than once."""
    uses = Counter(each.name for value in over for each in value.find_all(exp.Column))
    return any(n > 1 and not _is_column(values[name]) for name, n in uses.items())


def _is(value: Scalar, name: str) -> bool:
    value = value.unnest()
    return isinstance(value, exp.Column) and value.name == name


def _is_column(value: Scalar) -> bool:
    return isinstance(value, exp.Column)


def top_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> AffectedGroupsProgram:
    """Return the program of a view whose tree takes the first rows.

    Args:
        view: the bound view, whose inputs only gain rows.
        allowed: allowed lateness, or None if every row counts.
    """
    ranking = _ranking_of(view.tree, ChangelogModes(catalog).appends)
    assert ranking is not None
    first = _First(ranking)
    root, labels = first.rows.root, first.rows.labels
    gained = rows_of(change_in(catalog, root), labels, catalog, allowed)
    everything = rows_of(ChangeTree(root), labels, catalog, allowed)
    return AffectedGroupsProgram(
        steps=(
            Step(_GAINED, print_sql(first.named(gained), "spark")),
            Step(_RANKED, _pretty(first.ranked(first.candidates()))),
        ),
        units_sql=_pretty(f"SELECT DISTINCT {UNIT} AS unit FROM {_RANKED} WHERE {_IS_NEW}"),
        rows_sql=_pretty(f"{first.chosen(_RANKED)} WHERE {UNIT} IN (SELECT unit FROM {UNITS})"),
        all_sql=_pretty(first.of_all(print_sql(first.named(everything), "spark"))),
        names=(UnitName(first.unit.sql(dialect="spark"), None, first.groups),),
        one_unit=not first.groups,
        state=tuple(
            (name, spark_type(type_of(value)), value.sql(dialect="spark"))
            for name, value in first.hidden.items()
        ),
        reads_current=True,
        late=late_queries(shape, allowed),
    )


class _First:
    """Ranks rows and takes the first.

    Attributes:
        rows: what the table holds of a row, as a tree; its labels are the columns of the table.
        groups: those of them that tell groups.
        hidden: by name, the values that the view does not show.
    """

    def __init__(self, ranking: _Ranking) -> None:
        self._ranking = ranking
        values = {label: value for label, value in ranking.outputs if value is not None}
        self.hidden: dict[str, Scalar] = {}
        names = {value: label for label, value in reversed(values.items())}
        for value in ranking.decisive:
            if value not in names:
                names[value] = name = f"_state_{len(values)}"
                values[name] = self.hidden[name] = value
        self.rows = _projected(ranking.rows, values)
        self.groups = tuple(names[value] for value in ranking.groups)
        self._types = {name: type_of(value) for name, value in values.items()}
        self._order = [_by(item, names[item.this]) for item in ranking.order]
        self._kept = ", ".join([*(f"`{name}`" for name in values), UNIT])

    @property
    def unit(self) -> exp.Expr:
        """The name of the unit of a row, which is its group."""
        if not self.groups:
            return spark_expression("CAST(0 AS BIGINT)")
        parts: list[exp.Expr] = []
        for name in self.groups:  # equal values have equal hashes only if they are of one type
            kind, part = self._types[name], exp.column(name, quoted=True)
            numeric = kind.this in exp.DataType.NUMERIC_TYPES
            parts.append(exp.cast(part, spark_type(kind)) if numeric else part)
        return exp.Anonymous(this="xxhash64", expressions=parts)

    def named(self, rows: exp.Query) -> exp.Select:
        """Return rows with their unit last."""
        return exp.select("*", exp.alias_(self.unit, UNIT)).from_(rows.subquery("__rows"))

    def candidates(self) -> str:
        """Return the new rows, and those that the table holds of the same groups."""
        return (
            f"SELECT {self._kept}, false AS {_IS_NEW} FROM {CURRENT}"
            f" WHERE {UNIT} IN (SELECT {UNIT} FROM {_GAINED})"
            f" UNION ALL SELECT {self._kept}, true FROM {_GAINED}"
        )

    def ranked(self, rows: str) -> str:
        """Return the first of some rows, with their place."""
        groups = ", ".join(f"`{name}`" for name in self.groups)
        by = f"PARTITION BY {groups} " if groups else ""
        over = f"{by}ORDER BY {', '.join(self._order)}"
        place = f"{self._ranking.function.sql(dialect='spark')} OVER ({over})"
        numbered = f"SELECT *, {place} AS {_PLACE} FROM ({rows})"
        return f"SELECT * FROM ({numbered}) WHERE {_PLACE} <= {self._ranking.count}"

    def of_all(self, rows: str) -> str:
        """Return the columns of the table for the first of many rows."""
        if not self._ranking.alone:
            return self.chosen(f"({self.ranked(rows)})")
        order, count = ", ".join(self._order), self._ranking.count
        return f"{self.chosen(f'({rows})')} ORDER BY {order} LIMIT {count}"

    def chosen(self, ranked: str) -> str:
        """Return the columns of the table for rows with a place."""
        shown = (
            f"CAST({_PLACE} AS BIGINT) AS `{label}`" if value is None else f"`{label}`"
            for label, value in self._ranking.outputs
        )
        hidden = (f"`{name}`" for name in self.hidden)
        return f"SELECT {', '.join([*shown, *hidden, UNIT])} FROM {ranked}"


def _projected(node: Node, values: Mapping[str, Scalar]) -> Query:
    """A tree with some values over a node, each under its label; equal ones are one column."""
    found: dict[Scalar, Computed] = {}
    for label, value in values.items():
        if isinstance(value, exp.Column):
            found.setdefault(value, passed_on(node.by_name[value.name]))
        elif value not in found:
            taken = node.named.union(each.name for each in found.values())
            found[value] = Computed(Column(fresh(label, taken), type_of(value)), value)
    shown = tuple((label, found[value].name) for label, value in values.items())
    return Query(Project(node, tuple(found.values())), shown)


def _by(item: exp.Ordered, name: str) -> str:
    """An item of an order by a column of the table, as Spark writes it."""
    found = item.copy()
    found.set("this", exp.column(name, quoted=True))
    return found.sql(dialect="spark")


def _pretty(sql: str) -> str:
    return print_sql(spark(sql), "spark")


def _applies(facts: Facts) -> str | None:
    view = facts.view
    if not facts.corrects or _ranking_of(view.tree, facts.appends) is None:
        return None
    if view.is_delta and not _was_top(view.query):
        return None
    return "inputs only gain rows, so the first rows are among stored and new rows"


def _was_top(query: exp.Expr) -> bool:
    """Whether releases that looked at no tree took the first rows of a query so.

    A Delta table that was kept by affected groups has other hidden columns, and keeps them.
    """
    if not isinstance(query, exp.Select):
        return False
    select: exp.Expr = query
    if not (query.args.get("limit") or query.args.get("qualify")):
        (item, *others), outputs = relations(query), (each.unalias() for each in query.selects)
        if others or not query.args.get("where") or not all(map(_is_column, outputs)):
            return False
        select = item.this
    if not isinstance(select, exp.Select):
        return False
    return all(is_bag(each.this) for each in relations(select) if isinstance(each, exp.Subquery))


RULE = Rule("top", Engine.INCREMENTAL, _applies, top_program, by_tree=True)
