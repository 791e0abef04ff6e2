"""The steps of a SELECT as queries: each has the rows that are left of those asked for.

In: a rendered SELECT and values by output column. Out: stages in the order in which SQL applies
them: an input, lateness, filters, joins, HAVING, QUALIFY, LIMIT, values of several rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from sqlglot import exp

from headwater.analyze.definitions import WATERMARK_COLUMN
from headwater.analyze.time.dated import as_written
from headwater.dialect.syntax import ViewWatermark
from headwater.plan.sql.render import READ
from headwater.serve.why.conditions import NULL
from headwater.serve.why.traced import aggregates, is_grouped, names_of, subqueries, where_of

INPUT, LATE, FILTER, BAD, JOIN = "input", "late", "filter", "quarantine", "join"
GROUPS, VALUE = "groups", "value"

Wanted = Mapping[str, tuple[str, str]]
"""By column, the text of the value asked for and DuckDB's type of the column."""
_OF_GROUPS = ("having", "qualify", "limit", "order", "offset")


@dataclass(frozen=True, slots=True)
class Stage:
    """What is left of the rows asked for.

    Attributes:
        name: of the step.
        on: the input or the condition, as SQL.
        query: the rows that are left.
        lost: rows that it removes, if it leaves none.
        input: the input, of a stage that only reads it.
        values: of an input, the texts of the values asked for by column.
    """

    name: str
    on: str
    query: exp.Select
    lost: exp.Select | None = None
    input: str = ""
    values: Mapping[str, str] = field(default_factory=dict)


