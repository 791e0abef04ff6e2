"""Fold: which aggregates can be folded into their state, and how (one line of a table each).

In: an aggregate call of a bound query.
Out: its :class:`Fold`: the partial aggregates of a change, how they merge with the state, and how
the value is read from the state. An aggregate without a line here is kept by re-running the
affected keys or groups. Sketches are those of Apache DataSketches that Spark ships: HyperLogLog for
``approx_distinct``, KLL for ``approx_percentile``; both merge, so a change costs the change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from headwater.algebra.change import SIGN
from headwater.analyze.typing.types import MAX_PRECISION, digits, is_exact, spark_type

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
class StatePart:
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

    parts: tuple[StatePart, ...]
    value: str = "{0}"


_EXACT_SCALE = 6
"""Digits after the point that Spark retains in a sum of two decimals of 38 digits."""
_DIGITS_OF_MINUS = 34

APPROXIMATE = (exp.ApproxDistinct, exp.ApproxQuantile)
"""Aggregates that are compared by their bounds."""

ADD = "coalesce({t} + {s}, {t}, {s})"
COUNT = "{t} + {s}"
INTEGERS = (
    exp.DataType.Type.TINYINT,
    exp.DataType.Type.SMALLINT,
    exp.DataType.Type.INT,
    exp.DataType.Type.BIGINT,
)

Folding = Callable[[exp.Expr, str], Fold | None]
"""Folds a call, given the condition of its FILTER (empty for none)."""


def fold_of(call: exp.Expr, *, signed: bool = False) -> Fold | None:
    """Return how an aggregate call is folded, or None if it is not self-maintainable.

    Args:
        call: an aggregate, possibly with FILTER, annotated with its type.
        signed: whether rows also go: each has its sign.
    """
    bare = call.this if isinstance(call, exp.Filter) else call
    rule = (SIGNED_FOLDS if signed else FOLDS).get(type(bare))
    if rule is None or bare.find(exp.Distinct) or bare.find(exp.Order):
        return None
    condition = call.expression.this.sql(dialect="spark") if isinstance(call, exp.Filter) else ""
    return rule(bare, condition)


def _where(*conditions: str) -> str:
    given = [each for each in conditions if each]
    text = " AND ".join(f"({each})" for each in given) if len(given) > 1 else "".join(given)
    return f" FILTER (WHERE {text})" if text else ""


def _count(call: exp.Expr, condition: str) -> Fold:
    return Fold(
        (StatePart("count", "BIGINT", call.sql(dialect="spark") + _where(condition), COUNT),)
    )


def _simple(merge: str) -> Folding:
    def rule(call: exp.Expr, condition: str) -> Fold:
        kind = spark_type(type_of(call))
        partial = f"CAST({call.sql(dialect='spark')}{_where(condition)} AS {kind})"
        return Fold((StatePart("value", kind, partial, merge),))

    return rule


def _sum(call: exp.Expr, condition: str) -> Fold | None:
    kind = type_of(call)
    if kind.this is not exp.DataType.Type.DECIMAL:
        return _simple(ADD)(call, condition)
    return _simple(f"coalesce({_add(digits(kind)[1])}, {{t}}, {{s}})")(call, condition)


def _add(scale: int) -> str:
    """The sum of two DECIMAL(38, scale), exact; it raises where it has more digits."""
    if scale <= _EXACT_SCALE:
        return "{t} + {s}"
    # of more digits after the point Spark would cut one off; whoever has 38 is computed as a whole
    narrow = f"DECIMAL({MAX_PRECISION - 1}, {scale})"
    return f"CAST({{t}} AS {narrow}) + CAST({{s}} AS {narrow})"


def _negative(value: str, kind: exp.DataType) -> str:
    """A number with the other sign: Spark's own minus keeps 34 digits of a decimal (4.1.3)."""
    precision, scale = digits(kind)
    if precision <= _DIGITS_OF_MINUS:
        return f"-{value}"
    if scale <= _EXACT_SCALE:
        return f"0 - {value}"
    text = f"replace(concat('-', CAST({value} AS STRING)), '--', '')"
    return f"CAST({text} AS DECIMAL({MAX_PRECISION}, {scale}))"


def _by(extreme: str, merge: str) -> Folding:
    """min_by and max_by: the state is what the winner was compared by; it ends with its value."""

    def rule(call: exp.Expr, condition: str) -> Fold:
        partial = f"{extreme}({call.expression.sql(dialect='spark')}){_where(condition)}"
        return Fold(
            (StatePart("row", spark_type(type_of(call.expression)), partial, merge),), "{0}.x"
        )

    return rule


def _avg(call: exp.Expr, condition: str) -> Fold:
    argument, where = call.this.sql(dialect="spark"), _where(condition)
    parts = (
        StatePart("sum", "DOUBLE", f"CAST(sum({argument}){where} AS DOUBLE)", ADD),
        StatePart("count", "BIGINT", f"count({argument}){where}", COUNT),
    )
    return Fold(parts, "{0} / nullif({1}, 0)")


