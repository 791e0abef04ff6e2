"""Functions over numbers."""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.typing import types as t
from headwater.analyze.typing.functions.entry import (
    Function,
    Table,
    always,
    common,
    cut,
    first,
    rounded,
    whole,
)
from headwater.analyze.typing.functions.lines import Line, line, named

_DOUBLE = always(t.DOUBLE)


def _double(name: str, about: str, *example: str) -> Function:
    call, result = example
    return Function(
        name, f"{name}(x)", about, ((call, result),), params=("number",), result=_DOUBLE
    )


def _curve(
    name: str,
    about: str,
    result: str,
    node: type[exp.Expr] | None = None,
    of: str = "0",
    spark: str = "",
    duckdb: str = "",
) -> Line:
    return line(
        f"{name}(x: double) -> DOUBLE",
        about,
        f"{name}({of}) -> {result}",
        node=node,
        spark=spark,
        duckdb=duckdb,
    )


def _inside(domain: str, text: str, *others: str) -> dict[str, str]:
    """A function of a part of its domain in Spark and DuckDB; NaN elsewhere."""
    more = " ".join(others)
    case = f"CASE WHEN {domain} THEN {text} {more} WHEN _1 IS NOT NULL THEN {{nan}} END"
    number = "CAST('{}' AS DOUBLE)"
    return {
        engine: case.format(nan=number.format("NaN"), infinity=number.format("-Infinity"))
        for engine in ("spark", "duckdb")
    }


_ZERO = "WHEN _1 = 0 THEN {infinity}"
_BUCKET = (
    "CASE WHEN _1 IS NULL OR _2 IS NULL OR _3 IS NULL OR _4 IS NULL THEN NULL"
    " WHEN _2 < _3 THEN CASE WHEN _1 < _2 THEN 0 WHEN _1 >= _3 THEN _4 + 1"
    " ELSE CAST(floor(CAST(_4 AS DOUBLE) * (_1 - _2) / (_3 - _2) + 1) AS BIGINT) END"
    " WHEN _1 >= _2 THEN 0 WHEN _1 < _3 THEN _4 + 1"
    " ELSE _4 - (CAST(floor(CAST(_4 AS DOUBLE) * (_1 - _3) / (_2 - _3) + 1) AS BIGINT) - 1) END"
)

NARROW = {t.Type.SMALLINT: named("_smallint"), t.Type.TINYINT: named("_tinyint")}
"""By small integer, what a number passes that is cast to it."""

RANGES: Table = dict(
    line(
        f"{name}(x: integer) -> INTEGER",
        "Returns a number that is in the range of a small integer.",
        spark="_1",
        duckdb="_1",
        trino="_1",
        fails=f"_1 < -{beyond} OR _1 >= {beyond}",
    )
    for name, beyond in (("_smallint", 2**15), ("_tinyint", 2**7))
)

