"""Columns of fields with other names: ``unit_price DOUBLE FROM 'unit price'``.

In: the columns of ``CREATE SOURCE`` and ``CREATE TABLE``. Out: errors where FROM finds no field,
and how a field is named whose name no column can have.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

from sqlglot import exp

from headwater.analyze.connectors.encodings import record_format
from headwater.analyze.definitions import Column, RecordFormat
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.typing import types as t
from headwater.dialect import syntax, to_sql

_NAMED = ("json", "csv", "parquet", "avro")
_OF_EVENTS = frozenset(
    ["before", "after", "op", "source", "payload", "schema", "snapshot", "lsn", "ts_ms"]
    + ["field", "fields", "type", "name", "parameters", "scale"]
)
"""What Debezium calls the parts of its events in JSON."""


def by_field(node: syntax.SourceColumn, report: Diagnostics) -> str:
    """Return the end of a hint: how to name the column of a field whose name is no plain one."""
    if node.args.get("kind") is None or "`" in node.this.name:
        return ""
    written = report.excerpt(node.this)[2:-2].replace('""', '"')
    bare = unicodedata.normalize("NFKD", node.this.name.casefold())
    words = re.sub(r"[^a-z0-9]+", "_", bare.encode("ascii", "ignore").decode()).strip("_")
    plain = words if words[:1].isalpha() else f"c_{words}".rstrip("_")
    field = syntax.SourceColumn(this=exp.to_identifier(plain[:63]), kind=node.args["kind"].copy())
    field.set("field", written if written.lower() == node.this.name else node.this.name)
    return f"; of a field with another name: {to_sql(field, pretty=False)}"


def check_fields(
    nodes: Sequence[syntax.SourceColumn],
    columns: Mapping[str, Column],
    statement: syntax.CreateSource,
    report: Diagnostics,
) -> None:
    """Refuse FROM where no field can be found by it."""
    named = {node.this.name: node for node in nodes if node.args.get("field")}
    if not named:
        return
    encode = str(statement.args.get("encode") or "").lower()
    if reason := _nameless(statement, encode):
        for node in named.values():
            report.add("INVALID_ENCODING", reason, node, f"remove FROM of {node.this.name}")
        return
    for node in named.values():
        if "`" in node.text("field"):  # Spark 4.1.3 finds none in a row
            report.not_yet("a backtick in the name of a field", node, "give the field another name")
        if encode == "parquet" and node.text("field").lower() == "_metadata":  # Spark's own
            report.not_yet("a field _metadata of Parquet", node, "give the field another name")
    is_event = encode == "json" and record_format(statement) is RecordFormat.DEBEZIUM
    within = set(_OF_EVENTS if is_event else ())
    for column in columns.values() if encode == "json" else ():
        rows = column.type.find_all(exp.DataType)
        within.update(part.name for row in rows if row.this is t.Type.STRUCT for part in row)
    taken: dict[str, str] = {}
    fields = [c for c in columns.values() if c.metadata is None and c.computed is None]
    for column in sorted(fields, key=lambda column: column.name in named):
        lower = column.key.lower()
        if other := taken.get(lower):
            message = f'columns "{other}" and "{column.name}" are read from one field'
            hint = f"compute one of them: {column.name} AS {other}"
            report.add("DUPLICATE_COLUMN", message, named.get(column.name), hint)
        elif column.key != lower and lower in within:
            message = f'field "{column.key}" and a field "{lower}" differ in case only'
            hint = f"write FROM '{lower}': fields are found without regard to case"
            report.add("DUPLICATE_COLUMN", message, named[column.name], hint)
        taken.setdefault(lower, column.name)


def _nameless(statement: syntax.CreateSource, encode: str) -> str:
    """Why the fields of records have no names; empty if they have."""
    options = {o.this: o.expression.name for o in statement.args.get("encode_options") or ()}
    options |= {o.this: o.expression.name for o in statement.args.get("options") or ()}
    if encode == "csv":
        header = "false" if options.get("connector") == "kafka" else "true"
        if options.get("header", header).lower() != "true":
            return "CSV without a header has no fields with names"
    return "" if encode in _NAMED else "only JSON, CSV, Parquet and Avro have fields with names"
