"""Functions over arrays that take a lambda."""

from __future__ import annotations

from headwater.analyze.typing.functions.entry import Table
from headwater.analyze.typing.functions.lines import line, named

ANY_MATCH, ZIP_WITH = map(named, ("any_match", "zip_with"))
_VALUES = "list_transform(_1, _2)"
_SHORT = "The lambda must not be able to fail, since Trino does not ask it of every element."

LAMBDAS: Table = dict(
    (
        line(
            "transform(x: array, f: lambda) -> array of values of f",
            "Computes a value of each element.",
            "transform(ARRAY[1, 2], x -> x * 10) -> [10, 20]",
            duckdb=_VALUES,
        ),
        line(
            "filter(x: array, f: lambda) -> type of x",
            "Returns the elements for which a condition is true.",
            "filter(ARRAY[1, 2, 3], x -> x > 1) -> [2, 3]",
            duckdb="list_filter(_1, _2)",
        ),
        line(
            "any_match(x: array, f: lambda) -> BOOLEAN",
            "Tests whether a condition is true for any element.",
            "any_match(ARRAY[1, 2], x -> x > 1) -> true",
            spark="exists(_1, _2)",
            duckdb=f"CASE WHEN list_contains({_VALUES}, true) THEN true"
            f" WHEN list_count({_VALUES}) = len(_1) THEN false END",
            nullable="always",
            engines=_SHORT,
        ),
        line(
            "all_match(x: array, f: lambda) -> BOOLEAN",
            "Tests whether a condition is true for every element.",
            "all_match(ARRAY[1, 2], x -> x > 1) -> false",
            spark="forall(_1, _2)",
            duckdb=f"CASE WHEN list_contains({_VALUES}, false) THEN false"
            f" WHEN list_count({_VALUES}) = len(_1) THEN true END",
            nullable="always",
            engines=_SHORT,
        ),
        line(
            "none_match(x: array, f: lambda) -> BOOLEAN",
            "Tests whether a condition is true for no element.",
            "none_match(ARRAY[1, 2], x -> x > 2) -> true",
            spark="NOT exists(_1, _2)",
            duckdb=f"CASE WHEN list_contains({_VALUES}, true) THEN false"
            f" WHEN list_count({_VALUES}) = len(_1) THEN true END",
            nullable="always",
            engines=_SHORT,
        ),
        line(
            "zip_with(x: array, y: array, f: lambda) -> array of values of f",
            "Computes a value of each pair of elements; NULL stands in for what is shorter.",
            "zip_with(ARRAY[1, 2], ARRAY[10, 20], (x, y) -> x + y) -> [11, 22]",
        ),
        line(
            "reduce(x: array, first: any, merge: lambda, f: lambda) -> type of f",
            "Merges the elements one after another into a value, and computes the result of it.",
            "reduce(ARRAY[1e0, 2e0], 0e0, (s, x) -> s + x, s -> s / 2) -> 1.5",
            spark="aggregate(_1, _2, _3, _4)",
            duckdb="CASE WHEN _1 IS NOT NULL THEN"
            " list_extract(list_transform([list_reduce(_1, _3, _2)], _4), 1) END",
            nullable="always",
            engines="The lambdas must not be able to fail: cast integers to `DOUBLE`.",
        ),
    )
)
