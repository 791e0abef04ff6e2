"""Functions that choose among values or look into arrays and JSON, and what is written like one."""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.typing import types as t
from headwater.analyze.typing.functions.entry import (
    Described,
    Function,
    Table,
    always,
    common,
    first,
)
from headwater.analyze.typing.functions.lines import line, named
from headwater.dialect.syntax import JSONScalar, JSONText


def _fault(node: exp.Expr) -> str:
    """The condition that json_extract_scalar fails."""
    path = node.args["path"].name.replace("'", "''")
    return f"_json_fault(_1, '{path}')"


OTHERS: Table = {
    exp.Coalesce: Function(
        "coalesce",
        "coalesce(x, …)",
        "Returns the first argument that is not NULL.",
        (("coalesce(NULL, 'none')", "'none'"),),
        params=("any*",),
        result=common,
        one_type=True,
    ),
    exp.Nullif: Function(
        "nullif",
        "nullif(x, y)",
        "Returns NULL if both arguments are equal, otherwise the first one.",
        (("nullif(0, 0)", "NULL"), ("10 / nullif(4, 0)", "2")),
        "`nullif` of NaN differs in Trino.",
        params=("comparable", "comparable"),
        result=first,
        nullable="always",
        one_type=True,
    ),
    exp.ArraySize: Function(
        "cardinality",
        "cardinality(x)",
        "Counts the elements of an array or a map.",
        (("cardinality(split('a,b', ','))", "2"),),
        params=("collection",),
        result=always(t.BIGINT),
    ),
    exp.ArrayContains: Function(
        "contains",
        "contains(array, x)",
        "Tests whether an array holds a value; NULL if only a NULL could be that value.",
        (("contains(split('a,b', ','), 'b')", "true"),),
        "DuckDB returns false instead of NULL; Headwater translates. Floating point numbers are"
        " refused.",
        params=("array", "comparable"),
        result=always(t.BOOLEAN),
        nullable="always",
    ),
    exp.JSONExtractScalar: Function(
        "json_extract_scalar",
        "json_extract_scalar(json, path [ERROR ON ERROR])",
        "Returns the text, number or boolean at a path of a JSON text; NULL if there is none.",
        (
            ("""json_extract_scalar('{"a": {"b": 7}}', '$.a.b')""", "'7'"),
            ("""json_extract_scalar('{"a": 12.10}', '$.a')""", "'12.10'"),
            ("""json_extract_scalar('{"a": {"b": 7}}', '$.a')""", "NULL"),
        ),
        "The path is a literal. A text that is no JSON gives NULL; Trino returns what it finds"
        " before the fault. A number keeps its text, which Spark and DuckDB rewrite. With `ERROR ON"
        " ERROR`, an object, an array and a text that is no JSON make a bad row. `->>` of other"
        " dialects and `get_json_object` are read so: engines write objects in other ways.",
        params=("text",),
        result=always(t.VARCHAR),
        nullable="always",
    ),
}

_IN_TRINO = (
    r"regexp_replace(json_format(CAST(_1 AS JSON)),"
    r" '\\u(D[89AB][0-9A-F]{2})\\u(D[C-F][0-9A-F]{2})|(\\.)', x -> coalesce(x[3],"
    " chr(65536 + (from_base(x[1], 16) - 55296) * 1024 + from_base(x[2], 16) - 56320)))"
)
"""Trino 476 escapes characters beyond 16 bits, which other engines write as they are."""
JSON_FAULT = named("_json_fault")
FAULTS: Table = {
    JSONScalar: Function(
        "json_extract_scalar",
        "json_extract_scalar(json, path ERROR ON ERROR)",
        "Returns the text, number or boolean at a path, or fails on what is none.",
        (),
        params=("text",),
        result=always(t.VARCHAR),
        nullable="always",
        fails=_fault,
    ),
    JSON_FAULT: Function(
        "_json_fault",
        "_json_fault(json, path)",
        "Tests whether json_extract_scalar fails on a text.",
        (),
        params=("text", "text"),
        result=always(t.BOOLEAN),
        constant=(1,),
        nullable="never",
        texts={},
    ),
    **dict(
        (
            line(
                "json_format(x: jsonable) -> VARCHAR",
                "Returns a value as JSON.",
                spark="CASE WHEN _1 IS NOT NULL THEN substring(to_json(array(_1), map("
                "'ignoreNullFields', 'false')), 2, length(to_json(array(_1), map("
                "'ignoreNullFields', 'false'))) - 2) END",
                duckdb="CASE WHEN _1 IS NOT NULL THEN CAST(to_json(_1) AS VARCHAR) END",
                trino=_IN_TRINO,
                node=JSONText,
            ),
        )
    ),
}
"""What no name calls."""

