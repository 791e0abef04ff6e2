"""A Delta table beside another one, whose files it can take over in one commit.

In: a table, and its shadow, a Delta table of its own in the folder beside. Out: the table holds the
shadow's rows, with the shadow's columns, partitions and a marker, by one commit of its log.

The log names files by their path below the table. So each file of the shadow gets a second name
there, a hard link; where a file system has none, it is copied. A link that no commit names, since
the apply was killed, is a file as any that ``VACUUM`` deletes. Delta knows columns by name, and
none of the old files stays, so that any columns fit.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from py4j.java_gateway import JavaObject

from headwater.errors import TerminalError
from headwater.lake.catalog import Lake
from headwater.lake.delta.metastore import remove_table
from headwater.lake.delta.table import (
    USER_METADATA,
    DeltaTable,
    app_id,
    app_version,
    lock_file,
    only_writer,
)
from headwater.lake.java import active, elements, java_class
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import lost_race, session_settings
from headwater.lake.protocol.takeover import Takeover
from headwater.lake.reserved_names import SWAPPING, tag_property

_DELTA = "org.apache.spark.sql.delta"


def fits(shadow: DeltaTable, ddl: str, partitioned_by: Iterable[str]) -> bool:
    """Return whether a shadow has these columns and partitions."""
    return shadow.columns() == shadow.stored_columns(ddl) and shadow.metadata()[
        "partitionColumns"
    ] == [*partitioned_by]


def begin_swap(shadow: DeltaTable) -> None:
    """Note at a shadow that its files will be taken over, whatever happens."""
    shadow.set_properties({SWAPPING: "true"})


def drop_shadow(lake: Lake, shadow: DeltaTable) -> None:
    """Remove a shadow; the files that its table has taken over have a name of their own there."""
    lake.spark.sql(f"DROP TABLE IF EXISTS {shadow.identifier}")
    shutil.rmtree(shadow.location, ignore_errors=True)
    remove_table(shadow.location)
    lock_file(shadow).unlink(missing_ok=True)
    java_class(lake.spark, f"{_DELTA}.DeltaLog").clearCache()


def take_over(table: DeltaTable, taken: Takeover[DeltaTable]) -> int:
    """Give a table the rows and columns of its shadow, or of a version of its own, in one commit.

    Tags are remembered as properties.

    Returns:
        The new version.

    Raises:
        TerminalError: ``LOST_RACE`` if another commit came between; ``SNAPSHOT_EXPIRED`` if files
            of an earlier version were deleted.
        ServiceError: ``TABLE_LOCKED``.
    """
    spark = table.spark
    wanted = taken.source.at(taken.snapshot_id)
    come = _files(wanted)
    if taken.source is table:
        _check_there(table, taken.snapshot_id, come)
    else:
        _link(taken.source.location, table.location, come)
    numbers = {tag_property(tag): None if at is None else str(at) for tag, at in taken.tags.items()}
    with only_writer(table), active(spark):
        change = table.log().startTransaction()
        held = change.snapshot()
        if held.version() != taken.base:
            raise lost_race(taken.marker)
        gone = _files(held)
        actions = [*_difference(gone, come), _transaction(taken.marker)]
        settled = _metadata(held, wanted, {**taken.properties, **numbers})
        change.updateMetadataForTableOverwrite(table.action(settled))
        chosen = java_class(spark, "java.util.ArrayList")()
        for each in actions:
            chosen.add(table.action(each))
        scala = java_class(spark, "scala.jdk.javaapi.CollectionConverters")
        said = taken.marker.to_summary() | _counts(gone, come)
        with session_settings(spark, {USER_METADATA: json.dumps(said)}):
            head = change.commit(scala.asScala(chosen).toSeq(), _overwrite(table))
    table.refresh()
    return int(head)


def _files(snapshot: JavaObject) -> dict[str, dict[str, Any]]:
    """What the log says of each file of a version, by its path."""
    added = (
        json.loads(each.json())["add"] for each in elements(snapshot.allFiles().collectAsList())
    )
    return {str(each["path"]): each for each in added}


def _difference(
    gone: Mapping[str, Mapping[str, Any]], come: Mapping[str, Mapping[str, Any]]
) -> Iterable[dict[str, Any]]:
    now = int(time.time() * 1000)
    for path in gone.keys() - come.keys():
        file = {
            key: gone[path][key]
            for key in ("path", "partitionValues", "size", "stats")
            if key in gone[path]
        }
        about = {"deletionTimestamp": now, "dataChange": True, "extendedFileMetadata": True}
        yield {"remove": file | about}
    for path in come.keys() - gone.keys():
        yield {"add": {**come[path], "dataChange": True}}


def _counts(
    gone: Mapping[str, Mapping[str, Any]], come: Mapping[str, Mapping[str, Any]]
) -> dict[str, str]:
    """What the commit adds and removes, by the names that summaries have: Delta counts no files."""

    def rows(files: Iterable[Mapping[str, Any]]) -> str:
        return str(
            sum(json.loads(file.get("stats") or "{}").get("numRecords", 0) for file in files)
        )

    return {
        "added-records": rows(come[path] for path in come.keys() - gone.keys()),
        "deleted-records": rows(gone[path] for path in gone.keys() - come.keys()),
    }


def _transaction(marker: Marker) -> dict[str, Any]:
    """What makes a statement of an earlier epoch one that is committed already."""
    said = {"appId": app_id(marker.view), "version": app_version(marker)}
    return {"txn": said | {"lastUpdated": int(time.time() * 1000)}}


def _metadata(
    held: JavaObject, wanted: JavaObject, properties: Mapping[str, str | None]
) -> dict[str, Any]:
    """The table's own metadata with the columns and partitions of another version."""
    found = json.loads(held.metadata().json())["metaData"]
    other = json.loads(wanted.metadata().json())["metaData"]
    said = {**found["configuration"], **properties}
    found["configuration"] = {key: value for key, value in said.items() if value is not None}
    columns = {key: other[key] for key in ("schemaString", "partitionColumns")}
    return {"metaData": found | columns}


def _overwrite(table: DeltaTable) -> JavaObject:
    """What the history of the table calls the commit."""
    spark = table.spark
    none = java_class(spark, "scala.Option").empty()
    mode = java_class(spark, "org.apache.spark.sql.SaveMode").valueOf("Overwrite")
    operation = getattr(java_class(spark, _DELTA), "DeltaOperations$Write")
    allowed = java_class(spark, "scala.Some")(True)  # noqa: FBT003 - Java's
    # of Delta 4.4.0: the sixth argument lets partitions change
    return operation(mode, none, none, none, none, allowed, none, none, none)


def _link(source: Path, target: Path, files: Iterable[str]) -> None:
    for path in map(unquote, files):
        place = target / path
        if place.exists():  # of an apply that was killed
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source / path, place)
        except OSError:
            _copy(source / path, place)


def _copy(file: Path, place: Path) -> None:
    hidden = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        shutil.copyfile(file, hidden)
        os.replace(hidden, place)
    finally:
        hidden.unlink(missing_ok=True)


def _check_there(table: DeltaTable, version: int, files: Iterable[str]) -> None:
    """Refuse a version whose files VACUUM, or somebody, has deleted."""
    gone = [path for path in map(unquote, files) if not (table.location / path).exists()]
    if gone:
        raise TerminalError(
            "SNAPSHOT_EXPIRED",
            f'{len(gone)} files of version {version} of Delta table "{table.name}" were deleted',
            hint="change the files back, then: headwater apply",
        )
