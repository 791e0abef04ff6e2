"""Affected groups: any query, cut into units of rows that are computed and replaced together.

In: a bound query. Out: its :class:`~headwater.plan.program.AffectedGroupsProgram`.

The unit of a row is a function of what the query groups, compares or preserves: its group keys, all
its columns where it is distinct, the columns of the first relation that no join can leave NULL. A
WHERE on the unit stands in front of what it is a function of, so the query is run for some units
only; and a change touches the units of the joined rows that it can touch
(:mod:`headwater.plan.rules.join_patterns`). A subquery is cut into units of its own: the rows that
it gains and loses are the change of one more input, to any depth. Units are named by a hash: two
that share a name are computed together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

from sqlglot import exp

from headwater.algebra.nodes import RowsRead
from headwater.algebra.scalars import conjuncts
from headwater.analyze.correlated.subqueries import (
    has_predicates,
    outer_columns,
    predicates,
    query_of,
)
from headwater.analyze.definitions import Catalog, View
from headwater.analyze.patterns.rows import rows_read
from headwater.analyze.query_parts import is_aggregate, is_union_all, relations, union_branches
from headwater.analyze.time.versions import AS_OF
from headwater.dialect.syntax import PatternRows
from headwater.plan.program import UNIT, UNITS, AffectedGroupsProgram, Step
from headwater.plan.query_shape import RelationShape, Shape, relations_of
from headwater.plan.rules.bags import BagChange, is_bag
from headwater.plan.rules.contract import Engine, Facts, Rule
from headwater.plan.rules.join_patterns import LATERAL, Pattern, patterns
from headwater.plan.rules.tree_rewrites import (
    is_in,
    may_equal,
    operands,
    outputs,
    split,
    union_all,
    without,
)
from headwater.plan.rules.unit_key import holds_map, name_of, unit_of, unit_of_equal, unit_parts
from headwater.plan.sql.late import late_queries
from headwater.plan.sql.pattern_rows import take_out
from headwater.plan.sql.render import batch_read, print_sql, render, spark
from headwater.plan.unit_name import UnitName


def units_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> AffectedGroupsProgram:
    """Return how touched groups are computed anew, for any query over tables and views.

    Args:
        allowed: allowed lateness, or None if every row counts.
    """
    query = split(view.query)
    builder = _Builder(query, catalog, allowed)
    units = builder.touched(query)
    rows = builder.rows(query, RowsRead.AFTER, UNITS)
    everything, whole_patterns = take_out(builder.rows(query, RowsRead.AFTER, None), "spark", "all")
    if not builder.steps:  # which are not there yet when the tables of matches are filled
        _search_touched(rows, query, units)
    named_rows, patterns = take_out(rows, "spark")
    return AffectedGroupsProgram(
        tuple(builder.steps),
        print_sql(units, "spark"),
        print_sql(named_rows, "spark"),
        print_sql(everything, "spark"),
        tuple(_names(query)),
        one_unit=isinstance(query, exp.Select) and not unit_parts(query),
        complete=isinstance(query, exp.Select) and not _leaves_out(query),
        late=late_queries(shape, allowed),
        patterns=(*patterns, *whole_patterns),
        whole_patterns=whole_patterns,
    )


def _names(query: exp.Query) -> Iterator[UnitName]:
    """How the units of a query are named, branch by branch."""
    if not is_union_all(query):
        columns = outputs(query, "__side")
        names = tuple(column.name for column in columns)
        yield UnitName(unit_of_equal(columns).sql(dialect="spark"), None, names)
        return
    branches = union_branches(query)
    shown = [item.alias_or_name for item in branches[0].selects]
    for number, branch in enumerate(branches):
        held = dict(zip(shown, (item.unalias() for item in branch.selects), strict=True))
        yield name_of(branch, number if len(branches) > 1 else None, held)


def _search_touched(rows: exp.Expr, query: exp.Query, units: exp.Query) -> None:
    """Let row patterns be searched in the partitions only that a change touches, in place.

    Args:
        rows: the rendered rows of the query.
        units: the rendered units touched.
    """
    own = union_branches(query)
    for number, branch in enumerate(union_branches(rows)):
        for found in branch.find_all(PatternRows):
            inner = found.this.this
            shown = {item.alias_or_name: item.unalias() for item in inner.selects}
            unit = unit_of(own[number], number if len(own) > 1 else None)
            unit = unit.transform(
                lambda node, shown=shown: (
                    shown[node.name].copy() if isinstance(node, exp.Column) else node
                )
            )
            inner.where(exp.In(this=unit, query=exp.Subquery(this=units.copy())), copy=False)


class _Builder:
    """Writes the SQL of one view's units; collects the steps for its subqueries."""

    def __init__(self, query: exp.Query, catalog: Catalog, allowed: timedelta | None) -> None:
        self._catalog = catalog
        self._allowed = allowed
        self._relations = {id(item.table): item for item in relations_of(query, catalog)}
        self._bags = BagChange(query, catalog, allowed)
        self._changes: dict[int, str] = {}
        self.steps: list[Step] = []

    def rows(self, query: exp.Query, state: RowsRead, units: str | None) -> exp.Query:
        """Return the rows of a query with their unit last: all rows, or those of some units."""
        if not is_union_all(query):
            return self._combined(query, state, units)
        rendered = exp.Paren(this=render(query, self._catalog, self._reader(state)))
        own = union_branches(query)
        for number, branch in enumerate(union_branches(rendered.this)):
            unit = unit_of(own[number], number if len(own) > 1 else None)
            branch.append("expressions", exp.alias_(unit.copy(), UNIT))
            if units is None:
                continue
            if not unit_parts(own[number]):
                # one unit: an aggregate has its row even of no rows at all, a LIMIT is of all
                whole = exp.select("*").from_(branch.copy().subquery("__whole"))
                branch.replace(whole.where(is_in(exp.column(UNIT), units)))
            else:
                branch.where(is_in(unit, units), copy=False)
        query_ = rendered.this
        assert isinstance(query_, exp.Query)
        return query_

    def _combined(self, query: exp.Query, state: RowsRead, units: str | None) -> exp.Query:
        """The rows of a set operation: those that are equal are a unit, on either side."""
        copy = exp.Paren(this=query.copy())
        for side, own in zip(operands(copy.this), operands(query), strict=True):
            columns = outputs(own, "__side")
            unit = unit_of_equal(columns)
            rows = render(own, self._catalog, self._reader(state)).subquery("__side")
            chosen = exp.select(*columns, exp.alias_(unit, UNIT)).from_(rows)
            if units is not None:
                chosen = chosen.where(is_in(unit, units))
            side.replace(chosen)
        found = copy.this
        assert isinstance(found, exp.Query)
        return found

    def touched(self, query: exp.Query) -> exp.Query:
        """Return the units that a change can touch, each once."""
        if not is_union_all(query):
            parts = [self._touched_equal(side) for side in operands(query)]
        else:
            branches = union_branches(query)
            tags = range(len(branches)) if len(branches) > 1 else (None,)
            pairs = zip(branches, tags, strict=True)
            parts = [part for branch, tag in pairs for part in self._touched(branch, tag)]
        return exp.select("unit").distinct().from_(union_all(parts).subquery("__touched"))

    def _touched_equal(self, side: exp.Query) -> exp.Query:
        unit = unit_of_equal(outputs(side, "__side"))
        change = self._change(side).subquery("__side")
        return exp.select(exp.alias_(unit, "unit")).from_(change)

    def _touched(self, select: exp.Select, tag: int | None) -> Iterator[exp.Select]:
        unit = exp.alias_(unit_of(select, tag), "unit")
        yield from self._touched_rows(select, unit)
        if is_aggregate(select) and not select.args.get("group"):
            # a row even of no rows at all, and what a subquery says of it can change
            for predicate in _predicates(select, ("having",)):
                for condition in self._changed(predicate, certain=False):
                    yield exp.Select(expressions=[unit.copy()], where=exp.Where(this=condition))

    def _touched_rows(
        self, select: exp.Select, column: exp.Expr, also: exp.Expr | None = None
    ) -> Iterator[exp.Select]:
        """The joined rows that a change can touch, if a condition holds: a column of them."""
        sides = ["", *(_side(join) for join in select.args.get("joins") or [])]
        asked = [column] if also is None else [column, also]
        known, touched = patterns(sides, _unused(select, asked, sides))
        for pattern in touched:
            yield self._pattern(select, pattern, [column], also)
        where = select.args.get("where")
        terms = {id(node) for node in conjuncts(where.this if where else None)}
        for predicate in _predicates(select):
            for condition in self._changed(predicate, certain=id(predicate) in terms):
                for pattern in known:
                    both = condition if also is None else exp.and_(condition, also)
                    yield self._pattern(select, pattern, [column], both)

    def _changed(self, predicate: exp.Expr, *, certain: bool) -> Iterator[exp.Expr]:
        """Yield the conditions under which a subquery can judge a row otherwise than before."""
        # A certain predicate is one that a row must make true to pass.
        query = query_of(predicate)
        if outer_columns(query):
            assert isinstance(query, exp.Select)
            equal = None
            if isinstance(predicate, exp.In):
                equal = may_equal(predicate.this, query.selects[0].unalias(), certain)
            for rows in self._touched_rows(query, exp.Literal.number(1), equal):
                yield exp.Exists(this=rows)
        elif isinstance(predicate, exp.In):
            (value,) = outputs(query, "__in")
            rows = exp.select("1").from_(self._change(query).subquery("__in"))
            yield exp.Exists(this=rows.where(may_equal(predicate.this, value, certain)))
        else:
            old, new = (
                render(query, self._catalog, self._reader(state))
                for state in (RowsRead.BEFORE, RowsRead.AFTER)
            )
            if isinstance(predicate, exp.Exists):
                one, other = exp.Exists(this=old), exp.Exists(this=new)
                both = (exp.and_(one, exp.not_(other)), exp.and_(exp.not_(one), other))
                yield exp.or_(*both)
            else:
                same = exp.NullSafeEQ(this=old.subquery(), expression=new.subquery())
                yield exp.not_(same)

    def _pattern(
        self,
        select: exp.Select,
        pattern: Pattern,
        columns: Sequence[exp.Expr],
        condition: exp.Expr | None = None,
    ) -> exp.Select:
        """Return FROM and WHERE of a SELECT as a pattern says, with other columns."""
        # Terms with subqueries are left out of WHERE: a row that one of them excludes is touched.
        items = relations(select)
        aliases = [item.alias_or_name for item in items]
        joins = [None, *(select.args.get("joins") or [])]
        found = exp.Select()
        for number, (item, part, join) in enumerate(zip(items, pattern, joins, strict=True)):
            if part.state is None:
                continue
            gone = _gone(aliases, pattern, number)
            source = self._item(item, part.state, gone)
            if not found.args.get("from_"):
                found.set("from_", exp.From(this=source))
                continue
            on = join.args.get("on") if join is not None else None
            on = on if on is None else without(on, gone)
            kind = None if on is not None else "CROSS"
            found.append("joins", exp.Join(this=source, on=on, kind=kind))
        gone = _gone(aliases, pattern, len(items))
        found.set("expressions", [without(column, gone) for column in columns])
        where = select.args.get("where")
        terms = conjuncts(where.this if where else None)
        terms = [term for term in terms if not any(predicates(term))]
        if isinstance(items[0], PatternRows):
            terms = []  # they are about matches
        if condition is not None:
            terms.append(condition)
        if terms:
            found.set("where", exp.Where(this=exp.and_(*(without(term, gone) for term in terms))))
        return found

    def _item(self, item: exp.Expr, state: RowsRead, gone: set[str]) -> exp.Expr:
        """A FROM item with its rows of a state."""
        if isinstance(item, exp.Unnest):
            return without(item, gone)
        alias = exp.TableAlias(this=exp.to_identifier(item.alias_or_name))
        source = self._rows_of(item, state)
        if isinstance(source, exp.Table):
            source.set("alias", alias)
            return source
        return exp.Subquery(this=source, alias=alias)

    def _rows_of(self, item: exp.Expr, state: RowsRead) -> exp.Expr:
        if isinstance(item, PatternRows):
            return self._rows_of(rows_read(item), state)
        if isinstance(item, exp.Table):
            return self._reader(state)(self._relations[id(item)])
        inner = item.this
        if state is RowsRead.CHANGE:
            return self._change(inner)
        if state is RowsRead.ANY and not (is_bag(inner) and self._bags.appended(inner)):
            now = render(inner, self._catalog, self._reader(RowsRead.AFTER))
            return union_all([now, self._change(inner)])
        at = RowsRead.AFTER if state is RowsRead.ANY else state
        return render(inner, self._catalog, self._reader(at))

    def _change(self, query: exp.Query) -> exp.Query:
        """The rows that a subquery gains and loses."""
        if is_bag(query):
            return self._bags.change(query)
        if id(query) not in self._changes:
            number = len(self._changes)
            self._changes[id(query)] = name = f"__change_{number}"
            units = f"{UNITS}_{number}"
            touched = self.touched(query)
            self.steps.append(Step(units, print_sql(touched, "spark")))
            rows = self._difference(query, units)
            self.steps.append(Step(name, print_sql(rows, "spark")))
        return exp.select("*").from_(self._changes[id(query)])

    def _difference(self, query: exp.Query, units: str) -> exp.Query:
        """The rows of some units that a query has before or after the change, but not both."""
        first = union_branches(query)[0].selects
        names = ", ".join(f"`{item.alias_or_name}`" for item in first)
        sides = [
            f"SELECT {names}, {sign} AS __sign"
            f" FROM ({print_sql(self.rows(query, state, units), 'spark')})"
            for state, sign in ((RowsRead.BEFORE, -1), (RowsRead.AFTER, 1))
        ]
        rows = f"SELECT {names} FROM ({' UNION ALL '.join(sides)})"
        if any(map(holds_map, first)):
            return spark(rows)
        return spark(f"{rows} GROUP BY {names} HAVING sum(__sign) <> 0")

    def _reader(self, state: RowsRead) -> Callable[[RelationShape], exp.Expr]:
        def read(relation: RelationShape) -> exp.Expr:
            ending = state.value
            if state is RowsRead.ANY and self._bags.appends(relation):
                ending = ""
            return batch_read(relation, relation.name + ending, self._allowed)

        return read