FORMS: tuple[Described, ...] = (
    Described(
        "json_format",
        "json_format(CAST(x AS JSON))",
        "Returns a text, exact number, boolean or date as JSON, or an array or a row of them.",
        (
            ("json_format(CAST('a \"b\"' AS JSON))", '\'"a \\"b\\""\''),
            ("json_format(CAST(ARRAY[1, NULL] AS JSON))", "'[1,null]'"),
        ),
        "Floating point numbers have other digits in each engine, and are refused. A character"
        " beyond 16 bits stands as it is; Trino escapes it.",
    ),
    Described(
        "json_object",
        "json_object('key': x, …)",
        "Returns a JSON object; with ABSENT ON NULL without fields that are NULL.",
        (("json_object('a': 1, 'b': NULL)", '\'{"a":1,"b":null}\''),),
        "Values are those of `json_format`. Keys are literals, in the order written; Trino orders"
        " them in its own way.",
    ),
    Described(
        "json_array",
        "json_array(x, …)",
        "Returns a JSON array of the values that are not NULL.",
        (("json_array(1, NULL, 'a')", "'[1,\"a\"]'"),),
        "Values are those of `json_format`.",
    ),
    Described(
        "element_at",
        "element_at(x, n)",
        "Returns the n-th element of an array, from its end if n is negative, or a map's value of a"
        " key; NULL without one.",
        (
            ("element_at(split('a,b', ','), -1)", "'b'"),
            ("element_at(split('a,b', ','), 3)", "NULL"),
        ),
        "It fails if n is 0.",
    ),
    Described(
        "x[n]",
        "x[n]",
        "Returns the n-th element of an array, or a map's value of a key; fails without one.",
        (("split('a,b', ',')[2]", "'b'"),),
        "In another dialect it counts or fails as it does there, if n is a literal.",
    ),
    Described(
        "array",
        "ARRAY[x, …]",
        "Returns an array of the values.",
        (("ARRAY[1, 2]", "[1, 2]"),),
        "Write `CAST(ARRAY[] AS ARRAY(type))` for an array without elements.",
    ),
    Described(
        "if",
        "if(condition, x[, y])",
        "Returns x if the condition is true, otherwise y, or NULL without y.",
        (("if(2 > 1, 'yes', 'no')", "'yes'"), ("if(1 > 2, 'yes')", "NULL")),
    ),
    Described(
        "try",
        "TRY(x)",
        "Returns x, and NULL where computing it fails.",
        (("TRY(1 / 0)", "NULL"), ("coalesce(TRY(CAST('a' AS INTEGER) + 1), 0)", "0")),
        "Write an aggregate that can fail, such as a sum of `BIGINT`, in a subquery of `FROM`.",
    ),
    Described(
        "try_cast",
        "TRY_CAST(x AS type)",
        "Converts a value, and returns NULL if it cannot be converted.",
        (("TRY_CAST('12' AS INTEGER)", "12"), ("TRY_CAST('a dozen' AS INTEGER)", "NULL")),
        "Text is read by one rule in every engine: see [text as values](types.md#text-as-values).",
    ),
)
"""Expressions that are written like functions."""
