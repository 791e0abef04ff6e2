"""Functions over arrays and maps."""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.functions.entry import Arguments, Function, Table
from headwater.analyze.typing.functions.lines import line, named

_MOST = 10_000
_STEPS = "(CAST(_2 AS DOUBLE) - _1) / coalesce(_3, if(_2 < _1, -1, 1))"
_JOINED = (
    "CASE WHEN _1 IS NOT NULL AND _2 IS NOT NULL THEN"
    " substr(list_reduce({}, lambda l, r: concat(l, _2, r), ''), length(_2) + 1) END"
)
_SLICE = (
    "CASE WHEN _3 IS NULL THEN NULL"
    " WHEN _2 > 0 AND _2 <= len(_1) THEN list_slice(_1, _2, _2 + least(_3, len(_1)) - 1)"
    " WHEN _2 < 0 AND -_2 <= len(_1)"
    " THEN list_slice(_1, len(_1) + _2 + 1, len(_1) + _2 + least(_3, len(_1)))"
    " WHEN _1 IS NOT NULL AND _2 IS NOT NULL AND _3 IS NOT NULL"
    " THEN list_filter(_1, lambda e: false) END"
)
_AMONG = (
    "CASE WHEN _2 IS NOT NULL THEN list_filter(_1, lambda e, i: list_position(_1, e) = i"
    " AND list_position(_2, e) {}) END"
)
_ORDER = "Other engines have an order of their own."


def _no_sequence(node: exp.Expr) -> str:
    """The condition that there is no sequence, empty if numbers that are written out make one."""
    written = [each.this if isinstance(each, exp.Cast) else each for each in node.expressions]
    if all(isinstance(each, exp.Literal) and each.is_int for each in written):
        first, last, *steps = (int(each.name) for each in written)
        step = steps[0] if steps else (-1 if last < first else 1)
        if step and 0 <= (last - first) / step < _MOST:
            return ""
    return f"_3 = 0 OR (_3 > 0 AND _1 > _2) OR (_3 < 0 AND _1 < _2) OR {_STEPS} >= {_MOST}"


