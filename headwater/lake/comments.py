"""The comments of a table that exists, held against its definition.

In: a table and what it must look like. Out: the same table, with one metadata commit if a comment
differs; no snapshot, so nobody who reads or writes it has anything to begin anew.
"""

from __future__ import annotations

import json

from headwater.lake.catalog import TableSpec
from headwater.lake.iceberg import LakeTable
from headwater.lake.java import java_class

_COMMENT = "comment"


def set_comments(table: LakeTable, spec: TableSpec) -> None:
    """Give a table and its columns the comments of their definition.

    Args:
        table: the table, which has the columns of its definition.
        spec: what it must look like.
    """
    parser = java_class(table.spark, "org.apache.iceberg.SchemaParser")
    fields = json.loads(parser.toJson(table.java.schema()))["fields"]
    held = {field["name"]: field.get("doc", "") for field in fields}
    wanted = {name: spec.column_comments.get(name, "") for name in held}
    if held == wanted and (table.java.properties().get(_COMMENT) or "") == spec.comment:
        return
    change = table.java.newTransaction()
    columns = change.updateSchema()
    for name, text in wanted.items():
        columns = columns.updateColumnDoc(name, text or None)
    columns.commit()
    table_properties = change.updateProperties()
    if spec.comment:
        table_properties = table_properties.set(_COMMENT, spec.comment)
    else:
        table_properties = table_properties.remove(_COMMENT)
    table_properties.commit()
    change.commitTransaction()