NUMBERS: Table = {
    exp.Abs: Function(
        "abs",
        "abs(x)",
        "Returns the number without its sign.",
        (("abs(-2.5)", "2.5"),),
        params=("number",),
        result=first,
    ),
    exp.Ceil: Function(
        "ceil",
        "ceil(x)",
        "Rounds up to a whole number.",
        (("ceil(1.2)", "2"), ("ceil(-1.2)", "-1")),
        "Spark's result of a `DOUBLE` is a `BIGINT`; Headwater keeps the type, as Trino does.",
        params=("number",),
        result=whole,
    ),
    exp.Floor: Function(
        "floor",
        "floor(x)",
        "Rounds down to a whole number.",
        (("floor(1.8)", "1"), ("floor(-1.2)", "-2")),
        "Spark's result of a `DOUBLE` is a `BIGINT`; Headwater keeps the type, as Trino does.",
        params=("number",),
        result=whole,
    ),
    exp.Round: Function(
        "round",
        "round(x[, digits])",
        "Rounds half away from zero; negative digits round before the point.",
        (("round(2.5)", "3"), ("round(1.256e0, 2)", "1.26"), ("round(1234e0, -2)", "1200.0")),
        "A `DOUBLE` is rounded by Trino's definition, `round(x * 100) / 100`, in all engines.",
        params=("number", "integer?"),
        result=rounded,
        constant=(1,),
    ),
    exp.Sign: Function(
        "sign",
        "sign(x)",
        "Returns -1, 0 or 1 for the sign of the number.",
        (("sign(-7)", "-1"),),
        "DuckDB returns 0 for NaN; Headwater returns NaN, as Spark and Trino do.",
        params=("float",),
        result=first,
    ),
    exp.Trunc: Function(
        "truncate",
        "truncate(x)",
        "Removes the digits after the point.",
        (("truncate(-1.8e0)", "-1.0"),),
        params=("float",),
        result=cut,
    ),
    exp.Sqrt: _double("sqrt", "Returns the square root.", "sqrt(16)", "4.0"),
    exp.Cbrt: _double("cbrt", "Returns the cube root.", "cbrt(8)", "2.0"),
    exp.Exp: _double("exp", "Returns e to the power of x.", "exp(0)", "1.0"),
    exp.Pow: Function(
        "power",
        "power(x, y)",
        "Returns x to the power of y.",
        (("power(2, 10)", "1024.0"),),
        params=("number", "number"),
        result=_DOUBLE,
    ),
    exp.Pi: Function(
        "pi",
        "pi()",
        "Returns the number π.",
        (("pi()", "3.141592653589793"),),
        params=(),
        result=_DOUBLE,
        nullable="never",
    ),
    exp.Sin: _double("sin", "Returns the sine of an angle in radians.", "sin(0)", "0.0"),
    exp.Cos: _double("cos", "Returns the cosine of an angle in radians.", "cos(0)", "1.0"),
    exp.Tan: _double("tan", "Returns the tangent of an angle in radians.", "tan(0)", "0.0"),
    exp.Atan: _double("atan", "Returns the arc tangent in radians.", "atan(0)", "0.0"),
    exp.Atan2: Function(
        "atan2",
        "atan2(y, x)",
        "Returns the angle of the point (x, y) in radians.",
        (("atan2(0, 1)", "0.0"),),
        "Spark takes -0.0 for zero; Headwater translates.",
        params=("number", "number"),
        result=_DOUBLE,
    ),
    exp.Radians: _double(
        "radians", "Converts degrees to radians.", "radians(180)", "3.141592653589793"
    ),
    exp.Degrees: _double("degrees", "Converts radians to degrees.", "degrees(pi())", "180.0"),
    exp.Greatest: Function(
        "greatest",
        "greatest(x, …)",
        "Returns the greatest argument; NULL if one argument is NULL.",
        (("greatest(1, 3, 2)", "3"), ("greatest('a', NULL)", "NULL")),
        "Spark leaves NULL out, and Trino leaves NaN out; Headwater does neither.",
        params=("comparable*",),
        result=common,
        one_type=True,
    ),
    exp.Least: Function(
        "least",
        "least(x, …)",
        "Returns the least argument; NULL if one argument is NULL.",
        (("least(1, 3, 2)", "1"),),
        "Spark leaves NULL out; Headwater does not.",
        params=("comparable*",),
        result=common,
        one_type=True,
    ),
    exp.BitwiseAnd: Function(
        "bitwise_and",
        "bitwise_and(x, y)",
        "Returns the bits that are set in both integers.",
        (("bitwise_and(12, 10)", "8"),),
        params=("integer", "integer"),
        result=always(t.BIGINT),
    ),
    exp.BitwiseOr: Function(
        "bitwise_or",
        "bitwise_or(x, y)",
        "Returns the bits that are set in either integer.",
        (("bitwise_or(12, 10)", "14"),),
        params=("integer", "integer"),
        result=always(t.BIGINT),
    ),
    exp.BitwiseXor: Function(
        "bitwise_xor",
        "bitwise_xor(x, y)",
        "Returns the bits that are set in exactly one of the integers.",
        (("bitwise_xor(12, 10)", "6"),),
        params=("integer", "integer"),
        result=always(t.BIGINT),
    ),
    **dict(
        (
            _curve(
                "acos",
                "Returns the arc cosine in radians.",
                "0.0",
                exp.Acos,
                of="1",
                **_inside("_1 BETWEEN -1 AND 1", "acos(_1)"),
            ),
            _curve(
                "asin",
                "Returns the arc sine in radians.",
                "0.0",
                exp.Asin,
                **_inside("_1 BETWEEN -1 AND 1", "asin(_1)"),
            ),
            _curve("cosh", "Returns the hyperbolic cosine.", "1.0", exp.Cosh),
            _curve("sinh", "Returns the hyperbolic sine.", "0.0", exp.Sinh),
            _curve("tanh", "Returns the hyperbolic tangent.", "0.0", exp.Tanh),
            _curve(
                "ln",
                "Returns the natural logarithm.",
                "0.0",
                exp.Ln,
                of="1",
                **_inside("_1 > 0", "ln(_1)", _ZERO),
            ),
            _curve(
                "log2",
                "Returns the logarithm to base 2.",
                "3.0",
                of="8",
                node=None,
                **_inside("_1 > 0", "log2(_1)", _ZERO),
            ),
            _curve(
                "log10",
                "Returns the logarithm to base 10.",
                "2.0",
                of="100",
                node=None,
                **_inside("_1 > 0", "log10(_1)", _ZERO),
            ),
            line(
                "log(base: double, x: double) -> DOUBLE",
                "Returns the logarithm of x to a base.",
                "log(2, 8) -> 3.0",
                trino="ln(_2) / ln(_1)",
                language="ln(_2) / ln(_1)",
            ),
            line(
                "e() -> DOUBLE",
                "Returns the number e.",
                "e() -> 2.718281828459045",
                duckdb="exp(1)",
                nullable="never",
            ),
            line(
                "infinity() -> DOUBLE",
                "Returns the infinite number.",
                "-infinity() -> -inf",
                spark="CAST('Infinity' AS DOUBLE)",
                duckdb="CAST('Infinity' AS DOUBLE)",
                nullable="never",
            ),
            line(
                "nan() -> DOUBLE",
                "Returns the value that is no number.",
                "is_nan(nan()) -> true",
                spark="CAST('NaN' AS DOUBLE)",
                duckdb="CAST('NaN' AS DOUBLE)",
                nullable="never",
            ),
            line(
                "is_nan(x: double) -> BOOLEAN",
                "Tests whether a number is NaN.",
                "is_nan(1e0) -> false",
                spark="CASE WHEN _1 IS NOT NULL THEN isnan(_1) END",
                duckdb="isnan(_1)",
            ),
            line(
                "is_infinite(x: double) -> BOOLEAN",
                "Tests whether a number is infinite.",
                "is_infinite(1e0 / 0) -> true",
                spark="abs(_1) = CAST('Infinity' AS DOUBLE)",
                duckdb="isinf(_1)",
            ),
            line(
                "is_finite(x: double) -> BOOLEAN",
                "Tests whether a number is neither infinite nor NaN.",
                "is_finite(1e0) -> true",
                spark="abs(_1) < CAST('Infinity' AS DOUBLE)",
                duckdb="isfinite(_1)",
            ),
            line(
                "width_bucket(x: double, low: double, high: double, n: bigint) -> BIGINT",
                "Returns the number of the bucket, of n equal ones between two bounds, that holds"
                " x.",
                "width_bucket(7.5, 0, 10, 4) -> 4",
                "width_bucket(10, 0, 10, 4) -> 5",
                spark=_BUCKET,
                duckdb=_BUCKET,
                fails="is_nan(_1) OR NOT is_finite(_2) OR NOT is_finite(_3) OR _2 = _3 OR _4 < 1"
                " OR (_4 = 9223372036854775807"
                " AND (_1 >= greatest(_2, _3) OR (_2 > _3 AND _1 < _3)))",
                engines="It fails on NaN, on bounds that are equal or infinite, and without"
                " buckets.",
            ),
        )
    ),
}