ARRAYS: Table = dict(
    (
        line(
            "array_distinct(x: exacts) -> type of x",
            "Removes elements that were there before.",
            "array_distinct(split('a,b,a', ',')) -> [a, b]",
            duckdb="list_filter(_1, lambda e, i: list_position(_1, e) = i)",
        ),
        line(
            "array_sort(x: comparables) -> type of x",
            "Sorts an array; NULL comes last.",
            "array_sort(split('b,a', ',')) -> [a, b]",
            duckdb="list_sort(_1, 'ASC', 'NULLS LAST')",
        ),
        line(
            "array_join(x: texts, separator: text, null: text?) -> VARCHAR",
            "Joins the texts of an array; NULL is left out, or is written as the text given.",
            "array_join(split('a,b', ','), '-') -> 'a-b'",
            duckdb=_JOINED.format("list_filter(_1, lambda e: e IS NOT NULL)")
            + " ;; CASE WHEN _3 IS NOT NULL THEN "
            + _JOINED.format("list_transform(_1, lambda e: coalesce(e, _3))")
            + " END",
        ),
        line(
            "array_max(x: comparables) -> type of elements",
            "Returns the greatest element; NULL if an element is NULL.",
            "array_max(split('b,a', ',')) -> 'b'",
            spark="CASE WHEN NOT exists(_1, e -> e IS NULL) THEN array_max(_1) END",
            duckdb="CASE WHEN len(_1) = list_count(_1) THEN list_max(_1) END",
            nullable="always",
        ),
        line(
            "array_min(x: comparables) -> type of elements",
            "Returns the least element; NULL if an element is NULL.",
            "array_min(split('b,a', ',')) -> 'a'",
            spark="CASE WHEN NOT exists(_1, e -> e IS NULL) THEN array_min(_1) END",
            duckdb="CASE WHEN len(_1) = list_count(_1) THEN list_min(_1) END",
            nullable="always",
        ),
        line(
            "array_position(x: comparables, value: element) -> BIGINT",
            "Returns the place of the first element that is equal, or 0.",
            "array_position(split('b,a', ','), 'a') -> 2",
            duckdb="CASE WHEN _1 IS NOT NULL AND _2 IS NOT NULL"
            " THEN coalesce(list_position(_1, _2), 0) END",
        ),
        line(
            "array_remove(x: comparables, value: element) -> type of x",
            "Removes every element that is equal.",
            "array_remove(split('b,a,b', ','), 'b') -> [a]",
            duckdb="CASE WHEN _2 IS NOT NULL"
            " THEN list_filter(_1, lambda e: e IS DISTINCT FROM _2) END",
        ),
        line(
            "arrays_overlap(x: comparables, y: same) -> BOOLEAN",
            "Tests whether two arrays share an element; NULL if only a NULL could be it.",
            "arrays_overlap(split('b,a', ','), split('a', ',')) -> true",
            duckdb="CASE WHEN list_has_any(_1, _2) THEN true"
            " WHEN len(_1) > 0 AND len(_2) > 0 AND (list_count(_1) < len(_1)"
            " OR list_count(_2) < len(_2)) THEN NULL ELSE list_has_any(_1, _2) END",
            nullable="always",
        ),
        line(
            "sequence(first: bigint, last: bigint, step: bigint?) -> ARRAY(BIGINT)",
            "Returns the integers from one to another, by default in steps of 1 or -1.",
            "sequence(1, 3) -> [1, 2, 3]",
            "sequence(5, 1, -2) -> [5, 3, 1]",
            spark="sequence(_1, _2) ;; sequence(_1, _2, _3)",
            duckdb="CASE WHEN _1 <= _2 THEN generate_series(_1, _2)"
            " ELSE generate_series(_1, _2, -1) END ;; generate_series(_1, _2, _3)",
            fails=_no_sequence,
            engines="Dates and timestamps are a day apart, or an `INTERVAL` of fixed length. It"
            " fails if the step leads away, or for more than 10,000 elements.",
        ),
        line(
            "slice(x: array, start: bigint, length: bigint) -> type of x",
            "Returns a part of an array; a negative start counts from the end.",
            "slice(split('a,b,c', ','), 2, 2) -> [b, c]",
            "slice(split('a,b,c', ','), -1, 1) -> [c]",
            spark="CASE WHEN _3 IS NULL THEN NULL WHEN _2 BETWEEN -size(_1) AND size(_1)"
            " THEN slice(_1, CAST(_2 AS INT), CAST(least(_3, size(_1)) AS INT))"
            " WHEN _1 IS NOT NULL AND _2 IS NOT NULL THEN slice(_1, 1, 0) END",
            duckdb=_SLICE,
            fails="_2 = 0 OR _3 < 0",
            engines="It fails if the start is 0 or the length is negative.",
        ),
        line(
            "array_union(x: exacts, y: same) -> type of x",
            "Returns the elements of two arrays, each once, in the order in which they come.",
            "array_union(ARRAY[2, 1], ARRAY[3, 2]) -> [2, 1, 3]",
            language="array_distinct(_1 || _2)",
        ),
        line(
            "array_except(x: exacts, y: same) -> type of x",
            "Returns the elements of an array that another one has not, each once, in their order.",
            "array_except(ARRAY[2, 1, 2], ARRAY[1]) -> [2]",
            duckdb=_AMONG.format("IS NULL"),
        ),
        line(
            "array_intersect(x: exacts, y: same) -> type of x",
            "Returns the elements that two arrays share, each once, in the order of the first.",
            "array_intersect(ARRAY[2, 1, 2], ARRAY[3, 2]) -> [2]",
            duckdb=_AMONG.format("IS NOT NULL"),
        ),
        line(
            "flatten(x: arrays) -> type of elements",
            "Joins the arrays of an array; NULL among them is left out.",
            "flatten(ARRAY[ARRAY[1, 2], ARRAY[3]]) -> [1, 2, 3]",
            spark="flatten(filter(_1, e -> e IS NOT NULL))",
        ),
        line(
            "trim_array(x: array, n: bigint) -> type of x",
            "Removes elements from the end of an array.",
            "trim_array(ARRAY[1, 2, 3], 2) -> [1]",
            spark="slice(_1, 1, CAST(size(_1) - _2 AS INT))",
            duckdb="list_slice(_1, 1, len(_1) - _2)",
            fails="_2 < 0 OR _2 > cardinality(_1)",
        ),
        line(
            "map(keys: exacts, values: array) -> map of x and y",
            "Returns a map of an array of keys and an array of their values.",
            "element_at(map(ARRAY['a', 'b'], ARRAY[1, 2]), 'b') -> 2",
            spark="map_from_arrays(_1, _2)",
            duckdb="CASE WHEN _1 IS NOT NULL AND _2 IS NOT NULL THEN map(_1, _2) END",
            fails="cardinality(_1) <> cardinality(_2) OR any_match(_1, x -> x IS NULL)"
            " OR cardinality(array_distinct(_1)) < cardinality(_1)",
            engines="It fails if a key is NULL or comes twice, or a value is missing.",
        ),
        line(
            "map_keys(x: map) -> array of keys",
            "Returns the keys of a map, sorted.",
            "map_keys(MAP(ARRAY['b', 'a'], ARRAY[1, 2])) -> [a, b]",
            spark="array_sort(map_keys(_1))",
            duckdb="list_sort(map_keys(_1))",
            trino="array_sort(map_keys(_1))",
            engines=_ORDER,
        ),
        line(
            "map_values(x: map) -> array of values",
            "Returns the values of a map in the order of their keys.",
            "map_values(MAP(ARRAY['b', 'a'], ARRAY[1, 2])) -> [2, 1]",
            spark="transform(array_sort(map_keys(_1)), k -> element_at(_1, k))",
            duckdb="list_transform(list_sort(map_keys(_1)), lambda k: map_extract_value(_1, k))",
            trino="transform(array_sort(map_keys(_1)), k -> element_at(_1, k))",
            engines=_ORDER,
        ),
    )
)


