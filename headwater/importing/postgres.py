"""What RisingWave and Materialize have in common: PostgreSQL's types, functions and idioms."""

from __future__ import annotations

from sqlglot import exp

from headwater.importing.bodies import Body, QueryScope
from headwater.importing.contract import CallMapping, Functions, RefusedCall, Types
from headwater.importing.functions import NOTE

_DIGITS = (18, 6)
_NUMERIC = "numeric without digits has 18 here, 6 of them behind the point"

TYPES: Types = {
    "BOOLEAN": "BOOLEAN",
    "BOOL": "BOOLEAN",
    "SMALLINT": "INTEGER",
    "INT2": "INTEGER",
    "INT": "INTEGER",
    "INTEGER": "INTEGER",
    "INT4": "INTEGER",
    "BIGINT": "BIGINT",
    "INT8": "BIGINT",
    "SERIAL": "BIGINT",
    "REAL": "REAL",
    "FLOAT4": "REAL",
    "FLOAT": "DOUBLE",
    "FLOAT8": "DOUBLE",
    "DOUBLE": "DOUBLE",
    "DOUBLE PRECISION": "DOUBLE",
    "NUMERIC": ("DECIMAL(18, 6)", _NUMERIC),
    "DECIMAL": ("DECIMAL(18, 6)", _NUMERIC),
    "VARCHAR": "VARCHAR",
    "CHARACTER VARYING": "VARCHAR",
    "CHARACTER": "VARCHAR",
    "CHAR": "VARCHAR",
    "TEXT": "VARCHAR",
    "STRING": "VARCHAR",
    "BYTEA": "VARBINARY",
    "BYTES": "VARBINARY",
    "UUID": "VARCHAR",
    "JSON": "VARCHAR",
    "JSONB": "VARCHAR",
    "DATE": "DATE",
    "TIMESTAMP": "TIMESTAMP",
    "TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE",
    "TIME": ("VARCHAR", "a time of day is text here"),
    "INTERVAL": ("", "a column cannot hold an interval"),
    "RW_INT256": ("DECIMAL(38, 0)", "38 digits at most"),
}

_VOLATILE = RefusedCall("every call gives another value", "bring it with the data")

FUNCTIONS: Functions = {
    "ARRAY_LENGTH": {1: "cardinality(_1)", 2: "cardinality(_1)"},
    "ARRAY_CONTAINS": {2: "contains(_1, _2)"},
    "BTRIM": {1: "trim(_1)"},
    "CARDINALITY": "cardinality(_1)",
    "CEILING": "ceil(_1)",
    "CHARACTER_LENGTH": "length(_1)",
    "CONVERT_FROM": "_1",
    "DATE_BIN": RefusedCall("there is no date_bin", "write date_trunc, or TUMBLE in FROM"),
    "GEN_RANDOM_UUID": _VOLATILE,
    "JSONB_ARRAY_LENGTH": RefusedCall("JSON arrays are text here", "declare an ARRAY column"),
    "LCASE": "lower(_1)",
    "LEFT": "substr(_1, 1, _2)",
    "MD5": "lower(to_hex(md5(to_utf8(_1))))",
    "POSITION": {2: "strpos(_2, _1)"},
    "RANDOM": _VOLATILE,
    "REGEXP_COUNT": {2: "regexp_count(_1, _2)"},
    "REGEXP_MATCH": RefusedCall("it gives an array of groups", "write regexp_extract(x, p, 1)"),
    "REGEXP_MATCHES": RefusedCall("it gives a row per match", "write regexp_extract(x, p, 1)"),
    "SUBSTR": {2: "substr(_1, _2)", 3: "substr(_1, _2, _3)"},
    "TO_JSONB": RefusedCall("a text may hold JSON", "write json_format(CAST(x AS JSON))"),
    "TO_TIMESTAMP": {
        1: CallMapping("from_unixtime(CAST(floor(_1) AS BIGINT))", "to_timestamp: whole seconds")
    },
    "UCASE": "upper(_1)",
    "UUID_GENERATE_V4": _VOLATILE,
}


def size_numerics(tree: exp.Expr) -> None:
    """Give numeric without digits a size, except of a literal, which has its own."""
    for cast in tree.find_all(exp.Cast):
        to = cast.args["to"]
        if to.this is exp.DType.DECIMAL and not to.expressions and not cast.this.is_number:
            sizes = [exp.DataTypeParam(this=exp.Literal.number(each)) for each in _DIGITS]
            to.set("expressions", sizes)
            cast.meta[NOTE] = _NUMERIC


def first_of_each(body: Body, scope: QueryScope) -> None:
    """Turn ``DISTINCT ON (k) … ORDER BY k, ts DESC`` into the first row of each group."""
    for select in body.query.find_all(exp.Select):
        distinct = select.args.get("distinct")
        keys = distinct.args.get("on") if distinct else None
        if keys is None:
            continue
        given = keys.expressions if isinstance(keys, exp.Tuple) else [keys.unnest()]
        names = {key.sql() for key in given}
        order = select.args.get("order") or body.query.args.get("order")
        rest = [each for each in order.expressions if each.this.sql() not in names] if order else []
        rank = exp.Window(
            this=exp.RowNumber(),
            partition_by=[key.copy() for key in given],
            order=exp.Order(expressions=[each.copy() for each in rest]) if rest else None,
        )
        first = exp.EQ(this=rank, expression=exp.Literal.number(1))
        select.set("distinct", None)
        select.set("qualify", exp.Qualify(this=first))
        if order:
            order.pop()
