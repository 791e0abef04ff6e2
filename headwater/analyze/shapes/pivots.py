"""PIVOT → GROUP BY with filtered aggregates; UNPIVOT → UNNEST of columns and their names.

In: a query as parsed. Out: the same rows::

    FROM sales PIVOT (sum(amount) FOR quarter IN (1, 2 AS second))
    FROM (SELECT * EXCEPT (amount, quarter), sum(amount) FILTER (WHERE quarter = 1) AS "1",
                 sum(amount) FILTER (WHERE quarter = 2) AS second
          FROM sales GROUP BY ALL)

    FROM sales UNPIVOT (amount FOR quarter IN (q1, q2))
    FROM (SELECT * EXCEPT (q1, q2) FROM sales
          CROSS JOIN UNNEST(ARRAY['q1', 'q2'], ARRAY[q1, q2]) AS _u (quarter, amount)
          WHERE _u.amount IS NOT NULL)
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics

_PIVOT = "write PIVOT (sum(value) FOR name IN ('a', 'b'))"
_UNPIVOT = "write UNPIVOT (value FOR name IN (a, b))"


def without_pivots(query: exp.Query, report: Diagnostics) -> None:
    """Write PIVOT and UNPIVOT as subqueries, in place; report what has no such form.

    Args:
        query: as parsed.
        report: where errors go.
    """
    for pivot in list(query.find_all(exp.Pivot)):
        item = pivot.parent
        assert item is not None
        found: exp.Select | None = None
        if len(item.args["pivots"]) == 1:
            found = _unnested(pivot, item) if pivot.args.get("unpivot") else _grouped(pivot, item)
        if found is not None:
            item.replace(exp.Subquery(this=found, alias=pivot.args.get("alias")))
            continue
        if pivot.args.get("unpivot"):
            report.not_yet("UNPIVOT of several columns at once", item, _UNPIVOT)
        else:
            report.not_yet(
                "PIVOT without aggregates, by a subquery, or after another", item, _PIVOT
            )
        item.set("pivots", None)


def _grouped(pivot: exp.Expr, item: exp.Expr) -> exp.Select | None:
    fields, calls = pivot.args.get("fields") or [], pivot.expressions
    lists = [each.expressions for each in fields]
    if not (all(lists) and lists and all(call.find(exp.AggFunc) for call in calls)):
        return None
    by = [each.this for each in fields]
    outputs = list(_aggregates(by, [*product(*lists)], calls))
    read, group = _without(item), pivot.args.get("group")
    used = {c.name for each in (*by, *calls) for c in each.find_all(exp.Column)}
    first: list[exp.Expr] = [exp.Star(except_=[exp.to_identifier(name) for name in sorted(used)])]
    if group is not None:
        first = [each.copy() for each in group.expressions]
    found = exp.Select(expressions=[*first, *outputs], from_=exp.From(this=read))
    found.set("group", group.copy() if group is not None else exp.Group(all=True))
    return found


def _aggregates(
    by: list[exp.Expr], cells: list[tuple[exp.Expr, ...]], calls: list[exp.Expr]
) -> Iterator[exp.Expr]:
    """Each aggregate over the rows of each combination of values, with its name."""
    for values in cells:
        terms = [
            _equal(column, value)
            for key, values_of_key in zip(by, values, strict=True)
            for column, value in zip(_parts(key), _parts(values_of_key.unalias()), strict=True)
        ]
        for call in calls:
            alias = call.alias if isinstance(call, exp.Alias) else ""
            last = alias or (call.sql() if len(calls) > 1 else "")
            name = "_".join(filter(None, (*map(_label, values), last)))
            made = exp.Paren(this=call.unalias().copy())
            for each in list(made.find_all(exp.AggFunc)):
                around = each.parent if isinstance(each.parent, exp.Filter) else each
                own = [around.expression.this] if around is not each else []
                where = exp.Where(this=exp.and_(*(term.copy() for term in (*own, *terms))))
                around.replace(exp.Filter(this=each.copy(), expression=where))
            yield exp.alias_(made.this.copy(), name, quoted=True)


def _equal(column: exp.Expr, value: exp.Expr) -> exp.Expr:
    kind = exp.Is if isinstance(value, exp.Null) else exp.EQ
    return kind(this=column.copy(), expression=value.copy())


def _parts(node: exp.Expr) -> list[exp.Expr]:
    return list(node.expressions) if isinstance(node, exp.Tuple) else [node]


def _unnested(pivot: exp.Expr, item: exp.Expr) -> exp.Select | None:
    fields, values = pivot.args.get("fields") or [], pivot.expressions
    if len(fields) != 1 or len(values) != 1:
        return None
    name, columns = fields[0].this, [each.unalias() for each in fields[0].expressions]
    if not all(isinstance(each, exp.Column) for each in columns) or isinstance(name, exp.Tuple):
        return None
    labels = [exp.Literal.string(_label(each)) for each in fields[0].expressions]
    given = exp.TableAlias(
        this=exp.to_identifier("_u"),
        columns=[exp.to_identifier(name.name), exp.to_identifier(values[0].name)],
    )
    arrays = [exp.Array(expressions=labels), exp.Array(expressions=[e.copy() for e in columns])]
    unnest = exp.Unnest(expressions=arrays, alias=given)
    star = exp.Star(except_=[exp.to_identifier(each.name) for each in columns])
    inner = exp.Select(expressions=[star], from_=exp.From(this=_without(item)))
    inner.set("joins", [exp.Join(this=unnest, kind="CROSS")])
    if not pivot.args.get("include_nulls"):
        value = exp.column(values[0].name, table="_u")
        inner.set("where", exp.Where(this=exp.Not(this=exp.Is(this=value, expression=exp.null()))))
    return inner


def _without(item: exp.Expr) -> exp.Expr:
    """The item of FROM itself."""
    read = item.copy()
    read.set("pivots", None)
    return read


def _label(item: exp.Expr) -> str:
    """What stands behind AS, or else the value or the name of a column."""
    if (alias := item.args.get("alias")) is not None:
        return str(alias.name)
    return "_".join(each.name or each.sql() for each in _parts(item))