def _no_element(node: exp.Expr) -> str:
    """The condition that Trino finds no element: by ``[ ]`` there must be one."""
    if type_of(node.this).this is t.Type.MAP:
        return "" if node.args.get("safe") else "array_position(map_keys(_1), _2) = 0"
    place = node.expressions[0].unnest()
    if node.args.get("safe"):
        return "" if isinstance(place, (exp.Literal, exp.Neg)) else "_2 = 0"
    positive = isinstance(place, exp.Literal)
    return "_2 > cardinality(_1)" if positive else "_2 < 1 OR _2 > cardinality(_1)"


def _value_of(arguments: Arguments) -> exp.DataType:
    return t.elements(arguments[0])[-1]


SCALAR_SUBQUERY = named("_scalar_subquery")
"""The row of a scalar subquery of which there could be several."""

LET = named("_let")
"""A lambda, and the value that it is of: see :mod:`headwater.analyze.lets`."""

ELEMENTS: Table = {
    exp.Bracket: Function(
        "[ ]",
        "x[n]",
        "Returns an element of an array or the value of a key of a map.",
        (),
        params=("collection", "any"),
        result=_value_of,
        nullable="always",
        fails=_no_element,
    ),
    **dict(
        (
            line(
                "_scalar_subquery(x: array) -> type of elements",
                "Returns the element of an array, which is the only one; of NULL, NULL.",
                spark="element_at(_1, 1)",
                duckdb="list_extract(_1, 1)",
                trino="element_at(_1, 1)",
                nullable="always",
                fails="cardinality(_1) > 1",
            ),
            line(
                "_let(x: any, f: lambda) -> type of f",
                "Computes what a lambda gives for a value.",
                spark="element_at(transform(array(_1), _2), 1)",
                duckdb="list_extract(list_transform([_1], _2), 1)",
                trino="element_at(transform(ARRAY[_1], _2), 1)",
                nullable="always",
            ),
            line(
                "_ordinals(x: array) -> ARRAY(BIGINT)",
                "Returns the places of the elements of an array.",
                spark="transform(_1, (e, i) -> CAST(i + 1 AS BIGINT))",
                duckdb="range(1, len(_1) + 1)",
                trino="CASE WHEN cardinality(_1) > 0 THEN flatten(transform(sequence(0,"
                " (cardinality(_1) - 1) / 10000), b -> sequence(b * 10000 + 1,"
                " least(cardinality(_1), (b + 1) * 10000)))) END",
            ),
        )
    ),
}
"""Elements and their places, which no name calls."""
