"""Rule 4: any query, cut into units of rows that are computed and replaced together.

In: a bound query. Out: its :class:`~headwater.plan.program.UnitsProgram`.

The unit of a row is a function of what the query groups, compares or preserves: its group keys, all
its columns where it is distinct, the columns of the first relation that no join can leave NULL. A
WHERE on the unit stands in front of what it is a function of, so the query is run for some units
only; and a change touches the units of the joined rows that it can touch
(:mod:`headwater.plan.touched`). A subquery is cut into units of its own: the rows that it gains and
loses are the change of one more input, to any depth. Units are named by a hash: two that share a
name are computed together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

from sqlglot import exp

from headwater.analyze.changelog import changelog_mode
from headwater.analyze.definitions import Catalog, ChangelogMode, View
from headwater.analyze.shape import (
    is_aggregate,
    is_distinct,
    is_stateful,
    optional,
    relations,
    union_branches,
)
from headwater.analyze.typed import type_of
from headwater.analyze.types import spark_type
from headwater.plan.late import late_queries
from headwater.plan.program import UNIT, UNITS, LinearProgram, Step, UnitsProgram
from headwater.plan.render import batch_read, print_sql, render, spark, spark_expression
from headwater.plan.shape import Relation, Shape, relations_of
from headwater.plan.touched import LATERAL, Part, Pattern, State, touched_patterns

_NOT_HASHED = (exp.DataType.Type.MAP, exp.DataType.Type.UNKNOWN)


def units_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> UnitsProgram:
    """Return rule 4, for any query over tables and views.

    Args:
        view: the bound view.
        shape: its shape.
        catalog: where its relations are defined.
        allowed: allowed lateness, or None where every row counts.
    """
    builder = _Builder(view.query, catalog, allowed)
    units = builder.touched(view.query)
    rows = builder.rows(view.query, State.AFTER, UNITS)
    everything = builder.rows(view.query, State.AFTER, None)
    return UnitsProgram(
        tuple(builder.steps),
        print_sql(units, "spark"),
        print_sql(rows, "spark"),
        print_sql(everything, "spark"),
        late_queries(shape, allowed),
    )


def joined_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> LinearProgram:
    """Return rule 1 of inner joins of what is only appended to: change in, change out.

    Args:
        view: the bound view.
        shape: its shape.
        catalog: where its relations are defined.
        allowed: allowed lateness, or None where every row counts.
    """
    builder = _Builder(view.query, catalog, allowed)
    return LinearProgram(
        print_sql(builder.appended(view.query), "spark"), late_queries(shape, allowed)
    )


class _Builder:
    """Writes the SQL of one view's units; collects the steps for its subqueries."""

    def __init__(self, query: exp.Query, catalog: Catalog, allowed: timedelta | None) -> None:
        self._catalog = catalog
        self._allowed = allowed
        self._relations = {id(item.table): item for item in relations_of(query, catalog)}
        self._changes: dict[int, str] = {}
        self.steps: list[Step] = []

    def rows(self, query: exp.Query, state: State, units: str | None) -> exp.Query:
        """The rows of a query with their unit last, all of them or those of some units."""
        rendered = exp.Paren(this=render(query, self._catalog, self._reader(state)))
        own = union_branches(query)
        for number, branch in enumerate(union_branches(rendered.this)):
            unit = _unit(own[number], number if len(own) > 1 else None)
            branch.append("expressions", exp.alias_(unit.copy(), UNIT))
            if units is None:
                continue
            if is_aggregate(branch) and not branch.args.get("group"):
                # it has one row, even of no rows at all
                whole = exp.select("*").from_(branch.copy().subquery("__global"))
                branch.replace(whole.where(_is_in(exp.column(UNIT), units)))
            else:
                branch.where(_is_in(unit, units), copy=False)
        query_ = rendered.this
        assert isinstance(query_, exp.Query)
        return query_

    def touched(self, query: exp.Query) -> exp.Query:
        """The units that a change can touch, each once."""
        branches = union_branches(query)
        parts: list[exp.Query] = []
        for number, branch in enumerate(branches):
            tag = number if len(branches) > 1 else None
            parts += self._touched(branch, tag)
        return exp.select("unit").distinct().from_(_union_all(parts).subquery("__touched"))

    def appended(self, query: exp.Query) -> exp.Query:
        """The rows that a query of inner joins over appended rows gains, each as often as it does.

        A joined row is new by its first item that is new: those before it are old.
        """
        parts: list[exp.Query] = []
        for branch in union_branches(query):
            items = relations(branch)
            for number, item in enumerate(items):
                if isinstance(item, exp.Unnest):
                    continue
                states = [State.BEFORE] * number + [State.CHANGE] + [State.AFTER] * len(items)
                pattern = tuple(Part(state) for state, _ in zip(states, items, strict=False))
                columns = [item.copy() for item in branch.selects]
                parts.append(self._pattern(branch, pattern, columns))
        return _union_all(parts)

    def _touched(self, select: exp.Select, tag: int | None) -> Iterator[exp.Query]:
        unit = _unit(select, tag)
        sides = ["", *(_side(join) for join in select.args.get("joins") or [])]
        for pattern in touched_patterns(sides, _unused(select, unit, sides)):
            yield self._pattern(select, pattern, [exp.alias_(unit.copy(), "unit")])

    def _pattern(
        self, select: exp.Select, pattern: Pattern, columns: Sequence[exp.Expr]
    ) -> exp.Select:
        """FROM and WHERE of a SELECT as a pattern says, with other columns."""
        items = relations(select)
        aliases = [item.alias_or_name for item in items]
        joins = [None, *(select.args.get("joins") or [])]
        found = exp.Select()
        for number, (item, part, join) in enumerate(zip(items, pattern, joins, strict=True)):
            gone = {
                alias
                for alias, other in zip(aliases, pattern, strict=True)
                if other.null_after is not None and other.null_after < number
            }
            if part.state is None:
                continue
            source = self._item(item, part.state, gone)
            if not found.args.get("from_"):
                found.set("from_", exp.From(this=source))
                continue
            on = join.args.get("on") if join is not None else None
            on = on if on is None else _without(on, gone)
            kind = None if on is not None else "CROSS"
            found.append("joins", exp.Join(this=source, on=on, kind=kind))
        gone = {
            alias
            for alias, part in zip(aliases, pattern, strict=True)
            if part.null_after is not None
        }
        found.set("expressions", [_without(column, gone) for column in columns])
        if where := select.args.get("where"):
            found.set("where", exp.Where(this=_without(where.this, gone)))
        return found

    def _item(self, item: exp.Expr, state: State, gone: set[str]) -> exp.Expr:
        """A FROM item with its rows of a state."""
        if isinstance(item, exp.Unnest):
            return _without(item, gone)
        alias = exp.TableAlias(this=exp.to_identifier(item.alias_or_name))
        source = self._rows_of(item, state)
        if isinstance(source, exp.Table):
            source.set("alias", alias)
            return source
        return exp.Subquery(this=source, alias=alias)

    def _rows_of(self, item: exp.Expr, state: State) -> exp.Expr:
        if isinstance(item, exp.Table):
            return self._reader(state)(self._relations[id(item)])
        inner = item.this
        if state is State.CHANGE:
            return self._change(item)
        if state is State.ANY and not self._is_appended(inner):
            now = render(inner, self._catalog, self._reader(State.AFTER))
            change = self._change(item)
            if isinstance(change, exp.Table):
                change = exp.select("*").from_(change)
            return _union_all([now, change])
        at = State.AFTER if state is State.ANY else state
        return render(inner, self._catalog, self._reader(at))

    def _change(self, item: exp.Expr) -> exp.Query | exp.Table:
        """The rows that a subquery gains and loses: a query, or the step that holds them."""
        inner = item.this
        if self._is_appended(inner):
            return self.appended(inner)
        if not any(map(is_stateful, inner.find_all(exp.Select))):
            return self._removed_and_added(inner)
        if id(item) not in self._changes:
            number = len(self._changes)
            self._changes[id(item)] = name = f"__change_{number}"
            units = f"{UNITS}_{number}"
            touched = self.touched(inner)
            self.steps.append(Step(units, print_sql(touched, "spark")))
            rows = self._difference(inner, units)
            self.steps.append(Step(name, print_sql(rows, "spark")))
        return exp.to_table(self._changes[id(item)])

    def _removed_and_added(self, query: exp.Query) -> exp.Query:
        """The change of a query that looks at each row of one input on its own."""
        parts: list[exp.Query] = []
        for branch in union_branches(query):
            pattern = tuple(
                Part(State.ANY if number else State.CHANGE)
                for number in range(len(relations(branch)))
            )
            parts.append(self._pattern(branch, pattern, [item.copy() for item in branch.selects]))
        return _union_all(parts)

    def _difference(self, query: exp.Query, units: str) -> exp.Query:
        """The rows of some units that a query has before or after the change, but not both."""
        first = union_branches(query)[0].selects
        names = ", ".join(f"`{item.alias_or_name}`" for item in first)
        sides = [
            f"SELECT {names}, {sign} AS __sign"
            f" FROM ({print_sql(self.rows(query, state, units), 'spark')})"
            for state, sign in ((State.BEFORE, -1), (State.AFTER, 1))
        ]
        rows = f"SELECT {names} FROM ({' UNION ALL '.join(sides)})"
        if any(map(_holds_map, first)):
            return spark(rows)
        return spark(f"{rows} GROUP BY {names} HAVING sum(__sign) <> 0")

    def _reader(self, state: State) -> Callable[[Relation], exp.Expr]:
        def read(relation: Relation) -> exp.Expr:
            ending = state.value
            if state is State.ANY and self._appends(relation.name):
                ending = ""
            return batch_read(relation, relation.name + ending, self._allowed)

        return read

    def _appends(self, name: str) -> bool:
        view = self._catalog.views.get(name)
        if view is not None:
            return changelog_mode(view, self._catalog) is ChangelogMode.APPEND
        return not self._catalog.sources[name].primary_key

    def _is_appended(self, query: exp.Query) -> bool:
        """Whether a query only gains rows: inner joins and unions of what is only appended to."""
        for select in query.find_all(exp.Select):
            if is_aggregate(select) or is_distinct(select) or any(optional(select)):
                return False
        return all(self._appends(each.name) for each in relations_of(query, self._catalog))


