"""Filters that stay above the scan of a table, after Spark failed to move one into it.

In: a session, or rows read through it. Out: the same rows behind a condition that Spark moves no
filter past. Spark 4.1.3 translates filters for Iceberg. It fails ("phase optimization failed with
an internal error") at an AND or OR within a value, as in ``coalesce(x > 1 AND NULL, y)``, if an
operand is NULL or a cast to BOOLEAN. Its optimizer makes such operands itself, so that no text
avoids them. A filter that stays reads more files, and returns the same rows.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from headwater.lake.failures import is_fault_of_spark

_SETTING = "spark.headwater.filtersStay"
_BARRIER = "spark_partition_id() >= 0"
"""True of every row, but Spark knows no value of it beforehand, and moves nothing past it."""


def keep_filters(session: SparkSession, error: BaseException | None) -> bool:
    """Let the filters of a session stay above scans from now on, if that can help.

    Args:
        error: what a query of the session failed with.

    Returns:
        Whether the query is worth another attempt.
    """
    if not is_fault_of_spark(error) or _stay(session):
        return False
    session.conf.set(_SETTING, "true")
    return True


def behind_barrier(rows: DataFrame) -> DataFrame:
    """Return the rows of a scan, behind the barrier if the filters of their session stay."""
    return rows.where(_BARRIER) if _stay(rows.sparkSession) else rows


def _stay(session: SparkSession) -> bool:
    return bool(session.conf.get(_SETTING, None))
