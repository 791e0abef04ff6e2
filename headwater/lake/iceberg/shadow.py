"""A table beside another one, whose files it can take over in one commit.

In: a table, and the columns that it shall have. Out: a shadow, an empty table of its own that is
written as any other; then the table holds the shadow's files, with the shadow's columns and a
marker, by one atomic move of its metadata. No file is copied.

Files know their columns by number. So the shadow is made with the numbers that the columns will
have in the table: those it keeps have their own, others get the next ones, as Iceberg's own change
of the schema hands them out. A column whose type changes is another column.

The new snapshot is the child of the old one. What changed between the two is an ordinary change to
those who read the table, and the old one stays readable with its own columns.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from py4j.java_gateway import JavaObject

from headwater.lake.catalog import Lake
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.java import elements, java_class, java_session
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import struct_of
from headwater.lake.reserved_names import SWAPPING

_ICEBERG = "org.apache.iceberg"
_KEPT = (
    *("format-version", "location", "properties"),
    *("default-spec-id", "partition-specs", "last-partition-id"),
    *("default-sort-order-id", "sort-orders"),
)
"""What the metadata of a shadow has from those of its table."""


def make_shadow(lake: Lake, table: LakeTable, name: str, ddl: str) -> LakeTable:
    """Make the empty shadow of a table.

    Args:
        name: of the shadow; a table of this name is replaced.
        ddl: its columns as Spark DDL.
    """
    spark = table.spark
    drop_shadow(lake, name)
    table.refresh()
    schemas = java_class(spark, f"{_ICEBERG}.SchemaParser")
    schema = json.loads(schemas.toJson(_altered(table, table.java, ddl).apply()))
    held = table.metadata()
    metadata = {key: held[key] for key in _KEPT} | {
        "table-uuid": str(uuid.uuid4()),
        "last-sequence-number": 0,
        "last-updated-ms": int(time.time() * 1000),
        "last-column-id": max([held["last-column-id"], *_ids(schema)]),
        "current-schema-id": 0,
        "schemas": [schema | {"schema-id": 0}],
        "current-snapshot-id": -1,
        "snapshots": [],
        "refs": {},
    }
    place = f"{held['location']}/metadata/{name}-{uuid.uuid4().hex}.metadata.json"
    parser = java_class(spark, f"{_ICEBERG}.TableMetadataParser")
    parser.write(parser.fromJson(json.dumps(metadata)), table.java.io().newOutputFile(place))
    _catalog(lake).registerTable(_identifier(lake, name), place)
    shadow = lake.table(name)
    shadow.ensure_first_snapshot()
    return shadow


def fits(table: LakeTable, shadow: LakeTable, ddl: str) -> bool:
    """Return whether a table with these columns could take the files of a shadow."""
    wanted = _altered(table, table.java, ddl).apply()
    return bool(_shape(table, wanted) == _shape(table, shadow.java.schema()))


def begin_swap(shadow: LakeTable) -> None:
    """Note at a shadow that its files will be taken over, whatever happens."""
    shadow.java.updateProperties().set(SWAPPING, "true").commit()


def drop_shadow(lake: Lake, name: str) -> None:
    """Take a shadow out of the catalog; its files stay, they may be those of its table now."""
    if lake.exists(name):
        _catalog(lake).dropTable(_identifier(lake, name), False)


def take_over(
    table: LakeTable,
    source: LakeTable,
    snapshot_id: int,
    marker: Marker,
    *,
    base: int,
    properties: Mapping[str, str | None],
    tags: Mapping[str, int | None],
) -> int:
    """Give a table the rows and columns of its shadow, or of a snapshot of its own, in one commit.

    Args:
        source: the shadow, or the table itself.
        snapshot_id: the snapshot of the source.
        marker: goes into the new snapshot.
        base: the current snapshot of the table, on which everything was decided.
        properties: to set; None removes one.
        tags: to create, with their snapshots; None removes one.

    Returns:
        The new snapshot.

    Raises:
        py4j.protocol.Py4JJavaError: another commit came between, or the catalog failed.
        ValueError: the columns of the table are not those of which the shadow was made.
    """
    change = table.java.newTransaction()
    _take_columns(table, source, snapshot_id, change)
    update = change.updateProperties()
    for key, value in properties.items():
        update = update.remove(key) if value is None else update.set(key, value)
    update.commit()
    head = _take_files(table, base, source, snapshot_id, change, marker)
    refs = change.manageSnapshots()
    for tag, at in {**tags, table.marker_tag: head}.items():
        there = table.ref(tag) is not None
        if at is not None:
            refs = (refs.replaceTag if there else refs.createTag)(tag, at)
        elif there:
            refs = refs.removeTag(tag)
    refs.commit()
    change.commitTransaction()
    table.refresh()
    return head


def _take_columns(
    table: LakeTable, source: LakeTable, snapshot_id: int, change: JavaObject
) -> None:
    if source is not table:
        ddl = ddl_of(source)
        if not fits(table, source, ddl):
            raise ValueError(f"the columns of {table.name} have changed since its shadow was made")
        _altered(table, change, ddl).commit()
        return
    operations = change.table().operations()
    now = operations.current()
    schema = table.java.snapshot(snapshot_id).schemaId()
    metadata = java_class(table.spark, f"{_ICEBERG}.TableMetadata")
    operations.commit(now, metadata.buildFrom(now).setCurrentSchema(schema).build())


def ddl_of(table: LakeTable) -> str:
    """Return the columns of a table as Spark DDL."""
    return ", ".join(f"`{name}` {kind}" for name, kind in table.columns().items())


def _take_files(
    table: LakeTable,
    base: int,
    source: LakeTable,
    snapshot_id: int,
    change: JavaObject,
    marker: Marker,
) -> int:
    everything = java_class(table.spark, f"{_ICEBERG}.expressions.Expressions").alwaysTrue()
    delta = change.newRowDelta().validateFromSnapshot(base).conflictDetectionFilter(everything)
    delta = delta.validateNoConflictingDataFiles().validateNoConflictingDeleteFiles()
    (gone, ungone), (come, uncome) = _files(table, base), _files(source, snapshot_id)
    for place in gone.keys() - come.keys():
        delta = delta.removeRows(gone[place])
    for place in ungone.keys() - uncome.keys():
        delta = delta.removeDeletes(ungone[place])
    for place in come.keys() - gone.keys():
        delta = delta.addRows(come[place])
    for place in uncome.keys() - ungone.keys():
        delta = delta.addDeletes(uncome[place])
    for key, value in marker.to_summary().items():
        delta = delta.set(key, value)
    delta.commit()
    return int(change.table().currentSnapshot().snapshotId())


def _files(
    table: LakeTable, snapshot_id: int
) -> tuple[dict[str, JavaObject], dict[str, JavaObject]]:
    """The data files of a snapshot, and the delete files that apply to them, by location."""
    scan = table.java.newBatchScan().useSnapshot(snapshot_id)
    planned = scan.includeColumnStats().planFiles()  # readers prune by the bounds of columns
    files: dict[str, JavaObject] = {}
    deletes: dict[str, JavaObject] = {}
    try:
        for task in elements(planned):
            files[str(task.file().location())] = task.file()
            deletes |= {str(each.location()): each for each in elements(task.deletes())}
    finally:
        planned.close()
    return files, deletes


def _altered(table: LakeTable, change: JavaObject, ddl: str) -> JavaObject:
    """The change of a schema that makes the columns those of a DDL."""
    schemas = java_class(table.spark, f"{_ICEBERG}.spark.SparkSchemaUtil")
    wanted = elements(schemas.convert(struct_of(table.spark, ddl)).columns())
    held, shown = table.columns(), table.stored_columns(ddl)
    update = change.updateSchema()
    for name in held:
        if shown.get(name) != held[name]:
            update = update.deleteColumn(name)
    for field in wanted:
        if held.get(field.name()) != shown[field.name()]:
            update = update.addColumn(field.name(), field.type())
    names = list(shown)
    update = update.moveFirst(names[0])
    for before, name in pairwise(names):
        update = update.moveAfter(name, before)
    return update


def _shape(table: LakeTable, schema: JavaObject) -> Any:  # noqa: ANN401 - JSON
    """A schema without what people read."""
    parsed = json.loads(java_class(table.spark, f"{_ICEBERG}.SchemaParser").toJson(schema))
    return [_plain(field) for field in parsed["fields"]]


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items() if key != "doc"}
    return value


def _ids(value: Any) -> Iterable[int]:  # noqa: ANN401 - JSON
    """Every number of a column, a field, an element, a key and a value in a schema."""
    if isinstance(value, list):
        for each in value:
            yield from _ids(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key == "id" or (key.endswith("-id") and key != "schema-id"):
                yield int(each)
            yield from _ids(each)


def _catalog(lake: Lake) -> JavaObject:
    util = java_class(lake.spark, f"{_ICEBERG}.spark.Spark3Util")
    return util.loadIcebergCatalog(java_session(lake.spark), lake.catalog)


def _identifier(lake: Lake, name: str) -> JavaObject:
    names = java_class(lake.spark, f"{_ICEBERG}.catalog.TableIdentifier")
    return names.parse(f"{lake.namespace}.{name}")
