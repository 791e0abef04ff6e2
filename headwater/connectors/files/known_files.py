"""Files of an object store → DataFrames, without Spark listing what was listed already.

In: addresses, sizes and times of files. Out: a DataFrame of one of Spark's file formats.

Given paths, Spark 4.1.3 asks the store three times for each before it plans anything, one path
after the other: 2 to 7 seconds for 100 small files. So Spark is given a listing that is complete:
files with their sizes as the only children of a folder that it does not look into.
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
        folder: its address for Hadoop, without a slash at the end.
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
        _scala_map(spark, options),
        session,
    )
    return DataFrame(session.baseRelationToDataFrame(relation), spark)


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
