"""Tables of matches in Spark: ``MATCH_RECOGNIZE`` over sorted rows, task by task.

In: the steps of a program, whose rows Spark can read. Out: temporary views, computed when they are
read. Rows pass as Arrow batches; nothing comes to the driver. Recent rows are searched first, and
all rows of those partitions only whose matches depend on older ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import cast

from pyarrow import RecordBatch
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType
from pyspark.sql.udf import UserDefinedFunction
from pyspark.util import PythonEvalType

from headwater.errors import TerminalError
from headwater.lake.failures import text_of
from headwater.lake.java import cached
from headwater.patterns.clause import MATCH
from headwater.patterns.recent import RecentRows
from headwater.patterns.tables import UNSURE, failure_in, matched_batches
from headwater.plan.program import PatternStep
from headwater.plan.sql.pattern_rows import UNSURE_KEYS

Finder = Callable[[Iterable[RecordBatch]], Iterator[RecordBatch]]


@contextmanager
def registered_matches(session: SparkSession, steps: Sequence[PatternStep]) -> Iterator[None]:
    """Register the tables of matches that a query reads in the block.

    Args:
        session: where the rows that they are found in are registered.
        steps: innermost first.
    """
    with ExitStack() as opened:
        for step in steps:
            _matches(session, step, opened).createOrReplaceTempView(step.name)
        yield


def match_failure(view: str, error: BaseException) -> TerminalError | None:
    """Return why a clause cannot be computed, if that is what an exception says."""
    found = failure_in(text_of(error))
    if found is None:
        return None
    condition, message, hint = found
    return TerminalError(condition, f'view "{view}": {message}', hint=hint)


def _matches(session: SparkSession, step: PatternStep, opened: ExitStack) -> DataFrame:
    if step.recent is None:
        return _found(session, step, step.sql)
    rows = RecentRows(step.recent.since, step.recent.until)
    recent = cached(_found(session, step, step.recent.sql, rows), opened)
    sure = recent[MATCH] != UNSURE
    # the number of a row without a match is NULL, but such a clause never reads recent rows
    unsure = recent.where(~sure).select(*step.clause.partition)
    if unsure.isEmpty():
        return recent
    unsure.createOrReplaceTempView(step.name + UNSURE_KEYS)
    return recent.where(sure).unionAll(_found(session, step, step.recent.rest_sql))


def _found(
    session: SparkSession, step: PatternStep, sql: str, recent: RecentRows | None = None
) -> DataFrame:
    ddl = ", ".join(f"`{name}` {kind}" for name, kind in step.columns)
    schema = cast(StructType, StructType.fromDDL(ddl))
    find = partial(matched_batches, step.clause, to_arrow_schema(schema), recent)
    return _mapped(session.sql(sql), find, schema)


def _mapped(rows: DataFrame, find: Finder, schema: StructType) -> DataFrame:
    """``rows.mapInArrow(find, schema)``, which in PySpark 4.1.3 asks for pandas and uses none."""
    function = UserDefinedFunction(find, schema, evalType=PythonEvalType.SQL_MAP_ARROW_ITER_UDF)
    call = function(*(rows[name] for name in rows.columns))
    java = rows._jdf.mapInArrow(call._jc, False, None)  # noqa: SLF001
    return DataFrame(java, rows.sparkSession)
