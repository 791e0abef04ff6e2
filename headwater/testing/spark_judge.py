"""The law, checked by Spark: for a view whose SELECT at rest DuckDB cannot run.

In: a case of :mod:`headwater.serve.verify`. Out: the difference. Spark also maintains the view. So
it judges what the engine of the view made of its changes, and not what Spark's functions return.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from headwater.errors import HeadwaterError, SqlError
from headwater.errors.plain import plain
from headwater.lake.catalog import Lake
from headwater.lake.failures import explain_failure
from headwater.lake.storage.warehouse import folder_of
from headwater.plan.at_rest import at_rest
from headwater.plan.sql.spark_text import name as quoted
from headwater.serve.compare import RowDifference, tolerant_difference
from headwater.serve.connection import duckdb_connection
from headwater.serve.verify import Unseen

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from headwater.config.settings import Config
    from headwater.serve.stored_table import StoredTable
    from headwater.serve.verify import Case


class SparkJudge:
    """Compares views in a Spark of its own, which starts with the first of them.

    Args:
        config: of the project; nothing is written to its lake.
        spark: a running session to use.
    """

    def __init__(self, config: Config, spark: SparkSession | None = None) -> None:
        self._config, self._spark = config, spark
        self._opened = ExitStack()

    def close(self) -> None:
        """Stop Spark if it was started here."""
        self._opened.close()

    def compare(self, case: Case, limit: int) -> RowDifference:
        """Compare in Spark.

        Args:
            case: what to compare.
            limit: how many differing rows of each side to return.

        Raises:
            Unseen: the view has approximate aggregates, or a column that cannot be subtracted.
            SqlError: ``QUERY_REFUSED`` if Spark cannot run the SELECT either.
            ServiceError: Spark cannot be started.
        """
        if case.columns.bounded:
            raise Unseen("approximate aggregates have no bounds in Spark")
        try:
            return self._compared(case, limit)
        except HeadwaterError:
            raise
        except Exception as error:
            known = explain_failure(error)
            raise known or SqlError("QUERY_REFUSED", plain(error)) from error

    def _compared(self, case: Case, limit: int) -> RowDifference:
        spark, names = self._session(), list(case.columns.names)
        external = {
            name: str(folder_of(written, self._config.directory) or written)
            for name, written in case.project.catalog.external.items()
        }
        lake = Lake(spark, self._config.namespace, external_tables=external)
        views = {name: f"at_cut_{number}" for number, name in enumerate(case.inputs)}
        for name, (table, position) in case.inputs.items():
            _read(lake, name, table, position).createOrReplaceTempView(views[name])
        query = at_rest(
            case.plan,
            case.project.catalog,
            "spark",
            watermark=case.commit.marker.watermark,
            relation=views.__getitem__,
        ).text()
        theirs = _subtractable(spark.sql(query).select(*map(quoted, names)))
        stored = _read(lake, case.plan.view.name, case.table, case.read_at)
        ours = _subtractable(stored.select(*map(quoted, names)))
        left_over = [
            one.exceptAll(other).selectExpr("*", f"CAST({sign} AS BIGINT) AS _sign")
            for one, other, sign in ((ours, theirs, 1), (theirs, ours, -1))
        ]
        with duckdb_connection() as connection:
            connection.register("_rows", left_over[0].unionAll(left_over[1]).toArrow())
            connection.execute("CREATE TEMP TABLE _left_over AS FROM _rows")
            return tolerant_difference(connection, case.columns, ours.count(), limit)

    def _session(self) -> SparkSession:
        if self._spark is None:
            from headwater.runtime.session import project_session
            from headwater.runtime.spark_requirements import DELTA

            self._spark = self._opened.enter_context(
                project_session(self._config, further=(DELTA,))
            )
        return self._spark


def _subtractable(rows: DataFrame) -> DataFrame:
    """Rows with their maps as sorted entries: Spark subtracts no rows that have maps."""
    return rows.selectExpr(
        *(
            f"array_sort(map_entries(`{each.name}`)) AS `{each.name}`"
            if each.dataType.typeName() == "map"
            else f"`{each.name}`"
            for each in rows.schema
        )
    )


def _read(lake: Lake, name: str, table: StoredTable, position: int | None) -> DataFrame:
    """A table as one of its snapshots, with the columns that it has now."""
    stored = lake.readable(name)
    rows = stored.read(position) if position is not None else stored.read().where("false")
    missing = [each for each in table.columns() if each not in rows.columns]
    kinds = stored.read().schema if missing else rows.schema
    return rows.selectExpr(
        *(f"`{column}`" for column in rows.columns),
        *(f"CAST(NULL AS {kinds[each].dataType.simpleString()}) AS `{each}`" for each in missing),
    )
