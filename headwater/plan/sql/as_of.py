"""As-of joins as engines compute them fast: both sides in one order of time, not by pairs.

In: a rendered query whose as-of joins are joins with the time during which each version holds. Out:
the same rows. A row is put behind the versions of its key, and takes the last one before it. A join
by intervals compares every row of a key with every version of it; this sorts both once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from headwater.algebra.scalars import conjuncts
from headwater.analyze.query_parts import relations
from headwater.analyze.time.versions import AS_OF, UNTIL

_ALIAS, _SIDE, _AT, _NUMBER, _HELD = "__as_of", "__side", "__at", "__number", "__held"
_VERSION, _ROW = exp.Literal.number(0), exp.Literal.number(1)

Renamed = Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class _AsOf:
    """One as-of join of a rendered SELECT.

    Attributes:
        number: of the join.
        keys: what is equal, the left side first.
        at: the time by which the left side asks.
        time: the time of a version.
        strict: whether a version must be before that time.
        ties: what orders the versions of one time.
        held: the condition that a version is a row: a deletion is none. None if all are rows.
    """

    number: int
    keys: tuple[tuple[exp.Expr, exp.Expr], ...]
    at: exp.Expr
    time: exp.Expr
    strict: bool
    ties: tuple[exp.Ordered, ...]
    held: exp.Expr | None = None


def with_sorted_versions(query: exp.Expr) -> exp.Expr:
    """Return a query without as-of joins by intervals: a copy, if it has some."""
    if not any(AS_OF in item.meta for item in query.find_all(exp.Subquery)):
        return query
    root = exp.Paren(this=query.copy())
    for select in reversed(list(root.find_all(exp.Select))):
        while found := _first(select):
            _rewrite(select, found)
    rewritten: exp.Expr = root.this
    return rewritten


def _first(select: exp.Select) -> _AsOf | None:
    for number, join in enumerate(select.args.get("joins") or []):
        if AS_OF not in join.this.meta or _shows_end(select, join):
            continue
        if found := _read(number, join):
            return found
    return None


def _shows_end(select: exp.Select, join: exp.Join) -> bool:
    """Return whether anything but the join asks for the end of a version."""
    parts = [part for key, part in select.args.items() if key not in ("from_", "joins")]
    others = [each for each in select.args["joins"] if each is not join]
    asked = (c for part in (*parts, *others) for c in _columns(part, {join.this.alias_or_name}))
    return any(column.name == UNTIL for column in asked)


def _read(number: int, join: exp.Join) -> _AsOf | None:
    """What a join by intervals says; None if it is not as the binder has written it."""
    until, held = join.this.this.selects[-1].unalias(), None
    if isinstance(until, exp.Case):
        held = until.args["ifs"][0].this
    window = until.find(exp.Window)
    keys = window.args.get("partition_by") or []
    *equal, after, _ = conjuncts(join.args["on"])
    if len(equal) != len(keys) or not all(type(each) is exp.EQ for each in equal):
        return None
    pairs = tuple((each.this, each.expression) for each in equal)
    ties = tuple(window.args["order"].expressions[1:])
    strict = type(after) is exp.GT
    return _AsOf(number, pairs, after.this, after.expression, strict, ties, held)


def _rewrite(select: exp.Select, as_of: _AsOf) -> None:
    joins: list[exp.Join] = select.args["joins"]
    join, later = joins[as_of.number], joins[as_of.number + 1 :]
    items = relations(select)
    before = {item.alias_or_name for item in items[: as_of.number + 1]}
    right = join.this.alias_or_name
    where = select.args.get("where")
    outer = any(each.side in ("RIGHT", "FULL") for each in later)
    terms = conjuncts(where.this if where else None)
    own = [] if outer else [term for term in terms if _is_of(term, before, items)]
    rest = [term for term in terms if term not in own]
    select.set("where", exp.Where(this=exp.and_(*rest)) if rest else None)

    parts = [part for key, part in select.args.items() if key not in ("from_", "joins")]
    used = [column for part in (*parts, *later) for column in _columns(part, {*before, right})]
    names = {(c.table, c.name): "" for c in used}
    names = {name: f"__column{number}" for number, name in enumerate(names)}
    names |= {(right, _HELD): _HELD} if as_of.held and not join.side else {}
    left = exp.Select(from_=select.args["from_"], joins=joins[: as_of.number])
    if own:
        left.set("where", exp.Where(this=exp.and_(*own)))
    found = _both(left, join.this.this, as_of, names, right)
    matched: exp.Expr = exp.EQ(this=exp.column(_SIDE), expression=_ROW.copy())
    if not join.side:
        found_one = exp.column(_HELD if as_of.held else _NUMBER)
        known = exp.GT(this=found_one, expression=exp.Literal.number(0))
        matched = exp.and_(matched, known)
    source = exp.select(*map(exp.column, names.values()), *([] if names else [_SIDE]))
    source = source.from_(found.subquery(_ALIAS)).where(matched)
    for column in used:
        column.set("this", exp.to_identifier(names[column.table, column.name]))
        column.set("table", exp.to_identifier(_ALIAS))
    select.set("from_", exp.From(this=source.subquery(_ALIAS)))
    select.set("joins", later or None)


def _both(
    left: exp.Select, versions: exp.Select, as_of: _AsOf, names: Renamed, right: str
) -> exp.Select:
    """Both sides in one order: rows with the columns of their version, and versions."""
    keys = [f"__key{number}" for number in range(len(as_of.keys))]
    ties = [f"__tie{number}" for number in range(len(as_of.ties))]

    def value_of(table: str, name: str) -> exp.Expr:
        value = _ROW.copy() if name == _HELD else exp.column(name, table)
        if as_of.held is None or table != right:
            return value
        return exp.Case(ifs=[exp.If(this=as_of.held.copy(), true=value)])

    def side(*, rows: bool) -> list[exp.Expr]:
        one, asked = (_ROW, as_of.at) if rows else (_VERSION, as_of.time)
        values = [(key[0 if rows else 1], name) for key, name in zip(as_of.keys, keys, strict=True)]
        values += [(asked, _AT), (one, _SIDE)]
        values += [
            (exp.null() if rows else tie.this, name)
            for tie, name in zip(as_of.ties, ties, strict=True)
        ]
        values += [
            (value_of(table, name) if (table != right) is rows else exp.null(), renamed)
            for (table, name), renamed in names.items()
        ]
        return [exp.alias_(value.copy(), name) for value, name in values]

    left.set("expressions", side(rows=True))
    other = exp.Select(expressions=side(rows=False), from_=versions.args["from_"])
    there = [exp.Not(this=exp.Is(this=key.copy(), expression=exp.null())) for _, key in as_of.keys]
    other.set("where", exp.Where(this=exp.and_(versions.args["where"].this, *there)))
    both = exp.Union(this=left, expression=other, distinct=False)
    order = [exp.Ordered(this=exp.column(_AT), nulls_first=True), _by(_SIDE, desc=as_of.strict)]
    order += [
        exp.Ordered(this=exp.column(name), desc=tie.args.get("desc"), nulls_first=False)
        for tie, name in zip(as_of.ties, ties, strict=True)
    ]
    version = exp.EQ(this=exp.column(_SIDE), expression=_VERSION.copy())
    one = exp.Case(ifs=[exp.If(this=version, true=_ROW.copy())])
    spec = exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW")
    number = _over(exp.Count(this=one), keys, order, spec)
    taken = [*keys, _SIDE, *names.values()]
    numbered = exp.select(*taken, exp.alias_(number, _NUMBER)).from_(both.subquery(_ALIAS))
    items: list[exp.Expr] = [exp.column(_SIDE), exp.column(_NUMBER)]
    for (table, _), name in names.items():
        value: exp.Expr = exp.column(name)
        if table == right:
            value = _over(exp.FirstValue(this=value), [*keys, _NUMBER], [_by(_SIDE)])
            value = exp.alias_(value, name)
        items.append(value)
    return exp.select(*items).from_(numbered.subquery(_ALIAS))


def _over(
    call: exp.Expr,
    keys: Sequence[str],
    order: Sequence[exp.Expr],
    spec: exp.WindowSpec | None = None,
) -> exp.Window:
    by = exp.Order(expressions=[*order])
    partition = [exp.column(key) for key in keys]
    return exp.Window(this=call, partition_by=partition, order=by, spec=spec, over="OVER")


def _by(name: str, *, desc: bool = False) -> exp.Ordered:
    return exp.Ordered(this=exp.column(name), desc=desc, nulls_first=False)


def _is_of(term: exp.Expr, aliases: set[str], items: Sequence[exp.Expr]) -> bool:
    """Return whether a condition asks for columns of some items only."""
    tables = {c.table for c in _columns(term, {item.alias_or_name for item in items})}
    return bool(tables) and tables <= aliases


def _columns(node: object, aliases: set[str]) -> Iterator[exp.Column]:
    """Yield the columns of some items below a node, those within subqueries included."""
    if isinstance(node, list):
        for each in node:
            yield from _columns(each, aliases)
    elif isinstance(node, exp.Column):
        if node.table in aliases:
            yield node
    elif isinstance(node, exp.Expression):
        if isinstance(node, exp.Select):  # a name of its own hides the one outside
            aliases = aliases - {item.alias_or_name for item in relations(node)}
        for part in node.args.values():
            yield from _columns(part, aliases)
