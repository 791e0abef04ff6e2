"""Columns of fields whose names are no plain words (``FROM 'unit price'``), in every encoding."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.analyze.bind.project import bind_all
from headwater.connectors.files import read as raw
from headwater.connectors.kafka.records import encoding_of
from headwater.dialect import parse
from headwater.formats.columns import KNOWN, Decoder, Records
from headwater.lake.protocol.unknown_field_counts import fields_in

NAMES = {
    "unit_price": "unit price",
    "a_b": "a.b",
    "strasse": "Straße",
    "order_id": "Order ID",
    "share": "50%",
    "quoted": 'it\'s "so" `b` \\ $1',
    "_plain": "plain",
    "own_id": "_id",
}
KINDS = {"unit_price": "DECIMAL(10, 2)", "share": "DOUBLE", "strasse": "VARCHAR"}


def columns(names=NAMES):
    def field(name):
        return "'" + names[name].replace("'", "''") + "'"

    return ", ".join(
        f"{column.strip('_')} {KINDS.get(column, 'BIGINT')}"
        + ("" if column.startswith("_") else f" FROM {field(column)}")
        for column in names
    )


def table(encode, *, connector="files", listed=None, more="", key=""):
    where = "path = 'in'" if connector == "files" else "bootstrap_servers = 'h:1', topic = 't'"
    format_ = "UPSERT" if key else "PLAIN"
    sql = (
        f"CREATE TABLE t ({listed or columns()}{key}) WITH (connector = '{connector}', {where})"
        f" FORMAT {format_} ENCODE {encode}{more}"
    )
    catalog, errors = bind_all({"t.sql": parse(sql, file="t.sql")})[:2]
    return next(iter(catalog.sources.values()))


ROW = {
    "unit price": "1.50",
    "a.b": 2,
    "Straße": "12.10",
    "Order ID": 3,
    "50%": 0.5,
    NAMES["quoted"]: 4,
    "plain": 5,
    "_id": 6,
}
READ = ["1.50", 2, "12.10", 3, 0.5, 4, 5, 6]


def told(row):
    names = [name.strip("_") for name in NAMES]
    return [str(row[name]) if name == "unit_price" else row[name] for name in names]


def json_line(row, **changes):
    return json.dumps(row | changes, ensure_ascii=False).replace('"1.50"', "1.50")
