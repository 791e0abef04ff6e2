"""A table beside another one, whose files it can take over in one commit.

In: a table, and the columns that it shall have. Out: a shadow, an empty table of its own that is
written as any other; then the table holds the shadow's files, with the shadow's columns and a
marker, by one atomic move of its metadata. No file is copied.

Files know their columns and partitions by number. So the shadow has the metadata that the table
will have: the changes of columns and partitions are made in a transaction of the table that is
never committed, and again, with the same numbers, in the one that takes the files. A column whose
type changes is another column.

The new snapshot is the child of the old one. What changed between the two is an ordinary change to
those who read the table, and the old one stays readable with its own columns.
"""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from py4j.java_gateway import JavaObject

from headwater.lake.catalog import Lake
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.java import elements, java_class, java_session
from headwater.lake.protocol.table import struct_of
from headwater.lake.protocol.takeover import Takeover
from headwater.lake.reserved_names import SWAPPING

_ICEBERG = "org.apache.iceberg"
_KEPT = (
    *("format-version", "location", "properties"),
    *("last-column-id", "current-schema-id", "schemas"),
    *("default-spec-id", "partition-specs", "last-partition-id"),
    *("default-sort-order-id", "sort-orders"),
)
"""What the metadata of a shadow has from those that its table will have."""


def make_shadow(
    lake: Lake, table: LakeTable, name: str, ddl: str, partitioned_by: Sequence[str]
) -> None:
    """Make the empty shadow of a table.

    Args:
        name: of the shadow; there is no table of this name.
        ddl: its columns as Spark DDL.
        partitioned_by: its partition transforms as Spark DDL.
    """
    spark = table.spark
    table.refresh()
    planned = _planned(table, ddl, partitioned_by)
    metadata = {key: planned[key] for key in _KEPT} | {
        "table-uuid": str(uuid.uuid4()),
        "last-sequence-number": 0,
        "last-updated-ms": int(time.time() * 1000),
        "current-snapshot-id": -1,
        "snapshots": [],
        "refs": {},
    }
    place = f"{planned['location']}/metadata/{name}-{uuid.uuid4().hex}.metadata.json"
    parser = java_class(spark, f"{_ICEBERG}.TableMetadataParser")
    parser.write(parser.fromJson(json.dumps(metadata)), table.java.io().newOutputFile(place))
    _catalog(lake).registerTable(_identifier(lake, name), place)
    lake.table(name).ensure_first_snapshot()


def fits(table: LakeTable, shadow: LakeTable, ddl: str, partitioned_by: Sequence[str]) -> bool:
    """Return whether a table with these columns and partitions could take a shadow's files."""
    planned = _planned(table, ddl, partitioned_by)
    return bool(_shape(planned) == _shape(shadow.metadata()))


def begin_swap(shadow: LakeTable) -> None:
    """Note at a shadow that its files will be taken over, whatever happens."""
    shadow.java.updateProperties().set(SWAPPING, "true").commit()


def drop_shadow(lake: Lake, name: str, *, files: bool) -> None:
    """Take a shadow out of the catalog; its files may be those of its table now.

    Args:
        files: whether they go, too.
    """
    _catalog(lake).dropTable(_identifier(lake, name), files)


def take_over(table: LakeTable, taken: Takeover[LakeTable]) -> int:
    """Give a table the rows and columns of its shadow, or of a snapshot of its own, in one commit.

    Returns:
        The new snapshot.

    Raises:
        py4j.protocol.Py4JJavaError: another commit came between, or the catalog failed.
        ValueError: the columns of the table are not those of which the shadow was made.
    """
    change = table.java.newTransaction()
    if taken.source is table:
        _take_earlier(table, taken.snapshot_id, change)
    else:
        _become(table, taken.source, change)
    update = change.updateProperties()
    for key, value in taken.properties.items():
        update = update.remove(key) if value is None else update.set(key, value)
    update.commit()
    head = _take_files(table, taken, change)
    refs = change.manageSnapshots()
    for tag, at in {**taken.tags, table.marker_tag: head}.items():
        there = table.ref(tag) is not None
        if at is not None:
            refs = (refs.replaceTag if there else refs.createTag)(tag, at)
        elif there:
            refs = refs.removeTag(tag)
    refs.commit()
    change.commitTransaction()
    table.refresh()
    return head


def _become(table: LakeTable, shadow: LakeTable, change: JavaObject) -> None:
    """Give a table the columns and partitions of its shadow."""
    ddl, partitioned_by = ddl_of(shadow), partitions_of(shadow)
    if not fits(table, shadow, ddl, partitioned_by):
        raise ValueError(f"{table.name} has changed since its shadow was made")
    _alter(table, change, ddl, partitioned_by)


def _take_earlier(table: LakeTable, snapshot_id: int, change: JavaObject) -> None:
    """Give a table the columns and partitions that it had at a snapshot of its own."""
    operations = change.table().operations()
    now = operations.current()
    metadata = java_class(table.spark, f"{_ICEBERG}.TableMetadata")
    files, _ = _files(table, snapshot_id)
    earlier = metadata.buildFrom(now).setCurrentSchema(table.java.snapshot(snapshot_id).schemaId())
    specs = {int(file.specId()) for file in files.values()} or _unpartitioned(table)
    if specs:
        earlier = earlier.setDefaultPartitionSpec(max(specs))
    operations.commit(now, earlier.build())