class Stages:
    """The stages of one view.

    Args:
        bare: its SELECT without conditions that leave out rows on which it fails.
        columns: the columns of an input to show, also of one with rows that are too late.
        reasons: why rows are left out on which it fails.
    """

    def __init__(
        self, bare: exp.Query, columns: Callable[[str, bool], list[str]], reasons: str
    ) -> None:
        selects = bare.find_all(exp.Select)
        self._written = {_text(term) for select in selects for term in where_of(select)}
        self._columns, self._reasons = columns, reasons

    def branches(self, query: exp.Expr, wanted: Wanted) -> list[Iterator[Stage]]:
        """Return the stages of each branch of a UNION, of other queries those of one."""
        while isinstance(query, exp.Subquery):
            query = query.this
        if not isinstance(query, exp.SetOperation):
            assert isinstance(query, exp.Select)
            return [self.of(query, wanted)]
        left = self.branches(query.this, wanted)
        if isinstance(query, exp.Union):
            pairs = zip(names_of(query.this), names_of(query.expression), strict=True)
            there = {two: wanted[one] for one, two in pairs if one in wanted}
            return [*left, *self.branches(query.expression, there)]
        name = "except" if isinstance(query, exp.Except) else "intersect"
        end = self.whole(query, wanted, name, f"rows of the other side of {name.upper()}")
        if len(left) > 1:
            left = [iter([self.whole(query.this, wanted, INPUT, "this side")])]
        return [chain(left[0], [end])]

    def of(self, select: exp.Select, wanted: Wanted) -> Iterator[Stage]:
        """Yield the stages of a SELECT."""
        outputs = {item.alias_or_name: item.unalias() for item in select.selects}
        plain = {name: each for name, each in wanted.items() if not _is_computed(outputs[name])}
        terms = [_equals(outputs[name], *each) for name, each in plain.items()]
        yield from self._rows(select, terms)
        held = select.copy()
        ends = {key: held.args.get(key) for key in _OF_GROUPS}
        for key in ends:
            held.set(key, None)
        if is_grouped(select):
            yield self.whole(held, plain, GROUPS, "groups of these rows")
        for key in ("having", "qualify", "limit"):
            if (end := ends[key]) is None:
                continue
            narrower = held.copy()
            for each in (key, *(("order", "offset") if key == "limit" else ())):
                narrower.set(each, ends[each])
            text = _text(end.this) if key != "limit" else _text(end).strip()
            lost = self.whole(held, plain).query
            yield self.whole(narrower, plain, key, text, lost)
            held = narrower
        if len(plain) < len(wanted):
            text = " AND ".join(f"{n} = {wanted[n][0]}" for n in wanted if n not in plain)
            yield self.whole(held, wanted, VALUE, text, self.whole(held, plain).query)

    def whole(
        self,
        query: exp.Query,
        wanted: Wanted,
        name: str = "",
        on: str = "",
        lost: exp.Select | None = None,
    ) -> Stage:
        """Return the stage of the rows of a query that have the values."""
        terms = [_equals(exp.column(column, "__v"), *each) for column, each in wanted.items()]
        rows = exp.select("*").from_(query.copy().subquery("__v"))
        return Stage(name, on, rows.where(*terms) if terms else rows, lost)

    def _rows(self, select: exp.Select, wanted: Sequence[exp.Expr]) -> Iterator[Stage]:
        """FROM, joins and WHERE."""
        source = select.args.get("from_")
        if source is None:
            return
        joins: list[exp.Join] = list(select.args.get("joins") or [])
        outer = any(join.side in ("RIGHT", "FULL") for join in joins)
        first, joins = (source.this, joins) if outer else _reordered(source.this, joins, wanted)
        known = {first.alias_or_name}
        own = [term for term in wanted if _names(term) <= known and not outer]
        yield from self._item(first, own)
        query = exp.select("*").from_(first.copy())
        query = query.where(*own) if own else query
        waiting = [term for term in where_of(select) if term not in own]
        asked = [term for term in wanted if term not in own]
        for join in [None, *joins]:
            if join is not None:
                known.add(join.this.alias_or_name)
                query, before = query.copy(), query
                query.append("joins", join.copy())
                yield from self._joined(query, join, before)
            last = join is (joins[-1] if joins else None)
            for terms in (asked, waiting):
                for term in list(terms):
                    if last or (not outer and _names(term) <= known and not subqueries(term)):
                        terms.remove(term)
                        query, before = query.where(term.copy()), query
                        yield self._filter(query, term, before, terms is asked)

    def _item(self, item: exp.Expr, wanted: Sequence[exp.Expr]) -> Iterator[Stage]:
        """The first item of FROM: of an input all rows, then those that are not too late."""
        alias = item.alias_or_name
        inner = item.this if isinstance(item, exp.Subquery) else None
        if READ not in item.meta:
            pairs = {term.this.name: _value(term) for term in wanted if _is_pair(term)}
            if isinstance(inner, exp.Select) and len(pairs) == len(wanted):
                yield from self.of(inner, pairs)
            else:
                rows = exp.select("*").from_(item.copy())
                yield Stage(INPUT, f"subquery {alias}", rows.where(*wanted) if wanted else rows)
            return
        name = item.meta[READ]
        raw, late = _without_lateness(item)
        rows = exp.select("*").from_(raw)
        rows = rows.where(*wanted) if wanted else rows
        values = {term.this.name: _value(term)[0] for term in wanted if _is_pair(term)}
        said = " AND ".join(f"{column} = {text}" for column, text in values.items())
        yield Stage(INPUT, f"{name}: {said}" if said else name, rows, None, name, values)
        if late is not None:
            yield self._late(item, name, late, rows, wanted)

    def _late(
        self,
        item: exp.Expr,
        name: str,
        late: exp.Expr,
        rows: exp.Select,
        wanted: Sequence[exp.Expr],
    ) -> Stage:
        """Rows of an input that are not too late, or recent enough."""
        left = exp.select("*").from_(item.copy())
        left = left.where(*wanted) if wanted else left
        shown = [exp.column(column, item.alias_or_name) for column in self._columns(name, True)]
        lost = rows.copy()
        lost.set("expressions", shown)
        of_lateness = any(c.name == WATERMARK_COLUMN for c in late.find_all(exp.Column))
        return Stage(LATE if of_lateness else FILTER, _text(late), left, lost)

    def _joined(self, query: exp.Select, join: exp.Join, before: exp.Select) -> Iterator[Stage]:
        """A join: with rows that are too late first, as these may be the matches."""
        on = join.args.get("on")
        text = f"{_name(join.this)} ON {_text(on)}" if on is not None else _name(join.this)
        lost = self._shown(before)
        raw, late = _without_lateness(join.this)
        if READ in join.this.meta and late is not None and not join.side:
            early = query.copy()
            early.args["joins"][-1].set("this", raw)
            yield Stage(JOIN, text, early, lost)
            yield Stage(LATE, f"{_name(join.this)}: {_text(late)}", query, self._shown(early))
        else:
            yield Stage(JOIN, text, query, lost)

    def _filter(self, query: exp.Select, term: exp.Expr, before: exp.Select, asked: bool) -> Stage:
        lost = self._shown(before)
        if asked:
            return Stage(VALUE, _text(term), query, lost)
        if _text(term) in self._written:
            return Stage(FILTER, _text(term), query, lost)
        return Stage(BAD, self._reasons or _text(term), query, lost)

    def _shown(self, query: exp.Select) -> exp.Select:
        """The rows of a query with the columns of its inputs that people know."""
        items = [query.args["from_"].this, *(join.this for join in query.args.get("joins") or [])]
        if not all(READ in item.meta for item in items):
            return query
        shown = query.copy()
        columns = [
            exp.column(column, item.alias_or_name)
            for item in items
            for column in self._columns(item.meta[READ], False)
        ]
        shown.set("expressions", columns)
        return shown


