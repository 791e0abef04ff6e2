"""Aggregates. Their examples read the table that :data:`ROWS` describes."""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.typing import types as t
from headwater.analyze.typing.functions.entry import (
    EVERYWHERE,
    Example,
    Function,
    Result,
    Table,
    always,
    array_of,
    first,
    mean,
    ranked,
    total,
)

EXAMPLE_TABLE = (
    ("product VARCHAR", "price DECIMAL(10, 2)", "pieces INTEGER", "returned BOOLEAN"),
    ("'apple', 1.20, 3, false", "'apple', 1.50, 1, true", "'pear', 2.00, NULL, false"),
)
"""Columns and rows of ``sales``, which the examples of aggregates and window functions read."""

_BOUNDED = "Sums of floating point numbers depend on the order of rows: {} compares within 1e-9."
_SUMS = _BOUNDED.format("`verify`")


def _aggregate(
    name: str,
    argument: str,
    about: str,
    example: Example,
    result: Result,
    engines: str = "",
    usage: str = "",
    aliases: tuple[str, ...] = (),
) -> Function:
    return Function(
        name,
        usage or f"{name}(x)",
        about,
        (example,),
        engines,
        params=(argument,),
        result=result,
        kind="aggregate",
        nullable="always",
        aliases=aliases,
        dialects=EVERYWHERE if aliases else (),
    )


def _spread(name: str, about: str, result: str) -> Function:
    engines = f"{_SUMS} NaN or an infinite number gives NaN. A result beyond DOUBLE is Infinity."
    return _aggregate(name, "number", about, (f"{name}(pieces)", result), always(t.DOUBLE), engines)


AGGREGATES: Table = {
    exp.Count: Function(
        "count",
        "count(*) or count([DISTINCT] x)",
        "Counts rows, or the values that are not NULL.",
        (("count(*)", "3"), ("count(pieces)", "2"), ("count(DISTINCT product)", "2")),
        params=("any*",),
        result=always(t.BIGINT),
        kind="aggregate",
        nullable="never",
    ),
    exp.CountIf: Function(
        "count_if",
        "count_if(condition)",
        "Counts the rows for which the condition is true.",
        (("count_if(returned)", "1"),),
        "DuckDB returns NULL if every condition is NULL; Headwater returns 0.",
        params=("boolean",),
        result=always(t.BIGINT),
        kind="aggregate",
        nullable="never",
    ),
    exp.Sum: _aggregate("sum", "summable", "Adds the values.", ("sum(pieces)", "4"), total, _SUMS),
    exp.Avg: _aggregate(
        "avg",
        "number",
        "Returns the mean; of a DECIMAL the exact quotient, rounded half away from zero to its own"
        " digits.",
        ("avg(price)", "1.57"),
        mean,
        f"{_SUMS} For more digits of a DECIMAL write `avg(CAST(x AS DOUBLE))`.",
    ),
    exp.Min: _aggregate(
        "min", "comparable", "Returns the least value.", ("min(price)", "1.20"), first
    ),
    exp.Max: _aggregate(
        "max",
        "comparable",
        "Returns the greatest value.",
        ("max(product)", "'pear'"),
        first,
        "NaN is the greatest number; `max` of NaN differs in Trino.",
    ),
    exp.LogicalAnd: _aggregate(
        "bool_and",
        "boolean",
        "Tests whether all values are true.",
        ("bool_and(returned)", "false"),
        always(t.BOOLEAN),
        aliases=("every",),
    ),
    exp.LogicalOr: _aggregate(
        "bool_or",
        "boolean",
        "Tests whether any value is true.",
        ("bool_or(returned)", "true"),
        always(t.BOOLEAN),
        aliases=("some",),
    ),
    exp.Stddev: _spread("stddev", "Returns the sample standard deviation.", "1.4142135623730951"),
    exp.StddevSamp: _spread("stddev_samp", "Does the same as `stddev`.", "1.4142135623730951"),
    exp.StddevPop: _spread("stddev_pop", "Returns the population standard deviation.", "1.0"),
    exp.Variance: _spread("variance", "Returns the sample variance.", "2.0"),
    exp.VariancePop: _spread("var_pop", "Returns the population variance.", "1.0"),
    exp.AnyValue: _aggregate(
        "any_value",
        "comparable",
        "Returns the least value, so that every engine and every run returns the same one.",
        ("any_value(product)", "'apple'"),
        first,
        "Other engines return any value.",
    ),
    exp.ArgMin: Function(
        "min_by",
        "min_by(x, y)",
        "Returns x of the row with the least y; among rows that tie, the least x.",
        (("min_by(product, price)", "'apple'"),),
        "Rows whose y is NULL do not count. The result is NULL only if no x is given.",
        aliases=("arg_min", "argmin"),
        dialects=EVERYWHERE,
        params=("comparable", "comparable"),
        result=first,
        kind="aggregate",
        nullable="always",
    ),
    exp.ArgMax: Function(
        "max_by",
        "max_by(x, y)",
        "Returns x of the row with the greatest y; among rows that tie, the greatest x.",
        (("max_by(product, price)", "'pear'"),),
        "Rows whose y is NULL do not count. `max_by` of NaN differs in Trino.",
        aliases=("arg_max", "argmax"),
        dialects=EVERYWHERE,
        params=("comparable", "comparable"),
        result=first,
        kind="aggregate",
        nullable="always",
    ),
    exp.ArrayAgg: _aggregate(
        "array_agg",
        "collected",
        "Collects values or rows into an array, NULL included; after the order given, by value.",
        ("array_agg(price ORDER BY price DESC)", "[2.00, 1.50, 1.20]"),
        array_of,
        "Spark leaves NULL out and has no order; Headwater translates. Not before `OVER`.",
        "array_agg([DISTINCT] x [ORDER BY …])",
    ),
    exp.GroupConcat: Function(
        "listagg",
        "listagg([DISTINCT] x, separator) WITHIN GROUP (ORDER BY …)",
        "Joins the texts of a group in an order and leaves out NULL.",
        (("listagg(product, '+') WITHIN GROUP (ORDER BY price)", "'apple+apple+pear'"),),
        "The order is required, and the separator is a literal. Not before `OVER`.",
        params=("text", "text"),
        result=always(t.VARCHAR),
        kind="aggregate",
        constant=(1,),
        nullable="always",
    ),
    exp.ApproxDistinct: Function(
        "approx_distinct",
        "approx_distinct(x)",
        "Estimates the number of different values.",
        (("approx_distinct(product)", "2"),),
        "Engines use different sketches: `verify` accepts a difference of 8 % of the count.",
        params=("comparable",),
        result=always(t.BIGINT),
        kind="aggregate",
        nullable="never",
        approximate=True,
    ),
    exp.ApproxQuantile: Function(
        "approx_percentile",
        "approx_percentile(x, fraction)",
        "Estimates the value below which a fraction of the values lies.",
        (("approx_percentile(price, 0.5)", "1.5"),),
        "Engines use different sketches: `verify` accepts a difference of 2.5 % in rank.",
        params=("number", "number"),
        result=ranked,
        kind="aggregate",
        constant=(1,),
        nullable="always",
        approximate=True,
    ),
}
