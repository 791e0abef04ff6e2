"""Provenance: a SELECT at rest, rewritten so that every row names the input rows that decide it.

In: a rendered query whose inputs have a column with a number per row. Out: the same rows with the
numbers of the rows that decide each: as long as those are there, the row is there, whatever else is
removed. Whatever has no finer rule names all rows that it reads, which is always right.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp, parse_one

from headwater.algebra.scalars import conjuncts
from headwater.analyze.query_parts import is_limited, relations, window_calls, windows_of
from headwater.errors import SqlError
from headwater.plan.sql.render import READ
from headwater.serve.why.body import RowSource, body_of
from headwater.serve.why.combined import appended, by_value, distinct
from headwater.serve.why.traced import (
    THERE,
    WHY,
    Traced,
    aggregates,
    both,
    concat,
    frozen,
    gathered,
    is_grouped,
    listed,
    named,
    names_of,
    subqueries,
)

_HELD = "__held"
_RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank)
_WHOLE = (exp.Ntile, exp.PercentRank, exp.CumeDist)


def lineage(query: exp.Query) -> exp.Query:
    """Return a query whose rows have a column :data:`WHY` with the numbers of the deciding rows.

    Args:
        query: a rendered SELECT at rest for DuckDB.
    """
    return trace(query, False).query


def goes_with_its_rows(query: exp.Expr) -> bool:
    """Return whether a row certainly goes if all rows go that it names.

    In other queries, an equal row may take its place, or it is what they return of no rows.
    """
    while isinstance(query, exp.Subquery):
        query = query.this
    if isinstance(query, exp.Union) and not query.args.get("distinct"):
        if any(map(is_grouped, query.find_all(exp.Select))):
            return False
        return goes_with_its_rows(query.this) and goes_with_its_rows(query.expression)
    if not isinstance(query, exp.Select) or query.args.get("from_") is None:
        return False
    parts = [*query.selects, *(query.args.get(key) for key in ("where", "having"))]
    if window_calls(query) or any(map(query.args.get, ("limit", "offset", "qualify"))):
        return False
    if any(map(subqueries, parts)) or any(join.side for join in query.args.get("joins") or []):
        return False
    items = relations(query)
    if is_grouped(query):
        group = query.args.get("group")
        shown = [item.unalias() for item in query.selects]
        if not group or not all(key in shown for key in group.expressions):
            return False
        return all(READ in item.meta for item in items)
    if len(items) == 1 and isinstance(items[0], exp.Subquery) and READ not in items[0].meta:
        inner = items[0].this
        extremes = isinstance(inner, exp.Select) and _extremes(inner)
        return not extremes and goes_with_its_rows(inner)
    return all(READ in item.meta for item in items)


def trace(query: exp.Expr, absent: bool) -> Traced:
    """Return a traced query.

    Args:
        query: a rendered query.
        absent: whether rows that could come must be accounted for too; see :class:`Traced`.
    """
    traced = _trace(query, absent)
    if absent or not traced.rest:
        return traced
    columns = [exp.column(name, "__row") for name in traced.names]
    numbers = concat([exp.column(WHY, "__row"), *traced.rest])
    whole = exp.select(*columns, named(numbers, WHY)).from_(traced.query.subquery("__row"))
    return Traced(whole, traced.names, traced.stable)


def _trace(query: exp.Expr, absent: bool) -> Traced:
    while isinstance(query, exp.Subquery):
        if any(query.args.get(key) for key in ("limit", "offset", "order", "joins")):
            return frozen(query)
        query = query.this
    if isinstance(query, exp.SetOperation):
        return _set_operation(query, absent)
    if isinstance(query, exp.Select):
        return _select(query, absent)
    raise SqlError("NOT_YET", "not supported: why a row of such a query is there")


def _select(select: exp.Select, absent: bool) -> Traced:
    once = select.args.get("distinct")
    if once is not None and once.args.get("on"):
        return frozen(select)
    if is_limited(select):
        return frozen(select) if absent else _limited(select)
    if once is not None:
        whole = select.copy()
        whole.set("distinct", None)
        return distinct(trace(whole, absent))
    over = window_calls(select)
    if is_grouped(select):
        return frozen(select) if over else _grouped(select, absent)
    if over or select.args.get("qualify"):
        return _windowed(select, absent)
    body = body_of(select, absent, trace)
    found = select.copy()
    body.put_into(found)
    if body.there and not absent:
        found.where(both(body.there), copy=False)
    return _output(found, body, list(body.terms), body.there if absent else [])


def _output(
    found: exp.Select, body: RowSource, terms: Sequence[exp.Expr], there: Sequence[exp.Expr]
) -> Traced:
    """A SELECT of single rows, with its numbers and whether it is there."""
    names, items = names_of(found), found.selects
    stable = frozenset(
        item.alias_or_name for item in items if body.is_stable(item) and not item.find(exp.Window)
    )
    before = len(body.terms)
    body.ask([each for item in items for each in subqueries(item)], trace)
    found.append("expressions", named(concat([*terms, *body.terms[before:]]), WHY))
    if there:
        found.append("expressions", named(both(there), THERE))
    return Traced(found, names, stable, bool(there), body.rest)


def _limited(select: exp.Select) -> Traced:
    """Of the first rows, each stays one of them when others go."""
    whole = select.copy()
    ends = {key: whole.args.get(key) for key in ("order", "limit", "offset")}
    for key in ends:
        whole.set(key, None)
    if ends["offset"] or not trace(whole, True).shrinks:
        return frozen(select)
    traced = trace(whole, False)
    assert isinstance(traced.query, exp.Select)
    if not select.args.get("distinct"):
        number = next(item for item in traced.query.selects if item.alias == WHY)
        number.set("this", _of_equals([number.this], select.selects, []))
    for key, part in ends.items():
        traced.query.set(key, part)
    return traced


def _of_equals(
    terms: Sequence[exp.Expr], outputs: Sequence[exp.Expr], keys: Sequence[exp.Expr]
) -> exp.Expr:
    """The numbers of a row and of its equals, of which one would take its place.

    Args:
        terms: the numbers of a row.
        outputs: what is equal.
        keys: what else is.
    """
    parts = [*(key.copy() for key in keys), *(item.unalias().copy() for item in outputs)]
    over = exp.Window(this=listed(concat(terms)), partition_by=parts)
    return exp.Anonymous(this="flatten", expressions=[over])


def _grouped(select: exp.Select, absent: bool) -> Traced:
    """A row of a group is decided by all rows of the group."""
    group = select.args.get("group")
    keys = group.expressions if group is not None else []
    plain = not group or not any(group.args.get(k) for k in ("rollup", "cube", "grouping_sets"))
    body = body_of(select, True, trace)
    if not plain or not all(body.is_stable(key) for key in keys):
        return frozen(select)
    if not absent and body.shrinks and (extremes := _extremes(select)):
        return _of_extremes(select, body, extremes)
    having = select.args.get("having")
    heads = [*select.selects, having]
    numbers = _gathered(body)
    before = len(body.terms)
    body.ask([each for head in heads for each in subqueries(head)], trace)
    found = select.copy()
    body.put_into(found)
    if body.there:
        for head in [*found.selects, found.args.get("having")]:
            for call in aggregates(head):
                _only(call, both(body.there))
    conditions = conjuncts(found.args["having"].this) if having else []
    if body.there and keys:
        conditions.append(exp.LogicalOr(this=both(body.there)))
    found.append("expressions", named(concat([numbers, *body.terms[before:]]), WHY))
    found.set("having", None)
    if conditions and absent:
        found.append("expressions", named(both(conditions), THERE))
    elif conditions:
        found.set("having", exp.Having(this=both(conditions)))
    stable = frozenset(i.alias_or_name for i in select.selects if i.unalias() in keys)
    return Traced(found, names_of(select), stable, absent and bool(conditions), body.rest)


def _extremes(select: exp.Select) -> dict[str, exp.Expr]:
    """Return the arguments of min and max by output, if a SELECT has nothing else but its keys."""
    group = select.args.get("group")
    keys = group.expressions if group is not None else []
    found: dict[str, exp.Expr] = {}
    for item in select.selects:
        call = item.unalias()
        if call in keys:
            continue
        plain = isinstance(call, (exp.Min, exp.Max)) and not call.expressions
        if not plain or call.find(exp.Distinct, exp.Query):
            return {}
        found[item.alias_or_name] = call.this
    return {} if select.args.get("having") else found


def _of_extremes(select: exp.Select, body: RowSource, extremes: dict[str, exp.Expr]) -> Traced:
    """Rows that are not the least or the greatest can go, unless all values are NULL."""
    found, names = select.copy(), names_of(select)
    body.put_into(found)
    values = [(argument, f"x{at}") for at, argument in enumerate(extremes.values())]
    pairs = [(concat(body.terms), "w"), *values]
    held = [exp.PropertyEQ(this=exp.to_identifier(n), expression=v.copy()) for v, n in pairs]
    found.append("expressions", named(listed(exp.Struct(expressions=held)), _HELD))
    shown = [
        (exp.column(name, "__row").sql("duckdb"), f"e.x{n}") for n, name in enumerate(extremes)
    ]
    equal = " OR ".join(f"{value} = {one}" for value, one in shown)
    unknown = " AND ".join(f"{value} IS NULL" for value, _ in shown)
    numbers = parse_one(
        f"flatten([e.w FOR e IN __row.{_HELD} IF {equal} OR ({unknown})])", dialect="duckdb"
    )
    outer = exp.select(*(exp.column(name, "__row") for name in names), named(numbers, WHY))
    stable = frozenset(name for name in names if name not in extremes)
    return Traced(outer.from_(found.subquery("__row")), names, stable, rest=body.rest)


def _gathered(body: RowSource) -> exp.Expr:
    """The numbers of a group; DuckDB 2.0.0 fails on some subqueries in what is aggregated."""
    terms = []
    for number, term in enumerate(body.terms):
        if term.find(exp.Query):
            alias = f"__asked{number}"
            asked = exp.Subquery(this=exp.select(named(term, WHY)))
            lateral = exp.Lateral(this=asked, alias=exp.TableAlias(this=exp.to_identifier(alias)))
            body.joins.append(exp.Join(this=lateral, kind="CROSS"))
            term = exp.column(WHY, alias)
        terms.append(term)
    return gathered(terms)


def _only(call: exp.Expr, condition: exp.Expr) -> None:
    """Let an aggregate see rows of the query only, and no ghosts."""
    outer = call
    while isinstance(outer.parent, (exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)):
        outer = outer.parent
    if isinstance(outer.parent, exp.Filter):
        where = outer.parent.expression
        where.set("this", exp.and_(exp.Paren(this=where.this), condition))
        return
    filtered = exp.Filter(this=outer.copy(), expression=exp.Where(this=condition))
    outer.replace(filtered)


def _windowed(select: exp.Select, absent: bool) -> Traced:
    """OVER: the rows of the frame decide, or those of the partition."""
    body = body_of(select, True, trace)
    qualify = select.args.get("qualify")
    calls = window_calls(select)
    nested = any(term.find(exp.Window) for term in [*body.terms, *body.there])
    if nested or any(call.args.get("alias") for call in calls) or subqueries(qualify):
        return frozen(select)
    terms = list(body.terms)
    if not absent and body.shrinks and _first_rows(select):
        keys = calls[0].args.get("partition_by") or [] if len(calls) == 1 else []
        terms = [_of_equals(terms, select.selects, keys)]
    else:
        frames = {each.sql("duckdb"): each for each in (_numbers(call, body) for call in calls)}
        terms += frames.values()
    found = select.copy()
    body.put_into(found)
    if body.there:  # a window is over the rows of the query: ghosts have partitions of their own
        for call in window_calls(found):
            keys = call.args.get("partition_by") or []
            call.set("partition_by", [*keys, both(body.there)])
    passes = [*body.there, *([found.args["qualify"].this] if qualify else [])]
    found.set("qualify", exp.Qualify(this=both(passes)) if passes and not absent else None)
    return _output(found, body, terms, passes if absent else [])


def _first_rows(select: exp.Select) -> bool:
    """Return whether OVER only says which are the first rows: the others go, and these stay."""
    qualify = select.args.get("qualify")
    if qualify is None or any(map(windows_of, select.selects)):
        return False
    return all(map(_is_first, conjuncts(qualify.this)))


def _is_first(term: exp.Expr) -> bool:
    if not isinstance(term, (exp.LTE, exp.LT, exp.EQ)):
        return False
    call, most = term.this.unnest(), term.expression.unnest()
    if not isinstance(call, exp.Window) or not isinstance(call.this, _RANKS):
        return False
    return isinstance(most, exp.Literal) and (not isinstance(term, exp.EQ) or most.name == "1")


def _numbers(call: exp.Window, body: RowSource) -> exp.Expr:
    """The numbers of the rows by which a call with OVER is decided."""
    over = call.copy()
    function = call.this
    while isinstance(function, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)):
        function = function.this
    keys = [key for key in call.args.get("partition_by") or [] if body.is_stable(key)]
    over.set("this", listed(concat(body.terms)))
    over.set("partition_by", keys)
    ahead = isinstance(function, (exp.Lead, *_WHOLE))
    if not body.shrinks or ahead or len(keys) < len(call.args.get("partition_by") or []):
        over.set("order", None)
        over.set("spec", None)
    elif isinstance(function, exp.Lag):
        over.set("spec", None)
    elif spec := over.args.get("spec"):  # what lies between a row and its frame moves the frame
        if spec.args.get("start_side") == "FOLLOWING":
            spec.set("start", "CURRENT ROW")
            spec.set("start_side", None)
        if spec.args.get("end_side") == "PRECEDING":
            spec.set("end", "CURRENT ROW")
            spec.set("end_side", None)
    return exp.Anonymous(this="flatten", expressions=[over])


def _set_operation(query: exp.SetOperation, absent: bool) -> Traced:
    if any(query.args.get(key) for key in ("limit", "offset", "order", "by_name")):
        return frozen(query)
    sides = [trace(side, absent) for side in (query.this, query.expression)]
    if not isinstance(query, exp.Union):
        known = [trace(side, True) for side in (query.this, query.expression)]
        return by_value(query, sides, known, absent)
    whole = appended(sides)
    return distinct(whole) if query.args.get("distinct") else whole