def _unpartitioned(table: LakeTable) -> set[int]:
    specs = table.java.specs()  # py4j makes it Python's own
    return {int(number) for number, spec in specs.items() if spec.isUnpartitioned()}


def ddl_of(table: LakeTable) -> str:
    """Return the columns of a table as Spark DDL."""
    return ", ".join(f"`{name}` {kind}" for name, kind in table.columns().items())


def _take_files(table: LakeTable, taken: Takeover[LakeTable], change: JavaObject) -> int:
    everything = java_class(table.spark, f"{_ICEBERG}.expressions.Expressions").alwaysTrue()
    delta = change.newRowDelta().validateFromSnapshot(taken.base)
    delta = delta.conflictDetectionFilter(everything)
    delta = delta.validateNoConflictingDataFiles().validateNoConflictingDeleteFiles()
    gone, ungone = _files(table, taken.base)
    come, uncome = _files(taken.source, taken.snapshot_id)
    for place in gone.keys() - come.keys():
        delta = delta.removeRows(gone[place])
    for place in ungone.keys() - uncome.keys():
        delta = delta.removeDeletes(ungone[place])
    for place in come.keys() - gone.keys():
        delta = delta.addRows(come[place])
    for place in uncome.keys() - ungone.keys():
        delta = delta.addDeletes(uncome[place])
    for key, value in taken.marker.to_summary().items():
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


def _planned(table: LakeTable, ddl: str, partitioned_by: Sequence[str]) -> dict[str, Any]:
    """The metadata of a table as they would be with other columns and partitions."""
    change = table.java.newTransaction()
    _alter(table, change, ddl, partitioned_by)
    parser = java_class(table.spark, f"{_ICEBERG}.TableMetadataParser")
    planned: dict[str, Any] = json.loads(parser.toJson(change.table().operations().current()))
    return planned


def _alter(table: LakeTable, change: JavaObject, ddl: str, partitioned_by: Sequence[str]) -> None:
    """Make columns and partitions those of a definition; the column of a partition may go."""
    held, shown = table.columns(), table.stored_columns(ddl)
    parted = partitions_of(table)
    gone = {name for name in held if shown.get(name) != held[name]}
    wanted = [_parsed(each) for each in partitioned_by]
    anew = [_parsed(each) for each in parted] != wanted or any(
        column in gone for *_, column in wanted
    )
    if anew:
        update = change.updateSpec()
        for field in elements(table.java.spec().fields()):
            update = update.removeField(field.name())
        update.commit()
    _alter_columns(table, change, ddl)
    if anew and partitioned_by:
        update = change.updateSpec()
        for each in partitioned_by:
            update = update.addField(_term(table, *_parsed(each)))
        update.commit()


def _alter_columns(table: LakeTable, change: JavaObject, ddl: str) -> None:
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
    update.commit()


_TRANSFORM = re.compile(r"(?:(\w+)\()?(?:(\d+), )?`?([^`()]+)`?\)?")
_NAMES = {"years": "year", "months": "month", "days": "day", "hours": "hour"}


def _parsed(transform: str) -> tuple[str, str, str]:
    """The name of a partition transform, its number and its column; the first two may be empty."""
    found = _TRANSFORM.fullmatch(transform)
    assert found is not None, transform
    return found[1] or "", found[2] or "", found[3]


def _term(table: LakeTable, name: str, number: str, column: str) -> JavaObject:
    """A partition transform as Iceberg's own expression."""
    expressions = java_class(table.spark, f"{_ICEBERG}.expressions.Expressions")
    if not name:
        return expressions.ref(column)
    transformed = getattr(expressions, _NAMES.get(name, name))
    return transformed(column, int(number)) if number else transformed(column)


def partitions_of(table: LakeTable) -> list[str]:
    """Return the partition transforms of a table as Spark DDL."""
    spec, schema = table.java.spec(), table.java.schema()
    found = []
    for field in elements(spec.fields()):
        name, column = str(field.transform()), str(schema.findColumnName(field.sourceId()))
        kind, _, number = name.removesuffix("]").partition("[")
        if number:
            found.append(f"{kind}({number}, {column})")
        else:
            found.append(column if kind == "identity" else f"{kind}s({column})")
    return found


def _shape(metadata: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    """The columns and partitions of a table, with their numbers, without what people read."""
    schemas = {each["schema-id"]: each["fields"] for each in metadata["schemas"]}
    specs = {each["spec-id"]: each["fields"] for each in metadata["partition-specs"]}
    spec = metadata["default-spec-id"]
    fields = [_plain(field) for field in schemas[metadata["current-schema-id"]]]
    return fields, spec, specs[spec]


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items() if key != "doc"}
    return value


def _catalog(lake: Lake) -> JavaObject:
    util = java_class(lake.spark, f"{_ICEBERG}.spark.Spark3Util")
    return util.loadIcebergCatalog(java_session(lake.spark), lake.catalog)


def _identifier(lake: Lake, name: str) -> JavaObject:
    names = java_class(lake.spark, f"{_ICEBERG}.catalog.TableIdentifier")
    return names.parse(f"{lake.namespace}.{name}")
