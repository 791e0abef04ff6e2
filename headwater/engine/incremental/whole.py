"""Whole views: a query over the whole inputs replaces all rows."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own convention

from headwater.lake.iceberg.merge import Before


def whole_writer(session: SparkSession, sql: str, before: Before) -> Callable[[str], None]:
    """Return the function that replaces all rows of a view.

    Args:
        session: where the inputs are registered.
        sql: the query of all columns, hidden ones included, over the whole inputs.
    """

    def write(target: str) -> None:
        writer = session.sql(sql).writeTo(target)
        if before.rows == 0:
            writer.append()
        else:
            writer.overwrite(F.lit(True))

    return write
