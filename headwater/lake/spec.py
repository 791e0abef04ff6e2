"""What a table of the lake must look like, and the DDL that creates it in either format.

In: a :class:`TableSpec`. Out: Spark SQL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from headwater.lake.delta.table import DeltaTable
from headwater.lake.reserved_names import DEFINITION
from headwater.lake.storage.warehouse import folder_uri


@dataclass(frozen=True, slots=True)
class TableSpec:
    """What a table of the lake must look like.

    Attributes:
        name: table name, without catalog and namespace.
        columns: name, Spark SQL type and nullability of each column, in order.
        partitioned_by: Iceberg partition transforms as Spark DDL, for example ``days(ts)``.
        comment: free text.
        properties: Iceberg table properties, over the defaults of :data:`DEFAULTS`.
        event_times: columns whose exact bounds readers need (see ``LakeTable.upper_bound``).
        column_comments: column → free text; the others have none.
        definition: the SQL that defines it.
    """

    name: str
    columns: tuple[tuple[str, str, bool], ...]
    partitioned_by: tuple[str, ...] = ()
    comment: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)
    event_times: tuple[str, ...] = ()
    column_comments: Mapping[str, str] = field(default_factory=dict)
    definition: str = ""


DEFAULTS: Mapping[str, str] = {
    "format-version": "2",
    "write.update.mode": "merge-on-read",
    "write.merge.mode": "merge-on-read",
    "write.delete.mode": "merge-on-read",
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "20",
    "write.metadata.compression-codec": "gzip",
}
"""Properties of every table: small commits, updates that do not rewrite files, bounded metadata."""

DELTA_DEFAULTS: Mapping[str, str] = {
    "delta.checkpointInterval": "50",
    # the log, and so the markers, for this long at least
    "delta.logRetentionDuration": "interval 30 days",
    # not every reader understands them
    "delta.enableDeletionVectors": "false",
}
"""Properties of every Delta table."""


def create_delta_sql(table: DeltaTable, spec: TableSpec | None = None) -> str:
    """Return the Spark DDL that creates a Delta table, or makes an existing one known.

    Args:
        spec: what it must look like; None if its folder holds it already.
    """
    where = f"USING delta LOCATION {_literal(folder_uri(table.location))}"
    if spec is None:
        return f"CREATE TABLE IF NOT EXISTS {table.identifier} {where}"
    parts = [
        f"CREATE TABLE IF NOT EXISTS {table.identifier} ({columns_ddl(spec)})",
        where,
        *_table_clauses(spec, {**DELTA_DEFAULTS, **spec.properties, **_said(spec)}),
    ]
    return "\n".join(parts)


def create_table_sql(identifier: str, spec: TableSpec, location: str) -> str:
    """Return the Spark DDL that creates a table.

    Args:
        location: where its files are; empty for where the catalog puts it.
    """
    exact = {f"write.metadata.metrics.column.{name}": "full" for name in spec.event_times}
    properties = {**DEFAULTS, **exact, **spec.properties, **_said(spec)}
    parts = [
        f"CREATE TABLE IF NOT EXISTS {identifier} ({columns_ddl(spec)}) USING iceberg",
        *([f"LOCATION {_literal(location)}"] if location else []),
        *_table_clauses(spec, properties),
    ]
    return "\n".join(parts)


def _said(spec: TableSpec) -> Mapping[str, str]:
    return {DEFINITION: spec.definition} if spec.definition else {}


def _table_clauses(spec: TableSpec, properties: Mapping[str, str]) -> list[str]:
    options = ", ".join(f"{_literal(key)} = {_literal(value)}" for key, value in properties.items())
    clauses = [
        f"PARTITIONED BY ({', '.join(spec.partitioned_by)})" if spec.partitioned_by else "",
        f"COMMENT {_literal(spec.comment)}" if spec.comment else "",
        f"TBLPROPERTIES ({options})",
    ]
    return [clause for clause in clauses if clause]


def columns_ddl(spec: TableSpec) -> str:
    """Return the columns of a table as Spark DDL."""
    columns = []
    for name, type_, nullable in spec.columns:
        comment = spec.column_comments.get(name)
        rule = "" if nullable else " NOT NULL"
        said = f" COMMENT {_literal(comment)}" if comment else ""
        columns.append(f"`{name}` {type_}{rule}{said}")
    return ", ".join(columns)


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
