"""Rule 2: fold the aggregated change into the state, which lives in the view's own table.

In: an :class:`~headwater.plan.program.AggregateProgram` and its registered changes.
Out: a function that writes the change to a staging branch; or the query of the whole state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from headwater.lake.iceberg.merge import Before, Upsert, upsert
from headwater.plan.program import AggregateProgram

SOURCE = "__aggregated"


@contextmanager
def aggregate_writer(
    session: SparkSession, program: AggregateProgram, before: Before
) -> Iterator[Callable[[str], None]]:
    """Aggregate the change once, and give the function that merges it.

    Args:
        session: where the changes are registered.
        program: what to aggregate and how to fold it.
        before: the view's table before.
    """
    change = _upsert(program)
    rows = session.sql(program.change_sql).persist()
    try:
        rows.createOrReplaceTempView(SOURCE)
        yield lambda target: upsert(session, target, change, before)
    finally:
        rows.unpersist()


def whole_state_sql(program: AggregateProgram) -> str:
    """Return the query of all rows of the table, where the change is all rows of the inputs.

    Args:
        program: what to aggregate and how to fold it.
    """
    return _upsert(program).insert_sql(f"({program.change_sql})")


def _upsert(program: AggregateProgram) -> Upsert:
    return Upsert(
        SOURCE,
        program.keys,
        {
            column.name: column.update
            for column in program.columns
            if column.name not in program.keys
        },
        {column.name: column.insert for column in program.columns},
        delete_when=program.delete_when,
        insert_when=program.insert_when,
    )
