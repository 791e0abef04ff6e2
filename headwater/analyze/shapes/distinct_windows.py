"""``count(DISTINCT x) OVER (PARTITION BY k)`` → ranks, which Spark and Trino compute.

In: a query as parsed, whose windows have no names. Out: the same number. Ranked up and down, the
ranks of a value add up to one more than there are different values, NULL being one of them::

    dense_rank() OVER (PARTITION BY k ORDER BY x)
      + dense_rank() OVER (PARTITION BY k ORDER BY x DESC NULLS FIRST) - 1
      - if(count(x) OVER (PARTITION BY k) < count(*) OVER (PARTITION BY k), 1, 0)
"""

from __future__ import annotations

from sqlglot import exp

_ONE, _ZERO = exp.Literal.number(1), exp.Literal.number(0)


def without_distinct_windows(query: exp.Query) -> None:
    """Replace counts of different values of a partition, in place; others are refused later."""
    for window in list(query.find_all(exp.Window)):
        filtered = window.this if isinstance(window.this, exp.Filter) else None
        call = window.this if filtered is None else filtered.this
        counts = isinstance(call, exp.Count) and isinstance(call.this, exp.Distinct)
        if not counts or window.args.get("order") or window.args.get("spec"):
            continue
        value, *others = call.this.expressions
        if others or isinstance(value, exp.Tuple):
            continue
        if filtered is not None:
            condition = exp.If(this=filtered.expression.this.copy(), true=value.copy())
            value = exp.Case(ifs=[condition])
        window.replace(_different(value, window.args.get("partition_by") or []))


def _different(value: exp.Expr, keys: list[exp.Expr]) -> exp.Expr:
    def over(call: exp.Expr, *, order: exp.Expr | None = None) -> exp.Window:
        by = [key.copy() for key in keys]
        ordered = exp.Order(expressions=[order]) if order is not None else None
        return exp.Window(this=call, partition_by=by, order=ordered, over="OVER")

    up = exp.Ordered(this=value.copy(), nulls_first=False)
    down = exp.Ordered(this=value.copy(), desc=True, nulls_first=True)
    ranks = exp.Add(
        this=over(exp.DenseRank(), order=up), expression=over(exp.DenseRank(), order=down)
    )
    fewer = exp.LT(
        this=over(exp.Count(this=value.copy(), big_int=True)),
        expression=over(exp.Count(this=exp.Star(), big_int=True)),
    )
    missing = exp.Case(ifs=[exp.If(this=fewer, true=_ONE.copy())], default=_ZERO.copy())
    least = exp.Sub(this=ranks, expression=_ONE.copy())
    return exp.paren(exp.Sub(this=least, expression=missing), copy=False)
