"""Files → DataFrames, without Spark looking for files that Headwater has listed already.

In: addresses, sizes and times of files. Out: a DataFrame of one of Spark's file formats.

So a name is a name, whatever characters it has. Given paths, Spark 4.1.3 takes them for patterns:
with the option against that, one ``b?.csv`` makes it read every file twice or more
(apache/spark#57769). It also asks an object store three times about each path before it plans
anything, one path after the other: 2 to 7 seconds for 100 small files. So Spark is given a listing
that is complete: files with their sizes as the only children of a folder that it does not look
into.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from py4j.java_gateway import JavaObject
from pyspark.sql import DataFrame, SparkSession

from headwater.connectors.ledger import LedgerEntry
from headwater.lake.java import java_class, java_session

_SOURCES = "org.apache.spark.sql.execution.datasources"
_FORMATS = {
    "text": f"{_SOURCES}.text.TextFileFormat",
    "json": f"{_SOURCES}.json.JsonFileFormat",
    "parquet": f"{_SOURCES}.parquet.ParquetFileFormat",
}
LOCAL_FILES = {
    "fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "fs.file.impl.disable.cache": "true",
}
"""Options of a reader: local files have no checksums beside them.

The name of a checksum file is no path to Hadoop 3.4 if there is a colon in it (HADOOP-14217).
"""
_BLOCK = 2**25
_NOWHERE = "_headwater_epoch"


def known_files(
    spark: SparkSession,
    folder: str,
    files: Sequence[LedgerEntry],
    form: str,
    schema: str,
    options: Mapping[str, str],
) -> DataFrame:
    """Return the rows of some files of a folder.

    Args:
        folder: Hadoop's address of it, without a slash at the end.
        files: the files, their names relative to the folder.
        form: ``text``, ``json`` or ``parquet``.
        schema: the columns, as DDL.
        options: of Spark's reader.
    """
    none = java_class(spark, "scala.Option").empty()
    types = java_class(spark, "org.apache.spark.sql.types.StructType")
    columns, session = types.fromDDL(schema).asNullable(), java_session(spark)
    relation = java_class(spark, f"{_SOURCES}.HadoopFsRelation")(
        _index(spark, folder, files),
        types(),
        columns,
        none,
        java_class(spark, _FORMATS[form])(),
        _scala_map(spark, {**LOCAL_FILES, **options}),
        session,
    )
    return DataFrame(session.baseRelationToDataFrame(relation), spark)


def shown_address(spark: SparkSession, folder: str) -> str:
    """Return an address of a folder as Spark shows it in the names of files.

    Args:
        folder: Hadoop's address of it.
    """
    address = java_class(spark, "org.apache.hadoop.fs.Path")(folder).toUri().toString()
    return str(address)


def _index(spark: SparkSession, folder: str, files: Sequence[LedgerEntry]) -> JavaObject:
    path, status = (
        java_class(spark, f"org.apache.hadoop.fs.{name}") for name in ("Path", "FileStatus")
    )
    arrays = java_class(spark, "java.lang.reflect.Array")
    found = arrays.newInstance(status._java_lang_class, len(files))  # noqa: SLF001
    for number, entry in enumerate(files):
        where = path(f"{folder}/{entry.file}")
        found[number] = status(entry.size, False, 1, _BLOCK, entry.modified // 1000, where)  # noqa: FBT003
    # no folder that is there: were it looked into after all, nothing would be found
    root, none = path(f"{folder}/{_NOWHERE}"), java_class(spark, "scala.Option").empty()
    roots = java_class(spark, "java.util.ArrayList")()
    roots.add(root)
    session = java_session(spark)
    cache = java_class(spark, f"{_SOURCES}.FileStatusCache").getOrCreate(session)
    cache.putLeafFiles(root, found)
    try:
        index = java_class(spark, f"{_SOURCES}.InMemoryFileIndex")(
            session,
            java_class(spark, "org.apache.spark.api.python.PythonUtils").toSeq(roots),
            # whatever is below: there is nothing to be learned from names of folders
            _scala_map(spark, {"recursiveFileLookup": "true"}),
            none,
            cache,
            none,
            none,
        )
    finally:
        cache.invalidateAll()  # it is one for all sessions, and up to 250 MB
    if index.allFiles().size() != len(files):
        raise RuntimeError(f"Spark was given {len(files)} files and knows others")
    return index


def _scala_map(spark: SparkSession, entries: Mapping[str, str]) -> JavaObject:
    utils = java_class(spark, "org.apache.spark.api.python.PythonUtils")
    return utils.toScalaMap(dict(entries))
