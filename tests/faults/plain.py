"""What one writes without Headwater: a file stream into an Iceberg table, in the two usual ways.

In: a folder with ``incoming/feed/*.json``. Out: table ``lake.faults.appended`` in its
``warehouse``, and a checkpoint. Run as a program: ``python -m tests.faults.plain WAY FOLDER``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from headwater.jars.fetch import fetch

FOREACH_BATCH, SINK = "foreachBatch", "Iceberg's sink"
TABLE = "lake.faults.appended"


def session(folder: Path) -> SparkSession:
    """Return Spark with a catalog of its own in the folder.

    Args:
        folder: the job's folder.
    """
    settings = {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.jars": ",".join(map(str, fetch())),
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": (folder / "warehouse").as_uri(),
        "spark.sql.catalog.lake.cache-enabled": "false",
        "spark.sql.session.timeZone": "UTC",
    }
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def run(way: str, folder: Path) -> None:
    """Append what is new and end.

    Args:
        way: :data:`FOREACH_BATCH` or :data:`SINK`.
        folder: the job's folder.
    """
    spark = session(folder)
    spark.sql(f"CREATE TABLE IF NOT EXISTS {TABLE} (id BIGINT) USING iceberg")
    files = spark.readStream.schema("id BIGINT").json(str(folder / "incoming" / "feed"))
    rows = files.where("id IS NOT NULL")
    writer = rows.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
    writer = writer.trigger(availableNow=True)
    query = writer.foreachBatch(_append).start() if way == FOREACH_BATCH else writer.toTable(TABLE)
    query.awaitTermination()
    spark.stop()


def _append(rows: DataFrame, epoch: int) -> None:
    rows.writeTo(TABLE).append()


def compact_and_expire(folder: Path) -> None:
    """Compact the table and keep its last snapshot only, as maintenance jobs do.

    Args:
        folder: the job's folder.
    """
    spark = session(folder)
    spark.sql(
        f"CALL lake.system.rewrite_data_files(table => '{TABLE}',"
        " options => map('rewrite-all', 'true'))"
    )
    spark.sql(
        f"CALL lake.system.expire_snapshots(table => '{TABLE}', retain_last => 1,"
        " older_than => TIMESTAMP '2100-01-01 00:00:00')"
    )
    spark.stop()


if __name__ == "__main__":
    if sys.argv[1] == "maintain":
        compact_and_expire(Path(sys.argv[2]))
    else:
        run(sys.argv[1], Path(sys.argv[2]))
