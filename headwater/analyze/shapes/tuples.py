"""Comparisons of rows, and keys in brackets → comparisons of their values, and keys.

In: a query as parsed. Out: the same one without tuples, where they have another form::

    (a, b) = (1, 2)                       (a = 1 AND b = 2)
    (a, b) IS DISTINCT FROM (1, 2)        NOT (a IS NOT DISTINCT FROM 1 AND b IS NOT …)
    (a, b) IN ((1, 2), (3, 4))            (a = 1 AND b = 2 OR a = 3 AND b = 4)
    WHERE (a, b) IN (SELECT c, d FROM t)  WHERE EXISTS (SELECT 1 FROM (SELECT c, d FROM t)
                                          AS _rows (c1, c2) WHERE _rows.c1 = a AND _rows.c2 = b)
    WHERE (a, b) NOT IN (SELECT c, d …)   WHERE NOT EXISTS (SELECT 1 FROM … AS _rows (c1, c2)
                                          WHERE (c1 = a) IS NOT FALSE AND (c2 = b) IS NOT FALSE)
    SELECT (a, b) IN (SELECT c, d …)      SELECT CASE WHEN EXISTS (…) THEN TRUE WHEN EXISTS (…)
                                          THEN NULL ELSE FALSE END, by the two WHEREs above
    GROUP BY (a, b)                       GROUP BY a, b
    count(DISTINCT (a, b))                count(DISTINCT ARRAY[CAST(a AS VARCHAR), …])
    count(DISTINCT a, b)                  the same FILTER (WHERE a IS NOT NULL AND b IS NOT NULL)
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.dialect.meanings.templates import in_brackets
from headwater.dialect.rows import values_of

_TOTAL = (exp.Paren, exp.Neg, exp.Lower, exp.Upper, exp.Trim, exp.Coalesce)


def without_tuples(query: exp.Query, report: Diagnostics) -> None:
    """Replace tuples that are compared or are keys, in place; report those of unequal length."""
    for node in list(query.find_all(exp.EQ, exp.NEQ)):
        left, right = _values(node.this), _values(node.expression)
        if left and right and _fit(left, right, node, report):
            same = _equal(left, right)
            node.replace(exp.Not(this=same) if isinstance(node, exp.NEQ) else same)
    for node in list(query.find_all(exp.NullSafeEQ, exp.NullSafeNEQ)):
        left, right = _values(node.this), _values(node.expression)
        if left and right and _fit(left, right, node, report):
            same = _equal(left, right, exp.NullSafeEQ)
            node.replace(exp.Not(this=same) if isinstance(node, exp.NullSafeNEQ) else same)
    for member in list(query.find_all(exp.In)):
        values = _values(member.this)
        if not values:
            continue
        rows = [_values(each) for each in member.expressions]
        if rows and all(rows):
            if all(_fit(values, row, member, report) for row in rows):
                found = [_equal(values, row) for row in rows]
                member.replace(exp.paren(exp.or_(*found, copy=False), copy=False))
        elif (subquery := member.args.get("query")) is not None:
            shown = subquery.unnest()
            if not (shown.is_star or _fit(values, shown.selects, member, report)):
                continue
            sought = _negation(member)
            if _only_filters(sought):
                match = _exists(values, subquery, may_be=sought is not member)
                sought.replace(match if sought is member else exp.Not(this=match))
            else:
                member.replace(_member(values, subquery))
    for count in list(query.find_all(exp.Count)):
        _count_rows(count)
    for group in query.find_all(exp.Group):
        keys = [
            key
            for item in group.expressions
            for key in (item.expressions if isinstance(item, exp.Tuple) else ()) or [item]
        ]
        group.set("expressions", keys)


def _values(node: exp.Expr | None) -> list[exp.Expr]:
    """The values of a tuple or of ROW that cannot fail; empty if it is something else.

    Trino computes every value of a row, AND leaves out the ones behind a false one.
    """
    row = node.unnest() if node is not None else None
    if not isinstance(row, (exp.Tuple, exp.Struct)):
        return []
    values = values_of(row)
    return values if all(map(_is_simple, values)) else []


def _is_simple(node: exp.Expr) -> bool:
    if isinstance(node, exp.Cast):
        return isinstance(node.this, exp.Literal)
    if isinstance(node, _TOTAL):
        return all(map(_is_simple, node.iter_expressions()))
    return isinstance(node, (exp.Column, exp.Literal, exp.Null, exp.Boolean))


def _fit(
    left: Sequence[exp.Expr], right: Sequence[exp.Expr], node: exp.Expr, report: Diagnostics
) -> bool:
    if len(left) == len(right):
        return True
    message = f"a row of {len(left)} values is compared with one of {len(right)}"
    report.add("TYPE_CLASH", message, left[0], "compare rows of equal length")
    return False


def _equal(
    left: Sequence[exp.Expr], right: Sequence[exp.Expr], kind: type[exp.Binary] = exp.EQ
) -> exp.Expr:
    pairs = [
        kind(this=in_brackets(a), expression=in_brackets(b))
        for a, b in zip(left, right, strict=True)
    ]
    return exp.paren(exp.and_(*pairs, copy=False), copy=False)


def _member(values: Sequence[exp.Expr], query: exp.Expr) -> exp.Case:
    """Whether a query has a row of some values: true, false, or NULL."""
    some, maybe = (_exists(values, query, may_be=each) for each in (False, True))
    answers = [
        exp.If(this=some, true=exp.true()),
        exp.If(this=maybe, true=exp.null()),
    ]
    return exp.Case(ifs=answers, default=exp.false())


def _not_apart(left: Sequence[exp.Expr], right: Sequence[exp.Expr]) -> exp.Expr:
    terms = [
        exp.Not(this=exp.Is(this=_equal([a], [b]), expression=exp.false()))
        for a, b in zip(left, right, strict=True)
    ]
    return exp.and_(*terms, copy=False)


def _negation(member: exp.Expr) -> exp.Expr:
    """The NOT around a condition; the condition if there is none."""
    node = member
    while isinstance(node.parent, exp.Paren):
        node = node.parent
    return node.parent if isinstance(node.parent, exp.Not) else member


def _only_filters(member: exp.Expr) -> bool:
    """Return whether it is all the same for a condition to be NULL or false where it stands."""
    node = member.parent
    while isinstance(node, (exp.And, exp.Or, exp.Paren)):
        node = node.parent
    return isinstance(node, (exp.Where, exp.Having, exp.Join))


def _exists(values: Sequence[exp.Expr], query: exp.Expr, *, may_be: bool) -> exp.Exists:
    """Whether a query has a row of some values, or one that is it unless a NULL says otherwise."""
    inner = query.unnest()
    columns = [exp.to_identifier(f"c{at}") for at in range(1, len(values) + 1)]
    alias = exp.TableAlias(this=exp.to_identifier("_rows"), columns=columns)
    rows = exp.Subquery(this=inner.copy(), alias=alias)
    sought = [exp.column(column.name, table="_rows") for column in columns]
    select = exp.Select(
        expressions=[exp.Literal.number(1)],
        from_=exp.From(this=rows),
        where=exp.Where(this=_not_apart(sought, values) if may_be else _equal(sought, values)),
    )
    return exp.Exists(this=select)


def _count_rows(count: exp.Expr) -> None:
    """Count different rows as arrays of texts; values beside each other count if none is NULL."""
    distinct = count.this
    if not isinstance(distinct, exp.Distinct) or count.find_ancestor(exp.Window):
        return
    values = list(distinct.expressions)
    beside = len(values) > 1
    if not beside:
        values = _values(values[0]) if values else []
    if len(values) < 2:
        return
    text = exp.DataType(this=exp.DType.VARCHAR)
    texts = [exp.Cast(this=value.copy(), to=text.copy()) for value in values]
    distinct.set("expressions", [exp.Array(expressions=texts)])
    if not beside:
        return
    given = [
        exp.Not(this=exp.Is(this=in_brackets(value), expression=exp.null())) for value in values
    ]
    around = count.parent
    if isinstance(around, exp.Filter):
        where = around.expression
        terms = [exp.paren(where.this.copy(), copy=False), *given]
        where.set("this", exp.and_(*terms, copy=False))
    else:
        where = exp.Where(this=exp.and_(*given, copy=False))
        count.replace(exp.Filter(this=count.copy(), expression=where))
