"""Aggregates of statistics. Two rows that lack either of their values do not count."""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.typing.functions.entry import Table
from headwater.analyze.typing.functions.lines import Line, line
from headwater.analyze.typing.functions.spreads import covariance, of_line

_SUMS = "Sums of floating point numbers depend on the order of rows: `verify` compares within 1e-9."


_CORRELATION = "try_divide(regr_sxy(_1, _2), sqrt(regr_sxx(_1, _2) * regr_syy(_1, _2)))"
"""Spark's own corr divides by zero, and fails, where all values of one side are equal."""


def _without_nan(name: str, spark: str = "") -> dict[str, str]:
    """What both engines run of a function that is NULL in Trino where they have NaN."""
    call = f"{name}(_1, _2)"
    texts = {"spark": spark or call, "duckdb": call}
    return {
        engine: of_line(name, f"CASE WHEN NOT isnan({text}) THEN {text} END")
        for engine, text in texts.items()
    }


def _pair(name: str, about: str, result: str, node: type[exp.Expr], **texts: str) -> Line:
    signature = f"{name}(y: double, x: double) -> {texts.pop('type', 'DOUBLE')}"
    example = f"round({name}(price, pieces), 6) -> {result}"
    return line(signature, about, example, kind="aggregate", node=node, engines=_SUMS, **texts)  # type: ignore[arg-type]


def _bits(name: str, about: str, result: str, engine: str, node: type[exp.Expr]) -> Line:
    return line(
        f"{name}(x: bigint) -> BIGINT",
        about,
        f"{name}(pieces) -> {result}",
        spark=f"{engine}(_1)",
        duckdb=f"{engine}(_1)",
        kind="aggregate",
        node=node,
        aliases=engine,
    )


STATISTICS: Table = dict(
    (
        _bits(
            "bitwise_and_agg",
            "Returns the bits that are set in every integer.",
            "1",
            "bit_and",
            exp.BitwiseAndAgg,
        ),
        _bits(
            "bitwise_or_agg",
            "Returns the bits that are set in any integer.",
            "3",
            "bit_or",
            exp.BitwiseOrAgg,
        ),
        _bits(
            "bitwise_xor_agg",
            "Returns the bits that are set in an odd number of integers.",
            "2",
            "bit_xor",
            exp.BitwiseXorAgg,
        ),
        _pair(
            "corr",
            "Returns the coefficient of correlation.",
            "-1.0",
            exp.Corr,
            **_without_nan("corr", spark=_CORRELATION),
        ),
        _pair(
            "covar_pop",
            "Returns the covariance of a population.",
            "-0.15",
            exp.CovarPop,
            **covariance("covar_pop", least=1),
        ),
        _pair(
            "covar_samp",
            "Returns the covariance of a sample.",
            "-0.3",
            exp.CovarSamp,
            **covariance("covar_samp", least=2),
        ),
        _pair(
            "regr_slope",
            "Returns the slope of the line that fits best.",
            "-0.15",
            exp.RegrSlope,
            **_without_nan("regr_slope"),
        ),
        _pair(
            "regr_intercept",
            "Returns y at x = 0 of the line that fits best.",
            "1.65",
            exp.RegrIntercept,
            **_without_nan("regr_intercept"),
        ),
        line(
            "geometric_mean(x: double) -> DOUBLE",
            "Returns the geometric mean.",
            "round(geometric_mean(pieces), 6) -> 1.732051",
            spark="exp(avg(CASE WHEN _1 > 0 THEN ln(_1) WHEN _1 = 0 THEN double('-Infinity')"
            " WHEN _1 IS NOT NULL THEN double('NaN') END))",
            duckdb="exp(avg(CASE WHEN _1 > 0 THEN ln(_1) WHEN _1 = 0 THEN CAST('-Infinity' AS"
            " DOUBLE) WHEN _1 IS NOT NULL THEN CAST('NaN' AS DOUBLE) END))",
            kind="aggregate",
            engines=_SUMS,
        ),
    )
)