def _reordered(
    first: exp.Expr, joins: list[exp.Join], wanted: Sequence[exp.Expr]
) -> tuple[exp.Expr, list[exp.Join]]:
    """Put the item first of which values are asked for, if inner joins allow it."""
    asked = set().union(*map(_names, wanted)) if wanted else set()
    if first.alias_or_name in asked or not asked or any(join.side for join in joins):
        return first, joins
    for number, join in enumerate(joins):
        if join.this.alias_or_name in asked and not isinstance(
            join.this, (exp.Lateral, exp.Unnest)
        ):
            ons = [each.args["on"].copy() for each in joins[: number + 1] if each.args.get("on")]
            before = [first, *(each.this for each in joins[:number])]
            moved = [exp.Join(this=item.copy(), kind="CROSS") for item in before]
            if ons:
                moved[-1] = exp.Join(this=before[-1].copy(), on=exp.and_(*ons))
            return join.this, [*moved, *joins[number + 1 :]]
    return first, joins


def _without_lateness(item: exp.Expr) -> tuple[exp.Expr, exp.Expr | None]:
    """Return an item of FROM without the condition by which its read leaves rows out."""
    raw = item.copy()
    inner = raw.this
    if READ not in item.meta or not isinstance(inner, exp.Select) or not inner.args.get("where"):
        return raw, None
    late = inner.args["where"].this
    inner.set("where", None)
    return raw, late


def _is_computed(node: exp.Expr) -> bool:
    """Return whether an output is computed of more than one row."""
    return bool(aggregates(node) or node.find(exp.Window) or subqueries(node))


def _is_pair(term: exp.Expr) -> bool:
    return isinstance(term.this, exp.Column)


def _value(term: exp.Expr) -> tuple[str, str]:
    """The text and the type of a value asked for."""
    if isinstance(term, exp.Is):
        return NULL, "VARCHAR"
    return term.expression.this.name, term.expression.to.sql("duckdb")


def _equals(value: exp.Expr, text: str, kind: str) -> exp.Expr:
    if text == NULL:
        return exp.Is(this=value.copy(), expression=exp.null())
    type_ = exp.DataType.build(kind, dialect="duckdb")
    return exp.EQ(this=value.copy(), expression=exp.cast(exp.Literal.string(text), type_))


def _names(node: exp.Expr) -> set[str]:
    return {column.table for column in node.find_all(exp.Column)}


def _name(item: exp.Expr) -> str:
    return str(item.meta.get(READ) or item.alias_or_name)


def _text(node: exp.Expr) -> str:
    def named(part: exp.Expr) -> exp.Expr:
        return exp.var("watermark()") if isinstance(part, ViewWatermark) else part

    return str(as_written(node).transform(named).sql("duckdb"))
