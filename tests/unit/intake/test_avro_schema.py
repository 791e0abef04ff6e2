"""Schemas of Avro: what their JSON says, and which types can be read as which."""

from __future__ import annotations

import json

import pytest

from headwater.analyze.definitions import Column
from headwater.analyze.typing import types as t
from headwater.dialect import parse
from headwater.formats.avro.schema import Schema, SchemaRefused
from headwater.formats.avro.schema import parse as parse_schema
from headwater.formats.avro.types import Unfit, read_row
from tests.support.avro import Json, fields


def schema(said: Json, *referred: Json) -> Schema:
    return parse_schema(7, json.dumps(said), [json.dumps(each) for each in referred])


def column(declared: str) -> Column:
    (statement,) = parse(
        f"CREATE TABLE t (v {declared}) WITH (connector = 'files', path = 'p')", file="t.sql"
    )
    return Column("v", t.canonical(statement.args["columns"][0].args["kind"]))


def test_a_type_may_hold_itself_and_be_named_in_any_namespace() -> None:
    near = {"type": "enum", "name": "Kind", "symbols": ["A"]}
    bare = {"type": "enum", "name": "K", "namespace": "", "symbols": ["B"]}
    far = {"type": "fixed", "name": "Kind", "namespace": "far", "size": 2}
    said = {
        "type": "record",
        "name": "a.Tree",
        "fields": [
            {"name": "kind", "type": near},
            {"name": "same", "type": "Kind"},
            {"name": "other", "type": far},
            {"name": "bare", "type": bare},
            {"name": "bare_again", "type": "K"},
            {"name": "next", "type": ["null", {"type": "array", "items": "a.Tree"}]},
        ],
    }
    found = schema(said)
    assert [*found.named] == ["a.Kind", "far.Kind", "K", "a.Tree"]
    assert found.field_names() == ("bare", "bare_again", "kind", "next", "other", "same")
    enum = {"type": "enum", "name": "t0", "symbols": ["A"]}
    assert found.written() == {
        "type": "record",
        "name": "t3",
        "fields": [
            {"name": "kind", "type": enum},
            {"name": "same", "type": "t0"},
            {"name": "other", "type": {"type": "fixed", "name": "t1", "size": 2}},
            {"name": "bare", "type": {"type": "enum", "name": "t2", "symbols": ["B"]}},
            {"name": "bare_again", "type": "t2"},
            {"name": "next", "type": ["null", {"type": "array", "items": "t3"}]},
        ],
    }


def test_types_of_other_schemas_are_taken_in_where_they_are_named() -> None:
    money = {"type": "fixed", "name": "shop.Money", "size": 3}
    customer = fields(balance="shop.Money")
    customer["name"] = "shop.Customer"
    found = schema(fields(customer="shop.Customer", paid="shop.Money"), money, customer)
    sized = {"type": "fixed", "name": "t0", "size": 3}
    inner = {"type": "record", "name": "t1", "fields": [{"name": "balance", "type": sized}]}
    assert found.written() == {
        "type": "record",
        "name": "t2",
        "fields": [{"name": "customer", "type": inner}, {"name": "paid", "type": "t0"}],
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "Expecting property name"),
        ('"Nowhere"', 'type "Nowhere" is not defined'),
        ("7", "no type: 7"),
        ('{"type": "record", "name": "R"}', "a record without fields"),
        ('{"type": "record", "name": "R", "fields": [7]}', "a field is no object"),
        (json.dumps(fields(**{"a-b": "int"})), '"a-b" is no name in Avro'),
        ('{"type": "fixed", "name": "F"}', 'type "F" has no size'),
        ('{"type": "array"}', "no type: null"),
        (json.dumps(fields(a=fields(b="int"))), 'type "R" is defined twice'),
        (
            '{"type": "enum", "name": "E", "symbols": ["A", "A"]}',
            "names are missing or not different",
        ),
        ("[" * 100_000, "recursion"),
    ],
)
def test_what_is_no_schema_is_refused(text: str, reason: str) -> None:
    with pytest.raises(SchemaRefused, match=reason.replace("(", r"\(")):
        parse_schema(7, text)


DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
NANOS = {"type": "long", "logicalType": "timestamp-nanos"}
LOCAL = {"type": "long", "logicalType": "local-timestamp-micros"}
DAY = {"type": "int", "logicalType": "date"}


