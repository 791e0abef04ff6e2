"""The jobs as an expert writes them by hand: PySpark, from JSON files to Iceberg.

In: a session of :func:`open_session`, the folders of the streams. Out: rows appended to an Iceberg
table, natively, by one Structured Streaming query.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

SCHEMAS = {
    "orders": "order_id BIGINT, customer STRING, product STRING, quantity INT, price DOUBLE,"
    " status STRING, ordered_at TIMESTAMP",
    "payments": "payment_id BIGINT, order_id BIGINT, method STRING, amount DOUBLE,"
    " paid_at TIMESTAMP",
}
Reader = Callable[[str], DataFrame]


def filter_project(read: Reader) -> DataFrame:
    """Paid orders of at least three pieces."""
    orders = read("orders").where((F.col("status") == "paid") & (F.col("quantity") >= 3))
    revenue = (F.col("quantity") * F.col("price")).alias("revenue")
    return orders.select("order_id", "customer", revenue, "ordered_at")


def window_count(read: Reader) -> DataFrame:
    """Orders per product and ten seconds."""
    orders = read("orders").withWatermark("ordered_at", "30 seconds")
    counted = orders.groupBy("product", F.window("ordered_at", "10 seconds")).count()
    return counted.select(
        "product", F.col("window.start").alias("window_start"), F.col("count").alias("orders")
    )


def interval_join(read: Reader) -> DataFrame:
    """Orders with their payments of the next two minutes."""
    orders = read("orders").withWatermark("ordered_at", "30 seconds").alias("o")
    payments = read("payments").withWatermark("paid_at", "30 seconds").alias("p")
    condition = F.expr(
        "o.order_id = p.order_id AND p.paid_at >= o.ordered_at"
        " AND p.paid_at <= o.ordered_at + INTERVAL 2 MINUTES"
    )
    joined = orders.join(payments, condition)
    return joined.select("o.order_id", "customer", "method", "amount", "paid_at")


JOBS = {job.__name__: job for job in (filter_project, window_count, interval_join)}


def run(
    spark: SparkSession,
    name: str,
    columns: str,
    folder: Path,
    per_batch: int,
    table: str,
    checkpoint: Path,
) -> None:
    """Process all files, then return.

    Args:
        spark: the session.
        name: which job.
        columns: columns of the table as DDL.
        folder: holds a folder per stream.
        per_batch: files of one micro-batch.
        table: the table, which is created.
        checkpoint: folder of the checkpoint.
    """

    def read(stream: str) -> DataFrame:
        reader = spark.readStream.schema(SCHEMAS[stream]).option("maxFilesPerTrigger", per_batch)
        return reader.json(str(folder / stream))

    spark.sql(f"CREATE TABLE {table} ({columns}) USING iceberg")
    all_there_is(JOBS[name](read), checkpoint).format("iceberg").toTable(table).awaitTermination()


def all_there_is(rows: DataFrame, checkpoint: Path) -> DataStreamWriter:
    """Return what writes the rows of a stream so far, micro-batch by micro-batch, and ends."""
    writer = rows.writeStream.outputMode("append").trigger(availableNow=True)
    return writer.option("checkpointLocation", str(checkpoint))


def open_session(warehouse: Path, jars: Sequence[Path], cores: int) -> SparkSession:
    """Start Spark with an Iceberg catalog in a SQLite database.

    Args:
        warehouse: folder of the tables.
        jars: Iceberg's and SQLite's.
        cores: cores to use.
    """
    state_store = "spark.sql.streaming.stateStore"
    settings = {
        "spark.jars": ",".join(map(str, jars)),
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC" if cores <= 2 else "",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.defaultCatalog": "lake",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "jdbc",
        "spark.sql.catalog.lake.uri": f"jdbc:sqlite:file:{warehouse}/catalog.db?journal_mode=WAL",
        "spark.sql.catalog.lake.jdbc.schema-version": "V1",
        "spark.sql.catalog.lake.warehouse": warehouse.as_uri(),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(cores),
        f"{state_store}.providerClass": "org.apache.spark.sql.execution.streaming.state"
        ".RocksDBStateStoreProvider",
        f"{state_store}.rocksdb.changelogCheckpointing.enabled": "true",
    }
    builder = SparkSession.builder.master(f"local[{cores}]").appName("by hand")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.sql("CREATE NAMESPACE lake.bench")
    return spark