def _side(join: exp.Join) -> str:
    return LATERAL if isinstance(join.this, exp.Unnest) else str(join.side or "")


def _unit(select: exp.Select, tag: int | None) -> exp.Expr:
    """The name of the unit of a row, as Spark SQL over what stands in FROM."""
    parts: list[exp.Expr] = [part.copy() for part in _unit_parts(select)]
    if tag is not None:
        parts.insert(0, exp.Literal.number(tag))
    if not parts:
        return spark_expression("CAST(0 AS BIGINT)")
    return exp.Anonymous(this="xxhash64", expressions=parts)


def _unit_parts(select: exp.Select) -> list[exp.Expr]:
    if is_aggregate(select):
        group = select.args.get("group")
        return list(group.expressions) if group else []
    if is_distinct(select):
        return [item.unalias() for item in select.selects]
    used: dict[str, dict[str, exp.Column]] = {}
    for column in _compared_columns(select):
        if not _holds_map(column):
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


def _unused(select: exp.Select, unit: exp.Expr, sides: Sequence[str]) -> set[int]:
    """The optional items of LEFT JOINs that only their own condition names."""
    where = select.args.get("where")
    asked = [unit, *([where.this] if where else [])]
    found = set()
    joins = select.args.get("joins") or []
    for number, (side, join) in enumerate(zip(sides[1:], joins, strict=True), 1):
        later = [node for other in joins[number:] for node in (other.args.get("on"), other.this)]
        nodes = [*asked, *(node for node in later if node is not None)]
        names = {column.table for node in nodes for column in node.find_all(exp.Column)}
        if side == "LEFT" and join.this.alias_or_name not in names:
            found.add(number)
    return found


def _without(node: exp.Expr, aliases: set[str]) -> exp.Expr:
    """An expression in which the columns of some items are NULL."""

    def replace(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column) and part.table in aliases:
            return spark_expression(f"CAST(NULL AS {spark_type(type_of(part))})")
        return part

    return node.copy().transform(replace) if aliases else node.copy()


def _holds_map(node: exp.Expr) -> bool:
    kinds = type_of(node).find_all(exp.DataType)
    return any(kind.this in _NOT_HASHED for kind in kinds)


def _is_in(unit: exp.Expr, units: str) -> exp.Expr:
    chosen = exp.select("unit").from_(units)
    return exp.In(this=unit.copy(), query=exp.Subquery(this=chosen))


def _union_all(queries: Sequence[exp.Query]) -> exp.Query:
    found = queries[0]
    for query in queries[1:]:
        found = exp.Union(this=found, expression=query, distinct=False)
    return found