@pytest.mark.parametrize(
    ("kind", "declared", "said"),
    [
        ("string", "BIGINT", "string"),
        ("string", "DECIMAL(9, 2)", "string"),
        ("string", "BOOLEAN", "string"),
        ("long", "INTEGER", "long"),
        ("long", "DOUBLE", "long"),
        ("int", "REAL", "int"),
        ("int", "VARCHAR", "int"),
        ("double", "REAL", "double"),
        ("double", "DECIMAL(9, 2)", "double"),
        ("bytes", "VARCHAR", "bytes"),
        ("bytes", "DECIMAL(9, 2)", "bytes"),
        ("long", "TIMESTAMP", "long"),
        ("int", "DATE", "int"),
        ({**DECIMAL, "scale": "2"}, "DECIMAL(9, 2)", "bytes (decimal)"),
        (DECIMAL, "DECIMAL(9, 1)", "bytes (decimal(9, 2))"),
        (DECIMAL, "VARBINARY", "bytes (decimal(9, 2))"),
        (DECIMAL, "DOUBLE", "bytes (decimal(9, 2))"),
        (NANOS, "TIMESTAMP", "long (timestamp-nanos)"),
        (LOCAL, "TIMESTAMP WITH TIME ZONE", "long (local-timestamp-micros)"),
        (LOCAL, "BIGINT", "long (local-timestamp-micros)"),
        (DAY, "TIMESTAMP", "int (date)"),
        (DAY, "INTEGER", "int (date)"),
        (["int", "string"], "VARCHAR", "a union of int, string"),
        (["null", "int", "long"], "BIGINT", "a union of null, int, long"),
        ({"type": "array", "items": "long"}, "VARCHAR", "array of long"),
        ({"type": "map", "values": "long"}, "MAP(BIGINT, BIGINT)", "map of long"),
        ({**fields(x="int"), "name": "In"}, "VARCHAR", "record In"),
        ("int", "ROW(x INTEGER)", "int"),
    ],
)
def test_a_type_that_could_lose_something_is_refused(kind: Json, declared: str, said: str) -> None:
    wanted = column(declared)
    with pytest.raises(Unfit) as refused:
        read_row(schema(fields(v=kind)), [wanted], events=False)
    shown = t.sql_type(wanted.type)
    assert str(refused.value) == f'column "v": schema 7 says {said}, which is not read as {shown}'
    read_row(schema(fields(w=kind)), [wanted], events=False)  # nobody asks for it


def test_decimals_are_read_with_all_the_digits_that_their_bytes_can_hold() -> None:
    small = {**DECIMAL, "type": "fixed", "name": "F", "size": 4}
    wide = {**small, "precision": 10}  # more than 4 bytes hold: no decimal then
    for kind, digits in ((DECIMAL, 38), (small, 9)):
        part = read_row(schema(fields(v=kind)), [column("DECIMAL(9, 3)")], events=False)
        (field,) = part.read["fields"]  # type: ignore[index, call-overload]
        read = {"logicalType": "decimal", "precision": digits, "scale": 2}
        assert field["type"].items() >= read.items()  # type: ignore[index, union-attr, call-overload]
    with pytest.raises(Unfit):
        read_row(schema(fields(v=wide)), [column("DECIMAL(12, 3)")], events=False)


def test_a_reason_names_the_field_within() -> None:
    inner = {**fields(x=["null", "string"]), "name": "In"}
    listed = {"type": "array", "items": inner}
    with pytest.raises(Unfit, match=r'^column "v\.x": schema 7 says string'):
        read_row(schema(fields(v=listed)), [column("ARRAY(ROW(x BIGINT))")], events=False)


def test_only_what_columns_need_is_read() -> None:
    inner = {**fields(x="int", y="string"), "name": "In"}
    said = fields(V=["null", inner], w=["null", "In"], u=["int", "string"])
    part = read_row(schema(said), [column("ROW(y VARCHAR)")], events=False)
    wanted = {"type": "record", "name": "r0", "fields": [{"name": "y", "type": "string"}]}
    field = {"name": "V", "type": ["null", wanted]}
    assert part.read == {"type": "record", "name": "r1", "fields": [field]}


def test_names_that_differ_in_case_alone_are_told_apart_or_refused() -> None:
    exact = read_row(schema(fields(V="string", v="int")), [column("INTEGER")], events=False)
    assert exact.fields[0][0] == "v"
    with pytest.raises(Unfit, match='^column "vv": schema 7 has fields "vV" and "Vv"$'):
        wanted = Column("vv", t.BIGINT)
        read_row(schema(fields(vV="int", Vv="int")), [wanted], events=False)


def test_what_is_no_record_has_no_columns() -> None:
    with pytest.raises(Unfit, match="^schema 7 is string, not a record$"):
        read_row(schema("string"), [column("VARCHAR")], events=False)