def _leaves_out(select: exp.Select) -> bool:
    """Return whether a unit can have rows in FROM that pass WHERE's plain terms, and show none."""
    clauses = any(select.args.get(key) for key in ("having", "qualify", "limit"))
    return clauses or has_predicates(select) or isinstance(relations(select)[0], PatternRows)


def _gone(aliases: Sequence[str], pattern: Pattern, number: int) -> set[str]:
    """The items whose columns are NULL in the condition of a join, and after it."""
    return {
        alias
        for alias, part in zip(aliases, pattern, strict=True)
        if part.null_after is not None and part.null_after < number
    }


def _side(join: exp.Join) -> str:
    if isinstance(join.this, exp.Unnest):
        return LATERAL
    # the rows that came are touched, whether they find a version or not
    return "LEFT" if AS_OF in join.this.meta else str(join.side or "")


def _unused(select: exp.Select, asked: Sequence[exp.Expr], sides: Sequence[str]) -> set[int]:
    """The optional items of LEFT JOINs that only their own condition names."""
    where = select.args.get("where")
    asked = [*asked, *([where.this] if where else []), *_predicates(select)]
    found = set()
    joins = select.args.get("joins") or []
    for number, (side, join) in enumerate(zip(sides[1:], joins, strict=True), 1):
        later = [node for other in joins[number:] for node in (other.args.get("on"), other.this)]
        nodes = [*asked, *(node for node in later if node is not None)]
        names = {column.table for node in nodes for column in node.find_all(exp.Column)}
        if side == "LEFT" and join.this.alias_or_name not in names:
            found.add(number)
    return found


def _predicates(select: exp.Select, clauses: Sequence[str] = ("where", "having")) -> list[exp.Expr]:
    """The subqueries in the SELECT list and in some clauses."""
    roots = (*select.selects, *(select.args.get(key) for key in clauses))
    return [found for root in roots for found in predicates(root)]


def _applies(facts: Facts) -> str | None:
    if facts.corrects and not facts.approximates_inside:
        return "the query is run again for the groups and rows that the change touches"
    return None


RULE = Rule("affected groups", Engine.INCREMENTAL, _applies, units_program)
