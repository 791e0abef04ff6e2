"""UNPIVOT → UNNEST of the columns and their names.

In: a query as parsed. Out: the same rows::

    FROM sales UNPIVOT (amount FOR quarter IN (q1, q2))
    FROM (SELECT * EXCEPT (q1, q2) FROM sales
          CROSS JOIN UNNEST(ARRAY['q1', 'q2'], ARRAY[q1, q2]) AS _u (quarter, amount)
          WHERE _u.amount IS NOT NULL)
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics

_HINT = "write UNPIVOT (value FOR name IN (a, b))"


def without_unpivots(query: exp.Query, report: Diagnostics) -> None:
    """Write UNPIVOT as a subquery, in place; report what has no such form.

    Args:
        query: as parsed; PIVOT is no part of it.
        report: where errors go.
    """
    for pivot in list(query.find_all(exp.Pivot)):
        item = pivot.parent
        assert item is not None
        if (found := _unnested(pivot, item)) is None:
            report.not_yet("UNPIVOT of several columns at once", item, _HINT)
            item.set("pivots", None)
        else:
            item.replace(found)


def _unnested(pivot: exp.Expr, item: exp.Expr) -> exp.Subquery | None:
    fields, values = pivot.args.get("fields") or [], pivot.expressions
    if len(item.args["pivots"]) != 1 or len(fields) != 1 or len(values) != 1:
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
    read = item.copy()
    read.set("pivots", None)
    star = exp.Star(except_=[exp.to_identifier(each.name) for each in columns])
    inner = exp.Select(expressions=[star], from_=exp.From(this=read))
    inner.set("joins", [exp.Join(this=unnest, kind="CROSS")])
    if not pivot.args.get("include_nulls"):
        value = exp.column(values[0].name, table="_u")
        inner.set("where", exp.Where(this=exp.Not(this=exp.Is(this=value, expression=exp.null()))))
    return exp.Subquery(this=inner, alias=pivot.args.get("alias"))


def _label(item: exp.Expr) -> str:
    """The name of a column, or what stands behind AS instead."""
    alias = item.args.get("alias")
    return str(alias.name) if alias is not None else str(item.name)
