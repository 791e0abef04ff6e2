"""What a table that exists says of itself, held against its definition: comments, and the SQL.

In: a table and what it must look like. Out: the same table, with one metadata commit if a text
differs; no snapshot, so nobody who reads or writes it has anything to begin anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from headwater.analyze.definitions import ARRIVAL_COLUMN, WATERMARK_COLUMN
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.java import java_class
from headwater.lake.reserved_names import DEFINITION
from headwater.lake.spec import TableSpec

SYSTEM_COMMENTS: Mapping[str, str] = {
    WATERMARK_COLUMN: "watermark of the table when the row arrived",
    ARRIVAL_COLUMN: "when the row arrived",
    "_path": "the file, topic and partition, or entry of a stream that the row is from",
    "_row": "place of the row in its input",
    "_input": "the input of the view that the row is from",
    "_snapshot": "snapshot of that input in which the row was read",
}
"""Columns that Headwater adds to those of a definition, in landed tables and beside views."""

_COMMENT = "comment"


def comments_of(table: LakeTable) -> dict[str, str]:
    """Return the comment of each column of a table, empty where it has none."""
    parser = java_class(table.spark, "org.apache.iceberg.SchemaParser")
    fields = json.loads(parser.toJson(table.java.schema()))["fields"]
    return {field["name"]: field.get("doc", "") for field in fields}


def set_comments(table: LakeTable, spec: TableSpec) -> None:
    """Give a table and its columns the comments of their definition, and the definition itself.

    Args:
        table: the table, which has the columns of its definition.
    """
    held, properties = comments_of(table), table.java.properties()
    wanted = {name: spec.column_comments.get(name, "") for name in held}
    said = {_COMMENT: spec.comment, DEFINITION: spec.definition}
    if held == wanted and all((properties.get(key) or "") == said[key] for key in said):
        return
    change = table.java.newTransaction()
    columns = change.updateSchema()
    for name, text in wanted.items():
        columns = columns.updateColumnDoc(name, text or None)
    columns.commit()
    update = change.updateProperties()
    for key, text in said.items():
        update = update.set(key, text) if text else update.remove(key)
    update.commit()
    change.commitTransaction()