def _approx_distinct(call: exp.Expr, condition: str) -> Fold | None:
    if call.args.get("accuracy"):
        return None
    argument = call.this.sql(dialect="spark")
    if type_of(call.this).this not in (
        *INTEGERS,
        exp.DataType.Type.VARCHAR,
        exp.DataType.Type.VARBINARY,
    ):
        argument = f"CAST({argument} AS STRING)"
    partial = f"hll_sketch_agg({argument}){_where(condition)}"
    part = StatePart("hll", "BINARY", partial, "hll_union({t}, {s})")
    return Fold((part,), "hll_sketch_estimate({0})")


def _approx_percentile(call: exp.Expr, condition: str) -> Fold | None:
    share, kind = call.args.get("quantile"), type_of(call.this).this
    if not isinstance(share, exp.Literal) or kind not in (*INTEGERS, *exp.DataType.REAL_TYPES):
        return None
    family, cast = ("bigint", "BIGINT") if kind in INTEGERS else ("double", "DOUBLE")
    argument = f"CAST({call.this.sql(dialect='spark')} AS {cast})"
    partial = f"kll_sketch_agg_{family}({argument}, {KLL_K}){_where(condition)}"
    part = StatePart("kll", "BINARY", partial, f"kll_sketch_merge_{family}({{t}}, {{s}})")
    value = (
        f"CASE WHEN kll_sketch_get_n_{family}({{0}}) > 0"
        f" THEN kll_sketch_get_quantile_{family}({{0}}, CAST({share.name} AS DOUBLE)) END"
    )
    return Fold((part,), value)


def _counted(suffix: str, *conditions: str) -> StatePart:
    """How many more rows came than went."""
    return StatePart(suffix, "BIGINT", f"coalesce(sum({SIGN}){_where(*conditions)}, 0)", COUNT)


def _known(call: exp.Expr, condition: str) -> tuple[str, ...]:
    """The conditions under which an aggregate looks at a row."""
    counts_all = isinstance(call.this, exp.Star)
    return (condition, "" if counts_all else f"({call.this.sql(dialect='spark')}) IS NOT NULL")


def _signed_count(call: exp.Expr, condition: str) -> Fold:
    return Fold((_counted("count", *_known(call, condition)),))


def _signed_count_if(call: exp.Expr, condition: str) -> Fold:
    return Fold((_counted("count", condition, call.this.sql(dialect="spark")),))


def _signed_total(call: exp.Expr, condition: str) -> tuple[StatePart, StatePart] | None:
    """The sum and the count of what is not NULL; exact, whatever comes and goes in between."""
    kind = type_of(call.this)
    if not is_exact(kind):
        return None
    scale = digits(kind)[1] if kind.this is exp.DataType.Type.DECIMAL else 0
    wide = f"DECIMAL({MAX_PRECISION}, {scale})"
    value = f"CAST({call.this.sql(dialect='spark')} AS {wide})"
    total = f"sum(CASE WHEN {SIGN} > 0 THEN {value} ELSE {_negative(value, kind)} END)"
    total += _where(condition)
    partial = f"coalesce({total}, CAST(0 AS {wide}))"
    return StatePart("sum", wide, partial, _add(scale)), _counted("count", *_known(call, condition))


def _signed_sum(call: exp.Expr, condition: str) -> Fold | None:
    parts = _signed_total(call, condition)
    value = f"CASE WHEN {{1}} > 0 THEN CAST({{0}} AS {spark_type(type_of(call))}) END"
    return Fold(parts, value) if parts else None


def _signed_avg(call: exp.Expr, condition: str) -> Fold | None:
    parts = _signed_total(call, condition)
    return Fold(parts, "CAST({0} AS DOUBLE) / nullif({1}, 0)") if parts else None


def _signed_bool(decides: str, value: str) -> Folding:
    def rule(call: exp.Expr, condition: str) -> Fold:
        deciding = decides.format(call.this.sql(dialect="spark"))
        parts = (
            _counted("count", *_known(call, condition)),
            _counted("deciding", condition, deciding),
        )
        return Fold(parts, f"CASE WHEN {{0}} > 0 THEN {value} END")

    return rule


def type_of(node: exp.Expr) -> exp.DataType:
    """Return the type that the binder annotated a node with; unknown if it has none."""
    return node.type if isinstance(node.type, exp.DataType) else exp.DataType.build("unknown")


FOLDS: dict[type[exp.Expr], Folding] = {
    exp.Count: _count,
    exp.CountIf: _count,
    exp.Sum: _sum,
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
"""Over rows that only come; an entry can be added from outside."""

SIGNED_FOLDS: dict[type[exp.Expr], Folding] = {
    exp.Count: _signed_count,
    exp.CountIf: _signed_count_if,
    exp.Sum: _signed_sum,
    exp.Avg: _signed_avg,
    exp.LogicalAnd: _signed_bool("NOT ({0})", "{1} = 0"),
    exp.LogicalOr: _signed_bool("{0}", "{1} > 0"),
}
"""Over rows that come and go; a view with any other aggregate goes by its affected groups."""
