"""Some queries of NEXMark as an expert writes them by hand: PySpark, from Parquet files to Iceberg.

In: a session of :func:`bench.by_hand.open_session`, a folder of events. Out: an Iceberg table per
query, written by one Structured Streaming query each.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from bench.by_hand import all_there_is

Reader = Callable[[str], DataFrame]
"""Reads the events of one kind as a stream, with the watermark of ``tables.sql``."""

_SCHEMAS = {
    "person": "id BIGINT, name STRING, date_time TIMESTAMP_NTZ",
    "auction": "id BIGINT, seller BIGINT, date_time TIMESTAMP_NTZ",
    "bid": "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING,"
    " date_time TIMESTAMP_NTZ, extra STRING",
}
_DELAY, _WINDOW = "4 seconds", "10 seconds"
FILES_PER_BATCH = 2


def q0(read: Reader) -> DataFrame:
    """Every bid as it is."""
    return read("bid").select("auction", "bidder", "price", "date_time", "extra")


def q1(read: Reader) -> DataFrame:
    """Prices in another currency."""
    price = (F.lit(0.908).cast("decimal(4,3)") * F.col("price")).alias("price")
    return read("bid").select("auction", "bidder", price, "date_time", "extra")


def q2(read: Reader) -> DataFrame:
    """Bids on some auctions."""
    return read("bid").where(F.col("auction") % 123 == 0).select("auction", "price")


def q5(read: Reader) -> DataFrame:
    """The auctions with the most bids in ten seconds, every two seconds."""
    hops = F.window("date_time", _WINDOW, "2 seconds")
    counts = read("bid").groupBy(hops, "auction").agg(F.count("*").alias("num"))
    # each window of ten seconds ends in another two seconds
    ends = F.window(F.window_time("window"), "2 seconds").alias("ends")
    listed = counts.groupBy(ends).agg(
        F.max("num").alias("most"),
        F.collect_list(F.struct("num", "auction", "window")).alias("all"),
    )
    best = F.filter("all", lambda each: each["num"] == F.col("most"))
    found = listed.select(F.explode(best).alias("b"))
    return found.select("b.auction", "b.num", _start("b.window"), _end("b.window"))


def q7(read: Reader) -> DataFrame:
    """The highest bid of ten seconds, one if several are as high."""
    highest = F.max(F.struct("price", "auction", "bidder", "date_time")).alias("b")
    found = read("bid").groupBy(F.window("date_time", _WINDOW)).agg(highest)
    return found.select("b.auction", "b.price", "b.bidder", "b.date_time", _end("window"))


def q8(read: Reader) -> DataFrame:
    """Who signed up and opened an auction in the same ten seconds."""
    window = F.window("date_time", _WINDOW)
    people = read("person").groupBy(window, "id", "name").count().alias("p")
    sellers = read("auction").groupBy(window, "seller").count().alias("a")
    found = people.join(sellers, F.expr("p.id = a.seller AND p.window = a.window"))
    return found.select("p.id", "p.name", _start("p.window"))


def q11(read: Reader) -> DataFrame:
    """How often a person bids in a session."""
    # Spark joins what is exactly a gap apart; times have milliseconds
    sessions = F.session_window("date_time", "9999 milliseconds").alias("window")
    found = read("bid").groupBy(sessions, "bidder").agg(F.count("*").alias("bids"))
    end = F.expr("window.end + INTERVAL 1 MILLISECOND").alias("window_end")
    return found.select("bidder", "bids", _start("window"), end)


def q18(read: Reader) -> DataFrame:
    """The bids, of which :func:`_keep_newest` keeps the last of a person on an auction."""
    return read("bid").select("auction", "bidder", "price", "channel", "url", "date_time", "extra")


QUERIES = {each.__name__: each for each in (q0, q1, q2, q5, q7, q8, q11, q18)}


def _start(window: str) -> Column:
    return F.col(f"{window}.start").alias("window_start")


def _end(window: str) -> Column:
    return F.col(f"{window}.end").alias("window_end")


def run(spark: SparkSession, name: str, events: Path, table: str, checkpoint: Path) -> None:
    """Process all files, then return.

    Args:
        spark: the session.
        name: which query.
        events: holds a folder of files for each table.
        table: the table, which is created.
        checkpoint: folder of the checkpoint.
    """

    def read(kind: str) -> DataFrame:
        reader = spark.readStream.schema(_SCHEMAS[kind])
        rows = reader.option("maxFilesPerTrigger", FILES_PER_BATCH).parquet(str(events / kind))
        timed = rows.withColumn("date_time", F.col("date_time").cast("timestamp"))
        return timed.withWatermark("date_time", _DELAY)

    rows = QUERIES[name](read)
    columns = ", ".join(f"{each.name} {each.dataType.simpleString()}" for each in rows.schema)
    spark.sql(f"CREATE TABLE {table} ({columns}) USING iceberg")
    writer = all_there_is(rows, checkpoint)
    if name == "q18":
        query = writer.foreachBatch(lambda batch, _: _keep_newest(batch, table)).start()
    else:
        query = writer.format("iceberg").toTable(table)
    query.awaitTermination()


def _keep_newest(batch: DataFrame, table: str) -> None:
    newest = batch.groupBy("bidder", "auction").agg(
        F.max_by(F.struct(*batch.columns), "date_time").alias("b")
    )
    newest.select("b.*").createOrReplaceTempView("changes")
    batch.sparkSession.sql(
        f"MERGE INTO {table} t USING changes s"
        " ON t.bidder = s.bidder AND t.auction = s.auction"
        " WHEN MATCHED AND s.date_time > t.date_time THEN UPDATE SET *"
        " WHEN NOT MATCHED THEN INSERT *"
    )
