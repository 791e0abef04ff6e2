"""Whole views: a query over the whole inputs replaces all rows."""

from __future__ import annotations

from pyspark.sql import SparkSession

from headwater.lake.iceberg.merge import Before
from headwater.lake.protocol.table import Target, Write


def whole_writer(session: SparkSession, sql: str, before: Before) -> Write:
    """Return the function that replaces all rows of a view.

    Args:
        session: where the inputs are registered.
        sql: the query of all columns, hidden ones included, over the whole inputs.
    """

    def write(target: Target) -> None:
        rows = session.sql(sql)
        if before.rows == 0:
            target.append(rows)
        else:
            target.replace(rows)

    return write
