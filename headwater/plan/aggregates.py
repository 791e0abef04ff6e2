"""Rule 2: which aggregates can be folded into their state, and how (one line of a table each).

In: an aggregate call of a bound query.
Out: its :class:`Fold`: the partial aggregates of a change, how they merge with the state, and how
the value is read from the state. An aggregate without a line here is kept by re-running the
affected keys (rule 3). Sketches are those of Apache DataSketches that Spark ships: HyperLogLog for
``approx_distinct``, KLL for ``approx_percentile``; both merge, so a change costs the change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from headwater.analyze.types import spark_type

KLL_K = 400
"""KLL's size parameter; its rank error is about 0.7 % at 99 % confidence (Karnin, Lang, Liberty
2016)."""

RANK_ERROR = 0.025
"""Rank error that ``verify`` allows for ``approx_percentile``: over three times KLL's, as views
have many groups."""

DISTINCT_ERROR = 0.08
"""Relative error that ``verify`` allows for ``approx_distinct``: five standard errors of
HyperLogLog at lgK = 12."""


@dataclass(frozen=True, slots=True)
class Part:
    """One state column of an aggregate.

    Attributes:
        suffix: ending of the column's name where it is hidden.
        type: Spark SQL type.
        partial: the aggregate of a change, as Spark SQL over the rows.
        merge: Spark SQL with ``{t}`` (state) and ``{s}`` (change).
    """

    suffix: str
    type: str
    partial: str
    merge: str


@dataclass(frozen=True, slots=True)
class Fold:
    """How an aggregate is kept.

    Attributes:
        parts: its state columns.
        value: Spark SQL with ``{0}``, ``{1}``, … for the parts; ``{0}`` alone if the state is the
            value.
    """

    parts: tuple[Part, ...]
    value: str = "{0}"


APPROXIMATE = (exp.ApproxDistinct, exp.ApproxQuantile)
"""Aggregates that are compared by their bounds."""

ADD = "coalesce({t} + {s}, {t}, {s})"
INTEGERS = (
    exp.DataType.Type.TINYINT,
    exp.DataType.Type.SMALLINT,
    exp.DataType.Type.INT,
    exp.DataType.Type.BIGINT,
)


def fold_of(call: exp.Expr) -> Fold | None:
    """Return how an aggregate call is folded, or None if it is not self-maintainable.

    Args:
        call: an aggregate, possibly with FILTER, annotated with its type.
    """
    bare = call.this if isinstance(call, exp.Filter) else call
    rule = FOLDS.get(type(bare))
    if rule is None or bare.find(exp.Distinct) or bare.find(exp.Order):
        return None
    condition = call.expression.this.sql(dialect="spark") if isinstance(call, exp.Filter) else ""
    return rule(bare, f" FILTER (WHERE {condition})" if condition else "")


def _count(call: exp.Expr, where: str) -> Fold:
    return Fold((Part("count", "BIGINT", call.sql(dialect="spark") + where, "{t} + {s}"),))


def _simple(merge: str) -> Callable[[exp.Expr, str], Fold]:
    def rule(call: exp.Expr, where: str) -> Fold:
        kind = spark_type(type_of(call))
        partial = f"CAST({call.sql(dialect='spark')}{where} AS {kind})"
        return Fold((Part("value", kind, partial, merge),))

    return rule


def _by(extreme: str, merge: str) -> Callable[[exp.Expr, str], Fold]:
    """min_by and max_by: the state is what the winner was compared by; it ends with its value."""

    def rule(call: exp.Expr, where: str) -> Fold:
        partial = f"{extreme}({call.expression.sql(dialect='spark')}){where}"
        return Fold((Part("row", spark_type(type_of(call.expression)), partial, merge),), "{0}.x")

    return rule


def _avg(call: exp.Expr, where: str) -> Fold:
    argument = call.this.sql(dialect="spark")
    decimal = type_of(call).this == exp.DataType.Type.DECIMAL
    total = "DECIMAL(38, 6)" if decimal else "DOUBLE"
    parts = (
        Part("sum", total, f"CAST(sum({argument}){where} AS {total})", ADD),
        Part("count", "BIGINT", f"count({argument}){where}", "{t} + {s}"),
    )
    return Fold(parts, "{0} / nullif({1}, 0)")


def _approx_distinct(call: exp.Expr, where: str) -> Fold | None:
    if call.args.get("accuracy"):
        return None
    argument = call.this.sql(dialect="spark")
    if type_of(call.this).this not in (
        *INTEGERS,
        exp.DataType.Type.VARCHAR,
        exp.DataType.Type.VARBINARY,
    ):
        argument = f"CAST({argument} AS STRING)"
    part = Part("hll", "BINARY", f"hll_sketch_agg({argument}){where}", "hll_union({t}, {s})")
    return Fold((part,), "hll_sketch_estimate({0})")


def _approx_percentile(call: exp.Expr, where: str) -> Fold | None:
    share, kind = call.args.get("quantile"), type_of(call.this).this
    if not isinstance(share, exp.Literal) or kind not in (*INTEGERS, *exp.DataType.REAL_TYPES):
        return None
    family, cast = ("bigint", "BIGINT") if kind in INTEGERS else ("double", "DOUBLE")
    partial = (
        f"kll_sketch_agg_{family}(CAST({call.this.sql(dialect='spark')} AS {cast}), {KLL_K}){where}"
    )
    part = Part("kll", "BINARY", partial, f"kll_sketch_merge_{family}({{t}}, {{s}})")
    value = (
        f"CASE WHEN kll_sketch_get_n_{family}({{0}}) > 0"
        f" THEN kll_sketch_get_quantile_{family}({{0}}, CAST({share.name} AS DOUBLE)) END"
    )
    return Fold((part,), value)


def type_of(node: exp.Expr) -> exp.DataType:
    """Return the type that the binder annotated a node with; unknown if it has none."""
    return node.type if isinstance(node.type, exp.DataType) else exp.DataType.build("unknown")


FOLDS: Mapping[type[exp.Expr], Callable[[exp.Expr, str], Fold | None]] = {
    exp.Count: _count,
    exp.CountIf: _count,
    exp.Sum: _simple(ADD),
    exp.Min: _simple("least({t}, {s})"),
    exp.Max: _simple("greatest({t}, {s})"),
    exp.LogicalAnd: _simple("coalesce({t} AND {s}, {t}, {s})"),
    exp.LogicalOr: _simple("coalesce({t} OR {s}, {t}, {s})"),
    exp.Avg: _avg,
    exp.ArgMin: _by("min", "least({t}, {s})"),
    exp.ArgMax: _by("max", "greatest({t}, {s})"),
    exp.ApproxDistinct: _approx_distinct,
    exp.ApproxQuantile: _approx_percentile,
}
